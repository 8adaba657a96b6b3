//! Machine classes: what machines are made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::vocab::NodeCapacity;

/// A class of machines. It holds what a provider has to know and no secrets; those are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineClass {
    pub name: String,
    /// Which provider understands the rest.
    pub provider: String,
    /// Opaque to us.
    pub provider_spec: String,
    /// The secret with the user data.
    pub secret: Option<String>,
    /// The secret with the provider's credentials; where both have a key, this one counts.
    pub credentials: Option<String>,
    /// What a node of this class has. Has to be complete if it is given.
    pub node_template: Option<NodeCapacity>,
    /// Whether it is kept for the machines that use it (Gardener: its finalizer).
    pub is_kept: bool,
    pub is_leaving: bool,
}

/// A class as it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClassSeen {
    Missing,
    Found(Box<MachineClass>),
}

/// Why a class cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassFault {
    #[error("there is no such class")]
    Missing,
    #[error("the class is not kept for its machines yet")]
    NotKept,
    #[error("the node template of the class is incomplete")]
    Incomplete,
}

/// Whether a class can be used.
///
/// # Errors
/// If it is missing, is not kept for its machines, or has an incomplete node template.
pub fn validated(seen: &ClassSeen) -> Result<&MachineClass, ClassFault> {
    let ClassSeen::Found(class) = seen else {
        return Err(ClassFault::Missing);
    };
    if !class.is_kept {
        return Err(ClassFault::NotKept);
    }
    if class.node_template.as_ref().is_some_and(|template| !template.is_complete()) {
        return Err(ClassFault::Incomplete);
    }
    Ok(class)
}

impl ClassFault {
    /// Whether the class itself has to be looked at, so that it gets what it lacks.
    pub fn wakes_class(self) -> bool {
        self == Self::NotKept
    }
}

/// What the two secrets of a class amount to. A missing one is empty.
pub fn secrets(
    secret: Option<&BTreeMap<String, String>>,
    credentials: Option<&BTreeMap<String, String>>,
) -> BTreeMap<String, String> {
    let both = [secret, credentials];
    both.into_iter().flatten().flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What happens to a class in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassStep {
    Nothing,
    /// Machines use it: it is kept for them, and they are woken.
    Keep,
    /// Nobody uses it: it need not be kept.
    LetGo,
    /// It shall go while machines use it: it waits for them, and they are woken.
    Blocked,
}

impl ClassStep {
    /// Whether the class is kept after this step.
    pub fn keeps(self, class: &MachineClass) -> bool {
        match self {
            Self::Nothing | Self::Blocked => class.is_kept,
            Self::Keep => true,
            Self::LetGo => false,
        }
    }

    /// Whether the machines that use it are woken.
    pub fn wakes_users(self) -> bool {
        matches!(self, Self::Keep | Self::Blocked)
    }

    /// Whether it is refused what it shall do.
    pub fn is_refused(self) -> bool {
        self == Self::Blocked
    }
}

/// What happens to a class that this many machines use.
pub fn step(class: &MachineClass, users: usize) -> ClassStep {
    match (class.is_leaving, class.is_kept, users) {
        (false, false, 1..) => ClassStep::Keep,
        (true, _, 1..) => ClassStep::Blocked,
        (_, true, 0) => ClassStep::LetGo,
        (false, true, 1..) | (_, false, 0) => ClassStep::Nothing,
    }
}
