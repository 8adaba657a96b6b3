//! What a node needs of the system, looked at before it starts: without it, it would end in the middle of its work.

use std::io;

use rustix::process::{Resource, getrlimit};

use super::exit::{CliError, Exit};

/// The address space that a node may reserve. Its allocators reserve 2.2 GiB for two processors and touch a small part of it;
/// with a limit of 1.6 GiB, threads failed to start, and the C library ended the process.
const ADDRESS_SPACE_MIN: u64 = 4 << 30;

/// Refuses to run a node with less address space than it may reserve.
pub(super) fn look() -> Result<(), CliError> {
    judge(getrlimit(Resource::As).current)
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
    fn a_thread_that_does_not_start_is_no_matter_of_disk_space() {
        let of = |errno: rustix::io::Errno| reached(&errno.into()).map(|found| found.0);
        assert_eq!(of(rustix::io::Errno::AGAIN), Some("memory-limit"));
        assert_eq!(of(rustix::io::Errno::NOMEM), Some("memory-limit"));
        assert_eq!(of(rustix::io::Errno::NOSPC), None);
    }
}
