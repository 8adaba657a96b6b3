//! The limit of memory of the control group that a process is in: what systemd (`MemoryMax`) and containers (`--memory`) set.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The smallest limit that holds for a group, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Limit {
    pub bytes: u64,
    pub file: PathBuf,
}

/// The smallest limit of the groups that `membership` names (the text of `/proc/self/cgroup`) and of those that they are
/// in, as the folder says under which the groups are mounted (`/sys/fs/cgroup`). None if there is no limit.
pub(super) fn smallest(membership: &str, mounted: &Path) -> Option<Limit> {
    let groups = membership.lines().filter_map(|line| group(line, mounted));
    groups.flat_map(|(root, group, file)| limits(&root, group, file)).min()
}

/// What a line says: where the hierarchy is mounted, the group in it, and the file that a limit stands in. None if the
/// hierarchy is not about memory.
fn group<'a>(line: &'a str, mounted: &Path) -> Option<(PathBuf, &'a str, &'static str)> {
    let (_, rest) = line.split_once(':')?;
    match rest.split_once(':')? {
        ("", group) => {
            // Beside version 1, version 2 is mounted in a folder of its own, and mostly without controllers.
            let beside = mounted.join("unified");
            let root = if beside.is_dir() { beside } else { mounted.to_owned() };
            Some((root, group, "memory.max"))
        }
        (controllers, group) if controllers.split(',').any(|controller| controller == "memory") => {
            Some((mounted.join("memory"), group, "memory.limit_in_bytes"))
        }
        _ => None,
    }
}

/// The limits of a group and of all that it is in. In a container the path may be the host's, and what is mounted the
/// container's own group: then that is the one that is there.
fn limits(root: &Path, group: &str, file: &'static str) -> Vec<Limit> {
    let mut folder = root.to_owned();
    let mut files = vec![folder.join(file)];
    for part in group.split('/').filter(|part| !part.is_empty() && *part != "..") {
        folder.push(part);
        files.push(folder.join(file));
    }
    // `max`, or what is no number, is no limit; version 1 writes none as a number that no machine has.
    let read = |file: PathBuf| {
        let bytes = fs::read_to_string(&file).ok()?.trim().parse().ok()?;
        Some(Limit { bytes, file })
    };
    files.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Groups(tempfile::TempDir);

    impl Groups {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn smallest(&self, membership: &str) -> Option<(u64, String)> {
            let found = smallest(membership, self.0.path())?;
            Some((found.bytes, found.file.strip_prefix(self.0.path()).unwrap().display().to_string()))
        }
    }

    fn some(bytes: u64, file: &str) -> Option<(u64, String)> {
        Some((bytes, file.to_owned()))
    }

    #[test]
    fn of_version_2_the_smallest_of_a_group_and_its_ancestors_holds() {
        let groups = Groups::new(&[
            ("memory.max", "max\n"),
            ("system.slice/memory.max", "100\n"),
            ("system.slice/x.service/memory.max", "200\n"),
            ("other/memory.max", "1\n"),
        ]);
        assert_eq!(groups.smallest("0::/system.slice/x.service\n"), some(100, "system.slice/memory.max"));
        assert_eq!(groups.smallest("0::/\n"), None);
    }

    #[test]
    fn of_version_1_the_group_of_the_controller_of_memory_counts() {
        let none = i64::MAX - 4_095;
        let groups = Groups::new(&[
            ("memory/memory.limit_in_bytes", &none.to_string()),
            ("memory/docker/a/memory.limit_in_bytes", "300\n"),
            ("cpu/docker/b/memory.limit_in_bytes", "1\n"),
            ("unified/memory.max", "max\n"),
        ]);
        let membership = "5:cpu,cpuacct:/docker/b\n4:hugetlb,memory:/docker/a\n1:name=systemd:/\n0::/\n";
        assert_eq!(groups.smallest(membership), some(300, "memory/docker/a/memory.limit_in_bytes"));
        let of_root = groups.smallest("4:memory:/\n").unwrap();
        assert!(of_root.0 > 1 << 50, "far more than any machine has: {of_root:?}");
    }

    #[test]
    fn in_a_container_what_is_mounted_is_its_own_group() {
        let groups = Groups::new(&[("memory.max", "400\n")]);
        assert_eq!(groups.smallest("0::/docker/of/the/host\n"), some(400, "memory.max"));
        assert_eq!(groups.smallest("0::/../../sibling\n"), some(400, "memory.max"));
    }

    #[test]
    fn what_makes_no_sense_is_no_limit() {
        let groups = Groups::new(&[("memory.max", "a lot\n"), ("a/memory.max", "-5\n")]);
        for membership in ["", "\n", "0", "0:", "0::", "0::/a", "0::/nowhere", "::::", "memory"] {
            assert_eq!(groups.smallest(membership), None, "{membership}");
        }
        assert_eq!(smallest("0::/a\n", Path::new("/nowhere/at/all")), None);
    }
}
