//! `bailiwick chaos perturb`: a journal's own history, while something goes wrong.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

use super::{
    super::{
        Global,
        exit::{CliError, Exit},
        junit::{Case, junit},
        output::{Cell, Table},
        progress::Steps,
        wait,
    },
    ManyArgs, journal_at,
    run::{failures, sums},
    saved,
};
use crate::chaos::{Perturbation, PerturbedRuns, Plan, Repro, Unsettled, perturb};

#[derive(Debug, Args)]
pub(in crate::cli) struct PerturbArgs {
    /// The journal of a stopped node: its folder, a data directory, or an export; it is only read [default: that of --data-dir,
    /// whose node may run]
    #[arg(value_name = "JOURNAL")]
    pub(super) journal: Option<PathBuf>,
    /// What goes wrong [default: each of them in turn]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named())]
    with: Vec<Perturbation>,
    /// Start only after entries whose object or code contains this, such as machine/7 or created
    #[arg(long = "where", value_name = "TEXT")]
    place: Option<String>,
    /// At how many places of the journal to start, at most, spread evenly
    #[arg(long, value_name = "N", default_value = "10")]
    places: NonZeroUsize,
    /// How long it goes wrong, in virtual time; commands that people gave in that time are given again
    #[arg(long = "for", value_name = "TIME", default_value = "30m", value_parser = wait::duration)]
    over: std::time::Duration,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    many: ManyArgs,
}

/// The names that shells offer.
fn named() -> impl TypedValueParser<Value = Perturbation> {
    PossibleValuesParser::new(Perturbation::ALL.map(Perturbation::as_str)).try_map(|name| name.parse())
}

pub(super) fn main(global: &Global, args: PerturbArgs) -> Result<Exit, CliError> {
    let journal = journal_at(global, args.journal)?;
    let with = if args.with.is_empty() { Perturbation::ALL.to_vec() } else { args.with };
    let usual = Plan::new(with);
    let plan = Plan {
        at: args.place,
        places: args.places,
        over_ms: u64::try_from(args.over.as_millis()).unwrap_or(u64::MAX / 2),
        seed: args.seed,
        workers: args.many.workers(),
        ..usual
    };
    let steps = Steps::of("chaos perturb");
    let tell = |done: u64, all: u64| {
        steps.show(done, all);
        true
    };
    let runs = perturb(&journal, &plan, &tell)?;
    steps.end();
    if runs.places.is_empty() {
        return Err(CliError::new(Exit::BadInput, "no-place", "no entry at which a node could start matches")
            .next("run `bailiwick log -o wide` to see objects and codes, and choose others with --where TEXT"));
    }
    if let Some(folder) = &args.many.save {
        let finds = runs.failed.iter().map(|one| {
            let name = format!("entry-{}-{}", one.position, one.with);
            Ok((name, Repro::of_unsettled(&journal, one, &plan)?))
        });
        saved(folder, finds)?;
    }
    if let Some(path) = &args.many.junit {
        let each = runs.places.iter().flat_map(|place| plan.with.iter().map(move |with| (*place, *with)));
        let told = each.map(|(place, with)| {
            let failed = runs.failed.iter().find(|one| (one.position, one.with) == (place, with));
            let trouble = failed.map(|one| (one.run.verdict.as_str(), one.run.verdict.lines()));
            (format!("{with} after entry {place}"), trouble)
        });
        let told: Vec<_> = told.collect();
        let cases = told.iter().map(|(name, trouble)| Case {
            name: name.clone(),
            trouble: trouble.as_ref().map(|(what, lines)| (*what, &lines[..])),
        });
        junit(path, "perturb", cases)?;
    }
    global.output.show(&runs, || table(&runs))?;
    Ok(if runs.failed.is_empty() { Exit::Ok } else { Exit::GateFailed })
}

fn place(one: &Unsettled) -> String {
    format!("{} after entry {} ({}: {})", one.with, one.position, one.stream, one.code)
}

/// The sums, and every run that did not settle.
fn table(runs: &PerturbedRuns) -> Table {
    let mut table = Table::fields();
    let verdict = match runs.failed.is_empty() {
        true => Cell::good("settles, whatever went wrong"),
        false => Cell::bad("does not always settle"),
    };
    table.add([Cell::from("the node"), verdict]);
    table.add([Cell::from("places"), runs.places.len().to_string().into()]);
    table.add([Cell::from("commands given again"), runs.asked.to_string().into()]);
    sums(&mut table, &runs.sums);
    failures(&mut table, runs.failed.iter().map(|one| (&one.run.verdict, place(one))));
    table
}
