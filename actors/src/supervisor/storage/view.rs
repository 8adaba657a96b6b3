//! What the storage supervisor looks at.

use bailiwick_journal::Entry;

use super::Event;
use crate::{
    contract::{self, Decider, Fold, Stored, StoredError},
    machine,
    supervisor::Orders,
    vocab::{Life, Name},
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
        for (machine, volume) in touched(entry)? {
            self.forget_if_over(&machine, &volume);
        }
        Ok(())
    }
}

impl View {
    /// An attachment that is removed, and that neither side holds any more, is of no further interest.
    fn forget_if_over(&mut self, machine: &str, volume: &str) {
        let name = format!("{machine}:{volume}");
        let removed = self.attachments.get(&name).is_some_and(|attachment| attachment.life == Life::Removed);
        let held = |name: &Name, other: &str| name.as_str() == other;
        let machine_holds =
            self.machines.get(machine).is_some_and(|state| state.attachments.iter().any(|name| held(name, volume)));
        let volume_holds = self
            .volumes
            .get(volume)
            .is_some_and(|state| state.attached_to.as_ref().is_some_and(|name| held(name, machine)));
        if removed && !machine_holds && !volume_holds {
            self.attachments.remove(&name);
        }
    }
}

/// The attachments, as machine and volume, that an entry may have been the last word about.
fn touched(entry: &Entry) -> Result<Vec<(String, String)>, StoredError> {
    let stream = &entry.header.stream;
    let own = stream.name().to_owned();
    let mut touched = Vec::new();
    match stream.kind() {
        volume_attachment::State::KIND => {
            touched.extend(own.split_once(':').map(|(machine, volume)| (machine.to_owned(), volume.to_owned())));
        }
        machine::State::KIND => {
            for body in &entry.events {
                if let machine::Event::AttachmentReleased { volume } = machine::Event::load(body)? {
                    touched.push((own.clone(), volume.to_string()));
                }
            }
        }
        volume::State::KIND => {
            for body in &entry.events {
                if let volume::Event::AttachmentReleased { machine } = volume::Event::load(body)? {
                    touched.push((machine.to_string(), own.clone()));
                }
            }
        }
        _ => (),
    }
    Ok(touched)
}
