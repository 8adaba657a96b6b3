//! Work in the outside world in words, and when it is gone on with.

use bailiwick_actors::{
    contract::{Decider, NoView},
    machine::{self, Effect},
    vocab::{Effort, Fault, Outlook, Timestamp},
};
use bailiwick_journal::StreamId;

use crate::words::{due, progress};

pub(super) fn stream<D: Decider>(name: &str) -> StreamId {
    StreamId::new(D::KIND, name).expect("the name of a stream of the journal")
}

pub(super) fn next_try(effort: &Effort) -> Option<Timestamp> {
    effort.next_attempt()
}

/// What an effort waits for or ended with.
pub(super) fn effort_detail(effort: &Effort, now: Timestamp) -> Option<String> {
    let detail = attempts_detail(effort, now);
    let Some(at) = effort.overdue else { return detail };
    let detail = detail.unwrap_or_else(|| format!("attempt {} in progress", effort.attempt));
    Some(format!(
        "waiting for its provider since {}, overdue since {at}: {detail} (--force does not wait)",
        effort.since
    ))
}

fn attempts_detail(effort: &Effort, now: Timestamp) -> Option<String> {
    match &effort.outlook {
        Outlook::Trying if effort.attempt > 1 => Some(format!("attempt {} in progress", effort.attempt)),
        Outlook::Trying => None,
        Outlook::Waiting { until, fault } => Some(format!("{fault}; attempt {} {}", effort.attempt, due(now, *until))),
        Outlook::GivenUp { fault, again } => Some(given_up(effort.attempt, fault, *again, now)),
    }
}

/// What was given up, and when it is tried again by itself.
pub(super) fn given_up(attempt: u32, fault: &Fault, again: Option<Timestamp>, now: Timestamp) -> String {
    let next = again.map(|again| format!("; tried again {}", due(now, again))).unwrap_or_default();
    format!("gave up after attempt {attempt}: {fault}{next}")
}

pub(super) fn told(state: &machine::State) -> Option<String> {
    state.progress.as_ref().map(|told| progress(&told.text, told.percent))
}

/// When a machine is looked at next by itself.
pub(super) fn next_look(state: &machine::State) -> Option<Timestamp> {
    let due = |effect| match effect {
        Effect::WakeAt(due) => Some(due),
        _ => None,
    };
    state.pending(&NoView).into_iter().filter_map(due).min()
}
