//! The world of the providers, as far as a journal tells it.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::{Decider, Fold, Folded, NoView, StoredError},
    filesystem, filesystem_attachment,
    machine::{self, Instance},
    ports::{
        AttachFilesystem, AttachVolume, CreateFilesystem, CreateMachine, CreateVolume, InstanceStatus, MachineInstance,
        ProvisionedVolume,
        replica_set::{Action, Stamp},
    },
    replica_set,
    shell::{AnyWish, Call, Kind, Work},
    storage::{Provisioned, State, Storage},
    supervisor::machines::{self as watched, SightingStatus},
    vocab::{EffectId, Effort, FaultClass, Life, Name, Outlook},
    volume,
    volume_attachment::{self, Link},
};
use bailiwick_journal::{Entry, StreamId};
use uuid::Uuid;

use super::{InFlight, surroundings::Zones};
use crate::{
    custom_kind::{self, Folds, Keeping, Work as Making},
    providers::simulated::{SimulatedCustom, Thing},
    simulation::KnownSet,
};

/// What a journal tells of the world, as far as it was read.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    journal: Uuid,
    machines: Fold<machine::State>,
    volumes: Fold<volume::State>,
    attachments: Fold<volume_attachment::State>,
    filesystems: Fold<filesystem::State>,
    mounts: Fold<filesystem_attachment::State>,
    sets: Fold<replica_set::State>,
    seen: Fold<watched::State>,
    custom: Folds,
    /// Everything that was ever asked for, and what is known to have been made of it.
    asked: BTreeMap<EffectId, Asked>,
    instances: BTreeMap<EffectId, MachineInstance>,
    made: BTreeMap<EffectId, ProvisionedVolume>,
}

#[derive(Clone, Debug)]
enum Asked {
    Machine(Name, Box<CreateMachine>),
    Volume(Name, CreateVolume),
    Attachment(Name, Box<AttachVolume>),
    Filesystem(Name, Box<CreateFilesystem>),
    Mount(Name, Box<AttachFilesystem>),
    Custom(SimulatedCustom),
}

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Absent,
    Present,
    /// A call that makes it is under way, or may be.
    BeingMade,
    /// A call that removes it is under way, or may be.
    BeingRemoved,
}

impl Presence {
    fn is_there(self, has_happened: bool) -> bool {
        match self {
            Self::Absent => false,
            Self::Present => true,
            Self::BeingMade => has_happened,
            Self::BeingRemoved => !has_happened,
        }
    }

    fn is_open(self) -> bool {
        matches!(self, Self::BeingMade | Self::BeingRemoved)
    }
}

impl Presence {
    /// What was attached to an instance goes with it.
    fn on(self, instance: Option<&Self>) -> Self {
        match instance {
            Some(Self::Present) => self,
            Some(Self::BeingRemoved) if self == Self::Present => Self::BeingRemoved,
            Some(Self::BeingRemoved | Self::BeingMade | Self::Absent) | None => Self::Absent,
        }
    }
}

/// Whether a call of this effort may be under way, or may have happened without our knowing.
fn may_happen(effort: &Effort) -> bool {
    match &effort.outlook {
        Outlook::Trying => true,
        Outlook::Waiting { .. } | Outlook::GivenUp { .. } => {
            effort.fault().is_some_and(|fault| fault.code.class() == FaultClass::Unknown)
        }
    }
}

fn being_made(effort: &Effort) -> Presence {
    if may_happen(effort) { Presence::BeingMade } else { Presence::Absent }
}

/// Whether what volumes or filesystems were made under is there: those of them that are in a world of ours.
fn stored<K: Provisioned>(
    journal: Uuid,
    all: &Fold<State<K>>,
    is_ours: fn(&State<K>) -> bool,
) -> impl Iterator<Item = (EffectId, (StreamId, Presence))> {
    all.iter().filter(move |(_, folded)| is_ours(&folded.state)).filter_map(move |(name, folded)| {
        let presence = match &folded.state.storage {
            Storage::None => return None,
            Storage::Creating { effort, .. } => being_made(effort),
            Storage::Provisioned { .. } => Presence::Present,
            Storage::Destroying { effort, .. } => being_removed(effort),
        };
        let stream = stream::<State<K>>(name);
        Some((EffectId::of(journal, &stream, folded.state.intent()?), (stream, presence)))
    })
}

