//! What the machine sets supervisor looks at.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::Entry;

use super::{ClassUses, Event, Members};
use crate::{
    contract::{self, Decider, Fold, Stored, StoredError},
    machine, machine_class, machine_set,
    supervisor::Orders,
    vocab::{Life, Name},
};

/// Machines that exist, their sets and classes, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub sets: Fold<machine_set::State>,
    pub classes: Fold<machine_class::State>,
    pub uses: ClassUses,
    pub orders: Orders,
    members: BTreeMap<Name, Members>,
    /// The sets that have a pass under way, or go.
    pub busy: BTreeSet<Name>,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "machine-sets";

    /// The set that a machine belongs to.
    pub fn set_of(&self, machine: &Name) -> Option<&Name> {
        let state = self.machines.get(machine.as_str()).filter(|machine| machine.life.exists())?;
        state.spec.as_ref()?.set.as_ref()
    }

    /// The machines of a set; none if it has none.
    pub fn members(&self, set: &Name) -> Option<&Members> {
        self.members.get(set)
    }

    /// A machine has changed, which belonged to this set before.
    fn saw_machine(&mut self, name: &Name, before: Option<Name>) {
        let set = self.set_of(name).cloned();
        if let Some(before) = before.filter(|before| set.as_ref() != Some(before))
            && let Some(members) = self.members.get_mut(&before)
        {
            members.lost(name);
            if members.is_empty() {
                self.members.remove(&before);
            }
        }
        if let (Some(set), Some(folded)) = (set, self.machines.folded(name.as_str())) {
            self.members.entry(set).or_default().saw(name, &folded.state, folded.changed);
        }
        self.uses.saw_machine(name, self.machines.get(name.as_str()));
        if self.machines.get(name.as_str()).is_some_and(|machine| machine.life == Life::Removed) {
            self.machines.remove(name.as_str());
        }
    }

    fn saw_set(&mut self, name: &Name) {
        let Some(set) = self.sets.get(name.as_str()) else { return };
        if set.life == Life::Dying || (set.life.exists() && !set.is_at_rest()) {
            self.busy.insert(name.clone());
        } else {
            self.busy.remove(name);
        }
    }
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(kind, "machine" | "machine-set" | "machine-class" | "supervisor")
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        if stream.kind() == "supervisor" {
            if stream.name() == Self::NAME {
                for (at, body) in entry.versioned_events() {
                    let Event::Issued { order } = Event::load(body)?;
                    self.orders.issued(stream, at, entry.header.position, order);
                }
            }
            return Ok(());
        }
        let name = stream.name().parse::<Name>().ok();
        let before = name.as_ref().filter(|_| stream.kind() == machine::State::KIND);
        let before = before.and_then(|name| self.set_of(name)).cloned();
        self.machines.apply(entry)?;
        self.sets.apply(entry)?;
        self.classes.apply(entry)?;
        self.orders.answered(entry);
        let Some(name) = name else { return Ok(()) };
        match stream.kind() {
            machine::State::KIND => self.saw_machine(&name, before),
            machine_set::State::KIND => self.saw_set(&name),
            machine_class::State::KIND => {
                for body in &entry.events {
                    self.uses.saw_class(&name, &machine_class::Event::load(body)?);
                }
            }
            _ => (),
        }
        Ok(())
    }
}
