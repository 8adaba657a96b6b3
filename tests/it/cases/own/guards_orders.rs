//! What keeps the supervisors of machines and sets from ordering what must not be, or twice, and a set from what is not its own.

use std::sync::Arc;

use bailiwick::actors::{
    machine::{self, Spec},
    machine_deployment,
    machine_set::{Change, Command, Plan, Spec as SetSpec},
    policy::{AskReading, Document},
    storage_rules::{ClaimForm, FromPool, StorageClaim},
    supervisor::machines::Withholding,
    testing::name,
    vocab::{Fault, FaultCode, Life, SizeMib},
};
use bailiwick_journal::Outcome;

use super::{super::lab::Lab, guards::silent};

/// A set of so many machines.
fn set_of(replicas: u32) -> SetSpec {
    let template = Arc::new(Spec::with_provider(name("desk")));
    SetSpec { replicas, template, priorities: [].into(), deployment: None }
}

fn creates_one() -> Plan {
    Plan { stale: Vec::new(), change: Change::Create(1) }
}

#[test]
fn nobody_is_replaced_while_its_provider_cannot_be_reached() {
    // Given a machine whose time is over, where nobody asks its provider first
    let mut policy = Document::default();
    policy.reconciliation.readings.ask_provider = AskReading::Never;
    let mut lab = silent(policy);
    let own = lab.effect("1").expect("it runs");
    // When its provider does not answer any more before anybody has looked at that
    lab.desk.provider.list_fails = Some(Fault::new(FaultCode::Unavailable, "no answer"));
    lab.desk.list();
    lab.desk.now = lab.desk.now.after(60_000);
    lab.desk.list();
    lab.desk.settle();
    // Then it keeps its instance, and it is told why
    assert_eq!(lab.state("1").running_effect(), Some(own));
    let withheld = lab.desk.machines_seen().withheld.get(&name("1"));
    assert_eq!(withheld, Some(&Withholding::ProviderOut { provider: name("desk") }));
    // And when the provider answers again, it gets its time once more, and is replaced when that is over
    lab.desk.provider.list_fails = None;
    lab.search();
    assert_eq!(lab.state("1").running_effect(), Some(own));
    let until = lab.state("1").health.until().expect("its time runs again");
    lab.desk.now = until;
    lab.desk.wake(&Lab::stream("1"), until);
    lab.desk.settle();
    assert_ne!(lab.state("1").running_effect(), Some(own));
}

#[test]
fn what_was_ordered_is_not_ordered_again_before_it_is_answered() {
    // Given a machine whose instance is gone, and which is about to be told so
    let mut lab = Lab::new(Document::default());
    lab.declare("1", |_| ());
    lab.desk.settle();
    lab.desk.lose("1");
    let told = |lab: &Lab| lab.desk.machines_view().orders.open_to(&Lab::stream("1")).count();
    assert_eq!(told(&lab), 1);
    // When something else about it changes meanwhile, and its supervisor looks at it
    lab.declare("1", |spec| drop(spec.labels.insert("tier".to_owned(), "front".to_owned())));
    lab.desk.look();
    // Then that one order stands, and no other
    assert_eq!(told(&lab), 1);
    lab.desk.settle();
    assert!(lab.state("1").running_effect().is_some(), "it has another instance");
}

#[test]
fn a_set_has_one_pass_at_a_time() {
    // Given a set that is making its machine
    let mut lab = Lab::new(Document::default());
    lab.desk.machine_set("fleet", Command::Declare(set_of(1)));
    lab.desk.look();
    lab.desk.carry_out();
    let before = lab.desk.machine_set_state("fleet").cloned().expect("it is declared");
    assert!(!before.is_at_rest());
    // When another pass is begun that was planned before that one
    lab.desk.machine_set("fleet", Command::BeginPass { plan: creates_one(), names: vec![name("fleet-2")] });
    // Then it stays at the one that it has
    assert_eq!(lab.desk.machine_set_state("fleet"), Some(&before));
    lab.desk.settle();
    assert_eq!(lab.desk.machine_set_state("fleet").map(|set| set.named), Some(1));
    assert_eq!(lab.state("fleet-2").life, Life::Undeclared);
}

#[test]
fn a_set_that_rests_after_a_refusal_begins_no_pass() {
    // Given a set that rests because its machine would not go
    let mut lab = Lab::new(Document::default());
    lab.desk.machine_set("fleet", Command::Declare(set_of(1)));
    lab.search();
    lab.desk.machine("fleet-1", machine::Command::Hold { reason: "a look at it".to_owned(), until: None });
    lab.desk.machine_set("fleet", Command::Declare(set_of(0)));
    lab.search();
    assert!(lab.desk.machine_set_state("fleet").is_some_and(|set| set.rests_until.is_some()));
    // When a pass comes that was planned for its earlier size
    lab.desk.machine_set("fleet", Command::BeginPass { plan: creates_one(), names: vec![name("fleet-2")] });
    lab.search();
    // Then no machine is made
    assert_eq!(lab.state("fleet-2").life, Life::Undeclared);
}

#[test]
fn a_set_takes_no_name_that_somebody_has() {
    // Given a machine and a volume that are called as the set's first machine would be, and what its second asks for
    let mut lab = Lab::new(Document::default());
    lab.declare("fleet-1", |_| ());
    lab.desk.declare_volume("fleet-2-data-0");
    lab.search();
    let told = lab.entries("fleet-1").len();
    // When the set is declared
    let data = StorageClaim {
        name: name("data"),
        count: 1,
        size: SizeMib(64),
        provider: name("desk"),
        pool: FromPool { name: "desk".parse().expect("a pool's name"), attributes: [].into() },
        form: ClaimForm::Volume,
        read_only: false,
        is_persistent: false,
    };
    let template = Spec { storage: vec![data], ..Spec::with_provider(name("desk")) };
    lab.desk.machine_set("fleet", Command::Declare(SetSpec { template: Arc::new(template), ..set_of(1) }));
    lab.search();
    // Then its machine has a name and a volume of its own, and nobody else has heard of it
    assert_eq!(lab.state("fleet-3").spec.and_then(|spec| spec.set.clone()), Some(name("fleet")));
    assert_eq!(lab.entries("fleet-1").len(), told);
    assert_eq!(lab.state("fleet-2").life, Life::Undeclared);
}

#[test]
fn a_set_changes_for_its_deployment_only() {
    // Given a deployment with a set
    let mut lab = Lab::new(Document::default());
    let spec = machine_deployment::Spec::of(1, Spec::with_provider(name("desk")));
    lab.desk.machine_deployment("shop", machine_deployment::Command::Declare(spec));
    lab.search();
    let set =
        lab.desk.machines_view().machines.iter().find_map(|(_, machine)| machine.state.spec.as_ref()?.set.clone());
    let set = set.expect("it has a machine");
    let before = lab.desk.machine_set_state(set.as_str()).and_then(|set| set.spec.clone());
    // When an operator declares the set on its own, and when for another deployment
    for deployment in [None, Some(name("store"))] {
        let wanted = SetSpec { deployment, ..set_of(5) };
        let entry = lab.desk.machine_set(set.as_str(), Command::Declare(wanted));
        // Then that is refused, and the set is what its deployment says
        assert_eq!(entry.header.meta.outcome, Outcome::Refused);
        assert_eq!(lab.desk.machine_set_state(set.as_str()).and_then(|set| set.spec.clone()), before);
    }
}
