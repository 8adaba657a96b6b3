//! What the storage supervisor looks at.

mod forgetting;

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Cite, Entry, Position, StreamId, Version};

use super::{Absence, DeviceChange, Event, Gone, VolumeChange, gone::Going, prerequisites};
use crate::{
    contract::{self, Decider, Decoded, Fold, Folded, Stored, StoredError},
    filesystem, filesystem_attachment,
    machine::{self, Instance},
    ports::{Backing, MachineInstance},
    storage_rules::{Claimed, claimed},
    supervisor::Orders,
    vocab::{EffectId, Life, Name, Timestamp},
    volume, volume_attachment,
};

/// Machines, volumes, filesystems and attachments that exist, what machines see of them, and the orders that wait for an
/// answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub volumes: Fold<volume::State>,
    /// By `machine:volume`; a removed one stays until both sides have let go of it.
    pub attachments: Fold<volume_attachment::State>,
    pub filesystems: Fold<filesystem::State>,
    /// By `machine:filesystem`; as with volumes.
    pub filesystem_attachments: Fold<filesystem_attachment::State>,
    pub orders: Orders,
    /// The devices that volumes are seen as, by machine and volume; with the event that says so.
    devices: BTreeMap<(Name, Name), (Backing, Version)>,
    /// The volumes that their providers do not show.
    missing: BTreeMap<Name, Absence>,
    /// The volumes that were destroyed.
    pub gone: Gone,
    /// When the present session began; none before the first one had anything to make sure of.
    session_began: Option<Timestamp>,
    /// The entry that says so, and the event.
    session_at: Position,
    session_version: Version,
    /// The attachments that were made, or made sure of, in this session.
    fresh: BTreeSet<StreamId>,
    /// Who may have something to do when an entity changes.
    dependents: BTreeMap<StreamId, BTreeSet<StreamId>>,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "storage";

    /// The device that a volume is seen as on a machine.
    pub fn device(&self, machine: &Name, volume: &Name) -> Option<&Backing> {
        self.devices.get(&(machine.clone(), volume.clone())).map(|(backing, _)| backing)
    }

    /// All devices that volumes are seen as.
    pub fn devices(&self) -> impl Iterator<Item = &Backing> {
        self.devices.values().map(|(backing, _)| backing)
    }

    /// That what was made of a volume under this id is missing from its provider's lists.
    pub(super) fn absence(&self, volume: &Name, effect: EffectId) -> Option<&Absence> {
        self.missing.get(volume).filter(|absence| absence.effect == effect)
    }

    /// The event that said last that a volume is missing from its provider's lists.
    pub(super) fn missed_at(&self, volume: &Name) -> Option<Version> {
        self.missing.get(volume).map(|absence| absence.at)
    }

    /// The event that began the session.
    pub(super) fn session_version(&self) -> Option<Version> {
        self.session_began.is_some().then_some(self.session_version)
    }

    /// The event that said that a volume is this device somewhere.
    pub(super) fn device_cite(&self, machine: &Name, volume: &Name) -> Option<Cite> {
        let (_, at) = self.devices.get(&(machine.clone(), volume.clone()))?;
        Some(Cite::new(StreamId::new(super::State::KIND, Self::NAME).ok()?, *at))
    }

    /// The volumes that are seen on a machine.
    pub(super) fn volumes_seen_on(&self, machine: &Name) -> impl Iterator<Item = &Name> {
        // No name comes before this one.
        let first: Name = "0".parse().expect("a valid name");
        let of_machine = self.devices.range((machine.clone(), first)..);
        of_machine.take_while(move |((on, _), _)| on == machine).map(|((_, volume), _)| volume)
    }

    /// Who may have something to do when this entity changes.
    pub(super) fn dependents(&self, stream: &StreamId) -> impl Iterator<Item = &StreamId> {
        self.dependents.get(stream).into_iter().flatten()
    }

    /// The instance of a machine that runs.
    pub(super) fn running(&self, machine: &Name) -> Option<&MachineInstance> {
        let state = self.machines.get(machine.as_str()).filter(|state| state.life != Life::Removed)?;
        match &state.instance {
            Instance::Running { instance, .. } => Some(instance),
            Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
        }
    }

    /// Whether a machine is known, and has no instance that runs.
    pub(super) fn is_without_instance(&self, machine: &Name) -> bool {
        self.machines.get(machine.as_str()).is_some() && self.running(machine).is_none()
    }

    /// Whether a machine that is there keeps room for a filesystem.
    pub(super) fn has_mount(&self, machine: &str, filesystem: &str) -> bool {
        let state = self.machines.get(machine).filter(|state| state.life != Life::Removed);
        state.is_some_and(|state| state.mounts.iter().any(|name| name.as_str() == filesystem))
    }

    /// Whether an attachment that is made was made in an earlier session.
    pub(super) fn is_of_earlier_session(&self, stream: &StreamId) -> bool {
        self.session_began.is_some() && !self.fresh.contains(stream)
    }

    /// Whether anything is attached that a new session has to make sure of.
    pub fn has_attached(&self) -> bool {
        self.all_attached().next().is_some()
    }

    /// What is attached by the journal and was not made sure of in the session that begins after an entry, but will be.
    pub fn unsure(&self, begins_after: Position) -> Vec<StreamId> {
        let has_begun = begins_after < self.session_at;
        self.all_attached().filter(|stream| !has_begun || prerequisites::is_to_be_reattached(self, stream)).collect()
    }

    fn all_attached(&self) -> impl Iterator<Item = StreamId> {
        use filesystem_attachment::Link as Mount;
        use volume_attachment::Link;
        let volumes = self.attachments.iter().filter_map(|(name, Folded { state, .. })| {
            let is_attached = state.life == Life::Alive && matches!(state.link, Link::Attached { .. });
            is_attached.then(|| StreamId::new(volume_attachment::State::KIND, name).ok())?
        });
        let mounts = self.filesystem_attachments.iter().filter_map(|(name, Folded { state, .. })| {
            let is_attached = state.life == Life::Alive && matches!(state.link, Mount::Attached { .. });
            is_attached.then(|| StreamId::new(filesystem_attachment::State::KIND, name).ok())?
        });
        volumes.chain(mounts)
    }
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(
            kind,
            "machine" | "volume" | "volume-attachment" | "filesystem" | "filesystem-attachment" | "supervisor"
        )
    }

    fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        let name = stream.name();
        match stream.kind() {
            "supervisor" if name == Self::NAME => return self.apply_own(entry),
            "supervisor" => return Ok(()),
            _ => (),
        }
        // What an attachment of a volume hangs on is in its name, and noted for as long as it is known.
        let is_noted = stream.kind() == volume_attachment::State::KIND && self.attachments.get(name).is_some();
        let made_for = self.made_for(stream);
        // The attachments, as `machine:volume`, that the entry may be the last word about.
        let mut touched = Vec::new();
        let mut is_attached = false;
        self.machines.apply_showing(entry, |event| {
            if let machine::Event::AttachmentReleased { volume } = event {
                touched.push(format!("{name}:{volume}"));
            }
        })?;
        let is_volume = stream.kind() == volume::State::KIND;
        let going = match self.volumes.get(name).filter(|_| is_volume) {
            Some(state) => Going::of(entry, state)?,
            None => None,
        };
        let mut has_gone = false;
        self.volumes.apply_showing(entry, |event| {
            has_gone |= Going::is_over(event);
            if let volume::Event::AttachmentReleased { machine } = event {
                touched.push(format!("{machine}:{name}"));
            }
        })?;
        if let (true, Some(going), Ok(volume)) = (has_gone, going, name.parse()) {
            going.has_gone(volume, entry, &mut self.gone);
        }
        self.attachments.apply_showing(entry, |event| {
            use volume_attachment::Event;
            is_attached |= matches!(event, Event::Attached { .. } | Event::TakenOver { .. });
        })?;
        self.filesystems.apply_decoded(entry)?;
        self.filesystem_attachments.apply_showing(entry, |event| {
            is_attached |= matches!(event, filesystem_attachment::Event::Attached { .. });
        })?;
        self.orders.answered(entry);
        if is_attached {
            self.note_attached(entry);
        }
        if !is_noted {
            self.note_dependents(stream);
        }
        match stream.kind() {
            volume::State::KIND if self.volumes.get(name).is_some_and(|v| v.life == Life::Removed) => {
                self.volumes.remove(name);
                self.missing.retain(|volume, _| volume.as_str() != name);
            }
            _ => (),
        }
        if stream.kind() == volume_attachment::State::KIND {
            self.forget_if_over(name);
        }
        for attachment in touched {
            self.forget_if_over(&attachment);
        }
        self.forget_filesystems_if_over(stream);
        self.forget_machine_if_over(stream, made_for);
        Ok(())
    }
}

