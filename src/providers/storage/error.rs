//! What can go wrong with storage on one machine.

use std::io;

use bailiwick_actors::{
    storage_rules::{AttributeError, ImportRefusal},
    vocab::{Fault, FaultClass, FaultCode, SizeMib},
};

use super::{AbsPath, DeviceName, RunError, Tag};
use crate::providers::fault::code_of;

/// What a command was run for; says what its failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Create,
    Attach,
    Mount,
    Detach,
    /// Only asks; nothing changed.
    Ask,
}

/// Why an operation did not succeed. Data is intact after each of them.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error("{text:?} is not a plain absolute path")]
    BadPath { text: String },
    #[error("{text:?} is not a block device name")]
    BadDeviceName { text: String },
    #[error("{text:?} is not a volume id of this node")]
    InvalidVolumeId { text: String },
    #[error("the pool's attributes are invalid here")]
    BadAttributes(#[source] AttributeError),
    #[error("a size of {size} is invalid here")]
    BadSize { size: SizeMib },
    #[error("{path} is outside the directories in which filesystems may be mounted")]
    NotAllowedThere { path: AbsPath },
    #[error("{path} cannot be used safely: {why}")]
    UnsafePath { path: AbsPath, why: &'static str },
    #[error("no mount point is given")]
    NoMountPoint,
    #[error("{path} is not a directory")]
    NotADirectory { path: AbsPath },
    #[error("the directory {path} is not empty")]
    NotEmpty { path: AbsPath },
    #[error("only {have} of the needed {want} are available")]
    NotBigEnough { have: SizeMib, want: SizeMib },
    #[error("{one} and {other} are on different filesystems, and neither can be bound to the other")]
    DifferentFilesystems { one: AbsPath, other: AbsPath },
    #[error("the directory {path} cannot be bind-mounted, so it cannot be made read-only")]
    CannotBeReadOnly { path: AbsPath },
    #[error("{tag} already exists")]
    AlreadyExists { tag: Tag },
    #[error("there is no record of {tag}")]
    InfoMissing { tag: Tag },
    #[error("the record {path} was changed by somebody else")]
    BadRecord { path: AbsPath },
    #[error(
        "no loop device is free: {why}; detach another volume of provider `loop` here, have the host give this one more \
         loop devices, or use a volume of provider `local` or a filesystem of provider `directory`, which need none"
    )]
    NoLoopDevice { why: String },
    #[error("the file of {tag} is missing or not ours")]
    BackingFile { tag: Tag },
    #[error("there is no file at {place} to import")]
    NothingToImport { place: AbsPath },
    #[error("the volume beneath the filesystem is not attached yet")]
    BackingVolumeNotAttached,
    #[error(
        "device {device} holds data ({what}) and is not formatted; use another volume, or overwrite all of the device with \
         zeros if the data is not needed"
    )]
    HoldsData { device: DeviceName, what: String },
    #[error("the device {device} is in use: {by}")]
    DeviceInUse { device: DeviceName, by: &'static str },
    #[error("the device {device} is not the one that is meant: {why}")]
    DeviceChanged { device: DeviceName, why: &'static str },
    #[error("something else is mounted at {path}, or with a different read-only setting")]
    MountedByOthers { path: AbsPath },
    #[error("{tag} is attached")]
    StillAttached { tag: Tag },
    #[error("an earlier operation on {tag} still runs")]
    Busy { tag: Tag },
    #[error("{volume_id:?} cannot be imported")]
    ImportRefused {
        volume_id: String,
        #[source]
        refusal: ImportRefusal,
    },
    #[error("{doing:?} failed")]
    Command { doing: Step, source: RunError },
    #[error("{program} printed something unexpected: {text:?}")]
    BadAnswer { program: &'static str, text: String },
    #[error("cannot {doing}")]
    Io { doing: &'static str, source: io::Error },
}

impl StorageError {
    /// The code that decides what comes next.
    pub(super) fn code(&self) -> FaultCode {
        match self {
            Self::BadPath { .. }
            | Self::BadDeviceName { .. }
            | Self::InvalidVolumeId { .. }
            | Self::BadSize { .. }
            | Self::BadAttributes(_)
            | Self::NotAllowedThere { .. }
            | Self::NoMountPoint => FaultCode::InvalidArgument,
            Self::NotBigEnough { .. } | Self::NoLoopDevice { .. } => FaultCode::ResourceExhausted,
            Self::AlreadyExists { .. } => FaultCode::AlreadyExists,
            Self::InfoMissing { .. } | Self::NothingToImport { .. } | Self::BackingVolumeNotAttached => {
                FaultCode::NotFound
            }
            Self::BadRecord { .. } | Self::BackingFile { .. } => FaultCode::DataLoss,
            Self::Busy { .. } => FaultCode::Unavailable,
            Self::UnsafePath { .. }
            | Self::NotADirectory { .. }
            | Self::NotEmpty { .. }
            | Self::DifferentFilesystems { .. }
            | Self::CannotBeReadOnly { .. }
            | Self::HoldsData { .. }
            | Self::DeviceInUse { .. }
            | Self::DeviceChanged { .. }
            | Self::MountedByOthers { .. }
            | Self::ImportRefused { .. }
            | Self::StillAttached { .. } => FaultCode::FailedPrecondition,
            Self::Command { source, .. } => source.code(),
            Self::BadAnswer { .. } => FaultCode::Internal,
            Self::Io { source, .. } => code_of(source),
        }
    }

    /// Whether it is certain that nothing came of the operation.
    pub(super) fn is_refusal(&self) -> bool {
        self.code().class() != FaultClass::Unknown
    }

    /// As a provider answers it, with all causes in the text.
    pub fn into_fault(self) -> Fault {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(&self);
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Fault::new(self.code(), text)
    }
}

/// Says what was being done when the operating system refused.
pub(super) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, StorageError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StorageError> {
        self.map_err(|source| StorageError::Io { doing, source })
    }
}

impl<T> Doing<T> for Result<T, rustix::io::Errno> {
    fn doing(self, doing: &'static str) -> Result<T, StorageError> {
        self.map_err(|errno| StorageError::Io { doing, source: errno.into() })
    }
}
