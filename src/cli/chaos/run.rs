//! `bailiwick chaos run`: a scenario on many bad days.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::Args;

use super::{
    super::{
        Global,
        exit::{CliError, Exit},
        junit::{Case, junit},
        output::{Cell, Table},
        progress::Steps,
        simulate::bad_scenario,
    },
    ManyArgs, saved,
};
use crate::{
    chaos::{Repro, ReproError, Run, RunError, Runs, Sums, Verdict, day, run_all},
    simulation::ScenarioFile,
};

/// As many runs that failed are shown.
const SHOWN_MAX: usize = 20;

#[derive(Debug, Args)]
pub(in crate::cli) struct RunArgs {
    /// The scenario file
    scenario: PathBuf,
    /// The seeds, such as 1..1000 or 7
    #[arg(long, value_name = "FROM..TO", default_value = "1..100", value_parser = seeds)]
    seeds: RangeInclusive<u64>,
    /// Only what the scenario says goes wrong, with each seed
    #[arg(long)]
    as_written: bool,
    #[command(flatten)]
    many: ManyArgs,
}

fn seeds(text: &str) -> Result<RangeInclusive<u64>, String> {
    let bad = || "expected a range of seeds such as 1..1000, or one seed".to_owned();
    let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (number(from)?, number(to.trim_start_matches('='))?),
        None => (number(text)?, number(text)?),
    };
    if to < from { Err(bad()) } else { Ok(from..=to) }
}

pub(super) fn main(global: &Global, args: RunArgs) -> Result<Exit, CliError> {
    let file = ScenarioFile::read(&args.scenario).map_err(|error| bad_scenario(&error))?;
    let steps = Steps::of("chaos run");
    let tell = |done: u64, all: u64| {
        steps.show(done, all);
        true
    };
    let plan = (args.seeds.clone(), !args.as_written);
    let runs = run_all(&file, &args.scenario, plan, args.many.workers(), &tell).map_err(|error| match error {
        RunError::Scenario(error) => bad_scenario(&error),
        RunError::Cancelled => CliError::new(Exit::Error, "cancelled", "cancelled"),
    })?;
    steps.end();
    if let Some(folder) = &args.many.save {
        let find = |run: &Run| {
            let day = day(&file, &args.scenario, run.seed, !args.as_written).map_err(ReproError::from)?;
            let repro = Repro::of_scenario(day, run.verdict.clone(), run.journal.clone());
            Ok((format!("seed-{}", run.seed), repro))
        };
        saved(folder, runs.failed.iter().map(find))?;
    }
    if let Some(path) = &args.many.junit {
        let lines: Vec<(u64, &'static str, Vec<String>)> =
            runs.failed.iter().map(|run| (run.seed, run.verdict.as_str(), run.verdict.lines())).collect();
        let case = |seed: u64| {
            let trouble = lines.iter().find(|(failed, ..)| *failed == seed).map(|(_, what, lines)| (*what, &lines[..]));
            Case { name: format!("seed {seed}"), trouble }
        };
        junit(path, &args.scenario.display().to_string(), args.seeds.clone().map(case))?;
    }
    global.output.show(&runs, || table(&runs))?;
    Ok(if runs.failed.is_empty() { Exit::Ok } else { Exit::GateFailed })
}

/// How many runs came to what.
pub(super) fn sums(table: &mut Table, sums: &Sums) {
    for (name, number) in [
        ("runs", sums.count()),
        ("settled", sums.settled),
        ("violated", sums.violated),
        ("stuck", sums.stuck),
        ("restless", sums.restless),
        ("broken", sums.broken),
    ] {
        table.add([Cell::from(name), number.to_string().into()]);
    }
    table.add([Cell::from("crashes"), sums.crashes.to_string().into()]);
    table.add([Cell::from("simulated"), format!("{} h", sums.virtual_ms / 3_600_000).into()]);
    table.add([Cell::from("history"), sums.history.as_str().into()]);
}

/// The sums, and every run that did not settle.
fn table(runs: &Runs) -> Table {
    let mut table = Table::fields();
    let verdict = match runs.failed.is_empty() {
        true => Cell::good("settles after every bad day"),
        false => Cell::bad("does not settle after every bad day"),
    };
    table.add([Cell::from("the node"), verdict]);
    sums(&mut table, &runs.sums);
    let failed = runs.failed.iter().map(|run| (&run.verdict, format!("with seed {}", run.seed)));
    failures(&mut table, failed);
    table
}

/// The first runs that did not settle, with what is wrong.
pub(super) fn failures<'r>(table: &mut Table, failed: impl ExactSizeIterator<Item = (&'r Verdict, String)>) {
    let more = failed.len().saturating_sub(SHOWN_MAX);
    for (verdict, place) in failed.take(SHOWN_MAX) {
        table.add([Cell::bad(verdict.as_str()), place.into()]);
        for line in verdict.lines() {
            table.add([Cell::from(""), Cell::from(format!("  {line}"))]);
        }
    }
    if 0 < more {
        table.add([Cell::from(""), format!("… and {more} more").into()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_or_one() {
        assert_eq!(seeds("1..1000"), Ok(1..=1000));
        assert_eq!(seeds("3..=4"), Ok(3..=4));
        assert_eq!(seeds("7"), Ok(7..=7));
        for text in ["", "a", "2..1", "1..", "-1"] {
            assert!(seeds(text).is_err(), "{text}");
        }
    }
}
