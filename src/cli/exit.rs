//! How a command ends: the exit code, and what is said when something is in the way.

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    io::{self, Write},
    process::{ExitCode, Termination},
};

use serde::Serialize;

use super::output::{Format, style};
use crate::{
    manifest::{Code, ManifestError},
    text::{harmless, harmless_json},
};

/// The exit codes; stable, for scripts to rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// It is done.
    Ok = 0,
    /// Something failed, and none of the others says what.
    Error = 1,
    /// It is done, and there are differences (`plan`, `diff`, `audit replay`, `audit backtest`).
    Differences = 2,
    /// It is done, and a condition that was asked for does not hold.
    GateFailed = 3,
    /// What was named is not there.
    NotFound = 4,
    /// The answer is no: refused, in conflict, or held by somebody else.
    Refused = 5,
    /// What is on the disk is not what was written there.
    Integrity = 6,
    /// The command line makes no sense.
    Usage = 64,
    /// A manifest, scenario or export says what cannot be.
    BadInput = 65,
    /// A file that was named cannot be read.
    NoInput = 66,
    /// No node is running, it is stopping, or it cannot be reached.
    NotRunning = 69,
    /// The system gave no more memory, threads or files: a limit was reached.
    Limit = 71,
    /// A disk is full, or cannot be read or written.
    Disk = 74,
    /// It was not done, or nobody knows, and the same may succeed in a moment.
    TryAgain = 75,
    /// The files are somebody else's.
    NoPermission = 77,
    /// The data directory, or a file that sets the node up, cannot be used as it is.
    Config = 78,
    /// The time to wait was over first.
    TimedOut = 124,
}

impl Exit {
    /// All of them, for the documentation and its test. From 64 to 78 they are those of BSD's `sysexits.h`.
    pub const ALL: [Self; 17] = [
        Self::Ok,
        Self::Error,
        Self::Differences,
        Self::GateFailed,
        Self::NotFound,
        Self::Refused,
        Self::Integrity,
        Self::Usage,
        Self::BadInput,
        Self::NoInput,
        Self::NotRunning,
        Self::Limit,
        Self::Disk,
        Self::TryAgain,
        Self::NoPermission,
        Self::Config,
        Self::TimedOut,
    ];

    /// How a command ends that failed with this error, whether it was found here or told by the node.
    pub fn of_failure(code: &str) -> Self {
        let known = Self::FAILURES.iter().find(|(_, codes)| codes.contains(&code));
        known.map_or(Self::Error, |(exit, _)| *exit)
    }

