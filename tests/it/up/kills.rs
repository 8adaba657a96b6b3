//! kill -9 at random moments.
//!
//! A hundred of them, on the release build:
//! `BAILIWICK_KILLS=100 cargo test --release --test it kill_minus_nine -- --nocapture` (and `BAILIWICK_SEED=…`).

#![allow(clippy::print_stdout, reason = "whoever asks for a long run wants to see how far it is")]

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    dice::{Dice, wanted},
    observe::{Settled, intents, nothing_left, settled},
    support::{Lab, pause},
};

/// Kills in a run that nobody asked to be longer.
const KILLS: u64 = 15;
/// The kills that one data directory sees before it is taken down, killing all the while.
const KILLS_PER_LAB: u64 = 10;

#[test]
#[ignore = "takes long"]
fn kill_minus_nine() {
    let (kills, seed) = (wanted("BAILIWICK_KILLS", KILLS), wanted("BAILIWICK_SEED", 1));
    let mut dice = Dice::new(seed);
    let mut done = 0;
    let (begun, mut tally) = (Instant::now(), Tally::default());
    while done < kills {
        let lab = Lab::new();
        let here = KILLS_PER_LAB.min(kills - done);
        let going_up = here - here / 3;
        // The first kills hit a lab that is being made; when it is made, they hit a node that has little to do.
        for n in 0..going_up {
            let within = if n % 4 == 3 { 1_500 } else { 400 };
            tally.kill(&lab, lab.up_args(), &mut dice, within, &format!("seed {seed}, kill {}", done + n + 1));
        }
        lab.up();
        let first = settled(&lab);
        once_each(&lab);
        lab.up();
        assert_eq!(settled(&lab), first, "seed {seed}: the next start finds what the last one left");
        for n in going_up..here {
            let down = ["down", "--timeout", "60s"].map(str::to_owned).into();
            tally.kill(&lab, down, &mut dice, 250, &format!("seed {seed}, kill {} on the way down", done + n + 1));
        }
        lab.down();
        nothing_left(&lab);
        done += here;
        println!(
            "{done:>4} kills, seed {seed}: up {}, on the way down {}; all found again, nothing twice, nothing left",
            tally.at_work_up, tally.at_work_down
        );
    }
    println!("{done} kills in {} s, {} of them hit a node at work", begun.elapsed().as_secs(), tally.at_work());
    assert!(tally.at_work() * 3 > done, "most kills came too late to mean anything");
}

#[derive(Debug, Default)]
struct Tally {
    at_work_up: u64,
    at_work_down: u64,
}

impl Tally {
    fn at_work(&self) -> u64 {
        self.at_work_up + self.at_work_down
    }

    /// Runs the program and kills it after some milliseconds.
    fn kill(&mut self, lab: &Lab, args: Vec<String>, dice: &mut Dice, within_ms: u64, what: &str) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut node = lab.start(&args);
        let until = Instant::now() + Duration::from_micros(dice.below(within_ms * 1_000));
        while Instant::now() < until && !node.is_over() {
            pause();
        }
        let was_over = node.is_over();
        let ran = if was_over { node.ended() } else { node.kill() };
        // It was killed, or it had ended well before.
        assert!(ran.code.is_none() || ran.code == Some(0), "{what}: {ran:?}");
        if ran.code.is_none() {
            if args[0] == "down" { self.at_work_down += 1 } else { self.at_work_up += 1 }
        }
    }
}

/// However often the node was killed: every entity was made under one id.
fn once_each(lab: &Lab) -> Settled {
    let counts: BTreeMap<String, usize> = intents(lab);
    assert_eq!(counts.len(), 7, "{counts:?}");
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    settled(lab)
}
