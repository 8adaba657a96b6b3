//! The outside world: it does not crash with the node.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bailiwick_actors::{
    ports::{
        AttachVolume, AttachmentInfo, CreateFilesystem, CreateMachine, CreateVolume, CreatedAttachment, CreatedStorage,
        CreatedVolume, FilesystemAttachmentInfo, InstanceStatus, MachineInstance, ProvisionedVolume, StartedMachine,
    },
    storage_rules::claimed_with_instance,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, SizeMib, Timestamp, Uid, derived_uuid},
};

use super::{Change, Dice, Faults, SimulatedCustom, SimulatedFilesystem, SimulatedMount, Thing, zones::Zones};

/// The instances, volumes and attachments of all simulated providers. Clones are the same world.
#[derive(Clone, Debug)]
pub struct World(Arc<Mutex<WorldState>>);

/// What there is at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldState {
    pub(super) dice: Dice,
    pub instances: BTreeMap<EffectId, SimulatedInstance>,
    pub volumes: BTreeMap<EffectId, SimulatedVolume>,
    pub attachments: BTreeMap<EffectId, SimulatedAttachment>,
    pub filesystems: BTreeMap<EffectId, SimulatedFilesystem>,
    pub mounts: BTreeMap<EffectId, SimulatedMount>,
    /// What was made for entities of registered kinds.
    pub custom: BTreeMap<EffectId, SimulatedCustom>,
    /// How often each operation of each provider was called: `simulated create-machine`.
    pub calls: BTreeMap<String, u64>,
    /// The same for the items of calls that change something.
    pub items: BTreeMap<String, u64>,
    pub(super) faults: BTreeMap<Name, Faults>,
    /// Nothing is reached from the one moment to the other.
    pub(super) outages: Vec<(Name, Timestamp, Timestamp)>,
    /// The zones of each provider, and which of them cannot be reached when.
    pub(super) zones: Zones,
    /// When each provider was called within the last minute.
    pub(super) recent_calls: BTreeMap<Name, VecDeque<Timestamp>>,
    /// Calls that have been sent and not happened yet: they happen even if the caller is gone by then.
    pub(super) in_the_air: BTreeMap<(Timestamp, u64), Change>,
    silent: BTreeMap<Name, Timestamp>,
    clinging: BTreeSet<Name>,
    /// Nothing in a zone says anything before this moment.
    dark: BTreeMap<String, Timestamp>,
    pub(super) earlier_lists: BTreeMap<Name, (Timestamp, Vec<MachineInstance>)>,
    made: u64,
    /// What was made for each machine, by its uid, whether or not it is there still: another one for it is a twin.
    made_for: BTreeMap<Uid, Vec<EffectId>>,
    /// Volumes and filesystems that were there when another one was made for the same, and how that is said.
    pub made_twice: Vec<String>,
    /// Instances that were there when another one was made for their machine, and how that is said: nothing is wrong with
    /// those that their machine was to let go of.
    pub twins: Vec<(EffectId, String)>,
}

/// An instance that some provider made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedInstance {
    pub provider: Name,
    pub uid: Uid,
    pub seen: MachineInstance,
    /// The volumes that came with it.
    pub storage: CreatedStorage,
}

impl SimulatedInstance {
    /// What its provider answers when it has made it, or is asked for it.
    pub(super) fn started(&self) -> StartedMachine {
        StartedMachine { storage: self.storage.clone(), ..self.seen.clone().into() }
    }
}

/// The volumes that come with an instance: all that its declaration asks for.
fn storage_of(create: &CreateMachine) -> CreatedStorage {
    let mut storage = CreatedStorage::default();
    for (number, (volume, claim)) in claimed_with_instance(&create.machine, &create.spec.storage).enumerate() {
        let id = InstanceId(format!("{}/{number}", create.id));
        let created = CreatedVolume { id, size: claim.size, hardware_id: None, persistent: false };
        let device_link = format!("/dev/disk/by-id/{volume}");
        let attachment = CreatedAttachment { device_link, read_only: claim.read_only, ..CreatedAttachment::default() };
        storage.attachments.insert(volume.clone(), attachment);
        storage.volumes.insert(volume, created);
    }
    storage
}

