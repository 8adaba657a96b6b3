//! Durable appends: the journal, a plain file under the same kind of commit thread, and peers, one after the other in
//! every round.

use std::{collections::BTreeMap, fs::File, os::unix::fs::FileExt, path::Path, time::Instant};

use crate::{
    Fallible, Options, peers, postgres, quiet,
    stores::RawFile,
    table::{Good, Row, Table},
    writers::{self, Run, Shape},
};

/// A round in which a plain sync takes so many times longer than in the best one is no use: others were at work.
const DISTURBED: f64 = 3.0;
/// A run beside which others took more than this part of the processors is no use either.
const OTHERS_MAX: f64 = 0.2;
/// How many times as many rounds as asked for are tried until enough pairs are undisturbed.
const ROUNDS_TIMES: usize = 4;

struct Ratio {
    name: &'static str,
    ours: Shape,
    theirs: &'static str,
    target: f64,
    stretch: f64,
}

const WRITERS: Shape = Shape::Writers(64);

const RATIOS: &[Ratio] = &[
    Ratio { name: "durable append, 64 writers / raw file", ours: WRITERS, theirs: "raw", target: 0.85, stretch: 1.1 },
    Ratio {
        name: "durable append, 1 writer / raw file",
        ours: Shape::Writers(1),
        theirs: "raw",
        target: 0.85,
        stretch: 1.1,
    },
    Ratio {
        name: "durable append, 512 writers / raw file",
        ours: Shape::Writers(512),
        theirs: "raw",
        target: 0.7,
        stretch: 0.9,
    },
    Ratio {
        name: "durable append, one caller, 64 outstanding / raw file",
        ours: Shape::OneCaller(64),
        theirs: "raw",
        target: 0.6,
        stretch: 0.8,
    },
    Ratio {
        name: "durable append, one caller, 1,024 outstanding / raw file",
        ours: Shape::OneCaller(1_024),
        theirs: "raw",
        target: 0.4,
        stretch: 0.6,
    },
    Ratio {
        name: "64 writers / 64 threads of sled insert + flush + fdatasync",
        ours: WRITERS,
        theirs: "sled",
        target: 12.0,
        stretch: 18.0,
    },
    Ratio { name: "64 writers / redb, same commit thread", ours: WRITERS, theirs: "redb", target: 4.0, stretch: 6.0 },
    Ratio {
        name: "64 writers / SQLite (FULL), same commit thread",
        ours: WRITERS,
        theirs: "sqlite",
        target: 4.0,
        stretch: 6.0,
    },
    Ratio {
        name: "64 writers / batpak 0.10 with group commit",
        ours: WRITERS,
        theirs: "batpak",
        target: 3.0,
        stretch: 4.0,
    },
    Ratio {
        name: "64 writers / PostgreSQL, 64 connections",
        ours: WRITERS,
        theirs: "postgres",
        target: 8.0,
        stretch: 12.0,
    },
];