    /// All codes of errors, each with how it ends, unless its command says otherwise. The first that has a code counts.
    pub const FAILURES: &[(Self, &[&str])] = &[
        (
            Self::Error,
            &[
                "failed",
                "stuck",
                "simulation",
                "chaos",
                "provider-check",
                "not-salvaged",
                "not-recorded",
                "not-stopped-in-order",
                "own-path",
                "signals",
                "runtime",
                "logging",
                "broken-answer",
                "not-replayed",
                "not-reproduced",
                "broken-connection",
                "unknown",
                "internal",
                "crashed",
                "quarantined",
                "bad-request",
                "misdirected",
                "ambiguous",
                "too-large",
                "too-many",
                "not-yet",
                "untrusted-node",
                "other-nonce",
                "wrong-method",
                "not-json",
                "editor",
                "cancelled",
                "no-crash-sweep",
                "page-too-large",
            ],
        ),
        (Self::NotFound, &["not-found", "no-journal", "no-such-pool", "no-such-revision", "no-context"]),
        (
            Self::Refused,
            &[
                "refused",
                "leaving",
                "contended",
                "changed",
                "command-reused",
                "still-mounted",
                "exists",
                "in-use",
                "same-identity",
                "no-provider",
                "cannot-here",
                "needs-machine",
                "other-machine",
                "no-device",
                "no-agent",
                "not-mountable",
                "other-zone",
                "cannot-release",
                "cannot-import",
                "unseen",
                "needs-pool",
                "not-of-clients",
                "goes-with-instance",
                "not-editable",
            ],
        ),
        (Self::Usage, &["usage", "reversed"]),
        (
            Self::BadInput,
            &["invalid-manifest", "bad-scenario", "bad-repro", "no-place", "not-an-export", "not-imported", "bad-head"],
        ),
        (Self::NoInput, &["unreadable"]),
        (Self::NotRunning, &["not-running", "socket-gone", "unreachable", "stopping", "node-ended"]),
        (Self::Limit, &["memory-limit"]),
        (Self::Disk, &["disk", "disk-nearly-full", "journal-removed", "unwritable", "output"]),
        (
            Self::TryAgain,
            &[
                "overloaded",
                "too-often",
                "too-many-jobs",
                "answers-unread",
                "no-answer",
                "not-answered",
                "outcome-unknown",
                "export-ended-early",
                "too-slow",
                "not-ready",
            ],
        ),
        (
            Self::NoPermission,
            &[
                "no-permission",
                "no-token",
                "unknown-token",
                "expired-token",
                "used-token",
                "forbidden",
                "unknown-principal",
                "unauthorized",
                "cross-origin",
                "other-host",
            ],
        ),
        // An export that was changed is lost history: that is told where it is found.
        (Self::Integrity, &["integrity", "store-unusable", "cannot-rebuild", "journal-gone", "not-imported"]),
        (Self::TimedOut, &["timed-out"]),
        (
            Self::Config,
            &[
                "bad-config",
                "bad-providers",
                "node-key-lost",
                "foreign-directory",
                "no-directory",
                "archive-missing",
                "socket",
                "unsafe-directory",
                "certificate",
                "workload-user",
                "storage-helper",
                "bad-contexts",
                "unsafe-contexts",
            ],
        ),
    ];

    /// What it means, as the help says it.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::Error => "any other error",
            Self::Differences => "done, with differences (plan, diff, audit replay, audit backtest)",
            Self::GateFailed => "done, but a check failed (simulate, chaos, repro, provider check, doctor)",
            Self::NotFound => "not found",
            Self::Refused => "refused, in conflict, or held by another process",
            Self::Integrity => "the journal has lost or changed history",
            Self::Usage => "invalid command line",
            Self::BadInput => "invalid manifest, scenario or export",
            Self::NoInput => "an input file cannot be read",
            Self::NotRunning => "no node is running or reachable, or it is stopping",
            Self::Limit => "out of memory, threads or files",
            Self::Disk => "disk full, or unreadable or unwritable",
            Self::TryAgain => "not done, or outcome unknown; try again",
            Self::NoPermission => "no permission",
            Self::Config => "the data directory, config.toml, providers.yaml or contexts.yaml cannot be used",
            Self::TimedOut => "timed out",
        }
    }

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// All exit codes, as the help lists them.
pub(super) fn table() -> String {
    let rows = Exit::ALL.map(|exit| format!("  {:>3}  {}\n", exit.code(), exit.meaning()));
    format!("Exit codes:\n{}", rows.concat())
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        self.into()
    }
}

/// The code of what is no error: the reader of the output has gone.
pub(super) const CLOSED_PIPE: &str = "closed-pipe";

/// Why a command could not do what was asked: printed once, at the edge, by [`CliError::print`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CliError {
    /// Stable, in kebab-case: `not-found`, `invalid-manifest`.
    pub code: Cow<'static, str>,
    pub message: String,
    /// The chain of causes, the nearest first.
    #[serde(rename = "causes", skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// What to do about it.
    #[serde(rename = "next")]
    pub next_step: String,
    /// More than fits a sentence.
    #[serde(rename = "details", skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    #[serde(skip)]
    pub exit: Exit,
}

/// More than fits a sentence, for people and for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Details {
    /// Lines for people. Has to be harmless to a terminal already.
    #[serde(skip)]
    pub text: String,
    pub json: serde_json::Value,
}

