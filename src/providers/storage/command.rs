//! The commands that are run, as data: the program first, then its arguments, literal.
//!
//! There is no shell. Every operand is a checked [`AbsPath`], [`DeviceName`] or [`Tag`], so none can be taken for an
//! option; `--` stands before operands all the same where the tool knows it and the order of arguments leaves room for it.

use std::fmt;

use bailiwick_actors::vocab::SizeMib;

use super::{AbsPath, DeviceName, Tag, helper::wire::Verb};

/// One command.
#[derive(Clone, PartialEq, Eq)]
pub struct Command {
    argv: Vec<String>,
    /// What the storage helper is asked for in its place, if only root can do it.
    verb: Option<Verb>,
}

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
        Self { argv: arguments.map(str::to_owned).into(), verb: None }
    }

    fn of_root(self, verb: Verb) -> Self {
        Self { verb: Some(verb), ..self }
    }

    /// Reserves the space of a file.
    pub fn fallocate(file: &AbsPath, size: SizeMib) -> Self {
        Self::of(["fallocate", "-l", &format!("{}MiB", size.0), "--", file.as_str()])
    }

    /// Which loop devices a file has.
    pub fn losetup_find(file: &AbsPath) -> Self {
        Self::of(["losetup", "-j", file.as_str()]).of_root(Verb::FindLoop { file: file.clone() })
    }

    /// Gives a file a loop device.
    pub fn losetup_attach(file: &AbsPath, read_only: bool) -> Self {
        let command = if read_only {
            Self::of(["losetup", "-f", "--show", "-r", "--", file.as_str()])
        } else {
            Self::of(["losetup", "-f", "--show", "--", file.as_str()])
        };
        command.of_root(Verb::AttachLoop { file: file.clone(), read_only })
    }

    /// The inode behind a loop device, and the device that it is on.
    pub(super) fn losetup_behind(device: &DeviceName) -> Self {
        Self::of(["losetup", "--noheadings", "--output", "BACK-INO,BACK-MAJ:MIN", device.path().as_str()])
    }

    pub fn losetup_detach(device: &DeviceName) -> Self {
        let command = Self::of(["losetup", "-d", device.path().as_str()]);
        command.of_root(Verb::DetachLoop { device: device.clone() })
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
        let command = if read_only {
            Self::of(["mount", "--bind", "-o", "ro", "--", source.as_str(), target.as_str()])
        } else {
            Self::of(["mount", "--bind", "--", source.as_str(), target.as_str()])
        };
        command.of_root(Verb::MountDirectory { directory: source.clone(), at: target.clone(), read_only })
    }

    /// The options come last, so there is no room for `--`; the operands are a tag and an absolute path.
    pub fn mount_tmpfs(tag: &Tag, target: &AbsPath, size: SizeMib, read_only: bool) -> Self {
        let options = format!("size={}m{}", size.0, if read_only { ",ro" } else { "" });
        let command = Self::of(["mount", "-t", "tmpfs", &tag.to_string(), target.as_str(), "-o", &options]);
        command.of_root(Verb::MountMemory { tag: tag.clone(), size, at: target.clone(), read_only })
    }

    pub fn mount_device(device: &DeviceName, target: &AbsPath, read_only: bool) -> Self {
        let path = device.path();
        let command = if read_only {
            Self::of(["mount", "-o", "ro", "--", path.as_str(), target.as_str()])
        } else {
            Self::of(["mount", "--", path.as_str(), target.as_str()])
        };
        command.of_root(Verb::MountDevice { device: device.clone(), at: target.clone(), read_only })
    }

    pub fn unmount(target: &AbsPath) -> Self {
        Self::of(["umount", "--", target.as_str()]).of_root(Verb::Unmount { at: target.clone() })
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
        Self::of(["mkfs.ext4", "--", device.path().as_str()]).of_root(Verb::MakeExt4 { device: device.clone() })
    }

    /// The same, with a root directory that belongs to somebody else.
    pub(super) fn make_ext4_for(device: &DeviceName, (user, group): (u32, u32)) -> Self {
        let owner = format!("root_owner={user}:{group}");
        Self::of(["mkfs.ext4", "-E", &owner, "--", device.path().as_str()])
    }

    /// What the storage helper is asked for in its place; none if anybody can run it.
    pub(super) fn verb(&self) -> Option<&Verb> {
        self.verb.as_ref()
    }

    pub fn program(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    /// What follows the program.
    pub fn arguments(&self) -> &[String] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// Program and arguments.
    #[cfg(feature = "testing")]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.argv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node that is confined by a service manager has a `/dev` of its own: it does not even see its loop devices there.
    #[test]
    fn all_that_is_about_devices_and_mounts_can_be_left_to_the_helper() {
        let (file, device): (AbsPath, DeviceName) = ("/a".parse().unwrap(), "loop0".parse().unwrap());
        let (tag, size) = (Tag::try_from("filesystem-0".to_owned()).unwrap(), SizeMib(1));
        for (command, is_roots) in [
            (Command::losetup_find(&file), true),
            (Command::losetup_attach(&file, true), true),
            (Command::losetup_detach(&device), true),
            (Command::mount_bind(&file, &file, false), true),
            (Command::mount_tmpfs(&tag, &file, size, false), true),
            (Command::mount_device(&device, &file, false), true),
            (Command::unmount(&file), true),
            (Command::make_ext4(&device), true),
            (Command::fallocate(&file, size), false),
            (Command::df(DfField::Source, &file), false),
        ] {
            assert_eq!(command.verb().is_some(), is_roots, "{command:?}");
        }
    }
}
