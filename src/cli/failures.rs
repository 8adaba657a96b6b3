//! Errors of everything below, as they are told at the edge: code, cause, and what to do next.

use std::{error::Error, io, path::Path};

use bailiwick_actors::shell::AskError;
use bailiwick_journal::{ImportError, IntegrityReport, LineProblem, OpenError, ReadError};

use super::{
    exit::{CLOSED_PIPE, CliError, Details, Exit},
    limits,
    output::{Missed, OutputError, known_fields},
    session,
};
use crate::{
    api::wire::problem::Problem,
    client::{ClientError, Distrust, Whereabouts},
    handle::{ApplyError, QuestionError, Refusal},
    manifest::nearest,
    node::{KeyError, StartError, StopError},
    ownership::Unsafe,
    providers::storage::helper::serve::HelperStartError,
    text::harmless,
    view::FleetError,
};

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        let message = error.to_string();
        match &error {
            OpenError::InUse { .. } => Self::new(Exit::Refused, "in-use", message).next(
                "stop the node first, or work on a copy of it: `bailiwick backup NEWDIR`, then --data-dir NEWDIR",
            ),
            OpenError::BeingRead { .. } => {
                Self::new(Exit::Refused, "in-use", message).next("wait until the other process has finished reading, then retry")
            }
            OpenError::Foreign { .. } => Self::new(Exit::Error, "foreign-directory", message)
                .next("choose another directory with --data-dir DIR; this one was not changed"),
            OpenError::Integrity { path, report } => Self {
                causes: integrity(report),
                ..Self::new(
                    Exit::Integrity,
                    "integrity",
                    format!("the journal in {} has lost or changed history", path.display()),
                )
            }
            .next(
                "nothing was changed; keep a copy of the directory; `bailiwick journal check` lists the damage, and \
                 `bailiwick journal salvage DIR --into NEWDIR` recovers what is intact into a new journal",
            ),
            OpenError::Archive { .. } => Self::new(Exit::Error, "archive-missing", message)
                .next("nothing was changed; mount that folder again, or start the node with --log-archive DIR"),
            OpenError::OnlyInStore { .. } => Self::new(Exit::Integrity, "store-unusable", message).next(
                "nothing was changed; keep a copy of the directory; `bailiwick journal salvage DIR --into NEWDIR` recovers \
                 what is intact into a new journal",
            ),
            OpenError::Io { source, .. } => Self::of_system(message, source),
        }
    }
}

impl CliError {
    /// What the system refused: a limit that was reached, or a matter of the disk.
    pub(super) fn of_system(message: String, source: &io::Error) -> Self {
        match limits::reached(source) {
            Some((code, next)) => Self::new(Exit::Error, code, message).because(source).next(next),
            None => disk(message, source),
        }
    }
}