impl CliError {
    /// An error without cause, and with the advice that its code usually has. What ends with [`Exit::Error`] ends as its
    /// code says.
    pub fn new(exit: Exit, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        let code = code.into();
        let exit = if exit == Exit::Error { Exit::of_failure(&code) } else { exit };
        let next_step = usual_next_step(&code, exit).to_owned();
        Self { code, message: message.into(), causes: Vec::new(), next_step, details: None, exit }
    }

    /// The command line makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// Takes in an error and its sources as causes.
    #[must_use]
    pub fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            self.causes.push(cause.to_string());
            next = cause.source();
        }
        self
    }

    /// Whether it only says that nobody reads any more what is printed.
    pub fn is_closed_pipe(&self) -> bool {
        self.code == CLOSED_PIPE
    }

    /// Says what to do about it.
    #[must_use]
    pub fn next(mut self, next_step: impl Into<String>) -> Self {
        self.next_step = next_step.into();
        self
    }

    /// Writes the error to the standard error and answers with its exit code. The one place that does so.
    ///
    /// With JSON asked for it is one object on one line, else lines for people.
    pub fn print(&self, format: &Format) -> Exit {
        // Nobody is left to tell if the standard error is closed.
        let _ = self.write_to(&mut anstream::stderr().lock(), format);
        self.exit
    }

    /// Writes the error as [`Self::print`] does.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_to(&self, out: &mut impl Write, format: &Format) -> io::Result<()> {
        if *format == Format::Json {
            let json = serde_json::json!({ "error": self, "exit": self.exit.code() }).to_string();
            return writeln!(out, "{}", harmless_json(&json));
        }
        let (bad, calm) = (style::BAD, style::FAINT);
        writeln!(out, "{bad}error[{}]{bad:#}: {}", self.code, harmless(&self.message))?;
        for cause in &self.causes {
            writeln!(out, "  {calm}cause:{calm:#} {}", harmless(cause))?;
        }
        if let Some(details) = &self.details {
            writeln!(out, "{}", details.text)?;
        }
        // Said already with the only problem that there is.
        let is_said = |details: &Details| details.text.contains(&format!("next: {}", self.next_step));
        if self.details.as_deref().is_some_and(is_said) {
            return Ok(());
        }
        writeln!(out, "  {calm}next:{calm:#} {}", harmless(&self.next_step))
    }
}

