//! What cases that are not among those here are about, put to the living node by hand.

use bailiwick::actors::{
    machine::{Instance, State},
    policy::Document,
    ports::{MachineInstance, Operation},
    testing::{Answer, Asked, name},
    vocab::{EffectId, FaultCode, InstanceId, Outlook, Timestamp},
};

use crate::cases::lab::Lab;

const MACHINE: &str = "m";

/// A machine of this policy, with an instance whose agent has not joined yet.
fn joining(policy: &str) -> Lab {
    let mut lab = Lab::new(Document::named(policy).expect("a policy of ours"));
    lab.declare(MACHINE, |_| ());
    lab.desk.settle();
    lab
}

fn running(state: &State) -> Option<EffectId> {
    state.running_effect()
}

/// How often its provider was asked to do this.
fn asked(lab: &Lab, what: Asked) -> usize {
    lab.desk.provider.calls.iter().filter(|call| call.asked == what && call.stream.is_some()).count()
}

#[test]
fn an_instance_that_is_gone_before_its_node_joined_is_made_again() {
    let creates = Asked::Operation(Operation::CreateMachine);
    // Its provider's list does not have it any more.
    let mut lab = joining("default");
    let first = running(&lab.state(MACHINE)).expect("it runs");
    lab.desk.provider.instances.clear();
    for _ in 0..3 {
        lab.search();
    }
    let second = running(&lab.state(MACHINE)).expect("it runs again");
    assert!(first != second && asked(&lab, creates) == 2, "another one, under another id");
    // Where no list is believed, the time in which it had to join ends that.
    let mut lab = joining("gardener-0.49");
    let first = running(&lab.state(MACHINE)).expect("it runs");
    lab.desk.provider.instances.clear();
    lab.search();
    assert_eq!(running(&lab.state(MACHINE)), Some(first), "nobody has noticed");
    lab.run_until(lab.desk.now.after(1_300_000));
    let second = running(&lab.state(MACHINE)).expect("it runs again");
    assert!(first != second && asked(&lab, creates) == 2, "another one, under another id");
}

#[test]
fn an_answer_about_no_machine_of_ours_is_internal_tried_again_later_and_loses_no_instance() {
    let mut lab = Lab::new(Document::named("gardener-0.49").expect("a policy of ours"));
    let mut other = None;
    // The provider has made it, and says it is somebody else's: it is known by the id that it was made under.
    lab.creates(MACHINE, [Answer::Late]);
    lab.declare(MACHINE, |_| ());
    lab.desk.settle();
    if let Some(effect) = lab.desk.provider.calls.iter().find_map(|call| call.effect) {
        let made = |machine: &str| MachineInstance {
            effect,
            instance: InstanceId("i-7".into()),
            machine: name(machine),
            facts: Default::default(),
            status: bailiwick::actors::ports::InstanceStatus::Running,
        };
        lab.creates(MACHINE, [Answer::Instance(Box::new(made("other")))]);
        other = Some(made(MACHINE));
    }
    let own = other.expect("its provider was asked");
    lab.desk.settle();
    let state = lab.state(MACHINE);
    let Some(Outlook::Waiting { until, fault }) = state.effort().map(|effort| effort.outlook.clone()) else {
        panic!("{state:?}");
    };
    assert_eq!((fault.code, until), (FaultCode::Internal, lab.desk.now.after(180_000)), "the medium wait");
    assert!(fault.text.contains("i-7"), "what the provider calls it is told: {fault}");
    // Asked by the same id, it finds the same instance, and makes no other.
    lab.desk.provider.instances.insert(own.effect, own);
    lab.run_until(Timestamp(until.0 + 1));
    let state = lab.state(MACHINE);
    let Instance::Running { instance, .. } = &state.instance else { panic!("{state:?}") };
    assert_eq!(instance.instance, InstanceId("i-7".into()));
    assert_eq!(asked(&lab, Asked::Operation(Operation::CreateMachine)), 1);
    assert_eq!(asked(&lab, Asked::Lookup), 1);
}