/// Whether there is no room, or no more for this user.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// What is said when something could not be done with a file or folder.
pub(super) fn cannot(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> CliError {
    let message = format!("cannot {doing} {}", path.display());
    move |error| match is_full(&error) {
        true => CliError::of_system(message, &error),
        false => CliError::new(Exit::Error, "unwritable", message).because(&error),
    }
}

/// A file or folder cannot be used: what helps depends on why.
fn disk(message: String, source: &io::Error) -> CliError {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let error = match source.kind() {
        PermissionDenied => CliError::new(Exit::NoPermission, "no-permission", message)
            .next("run as the owner of the data directory, or choose another one with --data-dir DIR"),
        StorageFull | QuotaExceeded => {
            CliError::new(Exit::Disk, "disk", message).next("free space on that disk, then retry")
        }
        NotADirectory | NotFound | ReadOnlyFilesystem => {
            CliError::new(Exit::Config, "no-directory", message).next("choose a writable directory with --data-dir DIR")
        }
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
            0 => format!("affected: entries {first} to {last}"),
            1 => format!("affected: entries {first} to {last}, of 1 stream"),
            streams => format!("affected: entries {first} to {last}, of {streams} streams"),
        });
    }
    causes
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Journal(OpenError::InUse { path, holder })
                if path.parent().is_some_and(|data_dir| !data_dir.join("node.sock").exists()) =>
            {
                session::socket_gone(path.parent().unwrap_or(&path), &holder)
            }
            StartError::Journal(OpenError::InUse { holder, .. }) => {
                let message = format!("a node is already running in this data directory (process {holder})");
                Self::new(Exit::Refused, "in-use", message).next(format!(
                    "use it with `bailiwick apply FILE`, or stop it with `kill {holder}`; its machines keep running"
                ))
            }
            StartError::Journal(error) => error.into(),
            StartError::Assemble(error) => {
                Self::new(Exit::Integrity, "cannot-rebuild", "the state cannot be rebuilt from the journal")
                    .because(&error)
                    .next("run `bailiwick journal check`, and check that no later release wrote the journal")
            }
            StartError::Unsafe(error) => error.into(),
            StartError::Key(KeyError::Lost { .. }) => Self::new(Exit::Config, "node-key-lost", error.to_string()).next(
                "restore node.key from a backup of the data directory; without one, start once with --new-node-key: the agents of \
                 this host's machines then get new tokens and go on",
            ),
            StartError::Sink { ref source, .. } => Self::new(Exit::Config, "bad-config", error.to_string())
                .because(source)
                .next("mend its --event-sink"),
            StartError::Key(KeyError::Io { ref source, .. }) => Self::of_system(error.to_string(), source),
            StartError::Io { ref source, .. } => Self::of_system(error.to_string(), source),
            StartError::Listen { address, ref source } => Self::of_system(error.to_string(), source)
                .next(format!("choose another address or port with --listen; `ss -ltnp` shows who uses {address}")),
            StartError::Certificate { ref source } => Self::new(Exit::Config, "certificate", error.to_string())
                .because(source)
                .next("give PEM files with --tls-cert and --tls-key, or leave both out for an authority of the node's own"),
            StartError::WorkloadUser { .. } => Self::new(Exit::Config, "workload-user", error.to_string())
                .next("see `bailiwick help security`, or leave --workload-user out: workloads then run as the node's user"),
            StartError::Provider { ref source, .. } if source.raw_os_error().is_none() => {
                Self::new(Exit::Error, "bad-providers", error.to_string())
                    .because(source)
                    .next("change that in providers.yaml in the data directory, or where --provider names it")
            }
            StartError::Custom { ref source, .. } => Self::of_system(error.to_string(), source),
            StartError::Provider { ref source, .. } => Self::of_system(error.to_string(), source),
            StartError::JournalGone { .. } => Self::new(Exit::Integrity, "journal-gone", error.to_string())
                .next("restore the journal, or choose another directory with --data-dir DIR"),
            StartError::Twin { .. } => Self::new(Exit::Refused, "same-identity", error.to_string()).next(
                "both have the same identity, and each would take over what the other creates; stop the other one for good, or \
                 give this one a new identity: `bailiwick journal export FILE`, then `bailiwick --data-dir NEWDIR journal import \
                 --as-new FILE`",
            ),
            // The command line comes with everything, so only its thread can be what is missing.
            StartError::Ended | StartError::NotBuilt { .. } => Self::new(Exit::Error, "node-ended", error.to_string()),
        }
    }
}

