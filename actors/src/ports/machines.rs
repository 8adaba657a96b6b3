//! What makes machines.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{Answer, BulkAnswer, Capabilities, CreatedStorage, Device, JoinToken, Lookup, Progress, SecretData};
use crate::{
    machine::{InstanceConfig, Spec, StartParameters},
    vocab::{ClassCopy, EffectId, Fault, InstanceId, Name, Nonce, Timestamp, Uid, Zone},
};

/// One machine to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateMachine {
    /// The idempotency token and the tag of what is made: the same id again gives the same instance.
    pub id: EffectId,
    pub machine: Name,
    pub uid: Uid,
    pub spec: Arc<Spec>,
    /// The zone that it is to be made in; none leaves that to the provider, which spreads as it likes.
    pub zone: Option<Zone>,
    /// What it is made from, if its declaration names a class.
    pub class: Option<Box<ClassCopy>>,
    /// What the secrets hold that its class names. Not to be told to anybody but the machine.
    pub secrets: SecretData,
    /// What it is started with beside what is declared; none where that is all.
    pub start: Option<Box<StartParameters>>,
    /// How what is started reaches the control plane; none where nothing is said of that.
    pub config: Option<Box<InstanceConfig>>,
    /// What it proves with that this control plane started it; to be kept with it, and told with it as the fact
    /// [`MachineInstance::NONCE`]. None before the call.
    pub nonce: Option<Nonce>,
    /// What its agent joins with; none before the call, or where no agents join. Not to be told to anybody but the machine.
    pub join: Option<JoinToken>,
}

/// A running instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MachineInstance {
    /// The effect id it was made under, read back from its tag.
    pub effect: EffectId,
    /// The provider's own name for it.
    pub instance: InstanceId,
    /// The machine's name, read back from its tag.
    pub machine: Name,
    /// Further facts worth keeping (zone, address, pid), at most 16 with keys and values of at most 255 bytes. No secrets.
    pub facts: BTreeMap<String, String>,
    pub status: InstanceStatus,
}

impl MachineInstance {
    /// The fact that is the nonce it was started with.
    pub const NONCE: &str = "nonce";

    /// The nonce that it was started with, if its provider tells.
    pub fn nonce(&self) -> Option<&str> {
        self.facts.get(Self::NONCE).map(String::as_str)
    }

    /// The fact that names its zone.
    pub const ZONE: &str = "zone";

    /// The zone that it stands in, if its provider tells.
    pub fn zone(&self) -> Option<Zone> {
        self.facts.get(Self::ZONE).cloned().map(Zone)
    }
}

/// What a provider has made for a machine, or finds again of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedMachine {
    pub instance: MachineInstance,
    /// Its network devices, as the provider has configured them; none if it does not tell.
    pub network: Vec<Device>,
    /// The volumes of provider `external` that came with it, and how it reaches them. Source: Juju's environs, the result of a
    /// start.
    pub storage: CreatedStorage,
}

impl From<MachineInstance> for StartedMachine {
    /// An instance, and nothing is told beside.
    fn from(instance: MachineInstance) -> Self {
        Self { instance, network: Vec::new(), storage: CreatedStorage::default() }
    }
}

/// How an instance is, as its provider sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstanceStatus {
    /// It runs.
    Running,
    /// It is there and does not run (its process has ended, it was powered off).
    Stopped,
}

/// What a provider has, at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing<T> {
    /// Whether everything that exists is in it. Nothing is ever concluded from the absence of an item in a partial list.
    pub complete: bool,
    /// The moment that the list describes.
    pub as_of: Timestamp,
    pub items: Vec<T>,
}

/// One condition that an agent reports from inside its machine: `DiskPressure`, `MemoryPressure`, `VolumeWritable/data`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Condition {
    /// What is told, in the field's words; at most 128 bytes.
    pub kind: String,
    pub healthy: Healthy,
    /// For people, at most 255 bytes; a change of this alone is no news.
    pub text: String,
}

/// Whether something is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Healthy {
    Yes,
    No,
    /// Nobody can tell; counts as no.
    Unknown,
}

impl Healthy {
    /// Whether it is known to be as it should be.
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }

    /// As it is told outside: yes, no, or nothing.
    pub fn told(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unknown => None,
        }
    }
}

impl From<bool> for Healthy {
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

impl From<Option<bool>> for Healthy {
    fn from(told: Option<bool>) -> Self {
        told.map_or(Self::Unknown, Self::from)
    }
}

impl Condition {
    /// Whether one of these was not told before, is not told any more, or is otherwise than it was. Texts are no news: they
    /// may hold a time or a figure, and would fill the journal.
    pub fn are_news(known: &BTreeMap<String, Self>, told: &BTreeMap<String, Self>) -> bool {
        let differs = |(known, told): (&Self, &Self)| (&known.kind, known.healthy) != (&told.kind, told.healthy);
        known.len() != told.len() || known.values().zip(told.values()).any(differs)
    }
}

/// Makes and removes machines.
///
/// All calls are idempotent by effect id. They may run at the same time; the caller never has two calls for one effect
/// id under way. A call that is dropped may still happen. Faults never hold secrets.
pub trait MachineProvider: Send + Sync {
    /// Makes machines, each with the volumes that its declaration asks of provider `external`; an id that already has an
    /// instance answers with that instance.
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine>;

    /// Removes the instances made under these ids, and everything that belongs to them; an absent one is a success. Who
    /// answers `not-found` is asked by [`lookup`](Self::lookup), and believed only if that says absent.
    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()>;

    /// What is known about these ids.
    ///
    /// Unless a provider has a better way, it is looked up in the list: what a complete list does not have is absent,
    /// what a partial one does not have is unknown. (Override this if a call that was dropped may still make something.)
    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<StartedMachine>> {
        Box::pin(async move {
            let listing = self.list().await?;
            let find = |id: &EffectId| match listing.items.iter().find(|instance| instance.effect == *id) {
                Some(instance) => Lookup::Present(instance.clone().into()),
                None if listing.complete => Lookup::Absent,
                None => Lookup::Unknown,
            };
            Ok(ids.iter().map(|id| Ok(find(id))).collect())
        })
    }

    /// What is under way for this id is not wanted any more: its call may end now, with the fault `canceled` (which means
    /// that nobody knows how far it got, as after a time-out). A later call for the same id is not concerned.
    ///
    /// Answers at once and promises nothing; a provider that cannot cut a call short leaves it as it is.
    fn cancel(&self, id: EffectId) {
        let _ = id;
    }

    /// What it can do beyond what every provider has to.
    fn capabilities(&self) -> Answer<'_, Result<Capabilities, Fault>> {
        Box::pin(async { Ok(Capabilities::default()) })
    }

    /// How far the call for this id is; none if there is no such call, or nothing was told yet. Answers at once.
    fn progress(&self, id: EffectId) -> Option<Progress> {
        let _ = id;
        None
    }

    /// The zones in which something can be made, as it was told last: with the last list, or before. None where it has no
    /// zones. Answers at once; asked after every list.
    fn zones(&self) -> BTreeSet<Zone> {
        BTreeSet::new()
    }

    /// All instances of this control plane.
    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>>;
}
