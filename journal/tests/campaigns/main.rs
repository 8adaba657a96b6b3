//! Campaigns: many trials of one promise each, from a seed: a few while something is changed, more in CI, many for belief.
//!
//! ```text
//! cargo test -p bailiwick-journal --test campaigns                                   a few trials of each
//! cargo test -p bailiwick-journal --test campaigns -- --ignored                      every campaign as CI runs it
//! cargo test --release -p bailiwick-journal --test campaigns -- kill --long          one campaign, long
//! cargo test --release -p bailiwick-journal --test campaigns -- kill --trials 500 --seed 7
//! cargo test --release -p bailiwick-journal --test campaigns -- kill --seed 7 --trial 123       one trial again
//! ```
//!
//! There is no harness beneath: a campaign prints what happened in one line, or the command that repeats its failure.
//! Campaigns `…_keeping` do the same to journals whose log keeps only what sled does not have durably, `…_archiving` to
//! those whose full segments move to another folder.
//! `--plant` breaks something on purpose, and the campaign has to fail; the campaign `plants` demands that of all.

#![allow(clippy::print_stdout, reason = "a campaign talks to whoever runs it")]

mod arguments;
mod damage;
#[path = "../common/deadline.rs"]
mod deadline;
mod dice;
mod failing;
mod full_disk;
mod fuzz;
mod hostile;
mod kill;
mod large;
mod plants;
mod power_cut;
mod runner;
mod shim;
mod stores;
mod trace;
mod workload;

use std::process::ExitCode;

use arguments::{Arguments, Asked, Form};
use runner::{Failure, Plan};
use workload::{Full, with_full};

/// One promise, and how it is tried.
struct Campaign {
    name: &'static str,
    /// Trials of a plain run; none if it takes long with the fewest that it can have.
    few: u64,
    /// Trials with `--ignored`, as CI runs it.
    short: u64,
    /// Trials of the long form.
    long: u64,
    run: fn(&Plan) -> Result<String, Failure>,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign { name: "kill", few: 10, short: 150, long: 10_000, run: kill::run },
    Campaign { name: "damage", few: 40, short: 500, long: 5_000, run: damage::run },
    Campaign { name: "power_cut", few: 20, short: 300, long: 10_000, run: power_cut::run },
    Campaign { name: "power_cut_simulated", few: 300, short: 300, long: 10_000, run: power_cut::run_simulated },
    Campaign { name: "kill_keeping", few: 5, short: 60, long: 5_000, run: |plan| with_full(Full::Go, plan, kill::run) },
    Campaign {
        name: "power_cut_keeping",
        few: 10,
        short: 150,
        long: 5_000,
        run: |plan| with_full(Full::Go, plan, power_cut::run),
    },
    Campaign {
        name: "power_cut_archiving",
        few: 10,
        short: 150,
        long: 5_000,
        run: |plan| with_full(Full::ToArchive, plan, power_cut::run),
    },
    Campaign { name: "fail_at_n", few: 20, short: 200, long: 100_000, run: failing::run },
    Campaign { name: "fail_at_n_simulated", few: 0, short: 1, long: 1, run: failing::run_simulated },
    Campaign { name: "full_disk", few: 1, short: 4, long: 50, run: full_disk::run },
    Campaign { name: "trace", few: 1_000, short: 10_000, long: 10_000, run: trace::run },
    Campaign { name: "fuzz", few: 100_000, short: 1_000_000, long: 10_000_000, run: fuzz::run },
    Campaign { name: "large", few: 5_000, short: 20_000, long: 1_000_000, run: large::run },
    Campaign { name: "plants", few: 0, short: 1, long: 1, run: plants::run },
];

/// What a child process of a campaign does; the first word says which.
fn child(words: &[String]) -> Result<(), String> {
    match words.split_first() {
        Some((first, rest)) if first == "kill" => kill::child(rest),
        Some((first, rest)) if first == "full_disk" => full_disk::child(rest),
        Some((first, rest)) if first == "failing" => failing::child(rest),
        _ => Err("a child of no campaign".into()),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--child") {
        workload::as_told();
        return match child(&words[1..]) {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                println!("child: {problem}");
                ExitCode::FAILURE
            }
        };
    }
    quiet_panics_of_the_store();
    match arguments::parse(&words) {
        Ok(Asked::List) => {
            CAMPAIGNS.iter().for_each(|campaign| println!("{}: test", campaign.name));
            ExitCode::SUCCESS
        }
        Ok(Asked::Run(arguments)) => run(&arguments),
        Err(problem) => {
            println!("{problem}");
            ExitCode::from(64)
        }
    }
}

/// sled panics over some damage, on the journal's own threads, and the journal catches that; it need not be read here.
fn quiet_panics_of_the_store() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let here = std::thread::current();
        if !here.name().is_some_and(|name| name.starts_with("journal-")) {
            usual(panic);
        }
    }));
}

fn run(arguments: &Arguments) -> ExitCode {
    let mut failed = false;
    for campaign in CAMPAIGNS.iter().filter(|campaign| arguments.wants(campaign.name)) {
        let usual = match arguments.form {
            Form::Few if campaign.few == 0 && arguments.names_some() => campaign.short,
            Form::Few => campaign.few,
            Form::Short => campaign.short,
            Form::Long => campaign.long,
        };
        let plan = Plan {
            name: campaign.name,
            trials: arguments.trials.unwrap_or(usual),
            seed: arguments.seed,
            only: arguments.trial,
            planted: arguments.planted,
        };
        if plan.trials == 0 {
            println!("campaign {}: only with --ignored", campaign.name);
            continue;
        }
        let begun = std::time::Instant::now();
        match (campaign.run)(&plan) {
            Ok(summary) => {
                let seconds = begun.elapsed().as_secs_f64();
                println!("campaign {} ok: seed {}, {summary}; {seconds:.1} s", campaign.name, plan.seed);
            }
            Err(failure) => {
                failed = true;
                println!("campaign {} FAILED: {}", campaign.name, failure.story);
                println!("  again: {}", plan.command(failure.trial));
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
