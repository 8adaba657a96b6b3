//! Starts and their retries, one machine or a batch.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    machine::provisioning::{self, Blame, Command, Effect, Event, Phase, Policy, StartFault, State, WorkerState},
    supervisor::machines::pass::{Parked, worth_retrying},
    vocab::{InstanceId, Life, Timestamp},
};
use serde::Deserialize;
use serde_json::Value;

use super::{super::read, life, machine_id, same};

/// One machine that is driven by the answers that a case has in store.
pub(super) struct Driven {
    pub(super) state: State,
    pub(super) policy: Policy,
    pub(super) now: Timestamp,
    pub(super) entered: Vec<WorkerState>,
    pub(super) slots: (usize, usize),
}

impl Driven {
    pub(super) fn new(policy: Policy) -> Self {
        Self { state: State::default(), policy, now: Timestamp(0), entered: Vec::new(), slots: (0, 0) }
    }

    pub(super) fn tell(&mut self, command: &Command) {
        for event in provisioning::decide(&self.state, command, &self.policy, self.now) {
            let held = self.state.phase.holds_slot();
            provisioning::evolve(&mut self.state, &event);
            if let Event::Entered { phase } = &event {
                self.entered.push(phase.worker());
            }
            match (held, self.state.phase.holds_slot()) {
                (false, true) => self.slots.0 += 1,
                (true, false) => self.slots.1 += 1,
                _ => (),
            }
        }
    }

    pub(super) fn owes(&self, effect: &Effect) -> bool {
        provisioning::pending(&self.state).contains(effect)
    }

