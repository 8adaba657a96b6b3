//! What this machine can do at all, to be asked before anything is placed on it: a container without loop devices would
//! otherwise be tried again for ever.

use std::{fmt, path::Path};

use rustix::thread::{CapabilitySet, capabilities};

use super::{SystemRunner, Way, helper::client::StorageHelper};

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The right to mount and to attach devices (`CAP_SYS_ADMIN`).
    Rights,
    /// A program.
    Program(&'static str),
    /// The kernel's loop devices.
    LoopDevices,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rights => f.write_str("the right to mount and to attach devices"),
            Self::Program(name) => write!(f, "the program {name}"),
            Self::LoopDevices => f.write_str("loop devices"),
        }
    }
}

/// What is missing for volumes on loop devices; nothing if they can be had. What a storage helper sees is not looked at: it
/// says so when it is asked for one.
pub fn missing_for_loop_volumes(runner: &SystemRunner, helper: Option<&StorageHelper>) -> Vec<Missing> {
    let mut missing = missing_of(runner, &["fallocate", "losetup"], helper.is_none());
    if helper.is_none() && !Path::new("/dev/loop-control").exists() {
        missing.push(Missing::LoopDevices);
    }
    missing
}

/// What is missing for this way to have filesystems; nothing if they can be had.
///
/// Disks that are partitioned need `sgdisk` too; most volumes are none, so it is not asked for.
pub fn missing_for_filesystems(way: Way, runner: &SystemRunner, helper: Option<&StorageHelper>) -> Vec<Missing> {
    match way {
        Way::Tmpfs | Way::Managed | Way::Rootfs if helper.is_some() => missing_of(runner, &["df"], false),
        Way::Tmpfs => missing_of(runner, &["df", "mount", "umount"], true),
        Way::Managed => missing_of(runner, &["df", "mkfs.ext4", "mount", "umount"], true),
        // Where nothing can be bound, an empty directory on the same filesystem serves.
        Way::Rootfs => missing_of(runner, &["df", "mount", "umount"], false),
        Way::Directory { .. } => Vec::new(),
    }
}

fn missing_of(runner: &SystemRunner, programs: &[&'static str], needs_rights: bool) -> Vec<Missing> {
    let rights = (needs_rights && !has_rights()).then_some(Missing::Rights);
    let programs = programs.iter().filter(|program| runner.find(program).is_none());
    rights.into_iter().chain(programs.copied().map(Missing::Program)).collect()
}

/// Whether this process may mount, by its effective capabilities.
fn has_rights() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let nowhere = SystemRunner { directories: Vec::new(), ..SystemRunner::default() };
        let missing = missing_for_loop_volumes(&nowhere, None);
        assert!(missing.contains(&Missing::Program("losetup")) && missing.contains(&Missing::Program("fallocate")));
        assert_eq!(missing.contains(&Missing::Rights), !has_rights());
        assert_eq!(missing_for_filesystems(Way::Directory { capacity: Default::default() }, &nowhere, None), []);
        assert!(!missing_for_filesystems(Way::Rootfs, &nowhere, None).contains(&Missing::Rights));
        assert_eq!(Missing::Program("losetup").to_string(), "the program losetup");
    }
}
