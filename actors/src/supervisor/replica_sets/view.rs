//! What the replica sets supervisor looks at.

use std::collections::{BTreeMap, BTreeSet};

use super::Event;
use crate::{
    contract::{self, Decider, Decoded, Fold, Folded, Stored, StoredError},
    machine, member, replica_set,
    supervisor::Orders,
    vocab::{Life, Name},
};

/// Machines, replica sets and members that exist, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    /// A removed one stays until its members have heard of it.
    pub sets: Fold<replica_set::State>,
    /// By `set:machine`.
    pub members: Fold<member::State>,
    pub orders: Orders,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "replica-sets";

    /// The members of a set, by machine.
    pub(super) fn members_of(&self, set: &Name) -> BTreeMap<Name, &Folded<member::State>> {
        let beginning = format!("{set}:");
        let members = self.members.beginning_with(&beginning);
        members.filter_map(|(name, folded)| Some((name.strip_prefix(&beginning)?.parse().ok()?, folded))).collect()
    }

    /// The machines that have a seat in a set, or a member of it.
    pub(super) fn machines_of(&self, set: &Name) -> BTreeSet<Name> {
        let spec = self.sets.get(set.as_str()).and_then(|state| state.spec.as_ref());
        let seats = spec.into_iter().flat_map(|spec| &spec.seats).map(|seat| seat.machine.clone());
        seats.chain(self.members_of(set).into_keys()).collect()
    }

    /// The sets in which a machine has a seat, or which count on it.
    pub fn sets_of(&self, machine: &str) -> BTreeSet<Name> {
        let has_seat = |state: &replica_set::State| {
            state.spec.iter().flat_map(|spec| &spec.seats).any(|seat| seat.machine.as_str() == machine)
        };
        let sets = self.sets.iter().filter(|(_, folded)| has_seat(&folded.state));
        let mut names: BTreeSet<Name> = sets.filter_map(|(name, _)| name.parse().ok()).collect();
        names.extend(self.machines.get(machine).into_iter().flat_map(|state| state.engaged.iter().cloned()));
        names
    }

    /// Forgets a set that is not looked after, once it has no members.
    fn let_go(&mut self, set: &str) {
        let is_removed = self.sets.get(set).is_some_and(|state| state.life == Life::Removed);
        let has_members = set.parse::<Name>().is_ok_and(|set| !self.members_of(&set).is_empty());
        if is_removed && !has_members {
            self.sets.remove(set);
        }
    }
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(kind, "machine" | "member" | "replica-set" | "supervisor")
    }

    fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        let name = stream.name();
        if stream.kind() == "supervisor" {
            if name == Self::NAME {
                for (at, body) in entry.versioned_events() {
                    let Event::Issued { order, cites } = Event::load(body)?;
                    self.orders.issued(stream, at, entry.header.position, order, cites);
                }
            }
            return Ok(());
        }
        self.machines.apply_decoded(entry)?;
        self.sets.apply_decoded(entry)?;
        self.members.apply_decoded(entry)?;
        self.orders.answered(entry);
        match stream.kind() {
            machine::State::KIND if self.machines.get(name).is_some_and(|m| m.life == Life::Removed) => {
                self.machines.remove(name);
            }
            replica_set::State::KIND => self.let_go(name),
            member::State::KIND if self.members.get(name).is_some_and(|member| member.life == Life::Removed) => {
                self.members.remove(name);
                self.let_go(name.split_once(':').map_or(name, |(set, _)| set));
            }
            _ => (),
        }
        Ok(())
    }
}
