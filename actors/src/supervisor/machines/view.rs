//! What the machines supervisor looks at.

use std::collections::BTreeSet;

use bailiwick_journal::{Entry, StreamId};

use super::{Event, Tally};
use crate::{
    contract::{self, Decider, Fold, Stored, StoredError},
    machine,
    supervisor::{Order, Orders},
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
    pub tally: Tally,
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
                        self.sited(&order);
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
        let Ok(name) = name.parse::<Name>() else { return Ok(()) };
        let machine = self.machines.get(name.as_str());
        self.tally.saw(&name, machine);
        if machine.is_some_and(machine::is_overdue) {
            self.overdue.insert(name);
        } else {
            self.overdue.remove(&name);
        }
        Ok(())
    }
}

impl View {
    fn sited(&mut self, order: &Order) {
        if let Order::Machine { machine, command: machine::Command::Site { zone, .. } } = order
            && let Some(state) = self.machines.get(machine.as_str())
        {
            self.tally.chose(machine, state, zone.as_ref());
        }
    }

    /// The instance that is a machine's own: that it has, or may have, or is getting rid of.
    pub fn own(&self, machine: &Name) -> Option<EffectId> {
        self.machines.get(machine.as_str())?.own(&stream(machine))
    }

    /// Whether some machine claims the instance, whose name it bears, or an operator keeps it.
    pub fn is_claimed(&self, machine: &Name, effect: EffectId) -> bool {
        let stream = stream(machine);
        let claims = |state: &machine::State| state.claims(&stream).contains(&effect);
        self.kept.contains(&effect) || self.machines.get(machine.as_str()).is_some_and(claims)
    }
}

pub(super) fn stream(machine: &Name) -> StreamId {
    StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked")
}
