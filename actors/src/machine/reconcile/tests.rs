//! What the executed cases do not reach: restarts in the middle of a pass, late reports, and what is better than the
//! original without being one value.

use bailiwick_journal::Version;

use super::{
    Answered, CallError, Cleanup, Command, Created, Decision, Effect, Event, Facts, Found, Import, Life, NodeSeen,
    Operation, Reason, Record, Rejection, RemovalStep, Report, Retry, Scope, Seen, State, decide, last_operation,
    phase,
};
use crate::{
    machine::{
        drain,
        rules::{
            ConditionStatus, NodeCondition, Taint, TaintEffect,
            budget::BudgetView,
            class::{ClassSeen, MachineClass},
            removal::RemovalReason,
            token::TokenId,
        },
    },
    policy::{Document, Reconciliation},
    vocab::{FaultCode, MachinePhase, Timestamp},
};

const NOW: Timestamp = Timestamp(100_000_000);

/// A machine with its history.
struct Machine {
    policy: Reconciliation,
    state: State,
    events: Vec<Event>,
    now: Timestamp,
}

fn import(name: &str, phase: MachinePhase) -> Import {
    let record = Record {
        name: name.to_owned(),
        created: NOW,
        class_kind: "MachineClass".to_owned(),
        class: "small".to_owned(),
        is_held: true,
        ..Record::default()
    };
    let operation = Operation::default();
    Import { record, phase, phase_since: NOW, operation, next_step: None, removal: None }
}

fn seen(token: &str) -> Seen {
    let class = MachineClass { name: "small".to_owned(), is_kept: true, ..MachineClass::default() };
    Seen {
        is_frozen: false,
        class: ClassSeen::Found(Box::new(class)),
        has_user_data: true,
        has_token: false,
        drawn_token: Some(TokenId(token.to_owned())),
        node: None,
        budget: BudgetView::default(),
    }
}

fn healthy_node(name: &str) -> NodeSeen {
    let ready = NodeCondition {
        kind: NodeCondition::READY.to_owned(),
        status: ConditionStatus::True,
        since: NOW,
        reason: String::new(),
        message: String::new(),
    };
    NodeSeen { name: name.to_owned(), conditions: vec![ready], ..NodeSeen::default() }
}

fn error(code: FaultCode) -> CallError {
    CallError { code: Some(code), text: code.to_string() }
}

fn created(provider_id: &str, is_node_known: bool) -> Report {
    let created = Created { provider_id: provider_id.to_owned(), node: "node-1".to_owned(), is_node_known };
    Report::Created { result: Ok(created), last_known_state: String::new() }
}

impl Machine {
    fn new(import: Import) -> Self {
        let policy = Reconciliation::default();
        let mut machine = Self { policy, state: State::default(), events: Vec::new(), now: NOW };
        machine.command(&Command::Import(Box::new(import)));
        machine
    }

    fn decide(&self, command: &Command) -> Result<Decision, Rejection> {
        let next = Version(self.events.len() as u64 + 1);
        decide(&self.state, command, &Facts { now: self.now, policy: &self.policy, next })
    }

    fn command(&mut self, command: &Command) -> Reason {
        let decision = self.decide(command).expect("it is there");
        for event in decision.events {
            self.state.evolve(Version(self.events.len() as u64 + 1), &event);
            self.events.push(event);
        }
        assert_eq!(after(&self.events), self.state, "a reload gives the same state");
        decision.reason
    }

    fn reconcile(&mut self, seen: Seen) -> Reason {
        self.command(&Command::Reconcile { scope: Scope::Whole, seen: Box::new(seen) })
    }

    fn report(&mut self, report: Report) -> Reason {
        let pass = self.state.pass.as_ref().map(|pass| pass.id).unwrap_or_default();
        self.command(&Command::Report { pass, report })
    }

    /// What is owed beside waiting.
    fn calls(&self) -> Vec<Effect> {
        let is_call = |effect: &Effect| !matches!(effect, Effect::PassAt { .. } | Effect::RecheckAt { .. });
        self.state.pending().into_iter().filter(is_call).collect()
    }

    /// Up to the making of its instance.
    fn creating(name: &str, token: &str) -> Self {
        let mut machine = Self::new(import(name, MachinePhase::Blank));
        assert_eq!(machine.reconcile(seen(token)), Reason::Waiting);
        machine.report(Report::TokenCreated(Answered::Ok));
        machine.report(Report::Status(Err(error(FaultCode::NotFound))));
        machine
    }
}

fn after(events: &[Event]) -> State {
    let mut state = State::default();
    for (event, version) in events.iter().zip(1..) {
        state.evolve(Version(version), event);
    }
    state
}

