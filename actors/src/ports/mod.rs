//! What the outside world looks like from here: traits, made real elsewhere.

use std::{future::Future, pin::Pin};

mod beside;
mod blot;
mod call_budget;
mod capabilities;
mod clock;
mod enrolment;
mod filesystems;
mod import;
mod machines;
mod operation;
pub mod replica_set;
mod scope;
mod secrets;
mod storage;

pub use beside::{Address, CreatedAttachment, CreatedStorage, CreatedVolume, Device, Origin};
pub use blot::{Blot, MARK, TELLING_BYTES_MIN};
pub use call_budget::{CallBudget, CallKind, CallQueue, InvalidCallBudget};
pub use capabilities::{Capabilities, Progress};
pub use clock::Clock;
pub use enrolment::{Enrolment, JoinToken};
pub use filesystems::{
    AttachFilesystem, Backing, BlockDevice, CreateFilesystem, DetachFilesystem, FilesystemAttachmentInfo,
    FilesystemProvider, ProvisionedFilesystem,
};
pub use import::{ImportVolume, VolumeImporter};
pub use machines::{
    Condition, CreateMachine, Healthy, InstanceStatus, Listing, MachineInstance, MachineProvider, StartedMachine,
};
pub use operation::{Batch, Operation, Turn};
pub use replica_set::ReplicaSetEngine;
pub use scope::MachineScope;
pub use secrets::{SecretData, Secrets};
pub use storage::{AttachVolume, AttachmentInfo, CreateVolume, DetachVolume, ProvisionedVolume, VolumeProvider};

use serde::{Deserialize, Serialize};

use crate::vocab::Fault;

/// A boxed future, so that the traits here can be used as objects. It may run on any thread.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One answer per item of a bulk call, in the order of the items; `Err` outside means that the call as a whole failed
/// and nothing is known about any item but what the fault's code says.
pub type BulkAnswer<'a, T> = Answer<'a, Result<Vec<Result<T, Fault>>, Fault>>;

/// What a provider knows about an effect id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lookup<T> {
    /// It is there: the one who asked for it adopts it.
    Present(T),
    /// It is not there, and no earlier call will still make it.
    Absent,
    /// The provider cannot tell now: ask again later, never assume.
    Unknown,
}

impl<T> Lookup<T> {
    /// The same of something else.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Self::Present(present) => Lookup::Present(turn(present)),
            Self::Absent => Lookup::Absent,
            Self::Unknown => Lookup::Unknown,
        }
    }
}
