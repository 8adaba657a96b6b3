//! Which file systems are served by another machine. Their locks and syncs are not to be relied on.

/// The name of a network file system by what `statfs` calls it. Locks there may be of one machine alone, and a sync may
/// return before anything is on a disk.
pub(crate) fn network_file_system(magic: u64) -> Option<&'static str> {
    // As Linux has them in linux/magic.h, and the file systems themselves.
    Some(match magic {
        0x6969 => "NFS",
        0x517B => "SMB",
        0xFF53_4D42 => "CIFS",
        0xFE53_4D42 => "SMB 2",
        0x00C3_6400 => "Ceph",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x0102_1997 => "9P",
        0x7375_7245 => "Coda",
        0x564C => "NCP",
        0x0BD0_0BD0 => "Lustre",
        0x1980_0000..=0x1980_00FF => "BeeGFS",
        0x4750_4653 => "GPFS",
        0x2003_0528 => "OrangeFS",
        0x786F_4256 => "a folder shared by VirtualBox",
        _ => return None,
    })
}

/// What a program serves through FUSE has one number for `statfs`, be it here or elsewhere. The type of the mount is what
/// tells them apart, and it is the program's to choose: of these we know. (One that chooses none is taken for local.)
const SERVED: &[(&str, &str)] = &[
    ("fuse.sshfs", "sshfs"),
    ("fuse.glusterfs", "GlusterFS"),
    ("fuse.ceph-fuse", "Ceph"),
    ("fuse.mfs", "MooseFS"),
    ("fuse.seaweedfs", "SeaweedFS"),
    ("fuse.juicefs", "JuiceFS"),
    ("fuse.gcsfuse", "gcsfuse"),
    ("fuse.s3fs", "s3fs"),
    ("fuse.rclone", "rclone"),
    ("fuse.vmhgfs-fuse", "a folder shared by VMware"),
];

/// The name of the network file system that a program serves, for the device (`major:minor`) of a folder; `mounts` is
/// what the kernel says in `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
pub(crate) fn network_mount(mounts: &str, device: &str) -> Option<&'static str> {
    let mut types = mounts.lines().filter_map(|line| {
        // ID, parent, device, root, place, options, as many further fields as there are, a dash, type, source, options.
        let (before, after) = line.split_once(" - ")?;
        let found = before.split(' ').nth(2)?;
        (found == device).then(|| after.split(' ').next())?
    });
    let wanted = types.next()?;
    SERVED.iter().find(|(mounted, _)| *mounted == wanted).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_serves_from_elsewhere_is_known_by_the_type_of_its_mount() {
        let mounts = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
                      43 27 0:39 / /mnt/away\\040there rw,nosuid shared:7 - fuse.sshfs host:/srv rw,user_id=0\n\
                      44 27 0:40 / /mnt/here rw,nosuid - fuse.mergerfs /disks rw,user_id=0\n\
                      nonsense\n";
        assert_eq!(network_mount(mounts, "0:39"), Some("sshfs"));
        for local in ["254:0", "0:40", "0:4", "0:41", ""] {
            assert_eq!(network_mount(mounts, local), None, "{local}");
        }
        assert_eq!(network_mount("", "0:39"), None);
    }

    #[test]
    fn network_file_systems_are_known_by_their_numbers_and_local_ones_are_not_taken_for_them() {
        assert_eq!(network_file_system(0x6969), Some("NFS"));
        assert_eq!(network_file_system(0xFF53_4D42), Some("CIFS"));
        // ext4, XFS, btrfs, tmpfs, overlay, ZFS.
        for local in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1] {
            assert_eq!(network_file_system(local), None);
        }
    }
}
