//! What the machines supervisor looks at.

use bailiwick_journal::Entry;

use super::Event;
use crate::{
    contract::{self, Fold, Stored, StoredError},
    machine,
    supervisor::Orders,
    vocab::Life,
};

/// The machines that exist, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub orders: Orders,
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
        if self.machines.get(name).is_some_and(|machine| machine.life == Life::Removed) {
            self.machines.remove(name);
        }
        Ok(())
    }
}
