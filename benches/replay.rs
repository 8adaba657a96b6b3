//! How many decisions an audit decides again in a second: `cargo bench --bench replay`.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::{sync::Arc, time::Instant};

use bailiwick::{
    actors::{
        machine::Command,
        testing::{Desk, name},
    },
    audit::{Options, replay},
    journal::{Journal, LocalJournal, disk::SimulatedDisk},
};
use uuid::Uuid;

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Machines, each with an attached volume.
const MACHINES: usize = 2_000;
/// How often each is relabelled.
const ROUNDS: usize = 20;

fn main() {
    bailiwick::cli::allocator::settle();
    let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 0).expect("a new journal");
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let mut desk = Desk::new(journal.clone());
    for number in 0..MACHINES {
        let (machine, volume) = (format!("m{number}"), format!("v{number}"));
        desk.declare_machine(&machine);
        desk.declare_volume(&volume);
        desk.attach(&machine, &volume);
        if number % 50 == 49 {
            desk.settle();
        }
    }
    desk.settle();
    for round in 0..ROUNDS {
        for number in 0..MACHINES {
            let labels = [("round".to_owned(), round.to_string())].into();
            let spec = bailiwick::actors::machine::Spec {
                labels,
                ..bailiwick::actors::machine::Spec::with_provider(name("desk"))
            };
            desk.machine(&format!("m{number}"), Command::Declare(Arc::new(spec)));
        }
    }
    desk.settle();
    for _ in 0..3 {
        let begun = Instant::now();
        let report = replay(&*journal, &Options::default()).expect("a readable journal");
        let seconds = begun.elapsed().as_secs_f64();
        assert!(report.is_same(), "{:?}", report.divergences);
        let decisions = report.decisions;
        println!("{decisions} decisions in {seconds:.3} s: {:.0} decisions/s", decisions as f64 / seconds);
    }
}