/// A volume that some provider made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedVolume {
    pub provider: Name,
    pub volume: Name,
    pub uid: Uid,
    pub seen: ProvisionedVolume,
}

/// A volume attached to an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedAttachment {
    pub provider: Name,
    pub made: AttachVolume,
    pub info: AttachmentInfo,
}

impl World {
    /// An empty world whose chance comes from the seed.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(WorldState {
            dice: Dice::named(seed, "world"),
            instances: BTreeMap::new(),
            volumes: BTreeMap::new(),
            attachments: BTreeMap::new(),
            filesystems: BTreeMap::new(),
            mounts: BTreeMap::new(),
            custom: BTreeMap::new(),
            calls: BTreeMap::new(),
            items: BTreeMap::new(),
            faults: BTreeMap::new(),
            outages: Vec::new(),
            zones: Zones::default(),
            recent_calls: BTreeMap::new(),
            in_the_air: BTreeMap::new(),
            silent: BTreeMap::new(),
            clinging: BTreeSet::new(),
            dark: BTreeMap::new(),
            earlier_lists: BTreeMap::new(),
            made: 0,
            made_for: BTreeMap::new(),
            made_twice: Vec::new(),
            twins: Vec::new(),
        })))
    }

    /// A world in which these things are there already.
    pub fn with(seed: u64, things: impl IntoIterator<Item = Thing>) -> Self {
        let world = Self::new(seed);
        {
            let mut state = world.state();
            // Far from any number that was given before.
            state.made = 1_000_000;
            for thing in things {
                state.put(thing);
            }
        }
        world
    }

    /// How it is now, as a copy.
    pub fn snapshot(&self) -> WorldState {
        self.state().clone()
    }

    /// Makes it as it was.
    pub fn restore(&self, state: WorldState) {
        *self.state() = state;
    }

    /// From now on a provider misbehaves like this.
    pub fn set_faults(&self, provider: &Name, faults: Faults) {
        self.state().faults.insert(provider.clone(), faults);
    }

    /// From now on all providers behave.
    pub fn stop_faults(&self) {
        let mut state = self.state();
        let latencies: BTreeMap<Name, (u64, u64)> =
            state.faults.iter().map(|(name, faults)| (name.clone(), faults.latency_ms)).collect();
        for (name, (least, most)) in latencies {
            let latency_ms = (least.min(1_000), most.min(1_000));
            state.faults.insert(name, Faults { latency_ms, ..Faults::default() });
        }
        state.outages.clear();
        state.end_zone_outages();
        state.silent.clear();
        state.clinging.clear();
        state.dark.clear();
    }

    /// Nothing of a provider is reached between the two moments.
    pub fn add_outage(&self, provider: &Name, from: Timestamp, to: Timestamp) {
        self.state().outages.push((provider.clone(), from, to));
    }

    /// The instances of a machine die: they stay, and do not run any more. Answers how many.
    pub fn kill(&self, machine: &Name) -> usize {
        let mut state = self.state();
        let of_machine = state.instances.values_mut().filter(|instance| instance.seen.machine == *machine);
        of_machine.map(|instance| instance.seen.status = InstanceStatus::Stopped).count()
    }

    /// The instances of a machine vanish, and with them what was attached to them. Answers how many.
    pub fn vanish(&self, machine: &Name) -> usize {
        let mut state = self.state();
        let gone: BTreeSet<EffectId> = state
            .instances
            .iter()
            .filter(|(_, instance)| instance.seen.machine == *machine)
            .map(|(effect, _)| *effect)
            .collect();
        for effect in &gone {
            state.apply(Change::DeleteMachine(*effect), Timestamp(0));
        }
        gone.len()
    }

    /// Somebody makes an instance that bears a machine's name, and tells nobody.
    pub fn stray(&self, provider: &Name, machine: &Name) {
        let mut state = self.state();
        state.made += 1;
        let effect = EffectId(derived_uuid(&format!("stray {provider} {machine} {}", state.made)));
        let seen = MachineInstance {
            effect,
            instance: InstanceId(format!("i-{:04}", state.made)),
            machine: machine.clone(),
            facts: BTreeMap::new(),
            status: InstanceStatus::Running,
        };
        let instance = SimulatedInstance {
            provider: provider.clone(),
            uid: Uid(effect.0),
            seen,
            storage: CreatedStorage::default(),
        };
        state.instances.insert(effect, instance);
    }

    /// An instance that bears a machine's name, other than this one.
    pub fn other_instance(&self, machine: &Name, own: Option<EffectId>) -> Option<(Name, MachineInstance)> {
        let state = self.state();
        let is_other = |instance: &&SimulatedInstance| {
            instance.seen.machine == *machine && own.is_none_or(|own| own != instance.seen.effect)
        };
        state.instances.values().find(is_other).map(|found| (found.provider.clone(), found.seen.clone()))
    }

    /// The agents of a machine say nothing before this moment.
    pub fn silence(&self, machine: &Name, until: Timestamp) {
        self.state().silent.insert(machine.clone(), until);
    }

    /// Nothing in a zone says anything before this moment; the provider reaches it all the same.
    pub fn darken(&self, zone: &str, until: Timestamp) {
        self.state().dark.insert(zone.to_owned(), until);
    }

    /// What runs on a machine does not end when it is told to.
    pub fn cling(&self, machine: &Name) {
        self.state().clinging.insert(machine.clone());
    }

    /// Whether what runs on a machine does not end.
    pub fn clings(&self, machine: &Name) -> bool {
        self.state().clinging.contains(machine)
    }

    /// The instances whose agents would report now: machine and effect id.
    pub fn reporting(&self, now: Timestamp) -> Vec<(Name, EffectId)> {
        let state = self.at(now);
        state
            .instances
            .values()
            .filter(|instance| instance.seen.status == InstanceStatus::Running)
            .filter(|instance| !state.zones.is_out(&instance.provider, instance.zone(), now))
            .filter(|instance| state.silent.get(&instance.seen.machine).is_none_or(|until| *until <= now))
            .filter(|instance| state.dark.get(instance.zone()).is_none_or(|until| *until <= now))
            .map(|instance| (instance.seen.machine.clone(), instance.seen.effect))
            .collect()
    }

    /// The instances that run, by machine.
    pub fn running(&self) -> BTreeMap<Name, BTreeSet<EffectId>> {
        let mut running: BTreeMap<Name, BTreeSet<EffectId>> = BTreeMap::new();
        let state = self.state();
        for instance in state.instances.values().filter(|it| it.seen.status == InstanceStatus::Running) {
            running.entry(instance.seen.machine.clone()).or_default().insert(instance.seen.effect);
        }
        running
    }

    /// The volumes that are attached, by instance, and who made them.
    pub fn attached(&self) -> BTreeMap<EffectId, Vec<(Name, ProvisionedVolume)>> {
        let state = self.state();
        let mut attached: BTreeMap<EffectId, Vec<_>> = BTreeMap::new();
        for SimulatedAttachment { made, .. } in state.attachments.values() {
            let Some(volume) = state.volumes.get(&made.volume_effect) else { continue };
            attached.entry(made.machine_effect).or_default().push((volume.provider.clone(), volume.seen.clone()));
        }
        attached
    }

    pub(super) fn state(&self) -> MutexGuard<'_, WorldState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world at this moment: what was in the air and has come down by now has happened.
    pub(super) fn at(&self, now: Timestamp) -> MutexGuard<'_, WorldState> {
        let mut state = self.state();
        while let Some(first) = state.in_the_air.first_entry() {
            let at = first.key().0;
            if at > now {
                break;
            }
            let change = first.remove();
            state.apply(change, at);
        }
        state
    }
}

