//! `bailiwick simulate`: runs a scenario and tells its story.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use bailiwick_journal::ReadOnlyJournal;
use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    output::Format,
};
use crate::{
    simulation::{self, Options, Report, Scenario, ScenarioError},
    words::readable,
};

#[derive(Clone, Debug, Args)]
pub(super) struct SimulateArgs {
    /// The scenario file
    pub scenario: PathBuf,
    /// Random seed [default: that of the scenario]
    #[arg(long)]
    pub seed: Option<u64>,
    /// When it ends, such as 90s, 30m or 2h [default: that of the scenario]
    #[arg(long, value_parser = period)]
    pub until: Option<u64>,
    /// Write the journal of the simulated node to this file, as `journal export` does: all commands that read take it with
    /// --data-dir, `audit` and `chaos` as their JOURNAL
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
}

fn period(text: &str) -> Result<u64, String> {
    let duration = text.parse::<jiff::SignedDuration>().map_err(|_| "expected a period such as 90s, 30m or 2h")?;
    u64::try_from(duration.as_millis()).map_err(|_| "a period cannot be negative".to_owned())
}

/// Runs the command; what the scenario expects and does not find is a failed gate.
pub(super) fn main(global: &Global, args: SimulateArgs) -> Result<Exit, CliError> {
    let scenario = simulation::read(&args.scenario).map_err(|error| bad_scenario(&error))?;
    let expect = scenario.expect.clone();
    let (report, journal, took) = timed(scenario, &args)?;
    if let Some(file) = &args.export {
        export(&journal, file)?;
    }
    let unmet = expect.unmet(&report);
    let told = tell(&report, &unmet, &global.output, &mut anstream::stdout().lock());
    // How fast it was depends on the machine, so it is no part of the story.
    let speed = report.virtual_ms as f64 / took.as_secs_f64().max(0.000_001) / 1000.0;
    let _ = writeln!(anstream::stderr(), "{speed:.0} times real time ({:.3} s)", took.as_secs_f64());
    match told {
        Ok(()) if unmet.is_empty() => Ok(Exit::Ok),
        Ok(()) => Ok(Exit::GateFailed),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Ok),
        Err(error) => Err(CliError::new(Exit::Error, "output", "cannot write the story").because(&error)),
    }
}

/// What is told of a file that is no scenario.
pub(super) fn bad_scenario(error: &ScenarioError) -> CliError {
    if let ScenarioError::Read { path, source } = error {
        return CliError::new(Exit::NoInput, "unreadable", format!("cannot read {}", path.display())).because(source);
    }
    CliError::new(Exit::BadInput, "bad-scenario", "invalid scenario")
        .because(error)
        .next("see examples/scenario.yaml; its comments explain the fields")
}

fn export(journal: &ReadOnlyJournal, file: &Path) -> Result<(), CliError> {
    let unwritable = |error: io::Error| {
        CliError::new(Exit::Disk, "unwritable", format!("cannot write {}", file.display())).because(&error)
    };
    let mut to = BufWriter::new(File::create(file).map_err(unwritable)?);
    journal.export_told(&mut to, &readable)?;
    to.flush().and_then(|()| to.get_ref().sync_all()).map_err(unwritable)
}

fn timed(scenario: Scenario, args: &SimulateArgs) -> Result<(Report, ReadOnlyJournal, Duration), CliError> {
    let started = Instant::now();
    let options = Options { seed: args.seed, until_ms: args.until };
    let ran = simulation::simulation(scenario, options).run_and_read();
    let (report, journal) = ran.map_err(|error| {
        CliError::new(Exit::Error, "simulation", "the simulation stopped early")
            .because(&error)
            .next("this is a bug; report it with the scenario and the seed")
    })?;
    Ok((report, journal, started.elapsed()))
}

/// Writes the story and what came out.
fn tell(report: &Report, unmet: &[String], format: &Format, out: &mut impl Write) -> io::Result<()> {
    if !format.is_for_programs() {
        return out.write_all(report.text(unmet).as_bytes());
    }
    for line in &report.story {
        writeln!(out, "{}", serde_json::to_string(line)?)?;
    }
    let mut summary = serde_json::to_value(report)?;
    summary["unmet"] = serde_json::to_value(unmet)?;
    writeln!(out, "{}", serde_json::json!({ "summary": summary }))
}
