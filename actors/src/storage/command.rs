//! What may be asked of a volume or a filesystem, and what the world may report to it.

use bailiwick_journal::{Body, StreamId};
use serde::{Deserialize, Serialize};

use super::Provisioned;
use crate::{
    contract::{self, Stored, StoredError},
    storage_rules::FromPool,
    vocab::{Fault, Name, Timestamp},
};

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Command<K: Provisioned> {
    /// It shall exist, like this.
    Declare(Box<Declaration<K>>),
    /// It shall go, with its data where its provider keeps none, once it is attached nowhere.
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
    Report(Report<K>),
    /// It shall go once it is attached nowhere, and its provider lets go of it with its data.
    Release,
    /// It shall go; what it would wait for next is skipped, and what may stay behind is recorded.
    RemoveForced,
    /// As `Remove`; where it was asked to be released, it is destroyed instead, with its data.
    Destroy,
    /// It is not to be removed, or may be again.
    Protect { on: bool },
    /// It shall exist, because a machine of a set asks for it, with room for its attachment there. A supervisor's order.
    Claim(Box<K::Claim>),
    /// The machine that it was made for goes, and it stays, with its data. A supervisor's order.
    Keep,
    /// What only this kind can be asked.
    Own(K::OwnCommand),
}

/// What shall exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Declaration<K: Provisioned> {
    pub spec: K::Spec,
    /// What can be declared of this kind only.
    pub wanted: K::Wanted,
    /// The pool that it comes from; none if it comes from its provider as that is.
    pub pool: Option<FromPool>,
    /// What it is there for, and goes with; none if it is declared for its own sake.
    pub owner: Option<StreamId>,
}

impl<K: Provisioned> Declaration<K> {
    /// From its provider as that is, for its own sake.
    pub fn of(spec: K::Spec) -> Self {
        Self { spec, wanted: K::Wanted::default(), pool: None, owner: None }
    }
}

impl<K: Provisioned> From<Declaration<K>> for Command<K> {
    fn from(declaration: Declaration<K>) -> Self {
        Self::Declare(Box::new(declaration))
    }
}

#[cfg(any(test, feature = "testing"))]
impl<K: Provisioned> Command<K> {
    /// It shall exist like this, from its provider as that is, for its own sake.
    pub fn declare(spec: K::Spec) -> Self {
        Declaration::of(spec).into()
    }
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Report<K: Provisioned> {
    /// The provider has made it, or found it again.
    Created {
        attempt: u32,
        made: K::Made,
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
    /// What the world reports of this kind only.
    Own(K::OwnReport),
}

impl<K: Provisioned> Stored for Command<K> {
    const SCHEMA: u16 = 2;

    /// The first form had a command for each way to declare something.
    fn load(body: &Body) -> Result<Self, StoredError> {
        let declared = if body.schema == 1 { (K::FIRST_FORM.declaration)(body)? } else { None };
        match declared {
            Some(declaration) => Ok(declaration.into()),
            None => contract::load_lifted(body, Some(K::FIRST_FORM.commands)),
        }
    }
}
