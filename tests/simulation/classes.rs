//! Machines that are made from classes: what becomes of them when classes and secrets change and go.

use std::collections::BTreeMap;

use bailiwick::simulation::{CrashAt, CrashKind, Happening, Planned, Report, Simulation};

use crate::first::wishes;

const CLASS: &str = "
apiVersion: bailiwick/v1
kind: MachineClass
metadata: {name: small}
spec: {provider: simulated, providerSpec: {image: jammy}, secret: boot}
";

fn web(names: &[&str]) -> String {
    let machine = |name: &&str| {
        format!("---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: {name}}}\nspec: {{class: small}}\n")
    };
    format!("{CLASS}{}", names.iter().map(machine).collect::<String>())
}

fn at(at_ms: u64, what: Happening) -> Planned {
    Planned { at_ms, what }
}

fn secret(holds: bool) -> Happening {
    let texts = BTreeMap::from([("userData".to_owned(), "hunter2!".to_owned())]);
    Happening::Secret { name: "boot".parse().unwrap(), holds: holds.then_some(texts) }
}

fn remove(entity: &str) -> Happening {
    Happening::Remove(vec![entity.parse().unwrap()])
}

fn run(seed: u64, script: Vec<Planned>) -> Report {
    let simulation = Simulation { script, ..Simulation::new(seed) };
    let report = simulation.run().unwrap();
    assert_eq!(report.wrong, Vec::<String>::new());
    assert!(!report.story_text().contains("hunter2!"), "no secret stands in a story");
    report
}

fn told(report: &Report, stream: &str, words: &str) -> usize {
    let is_it = |line: &&bailiwick::simulation::StoryLine| {
        let told = format!("{} {}", line.what, line.because.as_deref().unwrap_or_default());
        line.stream.as_deref() == Some(stream) && told.contains(words)
    };
    report.story.iter().filter(is_it).count()
}

#[test]
fn a_machine_keeps_what_it_was_made_from_and_the_next_one_takes_what_is_said_now() {
    let revised = web(&["old", "new"]).replace("jammy", "noble");
    let report = run(
        1,
        vec![
            at(0, secret(true)),
            at(0, Happening::Apply(wishes(&web(&["old"])))),
            at(60_000, Happening::Apply(wishes(&revised))),
            // Another instance of the same machine is made from the same copy.
            at(120_000, Happening::Kill("old".parse().unwrap())),
        ],
    );
    assert!(report.converged, "{}", report.story_text());
    assert_eq!(report.statuses["machine/old"], "ready");
    assert_eq!(told(&report, "machine-class/small", "declaration changed"), 1, "{}", report.story_text());
    // Two instances, and one copy.
    assert_eq!(told(&report, "machine/old", "provider created instance"), 2, "{}", report.story_text());
    assert_eq!(told(&report, "machine/old", "uses class"), 1, "{}", report.story_text());
    assert_eq!(told(&report, "machine/new", "uses class"), 1, "{}", report.story_text());
}

#[test]
fn a_class_in_use_cannot_be_removed_and_goes_after_its_last_machine() {
    let report = run(
        2,
        vec![
            at(0, secret(true)),
            at(0, Happening::Apply(wishes(&web(&["web"])))),
            at(60_000, remove("machine-class/small")),
            at(120_000, remove("machine/web")),
            at(240_000, remove("machine-class/small")),
        ],
    );
    assert!(report.converged, "{}", report.story_text());
    assert_eq!(told(&report, "machine-class/small", "machine web uses it"), 1, "{}", report.story_text());
    assert_eq!(report.statuses["machine-class/small"], "removed");
    assert_eq!(report.statuses["machine/web"], "removed");
}

#[test]
fn a_secret_that_is_gone_keeps_nobody_from_going() {
    let report = run(
        3,
        vec![
            at(0, secret(true)),
            at(0, Happening::Apply(wishes(&web(&["web"])))),
            at(60_000, secret(false)),
            at(120_000, remove("machine/web")),
        ],
    );
    assert!(report.converged, "{}", report.story_text());
    assert_eq!(report.statuses["machine/web"], "removed");
}

#[test]
fn nothing_is_made_without_its_secret_and_it_is_made_once_that_is_there() {
    let report = run(
        4,
        vec![
            at(0, Happening::Apply(wishes(&web(&["web"])))),
            at(5_000, secret(true)),
            at(600_000, Happening::RetryFailed),
        ],
    );
    assert!(report.converged, "{}", report.story_text());
    assert_eq!(report.statuses["machine/web"], "ready");
    assert!(0 < told(&report, "machine/web", "failed-precondition"), "{}", report.story_text());
}

#[test]
fn crashes_at_every_kind_of_point_leave_nobody_between_a_machine_and_its_class() {
    for seed in 0..24 {
        let script = vec![
            at(0, secret(true)),
            at(0, Happening::Apply(wishes(&web(&["a", "b", "c"])))),
            at(200_000, remove("machine/b")),
            at(400_000, secret(false)),
            at(400_000, remove("machine/a")),
            at(600_000, remove("machine/c")),
            at(900_000, remove("machine-class/small")),
        ];
        let crashes = (1..=3)
            .map(|n| CrashAt { point: 5 + seed * 3 + n * 17, kind: CrashKind::ALL[(seed % 2) as usize] })
            .collect();
        let report = Simulation { script, crashes, ..Simulation::new(seed) }.run().unwrap();
        assert_eq!(report.wrong, Vec::<String>::new(), "seed {seed}");
        assert!(report.converged && 0 < report.crashes, "seed {seed}\n{}", report.story_text());
        assert_eq!(report.statuses["machine-class/small"], "removed", "seed {seed}\n{}", report.story_text());
    }
}
