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

#[cfg(test)]
mod tests {
    use super::default_mount_point;

    #[test]
    fn numbers_are_folders_and_names_are_names() {
        for (name, expected) in [("0-3", "/storage/0/3"), ("7", "/storage/7"), ("my-data", "/storage/my-data")] {
            assert_eq!(default_mount_point("/storage/", &name.parse().expect("a name")), expected);
        }
    }
}