#[test]
fn each_machine_keeps_the_token_that_was_drawn_for_it() {
    let one = Machine::creating("m-pool-z1-abcde", "0a0a0a");
    let other = Machine::creating("m-pool-z1-abcxy", "0b0b0b");
    assert_eq!(one.state.record.token, Some(TokenId("0a0a0a".to_owned())));
    assert_eq!(other.state.record.token, Some(TokenId("0b0b0b".to_owned())));
    let [Effect::CreateMachine { token, .. }] = &one.calls()[..] else { panic!("{:?}", one.calls()) };
    assert_eq!(token.0, "0a0a0a");
}

#[test]
fn a_token_once_kept_is_used_again_and_dropped_when_it_has_joined() {
    let mut machine = Machine::creating("m", "0a0a0a");
    machine.report(created("vm-1", false));
    assert_eq!(machine.reconcile(Seen { has_token: true, ..seen("ffffff") }), Reason::Waiting);
    machine.report(Report::Status(Ok(Found { provider_id: "vm-1".to_owned(), node: "node-1".to_owned() })));
    assert_eq!(phase(&machine.state), MachinePhase::Pending);
    machine.reconcile(Seen { node: Some(healthy_node("node-1")), ..seen("ffffff") });
    assert_eq!(machine.calls(), [Effect::DropToken { id: TokenId("0a0a0a".to_owned()) }]);
    assert_eq!(machine.report(Report::TokenDropped(Answered::Failed)), Reason::Joined, "an unused token expires");
}

#[test]
fn a_restart_in_the_middle_of_a_pass_owes_the_same() {
    let machine = Machine::creating("m", "0a0a0a");
    let restarted = after(&machine.events);
    assert_eq!(restarted.pending(), machine.state.pending());
    assert!(matches!(machine.calls()[..], [Effect::CreateMachine { .. }]));
}

#[test]
fn all_attempts_at_an_instance_share_their_intent() {
    let mut machine = Machine::creating("m", "0a0a0a");
    let first = machine.calls();
    let failed = Report::Created { result: Err(error(FaultCode::Unavailable)), last_known_state: String::new() };
    assert_eq!(machine.report(failed), Reason::CreateFailed);
    machine.reconcile(Seen { has_token: true, ..seen("0a0a0a") });
    machine.report(Report::Status(Err(error(FaultCode::NotFound))));
    assert_eq!(machine.calls(), first);
}

#[test]
fn what_cannot_be_recorded_has_not_happened() {
    let mut machine = Machine::creating("m", "0a0a0a");
    let pass = machine.state.pass.as_ref().expect("it waits").id;
    let report = Command::Report { pass, report: created("vm-1", false) };
    let before = machine.state.clone();
    let lost = machine.decide(&report).expect("it is there");
    assert_eq!(machine.state, before, "a decision that was not appended leaves no trace");
    assert_eq!(machine.decide(&report).expect("it is there"), lost);
    assert_eq!(machine.command(&report), Reason::Labelled);
}

#[test]
fn a_late_report_means_nothing_to_the_next_pass() {
    let mut machine = Machine::creating("m", "0a0a0a");
    let late = machine.state.pass.as_ref().expect("it waits").id;
    machine
        .report(Report::Created { result: Err(error(FaultCode::DeadlineExceeded)), last_known_state: String::new() });
    machine.reconcile(Seen { has_token: true, ..seen("0a0a0a") });
    machine.report(Report::Status(Err(error(FaultCode::NotFound))));
    let report = created("vm-late", false);
    assert_eq!(machine.command(&Command::Report { pass: late, report }), Reason::StaleReport);
    assert_eq!(machine.report(Report::NodeWritten(Answered::Ok)), Reason::StaleReport, "nobody has asked for that");
    assert!(matches!(machine.calls()[..], [Effect::CreateMachine { .. }]));
}

#[test]
fn an_instance_with_anothers_node_is_removed_until_the_provider_confirms_it() {
    let mut machine = Machine::creating("m", "0a0a0a");
    machine.report(created("vm-1", true));
    let clean_up = Effect::CleanUp { provider_id: "vm-1".to_owned() };
    assert_eq!(machine.calls(), std::slice::from_ref(&clean_up));
    let cleaned_up = |result| Report::CleanedUp { provider_id: "vm-1".to_owned(), result };
    assert_eq!(machine.report(cleaned_up(Err(error(FaultCode::Internal)))), Reason::CleanupFailed);
    assert!(matches!(machine.state.cleanups["vm-1"], Cleanup::Waiting(_)));
    assert_eq!(machine.calls(), [], "not before the next pass");
    machine.reconcile(Seen { has_token: true, ..seen("0a0a0a") });
    assert!(machine.calls().contains(&clean_up));
    assert_eq!(machine.report(cleaned_up(Ok(()))), Reason::StaleNode);
    assert!(machine.state.pass.is_some(), "the pass goes its own way");
    assert_eq!(machine.state.open_cleanups().count(), 0);
}

