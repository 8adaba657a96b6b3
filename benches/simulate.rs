//! How much faster than real time a simulated node is: 100 machines for a day.
//!
//! `cargo bench --bench simulate`

use std::time::Instant;

use bailiwick::{
    manifest::{self, Known, Source},
    simulation::{Ends, Happening, Planned, Simulation},
};

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    bailiwick::cli::allocator::settle();
    let text: Vec<String> = (0..100)
        .map(|number| {
            let metadata = format!("{{name: m-{number}}}");
            format!("apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {metadata}\nspec: {{provider: simulated}}\n")
        })
        .collect();
    let source = Source::new("bench", text.join("---\n").into_bytes());
    let manifest = manifest::parse(&[source], &Known::default()).expect("a good manifest");
    let wishes = manifest.documents.into_iter().map(|document| document.wish).collect();
    let mut simulation = Simulation::new(1);
    simulation.script = vec![Planned { at_ms: 0, what: Happening::Apply(wishes) }];
    simulation.until_ms = 24 * 3_600_000;
    simulation.ends = Ends::Never;
    let started = Instant::now();
    let report = simulation.run().expect("a simulation");
    let took_ms = started.elapsed().as_millis().max(1) as u64;
    assert!(report.converged && report.wrong.is_empty());
    println_result(report.virtual_ms, took_ms, report.entries, report.calls_total());
}

#[expect(clippy::print_stdout, reason = "the result of a bench")]
fn println_result(virtual_ms: u64, took_ms: u64, entries: u64, calls: u64) {
    let factor = virtual_ms / took_ms;
    println!("100 machines, {} h in {took_ms} ms: {factor} times real time", virtual_ms / 3_600_000);
    println!("{entries} entries, {calls} provider calls");
}
