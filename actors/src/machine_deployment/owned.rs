//! What a deployment knows about a set, and which of its sets is the new one.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    machine::Spec as MachineSpec,
    vocab::{FailureReason, Name, Timestamp, sort_by_key},
};

/// A set of a deployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedSet {
    pub name: Name,
    /// The number of its template: a higher one was in force later.
    pub revision: u64,
    pub template: Arc<MachineSpec>,
    /// How many machines it shall have.
    pub replicas: u32,
    /// The size of the deployment for which it was scaled last; none if it never was.
    pub sized_for: Option<u32>,
    /// The most machines that the deployment could have then.
    pub most: Option<u32>,
    pub created: Timestamp,
    /// Whether it is no longer needed.
    pub leaves: bool,
    /// What was seen of its machines last.
    pub counts: Counts,
}

/// How many machines of a set stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Those that there are, also while they go.
    pub machines: u32,
    /// Those that run, or may come to run.
    pub active: u32,
    pub ready: u32,
    /// Those that have been ready for as long as is asked for.
    pub available: u32,
    /// Which half of the set's work is refused.
    pub failure: Option<FailureReason>,
}

/// The sets of a deployment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found<'a> {
    /// The one with the template that is in force, if it exists.
    pub new: Option<&'a OwnedSet>,
    /// All others, the oldest first.
    pub old: Vec<&'a OwnedSet>,
}

impl OwnedSet {
    /// Whether it shall have machines.
    pub fn is_active(&self) -> bool {
        self.replicas > 0
    }

    /// Machines for which room is taken: also those that it has yet to make.
    pub(super) fn machines(&self) -> u32 {
        self.counts.machines.max(self.replicas)
    }

    /// Available machines that will stay: of those that it has yet to tell to go, any may be available.
    pub(super) fn staying(&self) -> u32 {
        self.counts.available.saturating_sub(self.counts.active.saturating_sub(self.replicas))
    }

    fn age(&self) -> (Timestamp, &Name) {
        (self.created, &self.name)
    }
}

/// The sets, told apart by the template that is in force. The new one is the oldest that has it.
pub fn find<'a>(sets: &'a BTreeMap<Name, OwnedSet>, template: &MachineSpec) -> Found<'a> {
    let mut by_age: Vec<&OwnedSet> = sets.values().filter(|set| !set.leaves).collect();
    sort_by_key(&mut by_age, |set| set.age());
    let place = by_age.iter().position(|set| *set.template == *template);
    Found { new: place.map(|place| by_age.remove(place)), old: by_age }
}

/// The one set that has machines; if none has, the new one or else the newest. None if several have machines.
pub fn active_or_latest<'a>(found: &Found<'a>) -> Option<&'a OwnedSet> {
    let newest_first = found.new.into_iter().chain(found.old.iter().rev().copied());
    let mut active = newest_first.clone().filter(|set| set.is_active());
    match (active.next(), active.next()) {
        (None, _) => newest_first.into_iter().next(),
        (only, None) => only,
        (Some(_), Some(_)) => None,
    }
}

/// The highest revision of these; 0 if there are none.
pub fn max_revision<'a>(sets: impl IntoIterator<Item = &'a OwnedSet>) -> u64 {
    sets.into_iter().map(|set| set.revision).max().unwrap_or(0)
}

/// The revision before the highest; 0 if there is none.
pub fn last_revision<'a>(sets: impl IntoIterator<Item = &'a OwnedSet>) -> u64 {
    let mut revisions: Vec<u64> = sets.into_iter().map(|set| set.revision).collect();
    sort_by_key(&mut revisions, |revision| Reverse(*revision));
    revisions.get(1).copied().unwrap_or(0)
}
