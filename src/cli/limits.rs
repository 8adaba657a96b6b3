//! What a node needs of the system, looked at before it starts: without it, it would end in the middle of its work.

mod cgroup;

use std::{fs, io, path::Path};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::exit::{CliError, Exit};

/// The address space that a node may reserve. Its allocators reserve 2.2 GiB for two processors and touch a small part of it;
/// with a limit of 1.6 GiB, threads failed to start, and the C library ended the process.
const ADDRESS_SPACE_MIN: u64 = 4 << 30;

/// The memory that a node may hold by itself, which it has to be given: with less, the kernel ends it without a word.
const MEMORY_MIN: u64 = 64 << 20;

/// The address space that any other command may need: its allocator reserves in large pieces, and what it cannot reserve ends
/// the process without a word.
const COMMAND_MIN: u64 = 128 << 20;

/// As many files as a node with full servers has open: connections above all.
pub(super) const FILES: u64 = 20_480;

/// Lets this process, and those that it starts, have more files open than a shell allows: as many as may be.
pub(super) fn raise_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(FILES, |maximum| maximum.min(FILES));
    if current.is_some_and(|current| current < wanted) {
        // What is left as it is only means that fewer connections are taken.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

/// How many files may be open at most, if those are fewer than a node may want.
pub(super) fn files_short() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum.filter(|maximum| *maximum < FILES)
}

/// Refuses to run any command with less address space than it may need.
pub(super) fn look_for_command() -> Result<(), CliError> {
    let Some(limit) = getrlimit(Resource::As).current.filter(|limit| *limit < COMMAND_MIN) else { return Ok(()) };
    let message = format!("the address space limit of {} MiB is too low", limit >> 20);
    Err(CliError::new(Exit::Error, "memory-limit", message)
        .next(format!("raise it with `ulimit -v unlimited`, or to {} MiB", COMMAND_MIN >> 20)))
}

/// Refuses to run a node with less address space than it may reserve, or less memory than it may hold.
pub(super) fn look() -> Result<(), CliError> {
    judge(getrlimit(Resource::As).current)?;
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    judge_group(cgroup::smallest(&membership, Path::new("/sys/fs/cgroup")))
}

fn judge_group(limit: Option<cgroup::Limit>) -> Result<(), CliError> {
    let Some(cgroup::Limit { bytes, file }) = limit.filter(|limit| limit.bytes < MEMORY_MIN) else { return Ok(()) };
    let message = format!("memory is limited to {} MiB by {}, too little for a node", bytes >> 20, file.display());
    Err(CliError::new(Exit::Error, "memory-limit", message).next(format!(
        "raise it to {} MiB or more (MemoryMax in the systemd unit, --memory of the container): with less, the kernel would \
         kill the node; agents, workloads and providers count too",
        MEMORY_MIN >> 20
    )))
}

fn judge(address_space: Option<u64>) -> Result<(), CliError> {
    let Some(limit) = address_space.filter(|limit| *limit < ADDRESS_SPACE_MIN) else { return Ok(()) };
    let message = format!("the address space limit of {} MiB is too low for a node", limit >> 20);
    Err(CliError::new(Exit::Error, "memory-limit", message).next(format!(
        "raise it with `ulimit -v unlimited`, or to {} MiB: a node reserves far more than it uses; to limit its use, \
         set MemoryMax in its systemd unit or --memory of its container",
        ADDRESS_SPACE_MIN >> 20
    )))
}

/// The code and the next step of an error of the system that says that a limit was reached, not that a disk failed.
pub(super) fn reached(error: &io::Error) -> Option<(&'static str, &'static str)> {
    let is_out_of_memory = error.kind() == io::ErrorKind::OutOfMemory;
    let is_limit = is_out_of_memory || error.raw_os_error() == Some(rustix::io::Errno::AGAIN.raw_os_error());
    is_limit.then_some((
        "memory-limit",
        "out of memory or threads: check the limits of the process (`ulimit -a`) and of its systemd unit \
         or container (MemoryMax, TasksMax)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_too_small_is_told_with_what_is_enough() {
        assert!(judge(None).is_ok() && judge(Some(ADDRESS_SPACE_MIN)).is_ok());
        let error = judge(Some(80 << 20)).unwrap_err();
        assert_eq!((&*error.code, error.exit), ("memory-limit", Exit::Limit));
        assert!(error.message.contains("80 MiB") && error.next_step.contains("4096 MiB"), "{error:?}");
    }

    #[test]
    fn a_group_with_too_little_memory_is_named() {
        let of = |bytes| Some(cgroup::Limit { bytes, file: "/sys/fs/cgroup/a/memory.max".into() });
        assert!(judge_group(None).is_ok() && judge_group(of(MEMORY_MIN)).is_ok());
        let error = judge_group(of(32 << 20)).unwrap_err();
        assert_eq!((&*error.code, error.exit), ("memory-limit", Exit::Limit));
        let text = "memory is limited to 32 MiB by /sys/fs/cgroup/a/memory.max, too little for a node";
        assert_eq!(error.message, text);
        assert!(error.next_step.contains("to 64 MiB or more"), "{error:?}");
    }

    #[test]
    fn a_thread_that_does_not_start_is_no_matter_of_disk_space() {
        let of = |errno: rustix::io::Errno| reached(&errno.into()).map(|found| found.0);
        assert_eq!(of(rustix::io::Errno::AGAIN), Some("memory-limit"));
        assert_eq!(of(rustix::io::Errno::NOMEM), Some("memory-limit"));
        assert_eq!(of(rustix::io::Errno::NOSPC), None);
    }
}
