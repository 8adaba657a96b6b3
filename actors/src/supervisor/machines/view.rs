//! What the machines supervisor looks at.

use std::collections::BTreeSet;

use bailiwick_journal::{Entry, StreamId};

use super::Event;
use crate::{
    contract::{self, Decider, Fold, Stored, StoredError},
    machine,
    supervisor::Orders,
    vocab::{EffectId, Name},
};

/// The machines that exist, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub orders: Orders,
    /// Instances that operators let go of when their machines went: they are nobody's, and nobody removes them.
    pub kept: BTreeSet<EffectId>,
    /// The machines whose time is over: those that may have to be given up.
    pub overdue: BTreeSet<Name>,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "machines";
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(kind, "machine" | "supervisor")
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        if stream.kind() == "supervisor" {
            if stream.name() == Self::NAME {
                for (at, body) in entry.versioned_events() {
                    if let Event::Issued { order } = Event::load(body)? {
                        self.orders.issued(stream, at, entry.header.position, order);
                    }
                }
            }
            return Ok(());
        }
        self.machines.apply(entry)?;
        self.orders.answered(entry);
        let name = stream.name();
        // What is gone, and has nothing left that is to go, leaves the view.
        let over = self.machines.get(name).filter(|machine| !machine.life.exists() && machine.strays.is_empty());
        if let Some(machine) = over {
            self.kept.extend(&machine.kept);
            self.machines.remove(name);
        }
        let is_overdue = self.machines.get(name).is_some_and(machine::is_overdue);
        match name.parse::<Name>() {
            Ok(name) if is_overdue => drop(self.overdue.insert(name)),
            Ok(name) => drop(self.overdue.remove(&name)),
            Err(_) => (),
        }
        Ok(())
    }
}

impl View {
    /// Whether some machine claims the instance, whose name it bears, or an operator keeps it.
    pub fn is_claimed(&self, machine: &Name, effect: EffectId) -> bool {
        let stream = StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked");
        let claims = |state: &machine::State| state.claims(&stream).contains(&effect);
        self.kept.contains(&effect) || self.machines.get(machine.as_str()).is_some_and(claims)
    }
}
