//! The store as past events: what an entity has been through, so that it is as the store has it.
//!
//! An entity learns of its store when the supervisor is woken for it, and not before.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick::actors::{
    contract::{Decider, Entity},
    filesystem, filesystem_attachment,
    machine::{self, Instance},
    ports::{
        AttachmentInfo, Backing, BlockDevice, FilesystemAttachmentInfo, InstanceStatus, MachineInstance,
        ProvisionedFilesystem, ProvisionedVolume,
    },
    supervisor::storage::DeviceChange,
    vocab::{EffectId, InstanceId, Life, Name, SizeMib, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::{Outcome, StreamId, Version};
use uuid::Uuid;

use super::{BEGIN, Desk, Entities, JOURNAL, stream};
use crate::cases::storage::timelines::given::{self, name, pair};

/// When everything that the store has happened.
const EARLIER: Timestamp = Timestamp(BEGIN - 1);

/// Everything has a provider that is named somewhere.
fn provider(text: &str) -> Result<Name, String> {
    let text = if text.is_empty() { "unknown" } else { text };
    text.parse().map_err(|error| format!("{error}"))
}

fn life(text: &str) -> Result<Life, String> {
    match text {
        "alive" => Ok(Life::Alive),
        "dying" => Ok(Life::Dying),
        "dead" => Ok(Life::Dead),
        _ => Err(format!("the runner does not know the life {text:?}")),
    }
}

/// The version of the event that comes after those of the entity and these.
fn next<D: Decider>(entity: &Entity<D>, events: &[D::Event]) -> Version {
    entity.version().plus(events.len() as u64 + 1)
}

fn entity<D: Decider>(entities: &mut Entities<D>, stream: &StreamId) -> Entity<D> {
    entities.remove(stream).unwrap_or_else(|| Entity::new(stream.clone()))
}

impl Desk {
    fn happened<D: Decider>(&mut self, entity: &mut Entity<D>, events: &[D::Event]) -> Result<(), String> {
        if events.is_empty() {
            return Ok(());
        }
        self.book.write(entity, EARLIER, Uuid::nil(), Outcome::Done, events)
    }

    /// Machines are as the store has them; nothing in the place of an instance means that there is none yet.
    pub(super) fn machines_as_stored(&mut self) -> Result<(), String> {
        use machine::Event;
        let mut stored = BTreeMap::new();
        for (tag, instance) in self.store.entries("machines") {
            stored.insert(name(tag)?, instance.as_str().map(str::to_owned));
        }
        let known: Vec<StreamId> = self.machines.keys().cloned().collect();
        for known in known.iter().filter(|known| !stored.keys().any(|name| name.as_str() == known.name())) {
            let mut entity = entity(&mut self.machines, known);
            if entity.state().life.exists() {
                self.happened(&mut entity, &[Event::RemovalBegan { at: self.book.now }, Event::Died, Event::Removed])?;
            }
        }
        for (name, instance) in stored {
            let stream = stream::<machine::State>(name.as_str())?;
            let mut entity = entity(&mut self.machines, &stream);
            let mut events = Vec::new();
            if !entity.state().life.exists() {
                let spec = machine::Spec::with_provider(provider("")?);
                events.push(Event::Declared { spec: Arc::new(spec) });
            }
            let present = match &entity.state().instance {
                Instance::Running { instance, .. } => Some(instance.instance.0.clone()),
                _ => None,
            };
            if present.is_some() && present != instance {
                events.push(Event::InstanceLost { at: EARLIER });
            }
            if let Some(instance) = instance.filter(|instance| present.as_ref() != Some(instance)) {
                let effect = EffectId::of(JOURNAL, &stream, next(&entity, &events));
                events.push(Event::CreateRequested { at: EARLIER });
                let instance = MachineInstance {
                    effect,
                    instance: InstanceId(instance),
                    machine: name,
                    facts: BTreeMap::new(),
                    status: InstanceStatus::Running,
                };
                events.push(Event::Created { instance, at: EARLIER });
            }
            self.happened(&mut entity, &events)?;
            self.machines.insert(stream, entity);
        }
        Ok(())
    }

    pub(super) fn volume_as_stored(&mut self, tag: &str) -> Result<StreamId, String> {
        use volume::{Event, Storage};
        let stream = stream::<volume::State>(name(tag)?.as_str())?;
        let record: Option<given::Volume> = self.store.get("volumes", tag)?;
        let mut entity = entity(&mut self.volumes, &stream);
        let mut events = Vec::new();
        match record {
            None if entity.state().life.exists() => events.push(Event::Removed),
            None => (),
            Some(record) => {
                let state = entity.state();
                let exists = state.life.exists();
                let size = SizeMib(record.size);
                if !exists {
                    let spec = volume::Spec { provider: provider(&record.provider)?, size };
                    events.push(Event::Declared { spec });
                    if let Some(attach) = &record.attach {
                        events.push(Event::Own(volume::OwnEvent::WantedOn { machine: name(&attach.machine)? }));
                    }
                }
                let storage = if exists { state.storage.clone() } else { Storage::None };
                if record.remove.as_deref() == Some("release") && (!exists || state.removal != volume::Removal::Release)
                {
                    events.push(Event::ReleaseWanted);
                }
                if let Some(provisioned) = record.provisioned {
                    let made = |effect| ProvisionedVolume {
                        effect,
                        volume_id: InstanceId(provisioned.volume_id.clone()),
                        size,
                    };
                    let intent = match &storage {
                        Storage::None => {
                            let intent = next(&entity, &events);
                            events.push(Event::CreateRequested { base: volume::Where::Anywhere, at: EARLIER });
                            Some(intent)
                        }
                        Storage::Creating { effort, .. } => Some(effort.intent),
                        Storage::Provisioned { .. } | Storage::Destroying { .. } => None,
                    };
                    if let Some(intent) = intent {
                        let effect = EffectId::of(JOURNAL, &stream, intent);
                        self.provider.known.insert(effect, provisioned.volume_id.clone());
                        events.push(Event::Created { made: made(effect) });
                    }
                }
                let present = if exists { state.life } else { Life::Alive };
                let wanted = life(&record.life)?;
                if present == Life::Alive && wanted != Life::Alive {
                    events.push(Event::RemovalBegan);
                }
                if present != Life::Dead && wanted == Life::Dead {
                    events.push(Event::Died);
                }
            }
        }
        self.happened(&mut entity, &events)?;
        self.volumes.insert(stream.clone(), entity);
        Ok(stream)
    }

    pub(super) fn filesystem_as_stored(&mut self, tag: &str) -> Result<StreamId, String> {
        use filesystem::{Event, Storage};
        let stream = stream::<filesystem::State>(name(tag)?.as_str())?;
        let record: Option<given::Filesystem> = self.store.get("filesystems", tag)?;
        let mut entity = entity(&mut self.filesystems, &stream);
        let mut events = Vec::new();
        match record {
            None if entity.state().life.exists() => events.push(Event::Removed),
            None => (),
            Some(record) => {
                let state = entity.state();
                let exists = state.life.exists();
                let size = SizeMib(record.size);
                if !exists {
                    let spec = filesystem::Spec {
                        provider: provider(&record.provider)?,
                        size,
                        backing: record.backing.as_deref().map(name).transpose()?,
                        machine: name(&self.scope).ok(),
                    };
                    events.push(Event::Declared { spec });
                }
                let storage = if exists { state.storage.clone() } else { Storage::None };
                let released = exists && state.removal == filesystem::Removal::Release;
                if record.remove.as_deref() == Some("release") && !released {
                    events.push(Event::ReleaseWanted);
                }
                if let Some(provisioned) = record.provisioned {
                    let intent = match &storage {
                        Storage::None => {
                            let intent = next(&entity, &events);
                            events.push(Event::CreateRequested {
                                base: filesystem::Base { backing: None, over: BTreeSet::new() },
                                at: EARLIER,
                            });
                            Some(intent)
                        }
                        Storage::Creating { effort, .. } => Some(effort.intent),
                        Storage::Provisioned { .. } | Storage::Destroying { .. } => None,
                    };
                    if let Some(intent) = intent {
                        let effect = EffectId::of(JOURNAL, &stream, intent);
                        let id = provisioned.filesystem_id;
                        self.provider.known.insert(effect, id.clone());
                        let size = provisioned.size.map_or(size, SizeMib);
                        let filesystem_id = InstanceId(id);
                        events.push(Event::Created { made: ProvisionedFilesystem { effect, filesystem_id, size } });
                    }
                }
                let present = if exists { state.life } else { Life::Alive };
                let wanted = life(&record.life)?;
                if present == Life::Alive && wanted != Life::Alive {
                    events.push(Event::RemovalBegan);
                }
                if present != Life::Dead && wanted == Life::Dead {
                    events.push(Event::Died);
                }
            }
        }
        self.happened(&mut entity, &events)?;
        self.filesystems.insert(stream.clone(), entity);
        Ok(stream)
    }

    /// The instance of a machine as it is, for what was attached to it in an earlier session.
    fn instance(&self, machine: &Name) -> Result<(EffectId, InstanceId), String> {
        let stream = stream::<machine::State>(machine.as_str())?;
        let instance = self.machines.get(&stream).and_then(|entity| match &entity.state().instance {
            Instance::Running { instance, .. } => Some((instance.effect, instance.instance.clone())),
            _ => None,
        });
        Ok(instance.unwrap_or_else(|| (EffectId::of(JOURNAL, &stream, Version::ZERO), InstanceId(String::new()))))
    }

    pub(super) fn volume_attachment_as_stored(&mut self, key: &str) -> Result<StreamId, String> {
        use volume_attachment::{Event, Link, Spec, Target};
        let (machine, volume) = pair(key)?;
        let stream = stream::<volume_attachment::State>(&format!("{machine}:{volume}"))?;
        let record: Option<given::Attachment> = self.store.get("volume_attachments", key)?;
        let tag = key.split_once(':').map_or("", |(_, volume)| volume);
        let stored: Option<given::Volume> = self.store.get("volumes", tag)?;
        let mut entity = entity(&mut self.volume_attachments, &stream);
        let state = entity.state();
        let exists = state.life.exists();
        let mut events = Vec::new();
        match record {
            None if exists => events.push(Event::Removed),
            None => (),
            // From dying it goes to removed; a dead one has never been.
            Some(record) if record.life == "dead" && exists => events.push(Event::Removed),
            Some(record) if record.life == "dead" => (),
            Some(record) => {
                let read_only = record.read_only;
                if !exists {
                    let spec = Spec { machine: machine.clone(), volume: volume.clone(), read_only };
                    events.push(Event::Declared { spec });
                }
                if record.provisioned && (!exists || state.link == Link::Waiting) {
                    let (machine_effect, instance) = self.instance(&machine)?;
                    let id = stored.as_ref().and_then(|volume| volume.provisioned.as_ref());
                    let target = Target {
                        provider: provider(stored.as_ref().map_or("", |volume| &volume.provider))?,
                        machine_effect,
                        instance,
                        volume_effect: EffectId::of(
                            JOURNAL,
                            &self::stream::<volume::State>(volume.as_str())?,
                            Version::ZERO,
                        ),
                        volume_id: InstanceId(id.map(|id| id.volume_id.clone()).unwrap_or_default()),
                    };
                    events.push(Event::AttachRequested { target, at: EARLIER });
                    events.push(Event::Attached { info: AttachmentInfo { path: String::new(), read_only } });
                }
                let present = if exists { state.life } else { Life::Alive };
                if present == Life::Alive && life(&record.life)? != Life::Alive {
                    events.push(Event::RemovalBegan);
                }
            }
        }
        self.happened(&mut entity, &events)?;
        self.volume_attachments.insert(stream.clone(), entity);
        Ok(stream)
    }

    pub(super) fn filesystem_attachment_as_stored(&mut self, key: &str) -> Result<StreamId, String> {
        use filesystem_attachment::{Event, Link, Spec, Target};
        let (machine, filesystem) = pair(key)?;
        let stream = stream::<filesystem_attachment::State>(&format!("{machine}:{filesystem}"))?;
        let record: Option<given::Attachment> = self.store.get("filesystem_attachments", key)?;
        let tag = key.split_once(':').map_or("", |(_, filesystem)| filesystem);
        let stored: Option<given::Filesystem> = self.store.get("filesystems", tag)?;
        let mut entity = entity(&mut self.filesystem_attachments, &stream);
        let state = entity.state();
        let exists = state.life.exists();
        let mut events = Vec::new();
        match record {
            None if exists => events.push(Event::Removed),
            None => (),
            // From dying it goes to removed; a dead one has never been.
            Some(record) if record.life == "dead" && exists => events.push(Event::Removed),
            Some(record) if record.life == "dead" => (),
            Some(record) => {
                let read_only = record.read_only;
                if !exists {
                    let path = record.path.clone().filter(|path| !path.is_empty());
                    let spec = Spec { machine: machine.clone(), filesystem: filesystem.clone(), path, read_only };
                    events.push(Event::Declared { spec });
                }
                if record.provisioned && (!exists || state.link == Link::Waiting) {
                    let (machine_effect, instance) = self.instance(&machine)?;
                    let id = stored.as_ref().and_then(|filesystem| filesystem.provisioned.as_ref());
                    let source = match stored.as_ref() {
                        Some(stored) if stored.backing.is_some() => filesystem::MANAGED,
                        Some(stored) => stored.provider.as_str(),
                        None => "",
                    };
                    let of = self::stream::<filesystem::State>(filesystem.as_str())?;
                    let target = Target {
                        provider: provider(source)?,
                        machine_effect,
                        instance,
                        filesystem_effect: EffectId::of(JOURNAL, &of, Version::ZERO),
                        filesystem_id: InstanceId(id.map(|id| id.filesystem_id.clone()).unwrap_or_default()),
                        backing: None,
                        path: record.path.clone(),
                    };
                    events.push(Event::AttachRequested { target, at: EARLIER });
                    let mount_point = record.path.clone().unwrap_or_default();
                    events.push(Event::Attached { info: FilesystemAttachmentInfo { mount_point, read_only } });
                }
                let present = if exists { state.life } else { Life::Alive };
                if present == Life::Alive && life(&record.life)? != Life::Alive {
                    events.push(Event::RemovalBegan);
                }
            }
        }
        self.happened(&mut entity, &events)?;
        self.filesystem_attachments.insert(stream.clone(), entity);
        Ok(stream)
    }

    /// What machines see now and did not see before, or the other way round.
    pub(super) fn devices_as_stored(&self) -> Result<Vec<DeviceChange>, String> {
        let mut changes = Vec::new();
        for (key, _) in self.store.entries("block_devices") {
            let (machine, volume) = pair(key)?;
            let Some(device) = self.store.get::<given::Device>("block_devices", key)? else { continue };
            let backing = Backing {
                volume_effect: EffectId::of(JOURNAL, &stream::<volume::State>(volume.as_str())?, Version::ZERO),
                volume,
                device: BlockDevice { name: device.device_name, size: SizeMib(device.size), hardware_id: None },
            };
            if self.book.view.device(&machine, &backing.volume) != Some(&backing) {
                changes.push(DeviceChange::Seen { machine, backing });
            }
        }
        Ok(changes)
    }
}
