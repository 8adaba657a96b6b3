//! Errors of everything below, as they are told at the edge: code, cause, and what to do next.

use std::{error::Error, io};

use bailiwick_actors::shell::AskError;
use bailiwick_journal::{IntegrityReport, OpenError, ReadError};

use super::{
    exit::{CLOSED_PIPE, CliError, Exit},
    limits,
    output::OutputError,
};
use crate::{
    api::wire::problem::Problem,
    client::ClientError,
    handle::{ApplyError, NotOffered, QuestionError, Refusal},
    node::{StartError, StopError},
    ownership::Unsafe,
    view::FleetError,
};

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        let message = error.to_string();
        match &error {
            OpenError::InUse { .. } => Self::new(Exit::Refused, "in-use", message).next(
                "leave the directory out to ask the running node (`get`, `why`, `audit replay`), or stop it first",
            ),
            OpenError::BeingRead { .. } => {
                Self::new(Exit::Refused, "in-use", message).next("wait until whoever reads it has ended, and try again")
            }
            OpenError::Foreign { .. } => Self::new(Exit::Error, "foreign-directory", message)
                .next("name another directory with --data-dir DIR; nothing was changed in this one"),
            OpenError::Integrity { path, report } => Self {
                causes: integrity(report),
                ..Self::new(
                    Exit::Integrity,
                    "integrity",
                    format!("the journal in {} has lost or changed history", path.display()),
                )
            }
            .next(
                "nothing was changed; keep a copy of the directory; `bailiwick journal check` lists what is wrong, and \
                 `bailiwick journal salvage DIR --into NEWDIR` makes a new journal of what is whole",
            ),
            OpenError::Archive { .. } => Self::new(Exit::Error, "archive-missing", message)
                .next("mount that folder again, or start the node with --log-archive and where it is now; nothing was changed"),
            OpenError::OnlyInStore { .. } => Self::new(Exit::Integrity, "store-unusable", message).next(
                "nothing was changed; keep a copy of the directory; `bailiwick journal salvage DIR --into NEWDIR` makes a \
                 new journal of what is whole",
            ),
            OpenError::Io { source, .. } => Self::of_system(message, source),
        }
    }
}

impl CliError {
    /// What the system refused: a limit that was reached, or a matter of the disk.
    fn of_system(message: String, source: &io::Error) -> Self {
        match limits::reached(source) {
            Some((code, next)) => Self::new(Exit::Error, code, message).because(source).next(next),
            None => disk(message, source),
        }
    }
}

/// A file or folder cannot be used: what helps depends on why.
fn disk(message: String, source: &io::Error) -> CliError {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem, StorageFull};
    let error = match source.kind() {
        // Not the system says it but the node, of a file of its own: `node.key`.
        _ if source.raw_os_error().is_none() => {
            CliError::new(Exit::Disk, "disk", message).next("put the file back from a backup of the data directory")
        }
        PermissionDenied => CliError::new(Exit::NoPermission, "no-permission", message)
            .next("run it as the owner of the data directory, or name another one with --data-dir DIR"),
        StorageFull => CliError::new(Exit::Disk, "disk", message).next("make room on that disk, and try again"),
        NotADirectory | NotFound | ReadOnlyFilesystem => CliError::new(Exit::Config, "no-directory", message)
            .next("name a directory that can be written to, with --data-dir DIR"),
        _ => CliError::new(Exit::Disk, "disk", message),
    };
    error.because(source)
}

/// The problems, and how much is missing; `journal check` says of which streams.
fn integrity(report: &IntegrityReport) -> Vec<String> {
    const TOLD_MAX: usize = 5;
    let mut causes: Vec<String> = report.problems.iter().take(TOLD_MAX).map(ToString::to_string).collect();
    if report.problems.len() > TOLD_MAX {
        causes.push(format!("and {} more", report.problems.len() - TOLD_MAX));
    }
    if let Some((first, last)) = report.missing_positions {
        causes.push(match report.missing.len() {
            0 => format!("missing: entries {first} to {last} at least"),
            1 => format!("missing: entries {first} to {last} at least, of 1 stream"),
            streams => format!("missing: entries {first} to {last} at least, of {streams} streams"),
        });
    }
    causes
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Journal(OpenError::InUse { holder, .. }) => {
                let message = format!("a node is running in this data directory already, as process {holder}");
                Self::new(Exit::Refused, "in-use", message).next(format!(
                    "`bailiwick apply FILE` asks that node; `kill {holder}` stops it, its machines keep running"
                ))
            }
            StartError::Journal(error) => error.into(),
            StartError::Assemble(error) => {
                Self::new(Exit::Integrity, "cannot-rebuild", "the state cannot be rebuilt from the journal")
                    .because(&error)
                    .next("run `bailiwick journal check`; was the journal written by a later release?")
            }
            StartError::Unsafe(error) => error.into(),
            StartError::Io { ref source, .. } => Self::of_system(error.to_string(), source),
            StartError::Provider { ref source, .. } if source.raw_os_error().is_none() => {
                Self::new(Exit::Error, "bad-providers", error.to_string())
                    .because(source)
                    .next("change that in providers.yaml in the data directory, or where --provider names it")
            }
            StartError::Provider { ref source, .. } => Self::of_system(error.to_string(), source),
            StartError::JournalGone { .. } => Self::new(Exit::Integrity, "journal-gone", error.to_string())
                .next("put the journal back, or name another directory with --data-dir DIR"),
            StartError::Twin { .. } => Self::new(Exit::Refused, "same-identity", error.to_string()).next(
                "both have one identity, and each would take what the other makes for its own; stop that one for good, or \
                 give this one its own: `journal export FILE` here, and `journal import --as-new FILE` into a new directory",
            ),
            StartError::Ended => Self::new(Exit::Error, "node-ended", error.to_string()),
        }
    }
}

