//! What every provider has to do, as checks: the conformance suite of `bailiwick provider check`.
//!
//! The checks know nothing but the ports, so they judge any provider: those of the node are held to them by tests, and a
//! process of somebody else's through the `exec` provider, with further checks of the process itself ([`process`]). Each
//! check makes things of its own under new effect ids, and removes them again; nothing else is touched. What cannot be
//! judged (a provider without volumes, one that cannot be killed) is skipped, and said to be.
//!
//! What a *misbehaving* provider does to the node is no question to the provider: that is what the tests of
//! [`exec`](super::exec) are for, with processes that lie on purpose.

mod attachments;
mod bench;
mod creating;
mod deleting;
mod filesystems;
mod finding;
mod hostile;
mod listing;
mod meanwhile;
mod mounts;
mod not_found;
pub mod process;
mod restarting;
mod storage_bench;
mod volumes;

use std::{sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::{Answer, Clock, FilesystemProvider, MachineProvider, VolumeProvider},
    vocab::{Fault, Name},
};
use serde::Serialize;

use bench::{Bench, Stop};

/// What is judged.
pub trait Subject: Send + Sync {
    /// How the report calls it.
    fn title(&self) -> String;

    /// Opens the provider, and again after a restart: then what was opened before has been dropped.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self) -> Result<Ports, Fault>;

    /// Ends it without warning, as a crash would, with whatever is under way; says whether that was possible.
    fn kill(&self) -> bool {
        false
    }

    /// The clock that its lists go by.
    fn clock(&self) -> Arc<dyn Clock>;
}

/// An opened provider.
#[derive(Clone)]
pub struct Ports {
    /// None if it has no machines: then those checks are skipped.
    pub machines: Option<Arc<dyn MachineProvider>>,
    /// None if it has no volumes: then those checks are skipped.
    pub volumes: Option<Arc<dyn VolumeProvider>>,
    /// None if it has no filesystems: then those checks are skipped.
    pub filesystems: Option<Arc<dyn FilesystemProvider>>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ports")
            .field("machines", &self.machines.is_some())
            .field("volumes", &self.volumes.is_some())
            .field("filesystems", &self.filesystems.is_some())
            .finish_non_exhaustive()
    }
}

/// How the suite is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// As specs call the provider.
    pub name: Name,
    /// What takes longer counts as no answer. Default 60 s.
    pub call_time: Duration,
    /// Only checks whose id has this in it.
    pub only: Option<String>,
}

impl Options {
    /// With the usual times, and all checks.
    pub fn new(name: Name) -> Self {
        Self { name, call_time: Duration::from_secs(60), only: None }
    }
}

/// One thing that has to be so.
#[derive(Clone, Copy)]
pub struct Check {
    /// `creating/same-id-again`
    pub id: &'static str,
    /// What has to be so, as a sentence.
    pub what: &'static str,
    run: Run,
}

type Run = for<'a> fn(&'a mut Bench) -> Answer<'a, Result<(), Stop>>;

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check").field("id", &self.id).finish_non_exhaustive()
    }
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Passed,
    Failed,
    /// It does not concern this provider, or cannot be judged here.
    Skipped,
}

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    pub id: String,
    pub what: String,
    pub outcome: Outcome,
    /// Why it failed or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    pub provider: String,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Passed of a hundred that could be judged, rounded down: 100 means that none failed.
    pub score: usize,
    pub checks: Vec<Line>,
}

impl Report {
    /// A report of these lines.
    pub fn of(provider: String, checks: Vec<Line>) -> Self {
        let count = |outcome| checks.iter().filter(|line| line.outcome == outcome).count();
        let (passed, failed, skipped) = (count(Outcome::Passed), count(Outcome::Failed), count(Outcome::Skipped));
        let score = (passed * 100).checked_div(passed + failed).unwrap_or(0);
        Self { provider, passed, failed, skipped, score, checks }
    }

    /// Whether something was judged and nothing failed.
    pub fn is_good(&self) -> bool {
        self.failed == 0 && 0 < self.passed
    }
}

/// All checks of the ports, in their order.
pub fn checks() -> Vec<Check> {
    let groups = [
        creating::CHECKS,
        finding::CHECKS,
        listing::CHECKS,
        deleting::CHECKS,
        not_found::CHECKS,
        hostile::CHECKS,
        meanwhile::CHECKS,
        restarting::CHECKS,
        volumes::CHECKS,
        attachments::CHECKS,
        filesystems::CHECKS,
        mounts::CHECKS,
    ];
    // At the end, because it is about what all others have left.
    groups.concat().into_iter().chain([bench::NOTHING_LEFT]).collect()
}

/// Runs the checks of the ports one after the other. Calls `tell` after each.
///
/// # Errors
/// If the provider cannot be opened.
pub async fn run(
    subject: Arc<dyn Subject>,
    options: &Options,
    mut tell: impl FnMut(&Line),
) -> Result<Vec<Line>, Fault> {
    let mut bench = Bench::open(subject, options)?;
    let mut lines = Vec::new();
    for check in checks() {
        if options.only.as_ref().is_some_and(|part| !check.id.contains(part)) {
            continue;
        }
        let judged = (check.run)(&mut bench).await;
        let left = bench.clear().await;
        let line = line(check.id, check.what, judged.and(left));
        tell(&line);
        lines.push(line);
    }
    Ok(lines)
}

fn line(id: &str, what: &str, judged: Result<(), Stop>) -> Line {
    let (outcome, why) = match judged {
        Ok(()) => (Outcome::Passed, None),
        Err(Stop::Wrong(why)) => (Outcome::Failed, Some(why)),
        Err(Stop::Skipped(why)) => (Outcome::Skipped, Some(why)),
    };
    Line { id: id.to_owned(), what: what.to_owned(), outcome, why }
}
