//! What the view keeps no longer: what is gone, once everybody who has to hear of it has.

use bailiwick_journal::StreamId;

use super::View;
use crate::{
    contract::Decider,
    filesystem, filesystem_attachment, machine,
    storage_rules::ClaimedBy,
    vocab::{Life, Name},
    volume, volume_attachment,
};

impl View {
    /// Nobody waits for what is forgotten.
    pub(super) fn forget_dependent(&mut self, stream: &StreamId, on: &[(&str, &str)]) {
        for (kind, name) in on {
            let Ok(other) = StreamId::new(kind, name) else { continue };
            if let Some(dependents) = self.dependents.get_mut(&other) {
                dependents.remove(stream);
                if dependents.is_empty() {
                    self.dependents.remove(&other);
                }
            }
        }
        self.dependents.remove(stream);
        self.fresh.remove(stream);
    }

    /// An attachment (`machine:volume`) that is removed, and that neither side holds any more, is of no further interest.
    pub(super) fn forget_if_over(&mut self, name: &str) {
        if self.attachments.get(name).is_none_or(|attachment| attachment.life != Life::Removed) {
            return;
        }
        let Some((machine, volume)) = name.split_once(':') else { return };
        let held = |name: &Name, other: &str| name.as_str() == other;
        let present = self.machines.get(machine).filter(|state| state.life != Life::Removed);
        let machine_holds = present.is_some_and(|state| state.attachments.iter().any(|name| held(name, volume)));
        let volume_holds =
            self.volumes.get(volume).is_some_and(|state| state.attached_to.iter().any(|name| held(name, machine)));
        if !machine_holds && !volume_holds {
            self.attachments.remove(name);
            if let Ok(stream) = StreamId::new(volume_attachment::State::KIND, name) {
                self.forget_dependent(&stream, &[(machine::State::KIND, machine), (volume::State::KIND, volume)]);
            }
        }
    }

    /// A machine that is gone is forgotten once nothing is left that still has to hear of it, an attachment or what was made
    /// for it: one that was forced to go, or had nothing to go, may be gone before anybody looks.
    pub(super) fn forget_machine_if_over(&mut self, stream: &StreamId, made_for: Option<Name>) {
        let machine = match stream.kind() {
            machine::State::KIND => stream.name(),
            volume_attachment::State::KIND | filesystem_attachment::State::KIND => {
                stream.name().split_once(':').map_or("", |(machine, _)| machine)
            }
            _ => made_for.as_ref().map_or("", Name::as_str),
        };
        if self.machines.get(machine).is_none_or(|state| state.life != Life::Removed) {
            return;
        }
        let Ok(own) = StreamId::new(machine::State::KIND, machine) else { return };
        let made_for = |claim: Option<&ClaimedBy>| claim.is_some_and(|by| by.machine.as_str() == machine);
        let is_waited_for = self.dependents(&own).any(|other| match other.kind() {
            volume_attachment::State::KIND => {
                self.attachments.get(other.name()).is_some_and(|state| state.life.exists())
            }
            filesystem_attachment::State::KIND => {
                self.filesystem_attachments.get(other.name()).is_some_and(|state| state.life.exists())
            }
            volume::State::KIND => {
                let state = self.volumes.get(other.name()).filter(|state| state.life == Life::Alive);
                state.is_some_and(|state| made_for(state.claim.as_ref()))
            }
            filesystem::State::KIND => {
                let state = self.filesystems.get(other.name()).filter(|state| state.life == Life::Alive);
                state.is_some_and(|state| made_for(state.claim.as_ref()))
            }
            _ => false,
        });
        if !is_waited_for {
            for (kind, name) in self.claims_of(machine) {
                let dependents = StreamId::new(kind, &name).ok().and_then(|stream| self.dependents.get_mut(&stream));
                dependents.map(|dependents| dependents.remove(&own));
            }
            self.machines.remove(machine);
        }
    }

    /// The machine of a set that a volume or filesystem was made for.
    pub(super) fn made_for(&self, stream: &StreamId) -> Option<Name> {
        let claim = match stream.kind() {
            volume::State::KIND => self.volumes.get(stream.name())?.claim.as_ref(),
            filesystem::State::KIND => self.filesystems.get(stream.name())?.claim.as_ref(),
            _ => None,
        };
        claim.map(|by| by.machine.clone())
    }

    /// As with attachments of volumes, for filesystems and their attachments.
    pub(super) fn forget_filesystems_if_over(&mut self, stream: &StreamId) {
        let name = stream.name();
        let about: Vec<String> = match stream.kind() {
            filesystem_attachment::State::KIND => vec![name.to_owned()],
            filesystem::State::KIND | machine::State::KIND => self
                .dependents(stream)
                .filter(|other| other.kind() == filesystem_attachment::State::KIND)
                .map(|other| other.name().to_owned())
                .collect(),
            _ => Vec::new(),
        };
        for attachment in about {
            let Some((machine, filesystem)) = attachment.split_once(':') else { continue };
            let is_over = self.filesystem_attachments.get(&attachment).is_some_and(|state| state.life == Life::Removed);
            let held = self
                .filesystems
                .get(filesystem)
                .is_some_and(|state| state.attached_to.iter().any(|name| name.as_str() == machine));
            if is_over && !held && !self.has_mount(machine, filesystem) {
                self.filesystem_attachments.remove(&attachment);
                if let Ok(stream) = StreamId::new(filesystem_attachment::State::KIND, &attachment) {
                    let on = [(machine::State::KIND, machine), (filesystem::State::KIND, filesystem)];
                    self.forget_dependent(&stream, &on);
                }
            }
        }
        // The volume beneath holds it until it was told.
        let (kind, name) = match stream.kind() {
            filesystem::State::KIND => (filesystem::State::KIND, Some(name.to_owned())),
            volume::State::KIND => {
                let gone = |other: &&StreamId| {
                    other.kind() == filesystem::State::KIND
                        && self.filesystems.get(other.name()).is_some_and(|state| state.life == Life::Removed)
                };
                (filesystem::State::KIND, self.dependents(stream).find(gone).map(|other| other.name().to_owned()))
            }
            _ => return,
        };
        let Some(name) = name else { return };
        let Some(state) = self.filesystems.get(&name).filter(|state| state.life == Life::Removed) else { return };
        let spec = state.spec.clone();
        let (machine, volume) = spec.map(|spec| (spec.machine, spec.backing)).unwrap_or_default();
        let held = volume.as_ref().is_some_and(|volume| {
            let state = self.volumes.get(volume.as_str());
            state.is_some_and(|state| state.own.filesystem.as_ref().is_some_and(|held| held.as_str() == name))
        });
        if !held {
            self.filesystems.remove(&name);
            if let Ok(stream) = StreamId::new(kind, &name) {
                let mut on = Vec::new();
                on.extend(machine.as_ref().map(|machine| (machine::State::KIND, machine.as_str())));
                on.extend(volume.as_ref().map(|volume| (volume::State::KIND, volume.as_str())));
                let attachments: Vec<StreamId> = self.dependents(&stream).cloned().collect();
                self.forget_dependent(&stream, &on);
                // Attachments that are not gone yet go on hanging on it.
                if !attachments.is_empty() {
                    self.dependents.insert(stream, attachments.into_iter().collect());
                }
            }
        }
    }
}
