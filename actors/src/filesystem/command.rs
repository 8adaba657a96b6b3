//! What may be asked of a filesystem, and what the world may report to it.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId};
use serde::{Deserialize, Serialize};

use super::Spec;
use crate::{
    contract::Stored,
    ports::{Backing, ProvisionedFilesystem},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{Fault, Name, Timestamp},
};

/// A command to a filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, like this.
    Declare(Spec),
    /// It shall go once it is mounted nowhere, with its data where its provider keeps none.
    Remove,
    /// It shall go once it is mounted nowhere, and its provider lets go of it with its data.
    Release,
    /// Try again what was given up, or waits.
    RetryProvisioning,
    /// An attachment to this machine is about to be made.
    ReserveAttachment { machine: Name },
    /// The attachment to this machine is gone.
    ReleaseAttachment { machine: Name },
    /// Everything that it needs is there: make it, on this device if it lives on a volume, over what is left there of these,
    /// which are gone with their data.
    Create { backing: Option<Backing>, over: BTreeSet<Cite> },
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// What the world reports.
    Report(Report),
    /// It shall go; what it would wait for next is skipped, and what may stay behind is recorded.
    RemoveForced,
    /// It shall exist, like this, from a pool.
    DeclareFrom { spec: Spec, pool: FromPool },
    /// As the declarations above, because something else needs it, with which it goes.
    DeclareFor { spec: Spec, pool: Option<FromPool>, owner: StreamId },
    /// As `Remove`; where it was asked to be released, it is destroyed instead, with its data.
    Destroy,
    /// It is not to be removed, or may be again.
    Protect { on: bool },
    /// It shall exist, because a machine of a set asks for it, with room for its attachment there. A supervisor's order.
    Claim(Box<Claim>),
    /// The machine that it was made for goes, and it stays, with its data. A supervisor's order.
    Keep,
}

/// What a machine of a set asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub spec: Spec,
    /// Where it comes from; none for one on a volume, which comes from there.
    pub pool: Option<FromPool>,
    pub by: ClaimedBy,
    /// What it goes with.
    pub owner: Option<StreamId>,
}

/// A report to a filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The provider has made it, or found it again.
    Created {
        attempt: u32,
        filesystem: ProvisionedFilesystem,
    },
    CreateFailed {
        attempt: u32,
        fault: Fault,
    },
    /// The provider has destroyed or released it, or confirmed its absence.
    Destroyed {
        attempt: u32,
    },
    DestroyFailed {
        attempt: u32,
        fault: Fault,
    },
}

impl Command {
    /// What asks for a filesystem: from a provider or from a pool.
    pub fn declaration(spec: Spec, pool: Option<FromPool>) -> Self {
        match pool {
            Some(pool) => Self::DeclareFrom { spec, pool },
            None => Self::Declare(spec),
        }
    }

    /// The same command, for something that needs what is declared.
    #[must_use]
    pub fn owned_by(self, owner: Option<StreamId>) -> Self {
        let Some(owner) = owner else { return self };
        match self {
            Self::Declare(spec) => Self::DeclareFor { spec, pool: None, owner },
            Self::DeclareFrom { spec, pool } => Self::DeclareFor { spec, pool: Some(pool), owner },
            other => other,
        }
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
