//! Where a filesystem is mounted that names no path.

use crate::vocab::Name;

/// The default mount point: the filesystem's name under the storage directory. A name of numbers alone is that of one bound
/// to a machine, and its numbers are folders: `0-3` is mounted at `DIR/0/3`.
///
/// Source: Juju mounts under the storage directory by the id of the filesystem, which is `0/3` there.
pub fn default_mount_point(storage_dir: &str, filesystem: &Name) -> String {
    let name = filesystem.as_str();
    let is_bound = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let below = if is_bound { name.replace('-', "/") } else { name.to_owned() };
    format!("{}/{below}", storage_dir.trim_end_matches('/'))
}

/// Why nothing is mounted at a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MountPointError {
    #[error("it is not a plain absolute path, without `.`, `..` and double slashes")]
    NotPlain,
    #[error("{place} belongs to the machine's system")]
    Reserved { place: &'static str },
}

/// Where the system lives: a mount over any of it could keep the machine from working, or show others what is not theirs.
const RESERVED: [&str; 15] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/root", "/run", "/sbin", "/sys",
    "/usr", "/var/run",
];

/// The longest path, and the longest part of one, in bytes.
const PATH_BYTES_MAX: usize = 4_095;
const PART_BYTES_MAX: usize = 255;

/// Checks a path that a filesystem is wanted at, as far as that can be told without looking at a machine.
pub fn check_mount_point(path: &str) -> Result<(), MountPointError> {
    let is_part = |part: &str| {
        let fits = (1..=PART_BYTES_MAX).contains(&part.len()) && part != "." && part != "..";
        fits && !part.chars().any(char::is_control)
    };
    if path == "/" {
        return Err(MountPointError::Reserved { place: "/" });
    }
    let parts = path.strip_prefix('/').filter(|_| path.len() <= PATH_BYTES_MAX);
    if !parts.is_some_and(|parts| parts.split('/').all(is_part)) {
        return Err(MountPointError::NotPlain);
    }
    match RESERVED.into_iter().find(|place| is_within(path, place)) {
        Some(place) => Err(MountPointError::Reserved { place }),
        None => Ok(()),
    }
}

/// Whether a path is this place, or lies beneath it.
pub fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_folders_and_names_are_names() {
        for (name, expected) in [("0-3", "/storage/0/3"), ("7", "/storage/7"), ("my-data", "/storage/my-data")] {
            assert_eq!(default_mount_point("/storage/", &name.parse().expect("a name")), expected);
        }
    }

    #[test]
    fn places_of_the_system_and_crooked_paths_are_refused() {
        for path in ["/srv/data", "/mnt/a b", "/var/lib/thing", "/etcetera", "/runner", "/srv/..data"] {
            assert_eq!(check_mount_point(path), Ok(()), "{path}");
        }
        for path in ["", "srv", "/srv/", "//srv", "/srv/../etc", "/srv/./x", "/a\0b", "/a\nb", &"/x".repeat(2_048)] {
            assert_eq!(check_mount_point(path), Err(MountPointError::NotPlain), "{path:?}");
        }
        for path in ["/", "/etc", "/etc/passwd", "/proc/1", "/dev/shm", "/usr/local", "/var/run/x"] {
            assert!(matches!(check_mount_point(path), Err(MountPointError::Reserved { .. })), "{path}");
        }
    }
}
