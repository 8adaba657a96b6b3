//! One pass of a set.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Change, Plan, SlowStart};

/// Where a pass stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// None is under way; what the last one came to.
    #[default]
    Idle,
    /// Machines that were given up are told to go; then comes the change.
    RemovingStale {
        left: BTreeSet<String>,
        change: Change,
    },
    Removing {
        left: BTreeSet<String>,
        has_failed: bool,
    },
    Creating {
        batches: SlowStart,
        has_failed: bool,
    },
    Over,
}

/// A command to a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Do this, which was planned on the machines that there are.
    Begin(Plan),
    /// How telling a machine to go went.
    ReportRemoval { name: String, is_accepted: bool },
    /// How a whole batch of creations went. A creation of which nobody knows counts as made: it will be seen.
    ReportBatch { failed: usize },
}

/// One thing that happened to a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    PassBegan(Plan),
    /// A machine was told to go, and is going from now on.
    RemovalAccepted {
        name: String,
    },
    RemovalFailed {
        name: String,
    },
    ChangeBegan(Change),
    BatchMade {
        failed: usize,
    },
    /// The change failed if one of its calls did. A machine that could not be told to go because it was given up is told
    /// again in the next pass.
    PassEnded {
        has_failed: bool,
    },
}

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Tell this machine to go.
    Remove { name: String },
    /// Make so many machines, all at once.
    Create { count: usize },
}

/// What should happen to a set. None: the report is about something that is over.
pub fn decide(state: &State, command: &Command) -> Vec<Event> {
    let mut after = state.clone();
    let mut events = Vec::new();
    let mut emit = |event: Event| {
        after.evolve(&event);
        events.push(event);
        after.clone()
    };
    let mut now = match (state, command) {
        (State::Idle | State::Over, Command::Begin(plan)) => emit(Event::PassBegan(plan.clone())),
        (
            State::RemovingStale { left, .. } | State::Removing { left, .. },
            Command::ReportRemoval { name, is_accepted },
        ) if left.contains(name) => {
            let name = name.clone();
            emit(if *is_accepted { Event::RemovalAccepted { name } } else { Event::RemovalFailed { name } })
        }
        (State::Creating { batches, .. }, Command::ReportBatch { failed }) if *failed <= batches.batch() => {
            emit(Event::BatchMade { failed: *failed })
        }
        _ => return events,
    };
    if let State::RemovingStale { left, change } = &now
        && left.is_empty()
    {
        now = emit(Event::ChangeBegan(change.clone()));
    }
    let ended = match &now {
        State::Removing { left, has_failed } if left.is_empty() => Some(*has_failed),
        State::Creating { batches, has_failed } if batches.batch() == 0 => Some(*has_failed),
        _ => None,
    };
    if let Some(has_failed) = ended {
        emit(Event::PassEnded { has_failed });
    }
    events
}

impl State {
    /// Takes one event into account.
    pub fn evolve(&mut self, event: &Event) {
        match (event, &mut *self) {
            (Event::PassBegan(plan), _) => {
                let left = plan.stale.iter().cloned().collect();
                *self = Self::RemovingStale { left, change: plan.change.clone() };
            }
            (Event::RemovalAccepted { name } | Event::RemovalFailed { name }, Self::RemovingStale { left, .. }) => {
                left.remove(name);
            }
            (Event::RemovalAccepted { name }, Self::Removing { left, .. }) => {
                left.remove(name);
            }
            (Event::RemovalFailed { name }, Self::Removing { left, has_failed }) => {
                left.remove(name);
                *has_failed = true;
            }
            (Event::ChangeBegan(change), _) => *self = Self::begun(change),
            (Event::BatchMade { failed }, Self::Creating { batches, has_failed }) => {
                *batches = batches.after(*failed);
                *has_failed |= *failed > 0;
            }
            (Event::PassEnded { .. }, _) => *self = Self::Over,
            (
                Event::RemovalAccepted { .. } | Event::RemovalFailed { .. } | Event::BatchMade { .. },
                Self::Idle | Self::RemovingStale { .. } | Self::Removing { .. } | Self::Creating { .. } | Self::Over,
            ) => (),
        }
    }

    fn begun(change: &Change) -> Self {
        match change {
            Change::Nothing | Change::HeldByFreeze => Self::Removing { left: BTreeSet::new(), has_failed: false },
            Change::Create(count) => Self::Creating { batches: SlowStart::new(*count, 1), has_failed: false },
            Change::Remove(names) => Self::Removing { left: names.iter().cloned().collect(), has_failed: false },
        }
    }

    /// What is owed; asked after every step and every restart.
    pub fn pending(&self) -> BTreeSet<Effect> {
        match self {
            Self::Idle | Self::Over => BTreeSet::new(),
            Self::RemovingStale { left, .. } | Self::Removing { left, .. } => {
                left.iter().map(|name| Effect::Remove { name: name.clone() }).collect()
            }
            Self::Creating { batches, .. } => BTreeSet::from([Effect::Create { count: batches.batch() }]),
        }
    }
}