#[test]
fn a_removal_can_be_forced_later_and_never_unforced() {
    let mut machine = Machine::new(import("m", MachinePhase::Running));
    let remove = |force| Command::Remove { reason: Some(RemovalReason::Unhealthy), force };
    assert_eq!(machine.command(&remove(false)), Reason::RemovalAsked);
    machine.now = NOW.after(5_000);
    assert_eq!(machine.command(&remove(true)), Reason::RemovalAsked);
    assert_eq!(machine.command(&remove(false)), Reason::AlreadyGoing);
    let removal = machine.state.removal().copied().expect("it goes");
    assert_eq!((removal.asked, removal.force), (NOW, true));
}

/// From the request to the end, with everything that is asked of the world on the way.
#[test]
fn a_removal_asks_drains_deletes_and_lets_go() {
    let mut import = import("m", MachinePhase::Running);
    import.record.provider_id = "vm-1".to_owned();
    import.record.labels.insert(State::NODE_LABEL.to_owned(), "node-1".to_owned());
    let mut machine = Machine::new(import);
    machine.command(&Command::Remove { reason: Some(RemovalReason::Unhealthy), force: false });
    let mut asked = Vec::new();
    while machine.state.life != Life::Gone {
        machine.reconcile(Seen { node: Some(healthy_node("node-1")), ..seen("0a0a0a") });
        while let Some(effect) = machine.calls().into_iter().next() {
            machine.report(match &effect {
                Effect::GetMachineStatus => {
                    Report::Status(Ok(Found { provider_id: "vm-1".to_owned(), node: "node-1".to_owned() }))
                }
                Effect::MarkNode { reason: RemovalReason::Unhealthy, .. } => Report::NodeMarked(Answered::Ok),
                Effect::Drain { effect: drain::Effect::Cordon, .. } => Report::Drain(drain::Report::Cordoned),
                Effect::Drain { effect: drain::Effect::List, .. } => Report::Drain(drain::Report::Pods(Vec::new())),
                Effect::DeleteMachine { .. } => Report::Deleted { result: Ok(()), last_known_state: String::new() },
                Effect::DeleteNode { .. } => Report::NodeDeleted(Answered::Ok),
                other => panic!("nobody has to {other:?}"),
            });
            asked.push(effect);
        }
    }
    assert_eq!(asked.len(), 6, "{asked:?}");
    assert_eq!(machine.decide(&Command::Remove { reason: None, force: false }), Err(Rejection::NoSuchMachine));
}

#[test]
fn a_drain_with_pods_waits_inside_its_step() {
    let mut import = import("m", MachinePhase::Terminating);
    import.record.labels.insert(State::NODE_LABEL.to_owned(), "node-1".to_owned());
    import.next_step = Some(RemovalStep::Drain);
    let mut machine = Machine::new(import);
    machine.command(&Command::Remove { reason: None, force: false });
    machine.reconcile(Seen { node: Some(healthy_node("node-1")), ..seen("0a0a0a") });
    machine.report(Report::NodeMarked(Answered::Ok));
    machine.report(Report::Drain(drain::Report::Cordoned));
    let pod = drain::Pod {
        name: "p".to_owned(),
        priority: 0,
        owner: drain::PodOwner::Other,
        grace_ms: 0,
        volumes: Vec::new(),
    };
    machine.report(Report::Drain(drain::Report::Pods(vec![pod])));
    let told = |answer| drain::Report::Told { pod: "p".to_owned(), how: drain::How::Evict, answer };
    machine.report(Report::Drain(told(drain::Answer::Accepted)));
    machine.now = NOW.after(30_000);
    assert_eq!(machine.report(Report::DrainDue), Reason::DrainFailed, "it stays longer than it may");
    assert_eq!(machine.state.next_pass, Some((Retry::Short, machine.now.after(15_000))));
}

#[test]
fn a_node_without_its_critical_components_lets_no_machine_run() {
    let taint = Taint {
        key: "node.gardener.cloud/critical-components-not-ready".to_owned(),
        value: String::new(),
        effect: TaintEffect::NoSchedule,
    };
    let node = NodeSeen { taints: vec![taint], ..healthy_node("node-1") };
    let mut import = import("m", MachinePhase::Unknown);
    import.record.labels.insert(State::NODE_LABEL.to_owned(), "node-1".to_owned());
    import.record.conditions.clone_from(&node.conditions);
    let mut machine = Machine::new(import);
    let reconcile =
        Command::Reconcile { scope: Scope::Health, seen: Box::new(Seen { node: Some(node), ..seen("0a0a0a") }) };
    assert_eq!(machine.command(&reconcile), Reason::NotYetTimedOut);
    machine.policy = Reconciliation::gardener_0_49();
    assert_eq!(machine.command(&reconcile), Reason::Rejoined);
}

