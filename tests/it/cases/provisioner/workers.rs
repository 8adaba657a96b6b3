//! The states of tasks and workers, and what they do in which order.

use std::collections::BTreeSet;

use bailiwick::actors::{
    machine::provisioning::{Blame, Command, Phase, Policy, StartFault, State, TaskState, WorkerState},
    vocab::{InstanceId, Zone},
};
use serde::Deserialize;
use serde_json::Value;

use super::{super::read, life, same, starts::Driven};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    start: String,
    terminal: BTreeSet<String>,
    allowed: BTreeSet<(String, String)>,
    #[serde(default)]
    illegal: BTreeSet<(String, String)>,
    same_state_is_a_no_op: Option<bool>,
}

pub(super) fn task_states(case: &Value) -> Result<(), String> {
    let table: Table = read(case)?;
    let name = TaskState::as_str;
    same("start", table.start.as_str(), name(State::default().task()))?;
    let terminal = TaskState::ALL.into_iter().filter(|state| state.is_terminal());
    same("terminal", table.terminal, terminal.map(|state| name(state).to_owned()).collect())?;
    let mut pairs = BTreeSet::new();
    for from in TaskState::ALL {
        for to in TaskState::ALL {
            let is_same = from == to;
            if is_same {
                same(name(from), table.same_state_is_a_no_op.unwrap_or(false), from.may_become(to))?;
            } else if from.may_become(to) {
                pairs.insert((name(from).to_owned(), name(to).to_owned()));
            }
        }
    }
    same("illegal pairs that are allowed", BTreeSet::new(), &table.illegal & &pairs)?;
    same("allowed", table.allowed, pairs)
}

pub(super) fn worker_states(case: &Value) -> Result<(), String> {
    let table: Table = read(case)?;
    let name = WorkerState::as_str;
    same("start", table.start.as_str(), name(State::default().phase.worker()))?;
    let terminal = WorkerState::ALL.into_iter().filter(|state| state.is_terminal());
    same("terminal", table.terminal, terminal.map(|state| name(state).to_owned()).collect())?;
    let pairs = WorkerState::ALL.into_iter().flat_map(|from| {
        let next = WorkerState::ALL.into_iter().filter(move |to| from.may_become(*to));
        next.map(move |to| (name(from).to_owned(), name(to).to_owned()))
    });
    same("allowed", table.allowed, pairs.collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceCase {
    #[serde(default)]
    given: SequenceGiven,
    max_retries: Option<u32>,
    events: Vec<String>,
    states: Vec<String>,
    starts: Option<usize>,
    stops: Option<usize>,
    removed: Option<bool>,
    status: Option<String>,
    slots_acquired: Option<usize>,
    slots_released: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceGiven {
    instance: Option<String>,
    #[serde(default)]
    keep_instance: bool,
}

/// One worker, and what was asked of the world.
struct Sequence {
    machine: Driven,
    /// Answers that are to come as events of their own: a call that one of them answers waits for it.
    to_come: Vec<String>,
    starts: usize,
    stops: usize,
    removed: bool,
}

pub(super) fn worker_sequence(case: &Value) -> Result<(), String> {
    let case: SequenceCase = read(case)?;
    let retries_max = case.max_retries.unwrap_or(3);
    let mut run = Sequence {
        machine: Driven::new(Policy { retries_max, ..Policy::juju_4_0() }),
        to_come: case.events.clone(),
        starts: 0,
        stops: 0,
        removed: false,
    };
    run.machine.tell(&Command::KeepInstance(case.given.keep_instance));
    if let Some(instance) = &case.given.instance {
        run.machine.tell(&Command::Adopt(InstanceId(instance.clone())));
    }
    for event in &case.events {
        run.to_come.remove(0);
        run.tell(event)?;
        run.answer();
    }
    let states: Vec<String> = run.machine.entered.iter().map(|state| state.as_str().to_owned()).collect();
    same("states", case.states, states)?;
    let check = |what: &str, expected: Option<usize>, got: usize| same(what, expected.unwrap_or(got), got);
    check("starts", case.starts, run.starts)?;
    check("stops", case.stops, run.stops)?;
    check("slots_acquired", case.slots_acquired, run.machine.slots.0)?;
    check("slots_released", case.slots_released, run.machine.slots.1)?;
    same("removed", case.removed.unwrap_or(run.removed), run.removed)?;
    let status = run.machine.state.instance_status().map(str::to_owned);
    same("status", case.status.clone().or_else(|| status.clone()), status)
}

impl Sequence {
    fn tell(&mut self, event: &str) -> Result<(), String> {
        let text = || "as the case says".to_owned();
        let command = match event.split_once(' ') {
            Some(("life", rest)) => Command::SeeLife(life(rest.trim_end_matches(" (while starting)"))?),
            Some(("zone", "failed")) => Command::RefuseZone,
            Some(("zone", zone)) => Command::GrantZone { zone: Some(Zone(zone.into())), round_is_new: false },
            Some(("start", "fails")) => {
                Command::ReportStartFailed(StartFault { may_pass: true, blame: Blame::Anything, text: text() })
            }
            Some(("record", "fails")) => Command::ReportRecordFailed { text: text() },
            None if event == "retry" => {
                self.machine.now = self.machine.due().unwrap_or(self.machine.now);
                Command::Wake
            }
            _ => return Err(format!("the runner does not know the event {event:?}")),
        };
        self.starts += usize::from(matches!(command, Command::ReportStartFailed(_)));
        self.machine.tell(&command);
        Ok(())
    }

    /// Whether the next event is, or comes during, the answer to the call that is under way.
    fn waits_for(&self, answers: &[&str]) -> bool {
        self.to_come.first().is_some_and(|next| answers.contains(&next.as_str()) || next.ends_with("(while starting)"))
    }

    /// Calls that no event answers succeed at once.
    fn answer(&mut self) {
        loop {
            let command = match self.machine.state.phase.clone() {
                Phase::Provisioning { .. } if !self.waits_for(&["start fails"]) => {
                    self.starts += 1;
                    Command::ReportStarted { instance: InstanceId("i-1".into()) }
                }
                Phase::Registering { .. } if !self.waits_for(&["record fails"]) => Command::ReportRecorded,
                Phase::RollingBack { instance } | Phase::Stopping { instance } => {
                    self.stops += 1;
                    Command::ReportStopped { instance }
                }
                Phase::Removing => {
                    self.removed = true;
                    Command::ReportRemoved
                }
                _ => return,
            };
            self.machine.tell(&command);
        }
    }
}