    /// When the next attempt is due, if it waits for that.
    pub(super) fn due(&self) -> Option<Timestamp> {
        provisioning::pending(&self.state).into_iter().find_map(|effect| match effect {
            Effect::WakeAt(due) => Some(due),
            _ => None,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartRetryCase {
    retry_count: u32,
    retry_delay: u64,
    outcomes: Vec<String>,
    #[serde(default = "ok")]
    record: String,
    #[serde(default = "ok")]
    stop: String,
    worker_stops_at: Option<u64>,
    expect: ExpectedStart,
}

fn ok() -> String {
    "ok".into()
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedStart {
    start_calls_at: Vec<u64>,
    status: String,
    message: String,
    instance_recorded: bool,
    #[serde(default)]
    stop_calls: Vec<String>,
    #[serde(default)]
    orphan_journaled: bool,
}

fn started(outcome: &str, id: &str) -> Result<Command, String> {
    let failed = |may_pass, text: &str| {
        Ok(Command::ReportStartFailed(StartFault { may_pass, blame: Blame::Anything, text: text.into() }))
    };
    match outcome.split_once(':') {
        None if outcome == "ok" => Ok(Command::ReportStarted { instance: InstanceId(format!("i-{id}")) }),
        Some(("retryable", text)) => failed(true, text),
        Some(("fatal", text)) => failed(false, text),
        _ => Err(format!("the runner does not know the outcome {outcome:?}")),
    }
}

pub(super) fn start_retry(case: &Value) -> Result<(), String> {
    let case: StartRetryCase = read(case)?;
    let policy =
        Policy { retries_max: case.retry_count, retry_delay_ms: case.retry_delay * 1_000, ..Policy::juju_2016() };
    let mut machine = Driven::new(policy);
    let mut outcomes = case.outcomes.iter();
    let mut got = ExpectedStart {
        start_calls_at: Vec::new(),
        status: String::new(),
        message: String::new(),
        instance_recorded: false,
        stop_calls: Vec::new(),
        orphan_journaled: false,
    };
    let error = |text: &str| text.strip_prefix("error:").map(str::to_owned);
    machine.tell(&Command::SeeLife(Life::Alive));
    loop {
        let command = match machine.state.phase.clone() {
            Phase::RequestingZone => Command::GrantZone { zone: None, round_is_new: false },
            Phase::Provisioning { .. } => {
                got.start_calls_at.push(machine.now.0 / 1_000);
                started(outcomes.next().ok_or("more starts than outcomes")?, "1")?
            }
            Phase::Registering { .. } => match error(&case.record) {
                None => Command::ReportRecorded,
                Some(text) => Command::ReportRecordFailed { text },
            },
            Phase::RollingBack { instance } => {
                got.stop_calls.push(instance.to_string());
                match error(&case.stop) {
                    None => Command::ReportStopped { instance },
                    Some(text) => Command::ReportStopFailed { instance, text },
                }
            }
            Phase::Pending { .. } => match machine.due() {
                Some(due) if case.worker_stops_at.is_none_or(|stop| due.0 < stop * 1_000) => {
                    machine.now = due;
                    Command::Wake
                }
                _ => break,
            },
            _ => break,
        };
        machine.tell(&command);
    }
    got.status = machine.state.status().into();
    let trouble = machine.state.trouble.as_ref().filter(|_| got.status == "error");
    got.message = trouble.map(|trouble| trouble.problem.text().to_owned()).unwrap_or_default();
    got.instance_recorded = machine.state.instance.is_some();
    got.orphan_journaled = !machine.state.orphans.is_empty();
    same("start", case.expect, got)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransientCase {
    api: String,
    machines: Vec<TransientMachine>,
    expect: ExpectedTransient,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransientMachine {
    id: String,
    status: String,
    #[serde(default)]
    transient: bool,
    instance: Option<String>,
    #[serde(default = "alive")]
    life: String,
    #[serde(default)]
    result_error: bool,
    #[serde(default)]
    set_status_error: bool,
}

fn alive() -> String {
    "alive".into()
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedTransient {
    reset_to_pending_and_started: Vec<String>,
}

pub(super) fn transient_retry(case: &Value) -> Result<(), String> {
    let case: TransientCase = read(case)?;
    let mut parked = Vec::new();
    for machine in case.machines.iter().filter(|machine| case.api == "ok" && !machine.result_error) {
        parked.push(Parked {
            machine: machine_id(&machine.id)?,
            life: life(&machine.life)?,
            is_in_error: machine.status == "error",
            may_pass: machine.transient,
            has_instance: machine.instance.is_some(),
        });
    }
    let refused: BTreeSet<&str> =
        case.machines.iter().filter(|machine| machine.set_status_error).map(|machine| machine.id.as_str()).collect();
    // A machine whose reset cannot be recorded stays as it is; the others do not wait for it.
    let got: Vec<String> = worth_retrying(&parked)
        .iter()
        .map(ToString::to_string)
        .filter(|id| !refused.contains(id.as_str()) && begins_again(id))
        .collect();
    same("reset", case.expect, ExpectedTransient { reset_to_pending_and_started: got })
}

/// A machine that has failed for good starts again when it is told to.
fn begins_again(_: &str) -> bool {
    let mut machine = Driven::new(Policy::juju_2016());
    machine.tell(&Command::SeeLife(Life::Alive));
    machine.tell(&Command::RefuseZone);
    let failed = machine.state.phase == Phase::Error;
    machine.tell(&Command::Retry);
    failed && machine.owes(&Effect::RequestZone)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchCase {
    pending: BTreeSet<String>,
    fails: BTreeMap<String, String>,
    then: Option<String>,
    expect: ExpectedBatch,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedBatch {
    error_status: Option<BTreeSet<String>>,
    started: Option<BTreeSet<String>>,
    machine_2_start_at: Option<u64>,
}

/// What is in store for one machine of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lot {
    Starts,
    Unprepared,
    FailsForGood,
    /// And what has become of it cannot be recorded either.
    FailsForGoodUnrecorded,
    FailsFor30s,
}

pub(super) fn batch_isolation(case: &Value) -> Result<(), String> {
    let case: BatchCase = read(case)?;
    let policy = Policy { retries_max: 3, retry_delay_ms: 10_000, ..Policy::juju_2016() };
    let mut got = ExpectedBatch { error_status: None, started: None, machine_2_start_at: None };
    let (mut in_error, mut has_started) = (BTreeSet::new(), BTreeSet::new());
    for id in &case.pending {
        let lot = match case.fails.get(id).map(String::as_str) {
            None => Lot::Starts,
            Some("provisioning_info" | "instance_config" | "find_tools" | "start_params" | "distribution_group") => {
                Lot::Unprepared
            }
            Some("start_fatal") => Lot::FailsForGood,
            Some("start_fatal+set_status") => Lot::FailsForGoodUnrecorded,
            Some("start_retryable_for_30s") => Lot::FailsFor30s,
            Some(other) => return Err(format!("the runner does not know the step {other:?}")),
        };
        let mut machine = Driven::new(policy.clone());
        let first_start = run_one(&mut machine, lot);
        match case.then.as_deref() {
            None => (),
            // What it is was written down; a restart reads it and goes on from there.
            Some("restart") => drop(run_one(&mut machine, lot)),
            Some(other) => return Err(format!("the runner does not know what {other:?} is")),
        }
        if machine.state.status() == "error" {
            in_error.insert(id.clone());
        }
        if machine.state.instance.is_some() {
            has_started.insert(id.clone());
        }
        if id == "2" {
            got.machine_2_start_at = first_start;
        }
    }
    got.error_status = case.expect.error_status.is_some().then_some(in_error);
    got.started = case.expect.started.is_some().then_some(has_started);
    got.machine_2_start_at = got.machine_2_start_at.filter(|_| case.expect.machine_2_start_at.is_some());
    same("batch", case.expect, got)
}

/// Runs one machine until it waits for nothing; says when it was started first, in seconds.
fn run_one(machine: &mut Driven, lot: Lot) -> Option<u64> {
    let mut first_start = None;
    machine.tell(&Command::SeeLife(Life::Alive));
    loop {
        let command = match machine.state.phase.clone() {
            Phase::RequestingZone if lot == Lot::Unprepared => Command::ReportUnprepared { text: "no".into() },
            Phase::RequestingZone => Command::GrantZone { zone: None, round_is_new: false },
            Phase::Provisioning { .. } => {
                let now_s = machine.now.0 / 1_000;
                first_start.get_or_insert(now_s);
                let fault = |may_pass| StartFault { may_pass, blame: Blame::Anything, text: "no".into() };
                match lot {
                    // The report cannot be written, so nothing changes: it stands where it stood.
                    Lot::FailsForGoodUnrecorded => return first_start,
                    Lot::FailsForGood => Command::ReportStartFailed(fault(false)),
                    Lot::FailsFor30s if now_s <= 30 => Command::ReportStartFailed(fault(true)),
                    _ => Command::ReportStarted { instance: InstanceId("i".into()) },
                }
            }
            Phase::Registering { .. } => Command::ReportRecorded,
            Phase::Pending { .. } => match machine.due() {
                Some(due) => {
                    machine.now = due;
                    Command::Wake
                }
                None => return first_start,
            },
            _ => return first_start,
        };
        machine.tell(&command);
    }
}
