//! What the replica sets supervisor looks at.

use std::collections::BTreeSet;

use bailiwick_journal::Entry;

use super::Event;
use crate::{
    contract::{self, Decider, Fold, Stored, StoredError},
    machine, replica_set,
    supervisor::Orders,
    vocab::{Life, Name},
};

/// Machines and replica sets that exist, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub sets: Fold<replica_set::State>,
    pub orders: Orders,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "replica-sets";

    /// The sets in which a machine has a seat.
    pub fn sets_of(&self, machine: &str) -> BTreeSet<Name> {
        let has_seat = |state: &replica_set::State| {
            state.spec.iter().flat_map(|spec| &spec.seats).any(|seat| seat.machine.as_str() == machine)
        };
        let sets = self.sets.iter().filter(|(_, folded)| has_seat(&folded.state));
        sets.filter_map(|(name, _)| name.parse().ok()).collect()
    }
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(kind, "machine" | "replica-set" | "supervisor")
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        let name = stream.name();
        if stream.kind() == "supervisor" {
            if name == Self::NAME {
                for (at, body) in entry.versioned_events() {
                    let Event::Issued { order } = Event::load(body)?;
                    self.orders.issued(stream, at, entry.header.position, order);
                }
            }
            return Ok(());
        }
        self.machines.apply(entry)?;
        self.sets.apply(entry)?;
        self.orders.answered(entry);
        match stream.kind() {
            machine::State::KIND if self.machines.get(name).is_some_and(|m| m.life == Life::Removed) => {
                self.machines.remove(name);
            }
            replica_set::State::KIND if self.sets.get(name).is_some_and(|set| set.life == Life::Removed) => {
                self.sets.remove(name);
            }
            _ => (),
        }
        Ok(())
    }
}