fn being_removed(effort: &Effort) -> Presence {
    if may_happen(effort) { Presence::BeingRemoved } else { Presence::Present }
}

impl Remembered {
    /// Of a journal of which nothing was read yet.
    pub fn of(journal: Uuid) -> Self {
        Self { journal, ..Self::default() }
    }

    /// What another journal asked for, from which this one was imported as new, is in the world of that one's node.
    pub fn forget_asked(&mut self) {
        self.asked.clear();
        self.instances.clear();
        self.made.clear();
    }

    /// Takes the next entry in.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        self.machines.apply(entry)?;
        self.volumes.apply(entry)?;
        self.attachments.apply(entry)?;
        self.filesystems.apply(entry)?;
        self.mounts.apply(entry)?;
        self.sets.apply(entry)?;
        if stream.as_str() == "supervisor/machines" {
            self.seen.apply(entry)?;
        }
        self.custom.apply(entry)?;
        if let Some(kind) = custom_kind::kind(stream.kind()) {
            let kept = (kind.keepings)(&self.custom, self.journal);
            let made = kept.into_iter().filter_map(|Keeping { id, provider, made, .. }| {
                Some((id, Asked::Custom(SimulatedCustom { provider, kind: kind.name, made: made? })))
            });
            self.asked.extend(made);
        }
        let name = stream.name();
        let calls = match stream.kind() {
            machine::State::KIND => calls(self.journal, stream, self.machines.get(name)),
            volume::State::KIND => calls(self.journal, stream, self.volumes.get(name)),
            volume_attachment::State::KIND => calls(self.journal, stream, self.attachments.get(name)),
            filesystem::State::KIND => calls(self.journal, stream, self.filesystems.get(name)),
            filesystem_attachment::State::KIND => calls(self.journal, stream, self.mounts.get(name)),
            _ => Vec::new(),
        };
        self.asked.extend(calls.into_iter().filter_map(asked));
        if let Some(Instance::Running { instance, .. }) = self.machines.get(name).map(|state| &state.instance)
            && stream.kind() == machine::State::KIND
        {
            self.instances.insert(instance.effect, instance.clone());
        }
        if let Some(volume) = self.volumes.get(name).and_then(volume::State::made)
            && stream.kind() == volume::State::KIND
        {
            self.made.insert(volume.effect, volume.clone());
        }
        Ok(())
    }

    /// What calls may be under way for, once for each of them.
    pub fn in_flight(&self) -> Vec<String> {
        let steps = self.sets.iter().filter(|(_, set)| step(&set.state).is_some());
        let steps = steps.map(|(name, _)| stream::<replica_set::State>(name));
        let open = self.presences().into_values().filter(|(_, presence)| presence.is_open());
        open.map(|(stream, _)| stream).chain(steps).map(|stream| stream.to_string()).collect()
    }

    /// The replica sets whose servers there are.
    pub fn sets(&self, calls: &InFlight) -> Vec<KnownSet> {
        let alive = self.sets.iter().filter(|(_, set)| set.state.life.exists());
        let known = |(name, set): (&str, &Folded<replica_set::State>)| {
            let (state, stream) = (&set.state, stream::<replica_set::State>(name));
            Some(KnownSet {
                engine: state.spec.as_ref()?.engine.clone(),
                contact: state.contact(&stream),
                seen: state.seen.clone(),
                taken: step(state).filter(|_| calls.has_happened(stream.as_str())),
            })
        };
        alive.filter_map(known).collect()
    }

    /// The machines that have an instance which a provider of ours created.
    pub fn running(&self) -> Vec<Name> {
        let has_instance = |state: &machine::State| {
            matches!(state.instance, Instance::Running { .. }) && !state.is_external() && state.life == Life::Alive
        };
        let running = self.machines.iter().filter(|(_, folded)| has_instance(&folded.state));
        running.filter_map(|(name, _)| name.parse().ok()).collect()
    }

    /// What each provider said last of its zones.
    pub fn zones(&self) -> Zones {
        self.seen.iter().flat_map(|(_, folded)| folded.state.zones.clone()).collect()
    }

    /// What the providers have.
    pub fn things(&self, calls: &InFlight) -> Vec<Thing> {
        let is_there = |stream: &StreamId, presence: Presence| presence.is_there(calls.has_happened(stream.as_str()));
        let there = self.presences().into_iter().filter(|(_, (stream, presence))| is_there(stream, *presence));
        there.filter_map(|(id, _)| self.thing(id)).collect()
    }

    fn thing(&self, id: EffectId) -> Option<Thing> {
        Some(match self.asked.get(&id)? {
            Asked::Machine(provider, asked) => {
                let made = self.instances.get(&id).cloned().map(|instance| self.as_seen(instance));
                Thing::Machine { provider: provider.clone(), asked: (**asked).clone(), made }
            }
            Asked::Volume(provider, asked) => {
                Thing::Volume { provider: provider.clone(), asked: asked.clone(), made: self.made.get(&id).cloned() }
            }
            Asked::Attachment(provider, asked) => {
                let made = self.attachments.iter().find_map(|(_, folded)| match &folded.state.link {
                    Link::Attached { info, .. } if folded.state.spec.as_ref()?.volume == asked.volume => {
                        Some(info.clone())
                    }
                    _ => None,
                });
                Thing::Attachment { provider: provider.clone(), asked: (**asked).clone(), made }
            }
            Asked::Filesystem(provider, asked) => {
                let mut all = self.filesystems.iter().filter_map(|(_, folded)| folded.state.made());
                let made = all.find(|made| made.effect == id).cloned();
                Thing::Filesystem { provider: provider.clone(), asked: (**asked).clone(), made }
            }
            Asked::Mount(provider, asked) => {
                let name = format!("{}:{}", asked.machine, asked.filesystem);
                let made = match self.mounts.get(&name).map(|state| &state.link) {
                    Some(filesystem_attachment::Link::Attached { info, .. }) => Some(info.clone()),
                    _ => None,
                };
                Thing::Mount { provider: provider.clone(), asked: (**asked).clone(), made }
            }
            Asked::Custom(thing) => Thing::Custom { id, thing: thing.clone() },
        })
    }

    /// An instance in the status that it was seen in last.
    fn as_seen(&self, mut instance: MachineInstance) -> MachineInstance {
        if self.sighting(instance.effect) == Some(SightingStatus::Stopped) {
            instance.status = InstanceStatus::Stopped;
        }
        instance
    }

    fn sighting(&self, effect: EffectId) -> Option<SightingStatus> {
        let seen = self.seen.get("machines")?;
        seen.sightings.get(&effect).map(|sighting| sighting.status)
    }

    fn presences(&self) -> BTreeMap<EffectId, (StreamId, Presence)> {
        let mut presences = BTreeMap::new();
        for (name, folded) in self.machines.iter() {
            let stream = stream::<machine::State>(name);
            let strays = folded.state.strays.iter();
            presences.extend(strays.map(|(effect, stray)| (*effect, (stream.clone(), being_removed(&stray.effort)))));
            let kept = folded.state.kept.iter();
            presences.extend(kept.map(|effect| (*effect, (stream.clone(), Presence::Present))));
            let (intent, presence) = match &folded.state.instance {
                // Clients make it, and end it.
                _ if folded.state.is_external() => continue,
                Instance::None => continue,
                Instance::Creating(effort) => (effort.intent, being_made(effort)),
                Instance::Running { intent, .. } => (*intent, Presence::Present),
                Instance::Lost { intent, .. } => (*intent, Presence::Present),
                Instance::Deleting { of, effort } => (*of, being_removed(effort)),
            };
            let effect = folded.state.effect_of(self.journal, &stream, intent);
            let is_gone = self.sighting(effect) == Some(SightingStatus::Gone);
            presences.insert(effect, (stream, if is_gone { Presence::Absent } else { presence }));
        }
        presences.extend(stored(self.journal, &self.volumes, |state| !state.is_external()));
        presences.extend(stored(self.journal, &self.filesystems, |_| true));
        let machines = presences.clone();
        for (name, folded) in self.attachments.iter() {
            let (intent, target, presence) = match &folded.state.link {
                _ if folded.state.is_external() => continue,
                Link::Waiting => continue,
                Link::Attaching { target, effort, earlier: None } => (effort.intent, target, being_made(effort)),
                Link::Attaching { target, effort, earlier: Some(_) } => (effort.intent, target, Presence::Present),
                Link::Attached { intent, target, .. } => (*intent, target, Presence::Present),
                Link::Detaching { of, target, effort } => (*of, target, being_removed(effort)),
            };
            let presence = presence.on(machines.get(&target.machine_effect).map(|(_, presence)| presence));
            let stream = stream::<volume_attachment::State>(name);
            presences.insert(EffectId::of(self.journal, &stream, intent), (stream, presence));
        }
        for (name, folded) in self.mounts.iter() {
            use filesystem_attachment::Link;
            let (intent, target, presence) = match &folded.state.link {
                Link::Waiting => continue,
                Link::Attaching { target, effort, earlier: None } => (effort.intent, target, being_made(effort)),
                Link::Attaching { target, effort, earlier: Some(_) } => (effort.intent, target, Presence::Present),
                Link::Attached { intent, target, .. } => (*intent, target, Presence::Present),
                Link::Detaching { of, target, effort } => (*of, target, being_removed(effort)),
            };
            let presence = presence.on(machines.get(&target.machine_effect).map(|(_, presence)| presence));
            let stream = stream::<filesystem_attachment::State>(name);
            presences.insert(EffectId::of(self.journal, &stream, intent), (stream, presence));
        }
        let kept = custom_kind::all().into_iter().flat_map(|kind| (kind.keepings)(&self.custom, self.journal));
        presences.extend(kept.map(|kept| {
            let presence = match kept.work {
                Making::Making(effort) => being_made(effort),
                Making::There => Presence::Present,
                Making::Undoing(effort) => being_removed(effort),
            };
            (kept.id, (kept.stream, presence))
        }));
        presences
    }
}