impl View {
    fn apply_own(&mut self, entry: &Entry) -> Result<(), StoredError> {
        for (at, body) in entry.versioned_events() {
            match Event::load(body)? {
                Event::Issued { order, cites } => {
                    self.orders.issued(&entry.header.stream, at, entry.header.position, order, cites);
                }
                Event::SessionBegan => {
                    self.session_began = Some(Timestamp(entry.header.meta.time_ms));
                    self.session_at = entry.header.position;
                    self.session_version = at;
                    self.fresh.clear();
                }
                Event::Observed { changes } => changes.into_iter().for_each(|change| self.observe(at, change)),
                Event::VolumesObserved { changes } => {
                    changes.into_iter().for_each(|change| self.observe_volume(at, change))
                }
            }
        }
        Ok(())
    }

    fn observe(&mut self, at: Version, change: DeviceChange) {
        match change {
            DeviceChange::Seen { machine, backing } => {
                self.devices.insert((machine, backing.volume.clone()), (backing, at));
            }
            DeviceChange::Gone { machine, volume } => drop(self.devices.remove(&(machine, volume))),
        }
    }

    fn observe_volume(&mut self, at: Version, change: VolumeChange) {
        match change {
            VolumeChange::Missing { volume, effect, as_of } => {
                match self.missing.get_mut(&volume).filter(|absence| absence.effect == effect) {
                    Some(absence) => (absence.is_confirmed, absence.at) = (true, at),
                    None => {
                        let absence = Absence { effect, first: as_of, is_confirmed: false, at };
                        self.missing.insert(volume, absence);
                    }
                }
            }
            VolumeChange::Back { volume, .. } => drop(self.missing.remove(&volume)),
            VolumeChange::Returned { effect, as_of, .. } => self.gone.shown(at, effect, as_of),
        }
    }

