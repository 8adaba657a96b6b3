//! What may be asked of a volume, and what the world may report to it.

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};

use super::{AtCreation, Leftovers, Place, Spec, VolumeFacts};
use crate::{
    contract::Stored,
    ports::ProvisionedVolume,
    storage_rules::{ClaimedBy, FromPool},
    vocab::{EffectId, Fault, InstanceId, Name, Timestamp, Zone},
};

/// A command to a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, like this.
    Declare(Spec),
    /// It shall go, with its data, once it is attached nowhere.
    Remove,
    /// Try again what was given up, or waits.
    RetryProvisioning,
    /// An attachment to this machine is about to be made.
    ReserveAttachment { machine: Name },
    /// The attachment to this machine is gone.
    ReleaseAttachment { machine: Name },
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// What the world reports.
    Report(Report),
    /// It shall exist, made where this machine is: it waits until that machine has an instance.
    DeclareOn { spec: Spec, machine: Name },
    /// The machine that it waits for has an instance: make it there.
    Create { place: Place },
    /// It shall go once it is attached nowhere, and its provider lets go of it with its data.
    Release,
    /// A filesystem is about to be made on it.
    ReserveFilesystem { filesystem: Name },
    /// The filesystem on it is gone, and leaves this.
    ReleaseFilesystem { filesystem: Name, leaves: Leftovers },
    /// It shall go, with its data, once the filesystem on it is gone, which was asked to go as well.
    RemoveWithFilesystem,
    /// It shall exist, like this, as what the provider has under this name already; at this machine, if one is named.
    Import { spec: Spec, volume_id: InstanceId, machine: Option<Name> },
    /// It shall go; what it would wait for next is skipped, and what may stay behind is recorded.
    RemoveForced,
    /// It shall exist, like this, from a pool; made where this machine is, if one is named.
    DeclareFrom { spec: Spec, machine: Option<Name>, pool: FromPool },
    /// As the declarations above, because something else needs it, with which it goes.
    DeclareFor { spec: Spec, machine: Option<Name>, pool: Option<FromPool>, owner: StreamId },
    /// As `Create`, where that machine is in this zone: then the volume is, too.
    CreateIn { place: Place, zone: Zone },
    /// What was made at this version was destroyed, as this provider said, and the provider still shows it: it shall go. A
    /// supervisor's order.
    DestroyReturned { provider: Name, of: Version },
    /// As `Remove`; where it was asked to be released, it is destroyed instead, with its data.
    Destroy,
    /// It is not to be removed, or may be again.
    Protect { on: bool },
    /// It shall exist, because a machine of a set asks for it: made where that is, with room for its attachment there. A
    /// supervisor's order.
    Claim(Box<Claim>),
    /// The machine that it was made for goes, and it stays, with its data. A supervisor's order.
    Keep,
}

/// What a machine of a set asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub spec: Spec,
    pub pool: FromPool,
    pub by: ClaimedBy,
    /// What it goes with.
    pub owner: Option<StreamId>,
    /// The filesystem that is made on it.
    pub filesystem: Option<Name>,
}

/// A report to a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The provider has made it, or found it again.
    Created {
        attempt: u32,
        volume: ProvisionedVolume,
    },
    CreateFailed {
        attempt: u32,
        fault: Fault,
    },
    /// The provider has destroyed it, or confirmed its absence.
    Destroyed {
        attempt: u32,
    },
    DestroyFailed {
        attempt: u32,
        fault: Fault,
    },
    /// As `Created`, by a provider that tells more.
    Made {
        attempt: u32,
        volume: ProvisionedVolume,
        facts: VolumeFacts,
        /// It was attached while it was made.
        attached: Option<AtCreation>,
    },
    /// Its provider does not show any more what was made under this id.
    Lost {
        effect: EffectId,
    },
    /// Its provider shows it again.
    Found {
        effect: EffectId,
    },
}

impl Command {
    /// What asks for a volume: anywhere or at a machine, from a provider or from a pool.
    pub fn declaration(spec: Spec, machine: Option<Name>, pool: Option<FromPool>) -> Self {
        match (machine, pool) {
            (machine, Some(pool)) => Self::DeclareFrom { spec, machine, pool },
            (Some(machine), None) => Self::DeclareOn { spec, machine },
            (None, None) => Self::Declare(spec),
        }
    }

    /// The same command, for something that needs what is declared.
    #[must_use]
    pub fn owned_by(self, owner: Option<StreamId>) -> Self {
        let Some(owner) = owner else { return self };
        match self {
            Self::Declare(spec) => Self::DeclareFor { spec, machine: None, pool: None, owner },
            Self::DeclareOn { spec, machine } => Self::DeclareFor { spec, machine: Some(machine), pool: None, owner },
            Self::DeclareFrom { spec, machine, pool } => Self::DeclareFor { spec, machine, pool: Some(pool), owner },
            other => other,
        }
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