impl From<HelperStartError> for CliError {
    fn from(error: HelperStartError) -> Self {
        let cannot = |error: &HelperStartError| Self::new(Exit::Config, "storage-helper", error.to_string());
        match &error {
            HelperStartError::NotRoot => cannot(&error).next("run it as root; the node itself need not be"),
            HelperStartError::NotHis { found: 0, .. } => {
                cannot(&error).next("a node that is root's needs no helper; name the data directory of one that is not")
            }
            HelperStartError::NotHis { found, .. } => {
                cannot(&error).next(format!("give --user {found}, or the node's data directory with --data-dir DIR"))
            }
            HelperStartError::Taken { .. } => cannot(&error).next("choose another --socket, or stop the other one"),
            HelperStartError::Storage { source, .. } => {
                cannot(&error).because(source).next("choose another --data-dir")
            }
            HelperStartError::Io { source, .. } => Self::of_system(error.to_string(), source),
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
            .next("nothing acknowledged is lost; the next start checks the journal")
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
                .next(format!("run `bailiwick delete {by}` first")),
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
        let exit = Exit::of_failure(&problem.code);
        let mut error = match problem.code.as_str() {
            "invalid-manifest" => of_manifest(&problem.message),
            code => Self::new(exit, code.to_owned(), problem.message),
        };
        error.causes = problem.detail;
        match problem.next_step {
            Some(next_step) => error.next(next_step),
            None => error,
        }
    }
}

/// What the node found wrong with a manifest, which it knows line by line.
fn of_manifest(problems: &str) -> CliError {
    let lines: Vec<_> = problems.lines().map(harmless).collect();
    let details = Details { text: lines.join("\n"), json: problems.into() };
    let message = "the manifest does not fit what the node has; nothing was applied";
    CliError { details: Some(Box::new(details)), ..CliError::new(Exit::BadInput, "invalid-manifest", message) }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        let message = error.to_string();
        match error {
            ClientError::NotRunning { ref socket } => session::not_running(socket, message),
            ClientError::Stranger { .. } => Self::new(Exit::Error, "unsafe-directory", message).next(
                "nothing was sent; run the command as that user, or choose another directory with --data-dir DIR",
            ),
            ClientError::Unreachable { ref node, ref source } => {
                Self::new(Exit::NotRunning, "unreachable", message).because(source).next(format!(
                    "check that the node at {node} listens and can be reached from here, or choose another one with \
                     `bailiwick context use NAME` or --node NODE"
                ))
            }
            ClientError::Untrusted { ref node, ref why } => {
                Self::new(Exit::Error, "untrusted-node", message).next(believing(node, why))
            }
            ClientError::OtherProtocol { ref node, ref source } => Self::new(Exit::Error, "broken-connection", message)
                .because(source)
                .next(format!("nothing was sent; check that it is a node that listens at {}", node.url)),
            // Who is asked knows only that this is not enough; where a better token comes from is known here.
            ClientError::Refused { status: 401, mut problem } => {
                if Exit::of_failure(&problem.code) != Exit::NoPermission {
                    // It is no answer of a node's.
                    problem.code = "unauthorized".into();
                }
                Self::from(problem).next("log in with a token that is valid: `bailiwick login URL`")
            }
            ClientError::Refused { problem, .. } => problem.into(),
            ClientError::TimedOut => Self::new(Exit::Error, "no-answer", message)
                .next("it may have been applied: check `bailiwick log`, or retry with the same --id"),
            ClientError::Broken { source, .. } => {
                let error: &(dyn Error + 'static) = &*source;
                Self::new(Exit::Error, "broken-connection", message).because(error)
            }
        }
    }
}

/// What helps if a node is not believed to be the one that was meant.
fn believing(node: &Whereabouts, why: &Distrust) -> String {
    let next = match why {
        Distrust::Expired { .. } | Distrust::Early { .. } => {
            "renew the node's certificate, or correct the clock that is wrong".to_owned()
        }
        Distrust::Name { .. } => "use the name or address that the certificate is for".to_owned(),
        Distrust::Fingerprint => {
            "compare the fingerprint with what is shown on the node's own machine, then log in again".to_owned()
        }
        Distrust::Unknown | Distrust::Unusable(_) => format!(
            "compare the fingerprint of its CA on the node's own machine; if it has a new one, log in again: `bailiwick login {}`",
            node.url
        ),
    };
    format!("nothing was sent; {next}")
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        // A reader that has gone (`bailiwick log | head`) has seen what it wanted.
        if error.is_broken_pipe() {
            return Self::new(Exit::Ok, CLOSED_PIPE, "the reader of the output has closed it");
        }
        match error {
            OutputError::NoField(missed) => no_field(&missed),
            error => Self::new(Exit::Error, "output", "cannot print").because(&error),
        }
    }
}

/// That nothing has a field of this name.
pub(super) fn no_field(missed: &Missed) -> CliError {
    let Missed { field, known, is_list } = missed;
    if *is_list {
        return CliError::usage(format!("a list has no field {field:?}"))
            .next("write [*] for each of it: .items[*].name");
    }
    let near = nearest(field, known.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    let next = if known.is_empty() {
        "it has no fields".to_owned()
    } else {
        format!("{near}fields are {}", known_fields(known))
    };
    CliError::usage(format!("there is no field {field:?}")).next(next)
}

/// Why lines were not taken in.
pub(super) fn not_imported(error: ImportError) -> CliError {
    let message = error.to_string();
    if let ImportError::Target { source, .. } = error {
        let opened = CliError::from(*source);
        return CliError { causes: [vec![opened.message], opened.causes].concat(), message, ..opened };
    }
    let told = match &error {
        ImportError::Line { problem: LineProblem::Newer { .. }, .. } => {
            CliError::new(Exit::Error, "not-imported", message).next("import it with the release that wrote it")
        }
        ImportError::Line { .. } => CliError::new(Exit::Integrity, "not-imported", message)
            .next("export the journal again: this is no export, or it was changed; no journal was created"),
        ImportError::Write { source, .. } if is_full(source) => {
            return CliError::of_system(message, source);
        }
        _ => CliError::new(Exit::Error, "not-imported", message),
    };
    Error::source(&error).into_iter().fold(told, |told, cause| told.because(cause))
}