#[derive(Default)]
struct Round {
    /// The median of a plain sync, in seconds.
    sync_s: f64,
    runs: BTreeMap<(&'static str, String), Run>,
}

/// Runs all rounds and adds their rows.
pub fn measure(options: &Options, table: &mut Table) -> Fallible<()> {
    let wanted: Vec<&Ratio> = RATIOS.iter().filter(|ratio| options.wants(ratio.name)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut missing = BTreeMap::new();
    let mut rounds: Vec<Round> = Vec::new();
    while rounds.len() < options.rounds * ROUNDS_TIMES {
        let (even, limit) = (rounds.len().is_multiple_of(2), best_sync(&rounds) * DISTURBED);
        let lacks = |ratio: &&&Ratio| {
            pairs(options, ratio, &rounds).len() < options.rounds && !missing.contains_key(ratio.theirs)
        };
        let open: Vec<&Ratio> = wanted.iter().filter(lacks).copied().collect();
        if open.is_empty() {
            break;
        }
        rounds.push(one_round(options, &open, even, limit, &mut missing)?);
    }
    let others = median(rounds.iter().flat_map(|round| round.runs.values()).map(|run| run.others).collect());
    table.note(&format!(
        "commits: {} rounds of {} s a side; others took {:.0} % of the processors (median); plain sync, best median {:.0} us",
        rounds.len(),
        options.seconds,
        others * 100.0,
        best_sync(&rounds) * 1e6
    ));
    for ratio in wanted {
        match missing.get(ratio.theirs) {
            Some(why) => table.leave_out(ratio.name, why),
            None if pairs(options, ratio, &rounds).is_empty() => {
                table.leave_out(ratio.name, "others were at work all the time")
            }
            None => table.add(row(options, ratio, &rounds)),
        }
    }
    Ok(())
}

fn one_round(
    options: &Options,
    wanted: &[&Ratio],
    even: bool,
    limit: f64,
    missing: &mut BTreeMap<&'static str, String>,
) -> Fallible<Round> {
    quiet::wait(options.patience)?;
    let mut round = Round { sync_s: plain_sync(&options.dir)?, ..Round::default() };
    if round.sync_s > limit {
        return Ok(round);
    }
    // Who comes first changes from round to round.
    let ordered: Vec<&&Ratio> = if even { wanted.iter().collect() } else { wanted.iter().rev().collect() };
    for ratio in ordered {
        let mut sides = ["journal", ratio.theirs];
        if !even {
            sides.reverse();
        }
        for side in sides {
            let key = (side, format!("{:?}", ratio.ours));
            if round.runs.contains_key(&key) || missing.contains_key(side) {
                continue;
            }
            match one_run(options, side, ratio.ours) {
                Ok(run) => drop(round.runs.insert(key, run)),
                Err(error) if side != "journal" && side != "raw" => drop(missing.insert(side, error.to_string())),
                Err(error) => return Err(error),
            }
        }
    }
    round.sync_s = round.sync_s.max(plain_sync(&options.dir)?);
    Ok(round)
}

fn one_run(options: &Options, side: &str, shape: Shape) -> Fallible<Run> {
    let scratch = tempfile::tempdir_in(&options.dir)?;
    let (dir, time) = (scratch.path(), options.time());
    match side {
        "journal" => writers::against_journal(&dir.join("journal"), shape, time),
        "raw" => writers::against(Box::new(RawFile::create(dir)?), shape, time),
        "sled" => peers::sled_threads(dir, time),
        "postgres" => postgres::writers(dir, time),
        peer => peers::run(peer, dir, shape, time),
    }
}

fn best_sync(rounds: &[Round]) -> f64 {
    rounds.iter().map(|round| round.sync_s).fold(f64::INFINITY, f64::min)
}

/// Both sides of a ratio from every round that was not disturbed.
fn pairs(options: &Options, ratio: &Ratio, rounds: &[Round]) -> Vec<(Run, Run)> {
    let limit = best_sync(rounds) * DISTURBED;
    let shape = format!("{:?}", ratio.ours);
    let side = |round: &Round, name: &'static str| {
        let run = round.runs.get(&(name, shape.clone())).copied();
        run.filter(|run| options.busy || run.others <= OTHERS_MAX)
    };
    let quiet = rounds.iter().filter(|round| round.sync_s <= limit);
    quiet.filter_map(|round| Some((side(round, "journal")?, side(round, ratio.theirs)?))).collect()
}

fn row(options: &Options, ratio: &Ratio, rounds: &[Round]) -> Row {
    let (ours, theirs): (Vec<Run>, Vec<Run>) = pairs(options, ratio, rounds).into_iter().unzip();
    let quotients = ours.iter().zip(&theirs).map(|(ours, theirs)| ours.per_s / theirs.per_s).collect();
    let words = |runs: &[Run]| {
        let of = |pick: fn(&Run) -> f64| median(runs.iter().map(pick).collect());
        let (per_s, p50, p99) = (of(|run| run.per_s), of(|run| run.p50.as_secs_f64()), of(|run| run.p99.as_secs_f64()));
        let cpu = of(|run| run.cpu_us);
        let cpu = if cpu.is_nan() { String::new() } else { format!(", {cpu:.1} us CPU each") };
        format!("{per_s:.0}/s, p50 {:.0} us, p99 {:.0} us{cpu}", p50 * 1e6, p99 * 1e6)
    };
    Row {
        name: ratio.name,
        value: median(quotients),
        target: ratio.target,
        stretch: ratio.stretch,
        good: Good::AtLeast,
        sides: format!("{} rounds: {} | {}: {}", ours.len(), words(&ours), ratio.theirs, words(&theirs)),
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median of small appends with `fdatasync`, in seconds: how quiet the machine is.
fn plain_sync(dir: &Path) -> Fallible<f64> {
    let path = dir.join("sync");
    let file = File::create(&path)?;
    let mut times = Vec::new();
    for number in 0..200u64 {
        let begun = Instant::now();
        file.write_all_at(&[7; 200], number * 200)?;
        file.sync_data()?;
        times.push(begun.elapsed().as_secs_f64());
    }
    std::fs::remove_file(path)?;
    Ok(median(times))
}
