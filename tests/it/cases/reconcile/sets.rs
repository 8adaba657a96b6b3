//! Machine sets.

use std::collections::BTreeMap;

use bailiwick::actors::{
    machine_set::{
        self, Failure, FailureReason, Member, SetSeen, SlowStart,
        pass::{Command, Effect, Event, State, decide},
    },
    vocab::MachinePhase,
};
use serde_json::{Value, json};

use super::{
    given::{self, Given, ago},
    read,
};

fn members(given: &Given) -> Result<Vec<Member>, String> {
    let member = |member: &given::Member| {
        Ok(Member {
            name: member.name.clone(),
            phase: given::phase(&member.phase)?,
            priority: member.priority.clone(),
            created: ago(member.created_age_s),
            is_going: member.deleted_age_s.is_some(),
            has_failed_operation: member.op_state == "Failed",
            has_template_labels: member.labels.is_none(),
        })
    };
    given.machines.iter().map(member).collect()
}

fn names(members: &[&Member]) -> Value {
    members.iter().map(|member| member.name.as_str()).collect()
}

pub(super) fn rank(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    expect.same("order", names(&machine_set::ranked(&members(&given)?)))?;
    expect.done()
}

pub(super) fn pick(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let count = given.params.count.ok_or("how many?")?;
    expect.same("deleted", names(&machine_set::pick(&members(&given)?, count)))?;
    expect.done()
}

pub(super) fn active(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let [member] = &members(&given)?[..] else { return Err("it gives no single machine".to_owned()) };
    expect.same("active", member.is_active())?;
    expect.same("ready", member.is_ready())?;
    expect.same("available", member.is_available())?;
    expect.same("failed", member.is_failed())?;
    expect.done()
}

/// Calls that fail from one number on, counted from 1.
struct Calls {
    made: usize,
    succeeded: usize,
    fail_from: Option<usize>,
}

impl Calls {
    /// Makes a batch whole; answers how many failed.
    fn batch(&mut self, count: usize) -> usize {
        let numbers = self.made + 1..=self.made + count;
        let failed = numbers.filter(|number| self.fail_from.is_some_and(|from| *number >= from)).count();
        self.made += count;
        self.succeeded += count - failed;
        failed
    }
}

pub(super) fn slow_start(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let params = &given.params;
    let mut start = SlowStart::new(params.count.ok_or("how many?")?, params.initial.ok_or("how many first?")?);
    let mut calls = Calls { made: 0, succeeded: 0, fail_from: params.fail_from_call };
    let mut failed = 0;
    while start.batch() > 0 {
        let now = calls.batch(start.batch());
        failed += now;
        start = start.after(now);
    }
    expect.same("calls", calls.made)?;
    expect.same("successes", calls.succeeded)?;
    expect.error("error_present", failed > 0)?;
    expect.done()
}

pub(super) fn replicas(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let [set] = &given.sets[..] else { return Err("it gives no single set".to_owned()) };
    let members = members(&given)?;
    let set = SetSeen { replicas: set.replicas, is_frozen: set.frozen, is_going: set.deleted_age_s.is_some() };
    let fail_from = given.params.create_error.as_ref().map(|_| given.params.create_error_from_call.unwrap_or(1));
    let mut calls = Calls { made: 0, succeeded: 0, fail_from };
    let mut phases: BTreeMap<String, MachinePhase> =
        members.iter().map(|member| (member.name.clone(), member.phase)).collect();
    let mut state = State::default();
    let mut accepted = Vec::new();
    let mut ended = None;
    let mut command = Command::Reconcile { set, members };
    loop {
        for event in decide(&state, &command) {
            state.evolve(&event);
            match event {
                Event::RemovalAccepted { name } => {
                    phases.insert(name.clone(), MachinePhase::Terminating);
                    accepted.push(name);
                }
                Event::PassEnded { has_failed } => ended = Some(has_failed),
                _ => (),
            }
        }
        let Some(effect) = state.pending().into_iter().next() else { break };
        command = match effect {
            Effect::Remove { name } => {
                Command::ReportRemoval { name, is_accepted: given.params.delete_error.is_none() }
            }
            Effect::Create { count } => Command::ReportBatch { failed: calls.batch(count) },
        };
    }
    let has_failed = ended.ok_or("the pass has no end")?;
    expect.same("created", calls.succeeded)?;
    expect.same("create_calls", calls.made)?;
    expect.same_set("delete_requested", json!(accepted))?;
    if let Some(expected) = expect.take("phases_left") {
        for (name, expected) in expected.as_object().ok_or("phases_left is no map")? {
            let got = phases.get(name).map(|phase| phase.as_str());
            super::expect::differ(&format!("phases_left.{name}"), expected, &json!(got))?;
        }
    }
    expect.error("error_present", has_failed)?;
    expect.error("error", has_failed)?;
    expect.done()
}

pub(super) fn status(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let [set] = &given.sets[..] else { return Err("it gives no single set".to_owned()) };
    let reason = match set.replica_failure.as_deref() {
        None => None,
        Some("FailedCreate") => Some(FailureReason::FailedCreate),
        Some("FailedDelete") => Some(FailureReason::FailedDelete),
        Some(other) => return Err(format!("there is no reason {other:?}")),
    };
    let before = reason.map(|reason| Failure { reason: Some(reason) });
    let status = machine_set::status(set.replicas, &members(&given)?, given.params.error.is_some(), before);
    expect.same("replicas", status.replicas)?;
    expect.same("fully_labeled", status.fully_labelled)?;
    expect.same("ready", status.ready)?;
    expect.same("available", status.available)?;
    expect.same_set("failed_machines", json!(status.failed))?;
    let condition =
        |failure: Failure| format!("ReplicaFailure=True:{}", failure.reason.map_or("", FailureReason::as_str));
    expect.same_set("conditions", json!(status.failure.into_iter().map(condition).collect::<Vec<_>>()))?;
    expect.done()
}