    /// What was attached just now need not be made sure of.
    fn note_attached(&mut self, entry: &Entry) {
        if self.session_began.is_some_and(|began| began <= Timestamp(entry.header.meta.time_ms)) {
            self.fresh.insert(entry.header.stream.clone());
        }
    }

    /// The storage that a machine asks for itself: kinds and names.
    fn claims_of(&self, machine: &str) -> Vec<(&'static str, String)> {
        let spec = self.machines.get(machine).and_then(|state| state.spec.as_ref());
        let (Some(spec), Ok(machine)) = (spec.filter(|spec| !spec.storage.is_empty()), machine.parse::<Name>()) else {
            return Vec::new();
        };
        let both = |claimed: Claimed<'_>| {
            let volume = claimed.volume.map(|name| (volume::State::KIND, name.to_string()));
            let filesystem = claimed.filesystem.map(|name| (filesystem::State::KIND, name.to_string()));
            volume.into_iter().chain(filesystem)
        };
        claimed(&machine, &spec.storage).flat_map(both).collect()
    }

    /// An entity hangs on those that it names.
    fn note_dependents(&mut self, stream: &StreamId) {
        let name = stream.name();
        let mut on: Vec<(&'static str, String)> = Vec::new();
        match stream.kind() {
            volume::State::KIND => {
                let machine = self.volumes.get(name).and_then(|state| state.own.wanted_on.clone());
                on.extend(machine.map(|machine| (machine::State::KIND, machine.to_string())));
            }
            machine::State::KIND => on = self.claims_of(name),
            filesystem::State::KIND => {
                let state = self.filesystems.get(name);
                let claim = state.and_then(|state| state.claim.as_ref()).map(|by| by.machine.to_string());
                on.extend(claim.map(|machine| (machine::State::KIND, machine)));
                let spec = self.filesystems.get(name).and_then(|state| state.spec.clone());
                let (machine, volume) = spec.map(|spec| (spec.machine, spec.backing)).unwrap_or_default();
                on.extend(machine.map(|machine| (machine::State::KIND, machine.to_string())));
                on.extend(volume.map(|volume| (volume::State::KIND, volume.to_string())));
            }
            volume_attachment::State::KIND => {
                if let Some((machine, volume)) = name.split_once(':') {
                    on.push((machine::State::KIND, machine.to_owned()));
                    on.push((volume::State::KIND, volume.to_owned()));
                }
            }
            filesystem_attachment::State::KIND => {
                if let Some((machine, filesystem)) = name.split_once(':') {
                    on.push((machine::State::KIND, machine.to_owned()));
                    on.push((filesystem::State::KIND, filesystem.to_owned()));
                    // Where it is mounted decides when the volume beneath may be detached there.
                    let beneath = self.filesystems.get(filesystem).and_then(|state| state.backing());
                    if let Some(volume) = beneath
                        && let Ok(attachment) =
                            StreamId::new(volume_attachment::State::KIND, &format!("{machine}:{volume}"))
                    {
                        self.dependents.entry(stream.clone()).or_default().insert(attachment);
                    }
                }
            }
            _ => (),
        }
        for (kind, name) in on {
            if let Ok(other) = StreamId::new(kind, &name) {
                self.dependents.entry(other).or_default().insert(stream.clone());
            }
        }
    }
}
