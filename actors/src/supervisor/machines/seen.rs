//! What was seen of the world, with what is being taken in at this moment: without a copy of all the rest.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Change, Event, Sighting, SightingStatus, State};
use crate::{contract::Decider, vocab::EffectId};

/// What was seen, and what differs from it now.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    /// As it was; what is asked here of sightings is to be asked of this type.
    pub base: &'a State,
    /// The instances that are concerned, as they are now.
    now: State,
    concerned: BTreeSet<EffectId>,
    /// The version of the observation that is being taken in.
    at: Version,
}

impl<'a> Seen<'a> {
    /// What was seen, and nothing else.
    pub fn already(base: &'a State) -> Self {
        Self { base, now: State::default(), concerned: BTreeSet::new(), at: Version::ZERO }
    }

    /// What was seen, once these changes of an observation are taken in.
    pub fn with(base: &'a State, at: Version, observed: &Event, changes: &[Change]) -> Self {
        let concerned: BTreeSet<EffectId> = changes.iter().map(Change::effect).collect();
        let known = |effect: &EffectId| Some((*effect, base.sightings.get(effect)?.clone()));
        let mut now = State { sightings: concerned.iter().filter_map(known).collect(), ..State::default() };
        now.evolve(at, observed);
        Self { base, now, concerned, at }
    }

    /// One instance.
    pub fn sighting(&self, effect: EffectId) -> Option<&Sighting> {
        let state = if self.concerned.contains(&effect) { &self.now } else { self.base };
        state.sightings.get(&effect)
    }

    /// The event of the supervisor's stream that said last how an instance is.
    pub fn seen_at(&self, effect: EffectId) -> Option<Version> {
        if self.concerned.contains(&effect) { Some(self.at) } else { self.base.noted.sightings.get(&effect).copied() }
    }

    /// Whether an instance was seen stopped, or missed.
    pub fn is_gone(&self, effect: EffectId) -> bool {
        let status = self.sighting(effect).map(|sighting| sighting.status);
        matches!(status, Some(SightingStatus::Stopped | SightingStatus::Gone))
    }
}