impl WorldState {
    /// A call that will happen at this moment, whatever becomes of its caller.
    pub(super) fn send(&mut self, at: Timestamp, change: Change) {
        self.made += 1;
        self.in_the_air.insert((at, self.made), change);
    }

    fn put(&mut self, thing: Thing) {
        match thing {
            Thing::Machine { provider, asked, made } => {
                let id = asked.id;
                self.create_machine(provider, asked, Timestamp(0));
                if let (Some(instance), Some(made)) = (self.instances.get_mut(&id), made) {
                    instance.seen = made;
                }
            }
            Thing::Volume { provider, asked, made } => {
                let id = asked.id;
                self.create_volume(provider, asked);
                if let (Some(volume), Some(made)) = (self.volumes.get_mut(&id), made) {
                    volume.seen = made;
                }
            }
            Thing::Attachment { provider, asked, made } => {
                let info = made.unwrap_or_else(|| AttachmentInfo {
                    path: format!("/volumes/{}", asked.volume),
                    read_only: asked.read_only,
                });
                self.attachments.insert(asked.id, SimulatedAttachment { provider, made: asked, info });
            }
            Thing::Filesystem { provider, asked, made } => {
                let id = asked.id;
                self.create_filesystem(provider, asked);
                if let (Some(filesystem), Some(made)) = (self.filesystems.get_mut(&id), made) {
                    filesystem.seen = made;
                }
            }
            Thing::Mount { provider, asked, made } => {
                let info = made.unwrap_or_else(|| FilesystemAttachmentInfo {
                    mount_point: format!("/filesystems/{}", asked.filesystem),
                    read_only: asked.read_only,
                });
                self.mounts.insert(asked.id, SimulatedMount { provider, made: asked, info });
            }
            Thing::Custom { id, thing } => drop(self.custom.insert(id, thing)),
        }
    }

