//! `bailiwick doctor`: what this machine can do for a node, and what is wrong with a data directory.
//!
//! It looks at the real thing with the node's own checks, and changes nothing: what it tries (a loop device, a mount) happens
//! in a directory of its own, and is undone.

mod directory;
mod expiry;
mod machine;
mod trial;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table},
};

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// The configuration file of the node [default: config.toml in the data directory, if it is there]
    #[arg(long, value_name = "FILE", env = "BAILIWICK_CONFIG")]
    config: Option<PathBuf>,
}

/// How it stands with one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    /// As a node needs it.
    Ok,
    /// A node runs with it; whoever runs the node may want to know.
    Note,
    /// A node does not start, or not everything of it works.
    Problem,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    check: &'static str,
    level: Level,
    finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, finding: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, finding: finding.into(), next: None }
    }

    fn note(check: &'static str, finding: impl Into<String>, next: impl Into<String>) -> Self {
        Self { check, level: Level::Note, finding: finding.into(), next: Some(next.into()) }
    }

    fn problem(check: &'static str, finding: impl Into<String>, next: impl Into<String>) -> Self {
        Self { level: Level::Problem, ..Self::note(check, finding, next) }
    }

    /// What a command would end with.
    fn of_error(check: &'static str, error: CliError) -> Self {
        let CliError { message, causes, next_step, .. } = error;
        Self::problem(check, [vec![message], causes].concat().join(": "), next_step)
    }
}

#[derive(Debug, Serialize)]
struct Report {
    problems: usize,
    findings: Vec<Finding>,
}

pub(super) fn main(global: &Global, args: &DoctorArgs) -> Result<Exit, CliError> {
    let helper = directory::helper_named(global, args.config.as_deref());
    let mut findings = machine::findings(helper.as_ref())?;
    findings.extend(directory::findings(global, args.config.as_deref()));
    let problems = findings.iter().filter(|finding| finding.level == Level::Problem).count();
    let report = Report { problems, findings };
    global.output.show(&report, || table(&report))?;
    Ok(if problems == 0 { Exit::Ok } else { Exit::GateFailed })
}

fn table(report: &Report) -> Table<3> {
    let mut table = Table::of(["RESULT", "CHECK", "FINDING"].map(Column::always));
    for Finding { check, level, finding, next } in &report.findings {
        let result = match level {
            Level::Ok => Cell::good("ok"),
            Level::Note => Cell::busy("note"),
            Level::Problem => Cell::bad("problem"),
        };
        table.add([result, (*check).into(), finding.into()]);
        if let Some(next) = next {
            table.add(["".into(), "".into(), format!("  next: {next}").into()]);
        }
    }
    table
}
