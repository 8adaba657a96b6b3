//! Which process is meant: a pid alone is not enough, because pids are used again. And how a process comes to stand on its
//! own.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::ffi::OsStrExt,
    path::Path,
};

use rustix::process::{Pid, PidfdFlags, Signal, getpgid, getppid, pidfd_open, pidfd_send_signal, setpgid, setsid};
use serde::{Deserialize, Serialize};

/// Names one process for ever: its pid, when it started, and in which run of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    pub pid: u32,
    /// Clock ticks from the kernel's start to the process's start (field 22 of `/proc/<pid>/stat`).
    pub start_ticks: u64,
    /// `/proc/sys/kernel/random/boot_id`: ticks count from zero after a reboot.
    pub kernel_boot: String,
}

/// What `/proc/<pid>/stat` says, as far as we need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub group: u32,
    pub session: u32,
    pub start_ticks: u64,
    /// It has ended and only waits to be reaped.
    pub ended: bool,
}

impl ProcessMark {
    /// The mark of a process that exists now.
    pub fn of(pid: u32) -> io::Result<Self> {
        let stat = stat(pid)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Self { pid, start_ticks: stat.start_ticks, kernel_boot: kernel_boot()? })
    }

    /// Whether exactly this process still runs; one that waits to be reaped does not.
    pub fn is_alive(&self) -> bool {
        self.is_known() && self.current_stat().is_some_and(|stat| !stat.ended)
    }

    /// Whether the kernel still knows exactly this process, be it only to be reaped. As long as it does, the pid cannot
    /// belong to anything else, neither as a process nor as a group.
    pub fn is_known(&self) -> bool {
        self.current_stat().is_some() && kernel_boot().is_ok_and(|boot| boot == self.kernel_boot)
    }

    /// Sends a signal to exactly this process; says whether it was there.
    ///
    /// The process is held by a pidfd before it is compared, so nothing else can take its pid in between.
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
        let held = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(held) => held,
            Err(rustix::io::Errno::SRCH) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if !self.is_alive() {
            return Ok(false);
        }
        match pidfd_send_signal(held, signal) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether one of the process's arguments is exactly this text.
    pub fn has_argument(&self, text: &str) -> bool {
        has_arguments(self.pid, &[text])
    }

    fn current_stat(&self) -> Option<Stat> {
        stat(self.pid).ok().flatten().filter(|stat| stat.start_ticks == self.start_ticks)
    }
}

/// Makes this process lead a session of its own, so that it does not end with the process that started it.
///
/// A process group whose last tie to its session ends is told so by the kernel: all in it get SIGHUP, and whoever was
/// stopped goes on. A node that is killed would set free an agent that somebody has halted.
///
/// # Errors
/// If the process stays in the session that it was in. So does one whose starter has ended already; there the tie has ended.
pub fn lead_session() -> io::Result<()> {
    if setsid().is_ok() {
        return Ok(());
    }
    // The leader of a group cannot lead a session: it steps back into its starter's group for this one moment.
    setpgid(None, Some(getpgid(getppid())?))?;
    setsid()?;
    Ok(())
}

/// The marks of all processes that run now and satisfy a test.
pub fn processes_where(mut test: impl FnMut(u32, &Stat) -> bool) -> io::Result<Vec<ProcessMark>> {
    let kernel_boot = kernel_boot()?;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // A process may end while we look, and others may be hidden from us: neither is ours to signal.
        let Ok(Some(stat)) = stat(pid) else { continue };
        if !stat.ended && test(pid, &stat) {
            found.push(ProcessMark { pid, start_ticks: stat.start_ticks, kernel_boot: kernel_boot.clone() });
        }
    }
    Ok(found)
}

/// Whether all of these texts are among a process's arguments, exactly. In the first instant of a new program it has none.
pub fn has_arguments(pid: u32, texts: &[&str]) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    texts.iter().all(|text| line.split(|byte| *byte == 0).any(|argument| argument == text.as_bytes()))
}

