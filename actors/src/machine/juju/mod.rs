//! What Juju's clients tell of a machine: the agent inside of it, and the provisioner that makes it.
//!
//! # Who owns the life of a machine
//!
//! The node is a provisioner itself. Only a machine with the provider [`EXTERNAL`] is made and ended by a client:
//!
//! | | provider `external` | any other provider |
//! |---|---|---|
//! | its instance is made | by a client, who says so once (`SetInstanceInfo`) | by the node; a client is refused |
//! | it is declared to go | dying, then dead; its instance stays until the client has removed it | as ever |
//! | a client ends its life (`EnsureDead`) | dead at once, unless something depends on it | refused |
//! | a client has removed it (`Remove`) | gone | refused |
//! | marked for clean-up | once it is dead | once it is dead; the node does that itself |
//! | its volumes of that provider | come with its instance, and go with it | the same, where its set claims them |
//! | statuses, password, profiles, containers, devices | as the client says | as the client says |
//!
//! What a client says is a command like any other: decided here, journaled with the client as its principal, and told by `why`.
//! Source of the rules: Juju's Provisioner facade, version 11.

mod decide;
mod network;
mod record;

use serde::{Deserialize, Serialize};

pub(super) use decide::{came_alone, came_with, decide};
pub(super) use record::evolve;
pub use record::{Provisioned, Record, Status};

use super::State;
use crate::{
    ports::{CreatedStorage, Device},
    vocab::{EXTERNAL, InstanceId, Timestamp},
};

/// Names clients as principals: `client:machine-0`.
pub const CLIENT: &str = "client:";

/// What a client asks of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Its agent proves itself with the password of this hash from now on.
    SetPassword { salt: [u8; 16], hash: [u8; 32] },
    /// What it does, or its instance, or the last change of its instance.
    SetStatus { of: StatusOf, said: Said },
    /// Its instance was made.
    SetInstance(Box<NewInstance>),
    /// It is dead: its instance may go. The sender says what depends on it, as far as is known: then it lives on.
    EnsureDead { dependents: Dependents },
    /// Its instance is gone, and it with it.
    Remove,
    /// What its provider keeps for it beside its instance is to be cleaned up.
    MarkForRemoval,
    /// These profiles are in force for it.
    SetProfiles { profiles: Vec<String> },
    /// It can hold containers of these types.
    SetContainerTypes { types: Vec<String> },
    /// These are its network devices, as it sees them itself.
    ObserveDevices { devices: Vec<Device> },
    /// Its addresses are not used any more.
    ReleaseAddresses,
    /// As `SetInstance`, with the volumes that came with it. Either both are recorded or nothing is.
    SetInstanceAndStorage { instance: Box<NewInstance>, storage: Box<CreatedStorage> },
}

/// What a status is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StatusOf {
    /// The machine, as its agent says.
    Machine,
    /// Its instance, as the provisioner says.
    Instance,
    /// The last change of its running instance.
    Modification,
}

/// A status, as it is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// `started`, `provisioning error`.
    pub status: String,
    /// For people.
    pub info: String,
    /// A JSON object in its shortest form; empty for none.
    pub data: String,
}

/// An instance that a client has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewInstance {
    /// What the provider calls it.
    pub instance: InstanceId,
    /// The BLAKE3 hash of the nonce that its agent proves itself with; none if the client gave none.
    pub nonce: Option<[u8; 32]>,
    pub display_name: String,
    pub hardware: Hardware,
    pub profiles: Vec<String>,
    pub devices: Vec<Device>,
}

/// What an instance has. Source: Juju's hardware characteristics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    pub arch: Option<String>,
    pub memory_mib: Option<u64>,
    pub root_disk_mib: Option<u64>,
    pub root_disk_source: Option<String>,
    pub cores: Option<u64>,
    pub cpu_power: Option<u64>,
    pub tags: Vec<String>,
    pub zone: Option<String>,
    pub virtualisation: Option<String>,
}

/// What depends on a machine, in the order in which it is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependents {
    /// `mysql/0`
    pub units: Vec<String>,
    /// `0/lxd/0`
    pub containers: Vec<String>,
    /// The volumes and filesystems that outlive it: `volume-0`.
    pub storage: Vec<String>,
}

/// What a client told of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    PasswordSet {
        salt: [u8; 16],
        hash: [u8; 32],
    },
    StatusSet {
        of: StatusOf,
        said: Said,
        at: Timestamp,
    },
    Provisioned(Box<Provisioned>),
    MarkedForRemoval,
    ProfilesSet {
        profiles: Vec<String>,
    },
    ContainerTypesSet {
        types: Vec<String>,
    },
    DevicesSet {
        devices: Vec<Device>,
    },
    /// What came with its instance.
    StorageCreated {
        storage: Box<CreatedStorage>,
    },
}

/// Why a client's wish is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refusal {
    #[error("an instance needs an id and a nonce")]
    NoInstanceId,
    #[error("it already has an instance")]
    AlreadyProvisioned,
    #[error("its instance is created by this node; only machines with provider {EXTERNAL} are provisioned by clients")]
    NodeProvisions,
    #[error("it is being removed")]
    NotAlive,
    #[error("it is a controller")]
    Controller { voting: bool },
    #[error("it has units: {}", units.join(", "))]
    HasUnits { units: Vec<String> },
    #[error("it hosts containers: {}", containers.join(", "))]
    HostsContainers { containers: Vec<String> },
    #[error("it has storage attached: {}", storage.join(", "))]
    HasStorage { storage: Vec<String> },
    #[error("it is still alive; end its life first")]
    StillAlive,
    #[error("it is not dead yet")]
    NotDead,
    #[error("it has no instance yet")]
    NotProvisioned,
    #[error("it is dead")]
    Dead,
    #[error("status {status:?} is only set by the node")]
    StatusReserved { status: String },
    #[error("status {status:?} is unknown")]
    StatusUnknown { status: String },
    #[error("status \"error\" needs an explanation")]
    ErrorWithoutInfo,
}

impl Refusal {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NoInstanceId => "no-instance-id",
            Self::AlreadyProvisioned => "already-provisioned",
            Self::NodeProvisions => "node-provisions",
            Self::NotAlive => "not-alive",
            Self::Controller { voting: true } => "voting-controller",
            Self::Controller { voting: false } => "controller",
            Self::HasUnits { .. } => "has-units",
            Self::HostsContainers { .. } => "hosts-containers",
            Self::HasStorage { .. } => "has-storage",
            Self::StillAlive => "still-alive",
            Self::NotDead => "not-dead",
            Self::NotProvisioned => "not-provisioned",
            Self::Dead => "dead",
            Self::StatusReserved { .. } => "status-reserved",
            Self::StatusUnknown { .. } => "status-unknown",
            Self::ErrorWithoutInfo => "error-without-info",
        }
    }
}

impl State {
    /// Whether clients make and end its instance.
    pub fn is_external(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.provider.as_str() == EXTERNAL)
    }
}
