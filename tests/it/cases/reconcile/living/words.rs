//! How the original's words are read off our state.

use bailiwick::actors::{
    machine::{Event, State, phase, rules::READY},
    ports::{Condition, Healthy, Operation},
    testing::{Asked, Call},
    vocab::{FaultCode, MachinePhase, Outlook},
};
use serde_json::{Value, json};

use super::super::given::{Condition as Told, ConditionStatus};

/// The label that binds a machine to a node there; ours has one agent, which says whose it is.
pub(super) const NODE_LABEL: &str = "node";
/// The annotation with a machine's rank; ours stands in its set.
const PRIORITY: &str = "machinepriority.machine.sapcloud.io";

/// The annotation with what was applied last; ours stands beside the annotations.
const RECORD: &str = "node.machine.sapcloud.io/last-applied-anno-labels-taints";

/// What the original records that ours has nothing for, and where ours says the same.
pub(super) const NOT_OURS: [(&str, &str); 8] = [
    ("timeout_active", "a time-out is a time of its own: `health.until`"),
    ("last_known_state", "informative for a design without it"),
    ("bootstrap_secrets", "a token is drawn for every instance and kept by the node, under no name"),
    ("node", "there is no record of a node that we could write: the agent has it"),
    ("trace", "calls are compared by themselves; writes of nodes are the agent's, of secrets the node's"),
    ("node_label", "there is no such label"),
    ("retry", "only how long is compared"),
    ("error", "the outcome says it"),
];

/// How the original calls what we ask a provider.
const CALLS: [(Asked, &str); 4] = [
    (Asked::Lookup, "GetMachineStatus"),
    (Asked::List, "ListMachines"),
    (Asked::Operation(Operation::CreateMachine), "CreateMachine"),
    (Asked::Operation(Operation::DeleteMachine), "DeleteMachine"),
];

/// The original's next step of a removal, and what comes next here. Whether the instance is there is asked only in doubt, a
/// node object and a finalizer are not there.
pub(super) const STEPS: [(&str, &[&str]); 5] = [
    ("get_vm_status", &["drain", "delete_vm"]),
    ("drain", &["drain"]),
    ("delete_vm", &["delete_vm"]),
    ("delete_node", &["gone"]),
    ("remove_finalizer", &["gone"]),
];

/// The call that removes an instance.
pub(super) fn deletes() -> Asked {
    Asked::Operation(Operation::DeleteMachine)
}

/// The conditions that are watched by themselves, beside readiness.
const TROUBLES: [&str; 4] = ["KernelDeadlock", "ReadonlyFilesystem", "DiskPressure", "NetworkUnavailable"];

/// What an agent says of a node with which nothing is wrong.
pub(super) fn all_well() -> Vec<Condition> {
    let condition = |kind: &str| Condition { kind: kind.into(), healthy: Healthy::Yes, text: String::new() };
    std::iter::once(READY).chain(TROUBLES).map(condition).collect()
}

/// A condition as an agent tells it: whether it is as it should be. Readiness is named after the good, all else after a
/// trouble.
pub(super) fn condition(told: &Told) -> Condition {
    let healthy = match (told.status, told.r#type == READY) {
        (ConditionStatus::Unknown, _) => Healthy::Unknown,
        (ConditionStatus::True, true) | (ConditionStatus::False, false) => Healthy::Yes,
        (ConditionStatus::True, false) | (ConditionStatus::False, true) => Healthy::No,
    };
    Condition { kind: told.r#type.clone(), healthy, text: told.reason.clone() }
}

/// The same back: its status.
pub(super) fn status(condition: &Condition) -> &'static str {
    match (condition.healthy, condition.kind == READY) {
        (Healthy::Unknown, _) => "Unknown",
        (Healthy::Yes, true) | (Healthy::No, false) => "True",
        (Healthy::Yes, false) | (Healthy::No, true) => "False",
    }
}

/// The phase after a pass in which this happened. Who is given up is Failed there until it is deleted, which is one step
/// here.
pub(super) fn phase_after(state: &State, happened: &[Event]) -> MachinePhase {
    let is_given_up = happened.iter().any(|event| matches!(event, Event::GivenUp { .. }));
    if is_given_up { MachinePhase::Failed } else { phase(state) }
}

/// What a pass came to: something was refused or has failed, something moved, or nothing.
pub(super) fn outcome(is_withheld: bool, happened: &[Event]) -> &'static str {
    let has_failed = |event: &Event| {
        matches!(
            event,
            Event::CreateRetryScheduled { .. }
                | Event::CreateGivenUp { .. }
                | Event::DeleteRetryScheduled { .. }
                | Event::DeleteGivenUp { .. }
        )
    };
    match () {
        () if is_withheld || happened.iter().any(has_failed) => "failed",
        () if happened.is_empty() => "settled",
        () => "progressed",
    }
}

/// The calls of a pass. Whether something is there is asked only after an attempt that may have begun.
pub(super) fn calls(made: &[Call]) -> Vec<&'static str> {
    let called =
        |call: &Call| CALLS.iter().find(|(asked, _)| *asked == call.asked).map_or("another call", |(_, it)| it);
    made.iter().map(called).collect()
}

/// What is expected of them: without the question that a first attempt does not ask.
pub(super) fn expected_calls(expected: &Value, made: &[Call]) -> Value {
    let asks = made.iter().any(|call| call.attempt > 1 || call.asked == Asked::Lookup);
    let list = expected.as_array().into_iter().flatten();
    list.filter(|call| asks || *call != "GetMachineStatus").cloned().collect()
}

/// Labels and annotations without those that only the original's own machinery reads.
pub(super) fn of_users(map: &Value) -> Value {
    let fields = map.as_object().into_iter().flatten();
    fields
        .filter(|(key, _)| ![NODE_LABEL, PRIORITY, RECORD].contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The last operation: whether it failed, and with which code.
pub(super) fn operation(state: &State, happened: &[Event]) -> (bool, Option<FaultCode>) {
    let fault = state.effort().and_then(|effort| match &effort.outlook {
        Outlook::Waiting { fault, .. } | Outlook::GivenUp { fault, .. } => Some(fault.code),
        Outlook::Trying => None,
    });
    let is_given_up = happened.iter().any(|event| matches!(event, Event::GivenUp { .. }));
    (is_given_up || fault.is_some(), fault)
}

/// What a user's data is with a token in its place, whatever the token: `boot 616263.****************`.
pub(super) fn user_data(told: &Value) -> Value {
    let Some(text) = told.as_str() else { return Value::Null };
    let secret = format!(".{}", "*".repeat(16));
    let parts: Vec<&str> = text.split(&secret).collect();
    let last = parts.len() - 1;
    let without_id = |(at, part): (usize, &&str)| {
        if at < last { format!("{}TOKEN", &part[..part.len() - 6]) } else { (*part).to_owned() }
    };
    json!(parts.iter().enumerate().map(without_id).collect::<String>())
}

/// Phases that follow one another: each once, without the blank one, which has nothing to show.
pub(super) fn in_turn(mut phases: Vec<String>) -> Vec<String> {
    phases.retain(|phase| !phase.is_empty());
    phases.dedup();
    phases
}
