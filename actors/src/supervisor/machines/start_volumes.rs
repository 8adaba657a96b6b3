//! The volumes that a machine is started with: checked before anything is started. Source: Juju's provisioner, the
//! parameters of a start.

use crate::vocab::Name;

/// A volume that is to be made with the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewVolume<'a> {
    /// `volume-7`.
    pub tag: &'a str,
    pub attachment: Option<Attachment<'a>>,
}

/// Where a volume is to be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment<'a> {
    /// `machine-7`.
    pub machine: &'a str,
    /// Empty: the machine has none yet.
    pub instance_id: &'a str,
}

/// A volume that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExistingVolume<'a> {
    pub tag: &'a str,
    /// What its provider calls it.
    pub volume_id: &'a str,
    pub attachment: Attachment<'a>,
}

/// What is wrong with a volume that a machine is to be started with; the start is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartVolumeFault {
    #[error("a tag cannot be read")]
    BadTag,
    #[error("the volume is attached to nothing")]
    AttachmentMissing,
    #[error("the volume is attached to another machine")]
    WrongMachine,
    #[error("the attachment names an instance, and the machine has none yet")]
    InstanceIdGiven,
    #[error("a volume that exists has no id of its provider")]
    VolumeIdMissing,
}

impl StartVolumeFault {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::BadTag => "bad_tag",
            Self::AttachmentMissing => "attachment_missing",
            Self::WrongMachine => "wrong_machine",
            Self::InstanceIdGiven => "instance_id_given",
            Self::VolumeIdMissing => "volume_id_missing",
        }
    }
}

/// Checks a volume that is to be made with a machine.
///
/// # Errors
/// With what is wrong with it.
pub fn check_new(volume: &NewVolume<'_>, machine: &str) -> Result<(), StartVolumeFault> {
    check_tag(volume.tag, "volume-")?;
    check_attachment(volume.attachment.as_ref().ok_or(StartVolumeFault::AttachmentMissing)?, machine)
}

/// Checks a volume that is there already.
///
/// # Errors
/// With what is wrong with it.
pub fn check_existing(volume: &ExistingVolume<'_>, machine: &str) -> Result<(), StartVolumeFault> {
    check_tag(volume.tag, "volume-")?;
    check_attachment(&volume.attachment, machine)?;
    if volume.volume_id.is_empty() { Err(StartVolumeFault::VolumeIdMissing) } else { Ok(()) }
}

fn check_attachment(attachment: &Attachment<'_>, machine: &str) -> Result<(), StartVolumeFault> {
    check_tag(attachment.machine, "machine-")?;
    if attachment.machine != machine {
        return Err(StartVolumeFault::WrongMachine);
    }
    if attachment.instance_id.is_empty() { Ok(()) } else { Err(StartVolumeFault::InstanceIdGiven) }
}

/// A tag is its kind and an id, in which `/` is written as `-`: `machine-0-lxd-1`.
fn check_tag(tag: &str, kind: &str) -> Result<(), StartVolumeFault> {
    let id = tag.strip_prefix(kind).ok_or(StartVolumeFault::BadTag)?;
    id.parse::<Name>().map(drop).map_err(|_| StartVolumeFault::BadTag)
}
