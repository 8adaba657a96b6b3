//! What the storage supervisor looks at.

use bailiwick_journal::Entry;

use super::Event;
use crate::{
    contract::{self, Decider, Fold, Stored, StoredError},
    machine,
    supervisor::Orders,
    vocab::Life,
    volume, volume_attachment,
};

/// Machines, volumes and attachments that exist, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub volumes: Fold<volume::State>,
    /// By `machine:volume`; a removed one stays until both sides have let go of it.
    pub attachments: Fold<volume_attachment::State>,
    pub orders: Orders,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "storage";
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(kind, "machine" | "volume" | "volume-attachment" | "supervisor")
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        let name = stream.name();
        match stream.kind() {
            "supervisor" if name == Self::NAME => {
                for (at, body) in entry.versioned_events() {
                    let Event::Issued { order } = Event::load(body)?;
                    self.orders.issued(stream, at, entry.header.position, order);
                }
                return Ok(());
            }
            "supervisor" => return Ok(()),
            _ => (),
        }
        self.machines.apply(entry)?;
        self.volumes.apply(entry)?;
        self.attachments.apply(entry)?;
        self.orders.answered(entry);
        match stream.kind() {
            machine::State::KIND if self.machines.get(name).is_some_and(|m| m.life == Life::Removed) => {
                self.machines.remove(name);
            }
            volume::State::KIND if self.volumes.get(name).is_some_and(|v| v.life == Life::Removed) => {
                self.volumes.remove(name);
            }
            _ => (),
        }
        Ok(())
    }
}