/// The provider calls that an entity is owed.
fn calls<K: Kind>(journal: Uuid, stream: &StreamId, state: Option<&K>) -> Vec<Call> {
    let Some(state) = state else { return Vec::new() };
    let owed = state.pending(&NoView).into_iter();
    owed.filter_map(|effect| match state.work(journal, stream, &effect) {
        Work::Call(call) => Some(*call),
        Work::WakeAt(_) => None,
    })
    .collect()
}

fn asked(call: Call) -> Option<(EffectId, Asked)> {
    let Call { provider, id, wish, .. } = call;
    // Nothing of a set is made by a provider, and what is undone is none of the world's things.
    let made = |of: fn(&AnyWish, Name) -> Option<Asked>| of(&wish, provider.clone()?);
    let asked = made(|wish, by| Some(Asked::Machine(by, Box::new(wish.making::<CreateMachine>()?.clone()))))
        .or_else(|| made(|wish, by| Some(Asked::Volume(by, wish.making::<CreateVolume>()?.clone()))))
        .or_else(|| made(|wish, by| Some(Asked::Attachment(by, Box::new(wish.making::<AttachVolume>()?.clone())))))
        .or_else(|| made(|wish, by| Some(Asked::Filesystem(by, Box::new(wish.making::<CreateFilesystem>()?.clone())))))
        .or_else(|| made(|wish, by| Some(Asked::Mount(by, Box::new(wish.making::<AttachFilesystem>()?.clone())))))?;
    Some((id, asked))
}

/// The step of a set that is on its way, and what it was planned on.
fn step(set: &replica_set::State) -> Option<(Stamp, Action)> {
    match &set.phase {
        replica_set::Phase::Stepping { step, base } => Some((*base, step.action.clone())),
        _ => None,
    }
}

fn stream<D: Decider>(name: &str) -> StreamId {
    StreamId::new(D::KIND, name).expect("the name of a stream")
}
