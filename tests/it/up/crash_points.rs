//! kill -9 at every crash point, one after the other, until a run meets no further one.
//!
//! All of them: `BAILIWICK_CRASH_POINTS=all cargo test --release --test it every_crash_point -- --nocapture`. Without it,
//! each run tries a part that depends on `BAILIWICK_SEED`.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    dice::{Dice, wanted},
    observe::{intents, nothing_left, settled},
    support::{Lab, Ran, Running},
};

/// Points tried on each way in a run that nobody asked to be longer.
const SOME: usize = 10;
/// Labs at the same time: most of what they do is waiting.
const AT_ONCE: usize = 4;
/// No run meets as many points.
const POINTS_MAX: u64 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

#[test]
fn every_crash_point_on_the_way_up() {
    try_all(Way::Up);
}

#[test]
fn every_crash_point_on_the_way_down() {
    try_all(Way::Down);
}

fn try_all(way: Way) {
    let is_all = std::env::var("BAILIWICK_CRASH_POINTS").is_ok_and(|all| all == "all");
    let (points, beyond) = if is_all { ((1..POINTS_MAX).collect(), POINTS_MAX) } else { some(way) };
    // The first point that a run did not meet; which points there are differs a little from run to run.
    let (next, met_none) = (AtomicU64::new(0), AtomicU64::new(beyond));
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
    if is_all {
        assert!(last < POINTS_MAX, "there is no end of points");
        println!("{way:?}: killed at every point up to {}", last - 1);
    } else {
        println!("{way:?}: killed at {points:?}");
    }
}

/// Some points, spread over the whole run; and a number beyond all.
fn some(way: Way) -> (Vec<u64>, u64) {
    let mut dice = Dice::new(wanted("BAILIWICK_SEED", 1) ^ way as u64);
    // About as many as a run meets; a point beyond the last one is an ordinary run.
    let many = match way {
        Way::Up => 260,
        Way::Down => 220,
    };
    let part = many / SOME as u64;
    ((0..SOME as u64).map(|n| n * part + 1 + dice.below(part)).collect(), POINTS_MAX)
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
    }
}

fn run_to(lab: &Lab, args: &[&str], point: u64) -> bool {
    let mut command = lab.command(args);
    let ran: Ran = Running::of(command.env("BAILIWICK_CRASH_AT", point.to_string())).ended();
    assert!(matches!(ran.code, None | Some(0)), "point {point}: {ran:?}");
    ran.code.is_none()
}
