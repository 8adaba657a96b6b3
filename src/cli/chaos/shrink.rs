//! `bailiwick chaos shrink`: the smallest that fails in the same way.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;

use super::{
    super::{
        Global,
        exit::{CliError, Exit},
        output::{Cell, Table},
        progress::Steps,
        simulate::bad_scenario,
        wait,
    },
    ENDING,
};
use crate::chaos::{Repro, Shrunk, Verdict, What, shrink};

#[derive(Debug, Args)]
pub(in crate::cli) struct ShrinkArgs {
    /// The find, as `bailiwick chaos run --save` wrote it
    file: PathBuf,
    /// Where to write what is left [default: beside it, as NAME.small.bwrepro]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Stop after this time, with what is left by then
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = wait::duration)]
    within: Duration,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Left {
    file: PathBuf,
    #[serde(flatten)]
    verdict: Verdict,
    runs: u64,
    documents: usize,
    events: usize,
    crashes: usize,
    entries: u64,
}

pub(super) fn main(global: &Global, args: ShrinkArgs) -> Result<Exit, CliError> {
    let find = Repro::read(&args.file)?;
    let What::Scenario(file) = &find.what else {
        return Err(CliError::new(Exit::BadInput, "bad-repro", "what was found over a journal cannot be made smaller")
            .next("run it with `bailiwick repro run`; it holds as much of the journal as it needs and nothing else"));
    };
    let begun = Instant::now();
    let steps = Steps::of("chaos shrink");
    let follow = |runs: u64| {
        steps.show(runs, runs);
        begun.elapsed() < args.within
    };
    let shrunk = shrink(file, &args.file, &follow).map_err(|error| bad_scenario(&error))?;
    steps.end();
    if shrunk.run.verdict == Verdict::Settled {
        return Err(CliError::new(
            Exit::GateFailed,
            "not-reproduced",
            "this find settles here: there is nothing to shrink",
        )
        .next(format!("compare the releases: it was found by {}", find.release)));
    }
    let to = args.to.unwrap_or_else(|| beside(&args.file));
    let Shrunk { file, run, runs } = shrunk;
    let left = Left {
        verdict: run.verdict.clone(),
        runs,
        documents: file.documents().len(),
        events: file.events.len(),
        crashes: file.crashes.len(),
        entries: run.entries,
        file: to,
    };
    Repro::of_scenario(file, run.verdict, run.journal).write(&left.file)?;
    global.output.show(&left, || table(&left))?;
    Ok(Exit::Ok)
}

/// `seed-7.small.bwrepro`
fn beside(file: &Path) -> PathBuf {
    file.with_extension(format!("small.{ENDING}"))
}

fn table(left: &Left) -> Table {
    let mut table = Table::fields();
    table.add([Cell::from("verdict"), Cell::bad(left.verdict.as_str())]);
    for line in left.verdict.lines() {
        table.add([Cell::from(""), Cell::from(format!("  {line}"))]);
    }
    for (name, number) in [
        ("documents", left.documents),
        ("events", left.events),
        ("crashes", left.crashes),
        ("entries", usize::try_from(left.entries).unwrap_or(usize::MAX)),
        ("runs", usize::try_from(left.runs).unwrap_or(usize::MAX)),
    ] {
        table.add([Cell::from(name), number.to_string().into()]);
    }
    table.add([Cell::from("file"), left.file.display().to_string().into()]);
    table
}
