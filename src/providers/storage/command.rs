//! The commands that are run, as data: the program first, then its arguments, literal.
//!
//! There is no shell. Every operand is a checked [`AbsPath`], [`DeviceName`] or [`Tag`], so none can be taken for an
//! option; `--` stands before operands all the same where the tool knows it and the order of arguments leaves room for it.

use std::fmt;

use bailiwick_actors::vocab::SizeMib;

use super::{AbsPath, DeviceName, Tag};

/// One command.
#[derive(Clone, PartialEq, Eq)]
pub struct Command(Vec<String>);

/// What `df` is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DfField {
    /// The size in KiB.
    Size,
    Source,
    Target,
}

impl Command {
    fn of<const N: usize>(arguments: [&str; N]) -> Self {
        Self(arguments.map(str::to_owned).into())
    }

    /// Reserves the space of a file.
    pub fn fallocate(file: &AbsPath, size: SizeMib) -> Self {
        Self::of(["fallocate", "-l", &format!("{}MiB", size.0), "--", file.as_str()])
    }

    /// Which loop devices a file has.
    pub fn losetup_find(file: &AbsPath) -> Self {
        Self::of(["losetup", "-j", file.as_str()])
    }

    /// Gives a file a loop device.
    pub fn losetup_attach(file: &AbsPath, read_only: bool) -> Self {
        if read_only {
            Self::of(["losetup", "-f", "--show", "-r", "--", file.as_str()])
        } else {
            Self::of(["losetup", "-f", "--show", "--", file.as_str()])
        }
    }

    pub fn losetup_detach(device: &DeviceName) -> Self {
        Self::of(["losetup", "-d", device.path().as_str()])
    }

    /// One fact about the filesystem that a path is on.
    pub fn df(field: DfField, path: &AbsPath) -> Self {
        let output = match field {
            DfField::Size => "--output=size",
            DfField::Source => "--output=source",
            DfField::Target => "--output=target",
        };
        Self::of(["df", output, "--", path.as_str()])
    }

    pub fn mount_bind(source: &AbsPath, target: &AbsPath, read_only: bool) -> Self {
        if read_only {
            Self::of(["mount", "--bind", "-o", "ro", "--", source.as_str(), target.as_str()])
        } else {
            Self::of(["mount", "--bind", "--", source.as_str(), target.as_str()])
        }
    }

    /// The options come last, so there is no room for `--`; the operands are a tag and an absolute path.
    pub fn mount_tmpfs(tag: &Tag, target: &AbsPath, size: SizeMib, read_only: bool) -> Self {
        let options = format!("size={}m{}", size.0, if read_only { ",ro" } else { "" });
        Self::of(["mount", "-t", "tmpfs", &tag.to_string(), target.as_str(), "-o", &options])
    }

    pub fn mount_device(device: &DeviceName, target: &AbsPath, read_only: bool) -> Self {
        let device = device.path();
        if read_only {
            Self::of(["mount", "-o", "ro", "--", device.as_str(), target.as_str()])
        } else {
            Self::of(["mount", "--", device.as_str(), target.as_str()])
        }
    }

    pub fn unmount(target: &AbsPath) -> Self {
        Self::of(["umount", "--", target.as_str()])
    }

    /// Removes every trace of a partition table.
    pub fn partition_zap(disk: &DeviceName) -> Self {
        Self::of(["sgdisk", "--zap-all", disk.path().as_str()])
    }

    /// Makes one partition of the whole disk.
    pub fn partition_whole(disk: &DeviceName) -> Self {
        Self::of(["sgdisk", "-n", "1:0:-1", disk.path().as_str()])
    }

    pub fn make_ext4(device: &DeviceName) -> Self {
        Self::of(["mkfs.ext4", "--", device.path().as_str()])
    }

    pub fn program(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// What follows the program.
    pub fn arguments(&self) -> &[String] {
        self.0.get(1..).unwrap_or_default()
    }

    /// Program and arguments.
    #[cfg(feature = "testing")]
    pub fn argv(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
