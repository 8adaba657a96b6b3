//! kill -9 at every crash point, one after the other, until a run meets no further one.
//!
//! All of them: `BAILIWICK_CRASH_POINTS=all cargo test --release --test it every_crash_point -- --nocapture`. Without it,
//! one in three, and which ones depends on `BAILIWICK_SEED`.

#![allow(clippy::print_stdout, reason = "whoever asks for a long run wants to see how far it is")]

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use bailiwick::agent::process::ProcessMark;
use rustix::process::Signal;

use super::{
    dice::{Dice, wanted},
    observe::{intents, nothing_left, settled},
    support::{Lab, Ran, Running, eventually},
};

/// Of so many points one is tried in a run that nobody asked to be longer.
const ONE_IN: u64 = 3;
/// Labs at the same time: most of what they do is waiting.
const AT_ONCE: usize = 4;
/// No run meets as many points.
const POINTS_MAX: u64 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
    /// Up again after a machine has died.
    Replace,
}

#[test]
#[ignore = "takes long"]
fn every_crash_point_on_the_way_up() {
    try_all(Way::Up);
}

#[test]
#[ignore = "takes long"]
fn every_crash_point_on_the_way_down() {
    try_all(Way::Down);
}

#[test]
#[ignore = "takes long"]
fn every_crash_point_while_a_machine_is_replaced() {
    try_all(Way::Replace);
}

fn try_all(way: Way) {
    let is_all = std::env::var("BAILIWICK_CRASH_POINTS").is_ok_and(|all| all == "all");
    let points = points(way, if is_all { 1 } else { ONE_IN });
    // The first point that a run did not meet; which points there are differs a little from run to run.
    let (next, met_none) = (AtomicU64::new(0), AtomicU64::new(POINTS_MAX));
    let failed = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let Some(point) = points.get(at as usize) else { return };
                    if met_none.load(Ordering::SeqCst) <= *point {
                        return;
                    }
                    let tried = std::panic::catch_unwind(|| crash(way, *point));
                    match tried {
                        Ok(true) => (),
                        Ok(false) => drop(met_none.fetch_min(*point, Ordering::SeqCst)),
                        Err(_) => drop(failed.lock().expect("a list").insert(*point)),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("a list");
    assert!(failed.is_empty(), "{way:?}: after a crash at these points it is not as it should be: {failed:?}");
    let last = met_none.load(Ordering::SeqCst);
    assert!(last < POINTS_MAX, "there is no end of points");
    let tried = points.iter().filter(|point| **point < last).count();
    #[expect(clippy::print_stdout, reason = "with --nocapture the long form says how far it came")]
    {
        println!("{way:?}: killed at {tried} of {} points", last - 1);
    }
}

/// One point out of every few.
fn points(way: Way, one_in: u64) -> Vec<u64> {
    let mut dice = Dice::new(wanted("BAILIWICK_SEED", 1) ^ way as u64);
    (0..POINTS_MAX / one_in).map(|n| n * one_in + 1 + dice.below(one_in)).collect()
}

/// Kills a run at one point, runs the command again, and looks whether all is as it should be. False if the run did not
/// meet the point.
fn crash(way: Way, point: u64) -> bool {
    let lab = Lab::new();
    match way {
        Way::Up => {
            let mut args = lab.up_args();
            args.push("--once".into());
            let was_met = run_to(&lab, &args.iter().map(String::as_str).collect::<Vec<_>>(), point);
            lab.up();
            settled(&lab);
            let intents = intents(&lab);
            assert!(intents.len() == 7 && intents.values().all(|count| *count == 1), "point {point}: {intents:?}");
            was_met
        }
        Way::Down => {
            lab.up();
            let was_met = run_to(&lab, &["down", "--timeout", "60s"], point);
            lab.down();
            nothing_left(&lab);
            was_met
        }
        Way::Replace => {
            lab.up();
            let before = settled(&lab);
            let (lost, pid) = before.machines["clerk"];
            let agent = ProcessMark::of(pid).expect("it runs");
            assert!(agent.signal(Signal::KILL).expect("it is ours"));
            eventually("the agent is dead", || !agent.is_alive());
            let mut args = lab.up_args();
            args.push("--once".into());
            let was_met = run_to(&lab, &args.iter().map(String::as_str).collect::<Vec<_>>(), point);
            lab.up();
            let after = settled(&lab);
            assert!(after.machines["clerk"].0 != lost && after.volumes == before.volumes, "point {point}");
            let intents = intents(&lab);
            let wanted = |entity: &str| if entity.contains("clerk") { 2 } else { 1 };
            assert!(intents.iter().all(|(entity, count)| *count == wanted(entity)), "point {point}: {intents:?}");
            was_met
        }
    }
}

fn run_to(lab: &Lab, args: &[&str], point: u64) -> bool {
    let mut command = lab.command(args);
    let ran: Ran = Running::of(command.env("BAILIWICK_CRASH_AT", point.to_string())).ended();
    assert!(matches!(ran.code, None | Some(0)), "point {point}: {ran:?}");
    ran.code.is_none()
}
