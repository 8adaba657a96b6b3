//! Many seeds: whatever goes wrong, once it stops everything is as declared.

use bailiwick::{
    actors::vocab::Zone,
    providers::simulated::{Dice, Faults},
    simulation::{CrashAt, CrashKind, Happening, Planned, Report, Simulation},
};

use crate::{
    budgets::{budgeted, over_budget},
    first::{LAB, wishes},
    misfortune::nasty,
    trials::{Trials, trials},
};

/// What one seed does: a bad day for ten minutes with crashes at any point, then calm.
pub fn bad_day(seed: u64) -> Simulation {
    let mut dice = Dice::named(seed, "bad day");
    let simulated = "simulated".parse().unwrap();
    let mut simulation = Simulation::new(seed);
    let mut at = |at_ms: u64, what: Happening| simulation.script.push(Planned { at_ms, what });
    at(0, Happening::Misbehave { provider: simulated, faults: Box::new(nasty()) });
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
    for round in 1..10 {
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

/// Zones go dark, most often for longer than anybody waits; machines die and fall silent beside that; lists are stale and
/// partial; the node crashes. Then calm, and an operator who has everything tried again.
pub fn dark_day(seed: u64) -> Simulation {
    let mut dice = Dice::named(seed, "dark day");
    let simulated = || "simulated".parse().unwrap();
    let mut simulation = Simulation::new(seed);
    let machines: Vec<String> = (0..9).map(|number| format!("m-{number}")).collect();
    let document = |name: &String| {
        let workloads = "workloads: [{name: app, command: [app]}]";
        format!(
            "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: {name}}}\nspec: {{provider: simulated, {workloads}}}\n"
        )
    };
    let text = machines.iter().map(document).collect::<Vec<_>>().join("---\n");
    let mut at = |at_ms: u64, what: Happening| simulation.script.push(Planned { at_ms, what });
    let faults = Faults { lost_answer_per_mille: 50, ..nasty() };
    let zones = ["a", "b", "c"].map(|zone| Zone(zone.into())).to_vec();
    at(0, Happening::Zones { provider: simulated(), zones });
    at(0, Happening::Misbehave { provider: simulated(), faults: Box::new(faults) });
    at(1_000, Happening::Apply(wishes(&text)));
    for _ in 0..1 + dice.below(6) {
        let machine = machines[dice.below(9) as usize].parse().unwrap();
        let at_ms = 300_000 + dice.below(5_000_000);
        let for_ms = 60_000 + dice.below(3_000_000);
        match dice.below(7) {
            0 => at(at_ms, Happening::Kill(machine)),
            1 => at(at_ms, Happening::Vanish(machine)),
            2 => at(at_ms, Happening::Silence { machine, for_ms }),
            3 => at(at_ms, Happening::Cling(machine)),
            4 => at(at_ms, Happening::RemoveWith { machine, how: Default::default() }),
            _ => at(at_ms, Happening::Dark { zone: ["a", "b", "c"][dice.below(3) as usize].into(), for_ms }),
        }
    }
    at(7_200_000, Happening::Calm);
    for round in 1..10 {
        at(7_200_000 + round * 600_000, Happening::RetryFailed);
    }
    simulation.script.sort_by_key(|planned| planned.at_ms);
    simulation.until_ms = 12 * 3_600_000;
    for _ in 0..dice.below(4) {
        let kind = CrashKind::ALL[dice.below(2) as usize];
        simulation.crashes.push(CrashAt { point: 1 + dice.below(1_500), kind });
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
    println!("{}", all_converge(bad_day, 10));
}

#[test]
#[ignore = "takes long"]
fn everything_converges_once_faults_stop_with_many_seeds() {
    println!("{}", all_converge(bad_day, 60));
}

#[test]
fn everything_converges_after_zones_were_dark() {
    println!("{}", all_converge(dark_day, 2));
}

#[test]
#[ignore = "takes long"]
fn everything_converges_after_zones_were_dark_with_many_seeds() {
    println!("{}", all_converge(dark_day, 8));
}

/// Says what happened; with a single seed, its whole story.
fn all_converge(day: fn(u64) -> Simulation, usual: u64) -> String {
    let mut story = String::new();
    let Trials { seeds, is_single } = trials(usual);
    let (mut crashes, mut calls, mut failed) = (0, 0, Vec::new());
    for seed in seeds {
        let simulation = budgeted(day(seed));
        let budget = simulation.budgets.values().next().copied();
        let report = match simulation.run() {
            Ok(report) => report,
            Err(error) => {
                failed.push(format!("seed {seed}: {error:?}"));
                continue;
            }
        };
        let too_many = budget.and_then(|budget| over_budget(&report, &budget));
        failed.extend(too_many.map(|said| format!("seed {seed}: {said}")));
        crashes += report.crashes;
        calls += report.calls_total();
        if is_single {
            story = report.story_text();
            check(&report);
        }
        if !report.wrong.is_empty() || !report.converged {
            failed.push(format!("seed {seed}: {} {:?} {:?}", report.converged, report.wrong, report.statuses));
        }
    }
    assert!(failed.is_empty(), "{} seeds failed\n{}", failed.len(), failed.join("\n"));
    format!("{story}{crashes} crashes, {calls} provider calls")
}