impl From<Unsafe> for CliError {
    fn from(error: Unsafe) -> Self {
        let next = error.next();
        Self::new(Exit::Error, "unsafe-directory", error.to_string()).next(next)
    }
}

impl From<StopError> for CliError {
    fn from(error: StopError) -> Self {
        Self::new(Exit::Error, "not-stopped-in-order", error.to_string())
            .next("nothing acknowledged is lost; the next start looks the journal through")
    }
}

impl From<ApplyError> for CliError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Refused { refusals } => {
                let Refusal { code, message, next } = Refusal::of(&refusals);
                let mut told = Self::new(Exit::Refused, code, message).next(next);
                told.causes = refusals.iter().map(|answer| format!("{}: {}", answer.stream, answer.text)).collect();
                told
            }
            ApplyError::Read(error) => error.into(),
            ApplyError::StillMounted { ref by, .. } => Self::new(Exit::Refused, "still-mounted", error.to_string())
                .next(format!("`bailiwick delete {by}` first")),
            ApplyError::NotOffered(not) => Self::new(Exit::Refused, not.code(), not.to_string()).next(not.next()),
            ApplyError::Ask(error) => error.into(),
        }
    }
}

impl From<QuestionError> for CliError {
    fn from(error: QuestionError) -> Self {
        match error {
            QuestionError::Ask(error) => error.into(),
            QuestionError::Read(error) => error.into(),
        }
    }
}

impl From<AskError> for CliError {
    fn from(error: AskError) -> Self {
        let told = Self::new(Exit::Error, "not-answered", error.to_string());
        error.source().into_iter().fold(told, |told, cause| told.because(cause))
    }
}

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> Self {
        Self::new(Exit::Integrity, "integrity", error.to_string())
            .next("stop the node and run `bailiwick journal check`")
    }
}

impl From<FleetError> for CliError {
    fn from(error: FleetError) -> Self {
        let told = Self::new(Exit::Integrity, "integrity", error.to_string())
            .next("stop the node and run `bailiwick journal check`");
        error.source().into_iter().fold(told, |told, cause| told.because(cause))
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        let exit = match problem.code.as_str() {
            "not-found" => Exit::NotFound,
            "integrity" => Exit::Integrity,
            "refused" | "leaving" | "contended" | "command-reused" | "still-mounted" => Exit::Refused,
            code if NotOffered::CODES.contains(&code) => Exit::Refused,
            code => Exit::of_failure(code),
        };
        let mut error = Self::new(exit, problem.code, problem.message);
        error.causes = problem.detail;
        match problem.next_step {
            Some(next_step) => error.next(next_step),
            None => error,
        }
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        let message = error.to_string();
        match error {
            ClientError::NotRunning { .. } => Self::new(Exit::Error, "not-running", message)
                .next("start one with `bailiwick serve` or `bailiwick up FILE`, or name another with --data-dir DIR"),
            ClientError::Stranger { .. } => Self::new(Exit::Error, "unsafe-directory", message)
                .next("nothing was sent; run the command as that user, or name another directory with --data-dir DIR"),
            ClientError::Refused { problem, .. } => problem.into(),
            ClientError::TimedOut => Self::new(Exit::Error, "no-answer", message)
                .next("it may have happened: look with `bailiwick log`, or ask again with the same --id"),
            ClientError::Broken { source, .. } => {
                let error: &(dyn Error + 'static) = &*source;
                Self::new(Exit::Error, "broken-connection", message).because(error)
            }
        }
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        // A reader that has gone (`bailiwick log | head`) has seen what it wanted.
        if error.is_broken_pipe() {
            return Self::new(Exit::Ok, CLOSED_PIPE, "nobody reads the output any more");
        }
        Self::new(Exit::Error, "output", "cannot print").because(&error)
    }
}