/// What helps with most errors of a code, where nobody knows better.
fn usual_next_step(code: &str, exit: Exit) -> &'static str {
    match (code, exit) {
        ("disk" | "unwritable" | "output", _) => "check free space and permissions of the path above",
        ("unreadable", _) => "check the path above and its permissions",
        ("invalid-manifest", _) => "fix the problems above and apply again; `bailiwick plan FILE` previews the result",
        ("socket", _) => "choose a directory of your own with a shorter path: --data-dir DIR",
        ("broken-connection" | "unknown", _) => {
            "check that node and client are of the same release, then retry: `bailiwick status`"
        }
        ("node-ended" | "runtime" | "signals" | "own-path" | "logging", _) => {
            "restart it with --log-level debug for details"
        }
        ("unauthorized", _) => "use the key of that machine's agent",
        ("bad-request" | "misdirected", _) => "see `bailiwick help` for the available requests",
        (_, Exit::Integrity) => "stop the node and run `bailiwick journal check`",
        (_, Exit::NotFound) => "see `bailiwick status` and `bailiwick get KIND`",
        (_, Exit::Refused) => "fix what is named above, or wait until it is gone, then retry",
        (_, Exit::Usage) => "run the command with --help",
        _ => "retry with --log-level debug for details",
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CliError {}

impl From<ManifestError> for CliError {
    fn from(error: ManifestError) -> Self {
        let count = match (error.problems.len(), error.more) {
            (1, false) => "1 problem".to_owned(),
            (count, false) => format!("{count} problems"),
            (count, true) => format!("{count} problems or more"),
        };
        let json = serde_json::to_value(&error).unwrap_or_default();
        let details = Some(Box::new(Details { text: error.to_string(), json }));
        if error.problems.iter().all(|problem| problem.code == Code::Unreadable) {
            let message = "cannot read the manifest; nothing was applied";
            let next_step = error.problems.first().and_then(|problem| problem.next.clone()).unwrap_or_default();
            return Self { details, next_step, ..Self::new(Exit::NoInput, "unreadable", message) };
        }
        let message = format!("the manifest has {count}; nothing was applied");
        Self { details, ..Self::new(Exit::BadInput, "invalid-manifest", message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{self, Known, Source};

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open the journal")]
    struct Outer(#[source] io::Error);

    fn written(error: &CliError, format: &Format) -> String {
        let mut out = Vec::new();
        error.write_to(&mut out, format).expect("written");
        anstream::adapter::strip_str(&String::from_utf8(out).expect("text")).to_string()
    }

    fn refused() -> CliError {
        CliError::new(Exit::Refused, "directory-in-use", "another node works in \x1b[1mhere")
            .because(&Outer(io::Error::other("locked by 42")))
            .next("stop it, or name another directory")
    }

    #[test]
    fn codes_are_what_scripts_know() {
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 4, 5, 6, 64, 65, 66, 69, 71, 74, 75, 77, 78, 124]);
    }

    #[test]
    fn the_guide_says_what_every_code_means() {
        let page = include_str!("../guide/operation.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |", exit.code(), exit.meaning());
            assert!(page.replace('`', "").contains(&row), "{row}");
        }
    }

    #[test]
    fn a_script_can_tell_failures_apart() {
        let exit = |code: &'static str| CliError::new(Exit::Error, code, "no").exit.code();
        let codes =
            ["invalid-manifest", "not-running", "disk-nearly-full", "unreadable", "overloaded", "no-permission"];
        assert_eq!(codes.map(exit), [65, 69, 74, 66, 75, 77]);
        assert_eq!(["bad-providers", "memory-limit", "chaos"].map(exit), [78, 71, 1]);
        let told = |code: &str| {
            CliError::from(crate::api::wire::problem::Problem { code: code.into(), ..Default::default() }).exit.code()
        };
        assert_eq!(["disk-nearly-full", "stopping", "invalid-manifest", "refused"].map(told), [74, 69, 65, 5]);
    }

    #[test]
    fn an_error_says_code_cause_and_next_step() {
        assert_eq!(
            written(&refused(), &Format::Table),
            "error[directory-in-use]: another node works in \\u{1b}[1mhere\n  cause: cannot open the journal\n  cause: \
             locked by 42\n  next: stop it, or name another directory\n"
        );
    }

    #[test]
    fn with_json_it_is_one_object_on_one_line() {
        let text = written(&refused(), &Format::Json);
        assert_eq!(text.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).expect("json");
        assert_eq!(value["exit"], 5);
        assert_eq!(value["error"]["code"], "directory-in-use");
        assert_eq!(value["error"]["causes"][1], "locked by 42");
    }

    #[test]
    fn a_bad_manifest_brings_its_problems() {
        let source = Source::new("a.yaml", "kind: Machin\n");
        let error = CliError::from(manifest::parse(&[source], &Known::default()).expect_err("wrong"));
        assert_eq!(error.exit, Exit::BadInput);
        assert!(written(&error, &Format::Table).contains("a.yaml:1:7: kind: unknown kind `Machin`"));
        let json: serde_json::Value = serde_json::from_str(&written(&error, &Format::Json)).expect("json");
        let codes: Vec<&str> = json["error"]["details"]["problems"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|problem| problem["code"].as_str().expect("a text"))
            .collect();
        assert!(codes.contains(&"unsupported-kind"), "{codes:?}");
    }
}
