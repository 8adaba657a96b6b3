//! Many seeds: whatever goes wrong, once it stops everything is as declared.

use bailiwick::{
    providers::simulated::{Dice, Faults},
    simulation::{CrashAt, CrashKind, Happening, Planned, Report, Simulation},
};

use crate::first::{LAB, wishes};

/// What one seed does: a bad day for ten minutes with crashes at any point, then calm.
pub fn bad_day(seed: u64) -> Simulation {
    let mut dice = Dice::named(seed, "bad day");
    let simulated = "simulated".parse().unwrap();
    let mut simulation = Simulation::new(seed);
    let mut at = |at_ms: u64, what: Happening| simulation.script.push(Planned { at_ms, what });
    at(0, Happening::Misbehave { provider: simulated, faults: Box::new(Faults::nasty()) });
    at(dice.below(5_000), Happening::Apply(wishes(LAB)));
    for _ in 0..dice.below(4) {
        let machine = ["alpha", "beta", "gamma"][dice.below(3) as usize].parse().unwrap();
        let at_ms = 5_000 + dice.below(500_000);
        match dice.below(5) {
            0 => at(at_ms, Happening::Kill(machine)),
            1 => at(at_ms, Happening::Vanish(machine)),
            2 => at(at_ms, Happening::Silence { machine, for_ms: 1_000 + dice.below(200_000) }),
            3 => at(at_ms, Happening::Outage { provider: "simulated".parse().unwrap(), for_ms: dice.below(100_000) }),
            _ => at(at_ms, Happening::Jump { by_ms: dice.below(200_000_000) as i64 - 100_000_000 }),
        }
    }
    let remove = ["machine/alpha", "volume/logs", "volume-attachment/beta:logs", "machine/gamma"];
    let remove = remove[dice.below(4) as usize].parse().unwrap();
    at(10_000 + dice.below(500_000), Happening::Remove(vec![remove]));
    at(600_000, Happening::Calm);
    for round in 1..30 {
        at(600_000 + round * 600_000, Happening::RetryFailed);
    }
    simulation.script.sort_by_key(|planned| planned.at_ms);
    simulation.until_ms = 8 * 3_600_000;
    for _ in 0..dice.below(5) {
        let kind = CrashKind::ALL[dice.below(2) as usize];
        simulation.crashes.push(CrashAt { point: 1 + dice.below(400), kind });
    }
    simulation
}

fn check(report: &Report) {
    let seed = report.seed;
    assert!(report.wrong.is_empty(), "seed {seed}: {:?}\n{}", report.wrong, report.story_text());
    assert!(report.converged, "seed {seed}: {:?}\n{}", report.statuses, report.story_text());
}

#[test]
fn everything_converges_once_faults_stop() {
    let only: Option<u64> = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let count: u64 = std::env::var("SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(200);
    let seeds = only.map_or(0..count, |seed| seed..seed + 1);
    let (mut crashes, mut calls, mut failed) = (0, 0, Vec::new());
    for seed in seeds {
        let report = match bad_day(seed).run() {
            Ok(report) => report,
            Err(error) => {
                failed.push(format!("seed {seed}: {error:?}"));
                continue;
            }
        };
        crashes += report.crashes;
        calls += report.calls_total();
        if only.is_some() {
            println!("{}", report.story_text());
            check(&report);
        }
        if !report.wrong.is_empty() || !report.converged {
            failed.push(format!("seed {seed}: {} {:?} {:?}", report.converged, report.wrong, report.statuses));
        }
    }
    println!("{crashes} crashes, {calls} provider calls");
    assert!(failed.is_empty(), "{} seeds failed\n{}", failed.len(), failed.join("\n"));
}