#[test]
fn a_machine_without_user_data_or_class_is_not_made() {
    let mut machine = Machine::new(import("m", MachinePhase::Blank));
    assert_eq!(machine.reconcile(Seen { has_user_data: false, ..seen("0a0a0a") }), Reason::NoUserData);
    assert_eq!(machine.reconcile(Seen { drawn_token: None, ..seen("0a0a0a") }), Reason::NoTokenDrawn);
    for (kind, class) in [("", "small"), ("MachineClass", "")] {
        let mut blank = import("m", MachinePhase::Blank);
        (blank.record.class_kind, blank.record.class) = (kind.to_owned(), class.to_owned());
        assert_eq!(Machine::new(blank).reconcile(seen("0a0a0a")), Reason::NoClassNamed);
    }
}

#[test]
fn a_node_label_is_a_proof_or_a_hint() {
    let mut import = import("m", MachinePhase::Blank);
    import.record.labels.insert(State::NODE_LABEL.to_owned(), "node-1".to_owned());
    for (policy, expected) in [("default", Reason::Waiting), ("gardener-0.49", Reason::Labelled)] {
        let mut machine = Machine::new(import.clone());
        machine.policy = Document::named(policy).expect("a policy of ours").reconciliation;
        machine.reconcile(Seen { has_token: true, ..seen("0a0a0a") });
        assert_eq!(machine.report(Report::Status(Err(error(FaultCode::NotFound)))), expected, "{policy}");
    }
}

#[test]
fn an_instance_that_was_gone_already_is_as_good_as_deleted() {
    let mut import = import("m", MachinePhase::Terminating);
    import.next_step = Some(RemovalStep::DeleteVm);
    let mut machine = Machine::new(import);
    machine.command(&Command::Remove { reason: None, force: false });
    machine.reconcile(seen("0a0a0a"));
    let gone = Report::Deleted { result: Err(error(FaultCode::NotFound)), last_known_state: String::new() };
    assert_eq!(machine.report(gone), Reason::VmMissing);
    assert_eq!(last_operation(&machine.state).next_step, Some(RemovalStep::DeleteNode));
}

/// What goes wrong with its node does not keep a machine's template from being looked at in the same pass.
#[test]
fn a_machine_that_is_given_up_is_looked_at_again_late() {
    let mut import = import("m", MachinePhase::Unknown);
    import.record.provider_id = "vm-1".to_owned();
    import.record.labels.insert(State::NODE_LABEL.to_owned(), "node-1".to_owned());
    let mut machine = Machine::new(import);
    machine.now = NOW.after(600_001);
    assert_eq!(machine.reconcile(seen("0a0a0a")), Reason::HealthTimedOut);
    assert_eq!(phase(&machine.state), MachinePhase::Failed);
    assert_eq!(machine.state.next_pass, Some((Retry::Long, machine.now.after(600_000))));
}

#[test]
fn a_pass_with_nothing_to_do_leaves_one_event_and_no_old_recheck() {
    let mut machine = Machine::new(import("m", MachinePhase::Pending));
    machine.command(&Command::Reconcile { scope: Scope::Health, seen: Box::new(seen("0a0a0a")) });
    assert_eq!(machine.state.recheck, Some(NOW.after(60_000)));
    let before = machine.events.len();
    machine.now = NOW.after(60_000);
    machine.command(&Command::Reconcile { scope: Scope::Sync, seen: Box::new(seen("0a0a0a")) });
    assert!(matches!(machine.events[before..], [Event::PassEnded { recheck: None, .. }]), "{:?}", machine.events);
    assert_eq!(machine.state.recheck, None, "what was due has been looked at");
}

#[test]
fn every_phase_is_taken_apart_and_put_together_again() {
    for given in MachinePhase::ALL {
        assert_eq!(phase(&Machine::new(import("m", given)).state), given);
    }
}

#[test]
fn a_machine_is_taken_over_once() {
    let machine = Machine::new(import("m", MachinePhase::Running));
    let again = Command::Import(Box::new(import("m", MachinePhase::Blank)));
    assert_eq!(machine.decide(&again), Err(Rejection::Exists));
    let nobody = decide(
        &State::default(),
        &Command::Remove { reason: None, force: false },
        &Facts { now: NOW, policy: &machine.policy, next: Version(1) },
    );
    assert_eq!(nobody, Err(Rejection::NoSuchMachine));
}
