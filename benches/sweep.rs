//! A crash sweep over a long history: 1,000 boundaries spread over 100,000 entries of 100 machines, 50 volumes and a replica
//! set.
//!
//! `cargo bench --bench sweep`

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::{fmt::Write as _, num::NonZeroUsize, time::Instant};

use bailiwick::{
    chaos::{Prefixes, Setup, sweep},
    journal::ReadOnlyJournal,
    manifest::{self, Known, Source, Wish},
    simulation::{Ends, Happening, Planned, Simulation},
};

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MACHINES: usize = 100;
const VOLUMES: usize = 50;
const ENTRIES: u64 = 100_000;
const BOUNDARIES: usize = 1_000;
const HOUR_MS: u64 = 3_600_000;

fn wishes(text: &str) -> Vec<Wish> {
    let read = manifest::parse(&[Source::new("bench", text.as_bytes().to_vec())], &Known::default());
    read.expect("a good manifest").documents.into_iter().map(|document| document.wish).collect()
}

/// The whole fleet, as it is declared in some round: the labels say which.
fn fleet(round: u64) -> Vec<Wish> {
    let mut text = String::new();
    let head = |kind: &str| format!("---\napiVersion: bailiwick/v1\nkind: {kind}\n");
    for number in 0..MACHINES {
        let labels = format!("{{round: r{round}}}");
        let told = format!("metadata: {{name: m-{number}, labels: {labels}}}\nspec: {{provider: simulated}}\n");
        write!(text, "{}{told}", head("Machine")).expect("a string takes everything");
    }
    for number in 0..VOLUMES {
        let volume = format!("metadata: {{name: v-{number}}}\nspec: {{provider: simulated, size: 64M}}\n");
        let attachment = format!("spec: {{machine: m-{number}, volume: v-{number}}}\n");
        let both = format!("{}{volume}{}{attachment}", head("Volume"), head("VolumeAttachment"));
        write!(text, "{both}").expect("a string takes everything");
    }
    let seats = (0..3).map(|number| {
        format!("{{machine: m-{number}, address: 127.0.0.1, peerPort: 238{number}, clientPort: 239{number}}}")
    });
    let seats = seats.collect::<Vec<_>>().join(", ");
    let set = format!("metadata: {{name: rs}}\nspec: {{engine: etcd, servers: 3, oneHost: true, seats: [{seats}]}}\n");
    write!(text, "{}{set}", head("ReplicaSet")).expect("a string takes everything");
    wishes(&text)
}

/// Every hour some machines die, and all get other labels.
fn history() -> Simulation {
    let mut simulation = Simulation::new(1);
    let at = |at_ms: u64, what: Happening| Planned { at_ms, what };
    for round in 0..ENTRIES / 350 {
        simulation.script.push(at(round * HOUR_MS, Happening::Apply(fleet(round))));
        for number in 0..10 {
            let machine = format!("m-{}", (round * 10 + number) % MACHINES as u64).parse().expect("a name");
            simulation.script.push(at(round * HOUR_MS + HOUR_MS / 2, Happening::Kill(machine)));
        }
    }
    simulation.until_ms = (ENTRIES / 350 + 1) * HOUR_MS;
    simulation.ends = Ends::Never;
    simulation
}

fn main() {
    bailiwick::cli::allocator::settle();
    let begun = Instant::now();
    let (report, kept) = history().run_and_keep().expect("a simulation");
    println!("{} entries, simulated in {} ms; {:?}", report.entries, begun.elapsed().as_millis(), report.wrong);
    let journal = ReadOnlyJournal::open_on(std::sync::Arc::new(kept.disk.after_kill())).expect("a journal");
    let ends = Prefixes::of(&journal).expect("prefixes").ends().len();
    let every = NonZeroUsize::new(ends / BOUNDARIES).unwrap_or(NonZeroUsize::MIN);
    let begun = Instant::now();
    let swept = sweep(&journal, Setup { every, ..Setup::default() }, &|_, _| true).expect("a sweep");
    let seconds = begun.elapsed().as_secs_f64();
    let (boundaries, starts) = (swept.boundaries, swept.trials.len());
    println!(
        "{boundaries} boundaries of {ends}, {starts} starts in {seconds:.1} s: {:.1} starts/s",
        starts as f64 / seconds
    );
    println!("{} converged, {} stuck, {} violated", swept.converged, swept.stuck, swept.violated);
}