/// Whether a process began with this variable in its environment; false where we may not look, and in the first instant
/// of a new program.
pub fn has_variable(pid: u32, name: &str, value: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    let wanted = format!("{name}={value}");
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

/// The environment that exactly this process began with; none if it is not there any more.
///
/// # Errors
/// If we may not look.
pub fn environment(process: &ProcessMark) -> io::Result<Option<Vec<(OsString, OsString)>>> {
    let read = fs::read(format!("/proc/{}/environ", process.pid));
    // Looked at after the reading: then it was this process that was read of.
    if !process.is_alive() {
        return Ok(None);
    }
    let variable = |text: &[u8]| {
        let equals = text.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (&text[..equals], &text[equals + 1..]);
        Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned()))
    };
    Ok(Some(read?.split(|byte| *byte == 0).filter_map(variable).collect()))
}

/// The user and the group that exactly this process runs as; none if it is not there any more.
///
/// # Errors
/// If we may not look.
pub fn owner(process: &ProcessMark) -> io::Result<Option<(u32, u32)>> {
    let read = fs::read_to_string(format!("/proc/{}/status", process.pid));
    if !process.is_alive() {
        return Ok(None);
    }
    let read = read?;
    // Real, effective, saved, of the filesystem.
    let effective =
        |name: &str| read.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().nth(1)?.parse().ok());
    Ok(effective("Uid:").zip(effective("Gid:")))
}

/// What the kernel says about a pid; none if there is no such process.
fn stat(pid: u32) -> io::Result<Option<Stat>> {
    match fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) {
        Ok(text) if is_being_released(&text) => Ok(None),
        Ok(text) => parse_stat(&text).map(Some).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // ESRCH: it ended between the opening and the reading.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the process was reaped between the opening and the reading: the kernel then tells the rest of it, and -1 for its
/// group and its session.
fn is_being_released(text: &str) -> bool {
    text.rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.split_ascii_whitespace().skip(2).take(2).any(|field| field == "-1"))
}

/// Field 2 is the program's name in brackets and may hold anything, so counting begins after the last bracket.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        ended: matches!(*fields.first()?, "Z" | "X" | "x"),
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

fn kernel_boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_hostile_program_name_does_not_move_the_fields() {
        let text = "7 (a) S 1 2) R 1 99 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 6 7";
        assert_eq!(parse_stat(text), Some(Stat { group: 99, session: 7, start_ticks: 12345, ended: false }));
        assert_eq!(parse_stat("7 (a"), None);
    }

    #[test]
    fn a_process_that_is_reaped_while_we_look_is_gone() {
        let text = "7 (sh) X 0 -1 -1 0 -1 4227084 1 2 3 4 5 6 7 8 20 0 1 0 12345 0 0";
        assert!(is_being_released(text));
        assert_eq!(parse_stat(text), None);
        // A process without a terminal has -1 further on.
        assert!(!is_being_released("7 (a) S 1 2) R 1 99 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 6 7"));
        // Looked at while it is reaped, a child is there or it is not; never is that an error.
        for _ in 0..200 {
            let mut child = Command::new("true").spawn().unwrap();
            let pid = child.id();
            let reaper = std::thread::spawn(move || child.wait().unwrap());
            while stat(pid).unwrap().is_some() {}
            reaper.join().unwrap();
        }
    }

    #[test]
    fn an_ended_process_is_known_until_it_is_reaped() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let mark = ProcessMark::of(child.id()).unwrap();
        // A new program's arguments are not there from its very first instant.
        while mark.is_alive() && !mark.has_argument("600") {
            std::thread::yield_now();
        }
        assert!(mark.is_alive() && !mark.has_argument("60"));
        assert!(mark.signal(Signal::KILL).unwrap());
        while mark.is_alive() {
            std::thread::yield_now();
        }
        assert!(mark.is_known());
        assert!(!mark.signal(Signal::KILL).unwrap());
        child.wait().unwrap();
        assert!(!mark.is_known());
    }

    #[test]
    fn another_start_time_or_boot_is_another_process() {
        let own = ProcessMark::of(std::process::id()).unwrap();
        assert!(own.is_alive());
        assert!(!ProcessMark { start_ticks: own.start_ticks + 1, ..own.clone() }.is_alive());
        assert!(!ProcessMark { kernel_boot: "another".into(), ..own.clone() }.is_alive());
        assert!(!ProcessMark { pid: 0, ..own }.signal(Signal::KILL).unwrap());
    }
}
