//! What is true of a machine set now.

use std::collections::BTreeSet;

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Event, Frozen, Hold, Spec, pass};
use crate::vocab::{FailureReason, Life, Name, Timestamp, Uid};

/// A machine set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<Spec>,
    pub pass: pass::State,
    /// The names of the machines that the pass under way has still to make, the next one first.
    pub names: Vec<Name>,
    /// How many names were ever given: none is given twice.
    pub named: u64,
    /// Whether something of the pass under way was refused.
    pub was_refused: bool,
    /// Which half of its work was refused first, until a pass succeeds.
    pub failure: Option<FailureReason>,
    /// Nothing is tried before then.
    pub rests_until: Option<Timestamp>,
    /// How often it has rested since a pass of its last succeeded, or its declaration changed.
    pub rests: u32,
    /// It is not removed, nor is what is there of it, before that ends.
    pub protected: bool,
    /// That it makes no machines, because it had too many.
    pub frozen: Option<Frozen>,
    /// That an operator has it leave the number of its machines as it is.
    pub hold: Option<Hold>,
    /// So many of its machines do not count, since an operator said so.
    pub spared: u32,
}

/// Work that a set is owed beside what its pass owes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Say when it is time.
    WakeAt(Timestamp),
}

impl State {
    /// The set's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// Whether a pass may begin.
    pub fn is_at_rest(&self) -> bool {
        self.life.exists() && matches!(self.pass, pass::State::Idle | pass::State::Over)
    }

    /// Whether it leaves the number of its machines as it is.
    pub fn is_held(&self) -> bool {
        self.hold.is_some() && self.life == Life::Alive
    }

    /// The machines that are to be declared now.
    pub fn batch(&self) -> &[Name] {
        let owed = |effect: &pass::Effect| match effect {
            pass::Effect::Create { count } => Some(*count),
            pass::Effect::Remove { .. } => None,
        };
        let count = self.pass.pending().iter().find_map(owed).unwrap_or(0);
        &self.names[..count.min(self.names.len())]
    }

    /// The machines that are to be told to go now.
    pub fn to_go(&self) -> BTreeSet<String> {
        let owed = |effect: pass::Effect| match effect {
            pass::Effect::Remove { name } => Some(name),
            pass::Effect::Create { .. } => None,
        };
        self.pass.pending().into_iter().filter_map(owed).collect()
    }

    /// One word for people: `at-rest`, `changing`, `waiting`, `held`, `frozen`, `removing`.
    pub fn status(&self) -> &'static str {
        match (self.life, &self.pass, self.rests_until) {
            (Life::Undeclared, ..) => "undeclared",
            (Life::Removed, ..) => "removed",
            (Life::Dying | Life::Dead, ..) => "removing",
            (Life::Alive, ..) if self.hold.is_some() => "held",
            (Life::Alive, _, Some(_)) => "waiting",
            (Life::Alive, pass::State::Idle | pass::State::Over, None) if self.frozen.is_some() => "frozen",
            (Life::Alive, pass::State::Idle | pass::State::Over, None) => "at-rest",
            (Life::Alive, ..) => "changing",
        }
    }
}

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared { spec } => {
            // Names go on where they ended: nobody gets the name of a machine that was.
            let named = state.named;
            *state = State { life: Life::Alive, declared_at: at, spec: Some(spec.clone()), named, ..State::default() };
        }
        Event::SpecChanged { spec } => {
            state.spec = Some(spec.clone());
            state.rests = 0;
        }
        Event::Protected { on } => state.protected = *on,
        Event::RemovalBegan => state.life = Life::Dying,
        Event::Removed => {
            let present = std::mem::take(state);
            *state = State { life: Life::Removed, rests_until: None, frozen: None, hold: None, spared: 0, ..present };
        }
        Event::Named { names } => {
            let last = names.iter().filter_map(|name| name.as_str().rsplit_once('-')?.1.parse().ok()).max();
            state.named = state.named.max(last.unwrap_or(0));
            state.names.clone_from(names);
        }
        Event::Pass(event) => {
            let made = state.batch().len();
            match event {
                pass::Event::PassBegan(_) => state.was_refused = false,
                pass::Event::RemovalFailed { .. } => fail(state, FailureReason::FailedDelete),
                pass::Event::BatchMade { failed } if *failed > 0 => fail(state, FailureReason::FailedCreate),
                pass::Event::PassEnded { .. } if !state.was_refused => {
                    state.failure = None;
                    state.rests = 0;
                }
                pass::Event::BatchMade { .. }
                | pass::Event::RemovalAccepted { .. }
                | pass::Event::ChangeBegan(_)
                | pass::Event::PassEnded { .. } => (),
            }
            state.pass.evolve(event);
            match event {
                pass::Event::BatchMade { .. } => drop(state.names.drain(..made)),
                pass::Event::PassEnded { .. } => state.names.clear(),
                _ => (),
            }
        }
        Event::Resting { until } => {
            state.rests_until = Some(*until);
            state.rests = state.rests.saturating_add(1);
        }
        Event::Rested => state.rests_until = None,
        Event::Frozen { machines, bound, at } => {
            state.frozen = Some(Frozen { machines: *machines, bound: *bound, since: *at });
            state.spared = 0;
        }
        Event::Held { reason, until, at } => {
            state.hold = Some(Hold { reason: reason.clone(), since: *at, until: *until });
        }
        Event::HoldEnded => state.hold = None,
        Event::Thawed { spares } => {
            state.frozen = None;
            state.spared = *spares;
        }
    }
}

/// What failed first is told until a pass succeeds: another failure meanwhile is no news.
fn fail(state: &mut State, reason: FailureReason) {
    state.was_refused = true;
    state.failure.get_or_insert(reason);
}
