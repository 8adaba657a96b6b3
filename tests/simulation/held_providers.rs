//! A provider that is held is asked for nothing that changes something, and nothing is lost by that.

use bailiwick::{
    actors::ports::CallBudget,
    simulation::{CrashKind, Happening, Planned, Report, Simulation},
};

use crate::{
    first::{LAB, wishes},
    seeds::bad_day,
};

const MINUTE: u64 = 60_000;

fn hold(for_ms: Option<u64>) -> Happening {
    Happening::HoldProvider { provider: "simulated".parse().unwrap(), reason: "new disks".into(), for_ms }
}

fn unhold() -> Happening {
    Happening::UnholdProvider("simulated".parse().unwrap())
}

fn simulated(script: Vec<(u64, Happening)>, until_ms: u64) -> Simulation {
    let mut simulation = Simulation::new(7);
    simulation.script = script.into_iter().map(|(at_ms, what)| Planned { at_ms, what }).collect();
    simulation.until_ms = until_ms;
    simulation
}

/// Also decides all of it again, and finds the same.
fn run(simulation: Simulation) -> Report {
    let report = simulation.run().expect("it runs");
    assert_eq!(report.wrong, Vec::<String>::new());
    report
}

/// When this is told first of something.
fn first(report: &Report, words: &str) -> u64 {
    let line = report.story.iter().find(|line| line.what.contains(words));
    line.unwrap_or_else(|| panic!("{words:?} in\n{}", report.story_text())).at_ms
}

/// Given a provider that is held, when machines and volumes are declared and the node crashes meanwhile.
fn begun() -> Vec<(u64, Happening)> {
    let crash = |kind| Happening::Crash(kind);
    vec![
        (1_000, hold(None)),
        (2_000, Happening::Apply(wishes(LAB))),
        (3 * MINUTE, crash(CrashKind::Kill)),
        (4 * MINUTE, crash(CrashKind::PowerCut)),
    ]
}

#[test]
fn no_call_begins_while_its_provider_is_held() {
    let report = run(simulated(begun(), 20 * MINUTE));
    assert_eq!(report.items.values().sum::<u64>(), 0, "{:?}", report.items);
    // It is still looked at.
    let looked = report.called_ms["simulated"].iter().filter(|at| **at > 5 * MINUTE).count();
    assert!(looked > 10, "{looked}");
    assert!(!report.converged && report.given_up.is_empty(), "{:?}", report.given_up);
    assert_eq!(report.statuses["provider/simulated"], "held");
}

#[test]
fn everything_goes_on_by_itself_once_the_hold_ends() {
    let ended = begun().into_iter().chain([(10 * MINUTE, unhold())]).collect();
    let report = run(simulated(ended, 30 * MINUTE));
    assert!(report.converged, "{:?}", report.unready);
    assert!(
        report.converged_ms.is_some_and(|at| (10 * MINUTE..15 * MINUTE).contains(&at)),
        "{:?}",
        report.converged_ms
    );
    assert_eq!((report.crashes, report.statuses["provider/simulated"]), (2, "in-service"));
}

#[test]
fn a_hold_ends_when_its_time_has_come_also_where_the_node_did_not_run_then() {
    let script = vec![
        (1_000, Happening::Apply(wishes(LAB))),
        (2 * MINUTE, hold(Some(5 * MINUTE))),
        (3 * MINUTE, Happening::Remove(vec!["machine/alpha".parse().unwrap()])),
        (7 * MINUTE - 500, Happening::Suspend { for_ms: MINUTE }),
        (7 * MINUTE - 400, Happening::Crash(CrashKind::Kill)),
    ];
    let report = run(simulated(script, 30 * MINUTE));
    assert!(report.converged, "{:?}", report.unready);
    assert_eq!(report.statuses["machine/alpha"], "removed");
    let (ended, detached) = (first(&report, "hold ended"), first(&report, "provider detached"));
    assert!(7 * MINUTE <= ended && ended <= detached, "{}", report.story_text());
}

#[test]
fn what_waits_for_its_turn_in_a_budget_does_not_begin_while_its_provider_is_held() {
    let budget = CallBudget::new(0.1, Some(1), Some(1)).expect("a budget");
    let ended = |at| {
        let begun = vec![(1_000, Happening::Apply(wishes(LAB))), (12_000, hold(None)), (10 * MINUTE, unhold())];
        let mut simulation = simulated(begun, at);
        simulation.budgets = simulation.providers.iter().map(|provider| (provider.clone(), budget)).collect();
        run(simulation)
    };
    let items = |report: &Report| report.items.values().sum::<u64>();
    let (soon, late, end) = (ended(30_000), ended(9 * MINUTE), ended(60 * MINUTE));
    assert_eq!(items(&soon), items(&late), "{:?}", late.items);
    assert!(items(&late) < items(&end) && end.converged, "{:?}", end.unready);
}

#[test]
fn whatever_else_goes_wrong_a_hold_loses_nothing() {
    for seed in 0..6 {
        let mut simulation = bad_day(seed);
        let at = |at_ms: u64, what: Happening| Planned { at_ms, what };
        let held = [at(6_000 + seed * 20_000, hold(None)), at(400_000 + seed * 50_000, unhold())];
        simulation.script.extend(held);
        simulation.script.sort_by_key(|planned| planned.at_ms);
        let report = simulation.run().unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
        assert_eq!(report.wrong, Vec::<String>::new(), "seed {seed}");
        assert!(report.converged, "seed {seed}: {:?}", report.unready);
    }
}
