//! Machine sets.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick::actors::{
    contract::{Decider, Facts, NoView},
    machine,
    machine_set::{
        self, Change, FailureReason, Member, Plan, SetSeen, SlowStart, Spec,
        pass::{Command, Effect, Event, State, decide},
    },
    policy::Document,
    vocab::{MachinePhase, Timestamp},
};
use bailiwick_journal::Version;
use serde_json::{Value, json};
use uuid::Uuid;

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
            is_protected: false,
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
    let set = SetSeen {
        replicas: set.replicas,
        is_frozen: set.frozen,
        is_cut_off: false,
        is_going: set.deleted_age_s.is_some(),
    };
    let fail_from = given.params.create_error.as_ref().map(|_| given.params.create_error_from_call.unwrap_or(1));
    let mut calls = Calls { made: 0, succeeded: 0, fail_from };
    let mut phases: BTreeMap<String, MachinePhase> =
        members.iter().map(|member| (member.name.clone(), member.phase)).collect();
    let mut state = State::default();
    let mut accepted = Vec::new();
    let mut ended = None;
    let mut command = Command::Begin(machine_set::plan(&set, &members));
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

/// The set has been through a pass that failed as the case says, and then through the one that its machines ask for.
pub(super) fn status(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let [set] = &given.sets[..] else { return Err("it gives no single set".to_owned()) };
    let members = members(&given)?;
    let mut state = machine_set::State::default();
    let template = Arc::new(machine::Spec::with_provider("case".parse().map_err(|error| format!("{error}"))?));
    let spec = Spec {
        replicas: u32::try_from(set.replicas).map_err(|error| error.to_string())?,
        template,
        priorities: BTreeMap::new(),
        deployment: None,
    };
    state.evolve(Version(1), &machine_set::Event::Declared { spec });
    let failed = match set.replica_failure.as_deref() {
        None => Change::Nothing,
        Some("FailedCreate") => Change::Create(1),
        Some("FailedDelete") => Change::Remove(vec!["x".to_owned()]),
        Some(other) => return Err(format!("there is no reason {other:?}")),
    };
    go_through(&mut state, Plan { stale: Vec::new(), change: failed }, false);
    let seen = SetSeen { replicas: set.replicas, is_frozen: false, is_cut_off: false, is_going: false };
    go_through(&mut state, machine_set::plan(&seen, &members), given.params.error.is_none());
    let status = machine_set::status(&state, &members);
    expect.same("replicas", status.replicas)?;
    expect.same("fully_labeled", status.fully_labelled)?;
    expect.same("ready", status.ready)?;
    expect.same("available", status.available)?;
    expect.same_set("failed_machines", json!(status.failed))?;
    let condition = |reason: FailureReason| format!("ReplicaFailure=True:{}", reason.as_str());
    expect.same_set("conditions", json!(status.failure.into_iter().map(condition).collect::<Vec<_>>()))?;
    expect.done()
}

/// A pass from its beginning to its end: everything that it asks for is taken, or nothing is. Then the set rests for as long
/// as it has to.
fn go_through(state: &mut machine_set::State, plan: Plan, is_taken: bool) {
    if let Some(until) = state.rests_until {
        ask(state, &machine_set::Command::Wake { due: until }, until);
    }
    let names = match &plan.change {
        Change::Create(count) => (1..=*count).map(|number| format!("x-{number}").parse().expect("a name")).collect(),
        Change::Nothing | Change::HeldByFreeze | Change::Remove(_) => Vec::new(),
    };
    ask(state, &machine_set::Command::BeginPass { plan, names }, Timestamp(1));
    while !state.is_at_rest() {
        let told = state.to_go().into_iter().map(|name| (name.parse().expect("a name"), is_taken)).collect();
        let failed = if is_taken { 0 } else { state.batch().len() };
        let command = match state.batch() {
            [] => machine_set::Command::ReportRemovals { told },
            _ => machine_set::Command::ReportBatch { failed: u32::try_from(failed).expect("few") },
        };
        ask(state, &command, Timestamp(1));
    }
}

fn ask(state: &mut machine_set::State, command: &machine_set::Command, now: Timestamp) {
    let (stream, policy) = ("machine-set/case".parse().expect("a stream"), Document::default());
    let facts = Facts { stream: &stream, next: Version(2), now, policy: &policy, view: &NoView, journal: Uuid::nil() };
    let decision = state.decide(command, &facts).expect("it is not refused");
    decision.events.iter().for_each(|event| state.evolve(Version(2), event));
}