    /// Whether something may still be made under this id.
    pub(super) fn is_in_the_air(&self, id: EffectId) -> bool {
        self.in_the_air.values().any(|change| change.makes() && change.id() == id)
    }

    /// The instances that a provider has, or will have.
    pub(super) fn instances_of(&self, provider: &Name) -> usize {
        let coming = |change: &&Change| matches!(change, Change::CreateMachine(name, _) if name == provider);
        self.instances.values().filter(|instance| instance.provider == *provider).count()
            + self.in_the_air.values().filter(coming).count()
    }

    pub(super) fn apply(&mut self, change: Change, at: Timestamp) {
        if !change.makes() {
            // Whoever removes under an id also makes sure that nothing comes later under it.
            let id = change.id();
            self.in_the_air.retain(|_, other| !(other.makes() && other.id() == id));
        }
        match change {
            Change::CreateMachine(provider, create) => self.create_machine(provider, *create, at),
            Change::DeleteMachine(id) => {
                self.instances.remove(&id);
                self.attachments.retain(|_, attachment| attachment.made.machine_effect != id);
                self.mounts.retain(|_, mount| mount.made.machine_effect != id);
            }
            Change::CreateVolume(provider, create) => self.create_volume(provider, create),
            Change::DestroyVolume(id) => {
                self.volumes.remove(&id);
                // A filesystem on it is only data on it.
                let is_on_it =
                    |asked: &CreateFilesystem| asked.backing.as_ref().is_some_and(|on| on.volume_effect == id);
                self.filesystems.retain(|_, filesystem| !is_on_it(&filesystem.asked));
            }
            Change::CreateFilesystem(provider, create) => self.create_filesystem(provider, *create),
            Change::DestroyFilesystem(id) => drop(self.filesystems.remove(&id)),
            Change::Mount(provider, attach) => drop(self.mount(provider, *attach)),
            Change::Unmount(id) => drop(self.mounts.remove(&id)),
            Change::Attach(provider, attach) => drop(self.attach(provider, *attach)),
            Change::Detach(id) => drop(self.attachments.remove(&id)),
            Change::MakeCustom(id, thing) => drop(self.custom.entry(id).or_insert(*thing)),
            Change::UndoCustom(id) => drop(self.custom.remove(&id)),
        }
    }

    fn create_machine(&mut self, provider: Name, create: CreateMachine, at: Timestamp) {
        if self.instances.contains_key(&create.id) {
            return;
        }
        self.made += 1;
        let storage = storage_of(&create);
        let wanted = create.zone.as_ref().map(|zone| zone.0.as_str());
        let standing = self.instances.values().filter(|other| other.provider == provider).map(SimulatedInstance::zone);
        let zone = self.zones.place(&provider, wanted, standing, at);
        let mut facts = BTreeMap::from([(MachineInstance::ZONE.to_owned(), zone)]);
        if let Some(copy) = &create.class {
            facts.insert("class".to_owned(), copy.to_string());
            facts.insert("secrets".to_owned(), create.secrets.reveal().len().to_string());
        }
        let seen = MachineInstance {
            effect: create.id,
            instance: InstanceId(format!("i-{:04}", self.made)),
            machine: create.machine,
            facts,
            status: InstanceStatus::Running,
        };
        let made = self.made_for.entry(create.uid).or_default();
        made.retain(|effect| self.instances.contains_key(effect));
        let twins = made.iter().filter_map(|effect| self.instances.get(effect));
        let twin = twins.filter(|other| other.provider == provider).min_by_key(|other| other.seen.effect);
        if let Some(twin) = twin {
            let text = format!("machine {} has {} and {}", seen.machine, twin.seen.instance, seen.instance);
            self.twins.push((twin.seen.effect, text));
        }
        made.push(create.id);
        self.instances.insert(create.id, SimulatedInstance { provider, uid: create.uid, seen, storage });
    }

    fn create_volume(&mut self, provider: Name, create: CreateVolume) {
        if self.volumes.contains_key(&create.id) {
            return;
        }
        self.made += 1;
        let seen = ProvisionedVolume {
            effect: create.id,
            volume_id: InstanceId(format!("v-{:04}", self.made)),
            size: SizeMib(create.size.0),
        };
        let twin = self.volumes.values().find(|other| other.uid == create.uid && other.provider == provider);
        if let Some(twin) = twin {
            let text = format!("volume {} has {} and {}", create.volume, twin.seen.volume_id, seen.volume_id);
            self.made_twice.push(text);
        }
        let volume = SimulatedVolume { provider, volume: create.volume, uid: create.uid, seen };
        self.volumes.insert(create.id, volume);
    }

    /// Attaches, or says why not; what is attached already under this id stays as it is.
    pub(super) fn attach(&mut self, provider: Name, attach: AttachVolume) -> Result<AttachmentInfo, Fault> {
        if let Some(present) = self.attachments.get(&attach.id) {
            return Ok(present.info.clone());
        }
        if !self.instances.contains_key(&attach.machine_effect) {
            return Err(Fault::new(FaultCode::NotFound, format!("instance {} does not exist", attach.instance)));
        }
        if !self.volumes.contains_key(&attach.volume_effect) {
            return Err(Fault::new(FaultCode::NotFound, format!("volume {} does not exist", attach.volume_id)));
        }
        if self.attachments.values().any(|other| other.made.volume_effect == attach.volume_effect) {
            let text = format!("volume {} is attached elsewhere", attach.volume_id);
            return Err(Fault::new(FaultCode::FailedPrecondition, text));
        }
        let info = AttachmentInfo { path: format!("/volumes/{}", attach.volume), read_only: attach.read_only };
        let attachment = SimulatedAttachment { provider, made: attach.clone(), info: info.clone() };
        self.attachments.insert(attach.id, attachment);
        Ok(info)
    }
}
