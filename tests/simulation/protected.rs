//! A machine that is protected outlives its set's shrinking and its own failure, until somebody ends that.

use bailiwick::simulation::{Happening, Planned, Report, Simulation};

use crate::first::wishes;

const MINUTE: u64 = 60_000;

fn set(replicas: u32) -> Happening {
    let text = format!(
        "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {{name: web}}\n\
         spec: {{replicas: {replicas}, template: {{spec: {{provider: simulated}}}}}}\n"
    );
    Happening::Apply(wishes(&text))
}

fn protect(on: bool) -> Happening {
    Happening::Protect { entity: "machine/web-1".parse().unwrap(), on }
}

fn run(happenings: Vec<(u64, Happening)>, until_ms: u64) -> Report {
    let mut simulation = Simulation::new(43);
    let last = (until_ms - MINUTE, Happening::Calm);
    let planned = happenings.into_iter().chain([last]).map(|(at_ms, what)| Planned { at_ms, what });
    simulation.script = planned.collect();
    simulation.until_ms = until_ms;
    let report = simulation.run().expect("it runs");
    assert_eq!(report.wrong, Vec::<String>::new());
    report
}

#[test]
fn the_set_does_without_others_and_makes_another_when_it_fails() {
    let begun = || vec![(0, set(3)), (2 * MINUTE, protect(true)), (3 * MINUTE, set(1))];
    let small = run(begun(), 10 * MINUTE);
    assert!(small.converged, "{:?}", small.unready);
    assert_eq!(small.statuses["machine/web-1"], "ready", "the oldest would have gone first");

    let killed = [(5 * MINUTE, Happening::Kill("web-1".parse().unwrap()))];
    let kept = run(begun().into_iter().chain(killed.clone()).collect(), 30 * MINUTE);
    assert_eq!((kept.statuses["machine/web-1"], kept.statuses["machine/web-4"]), ("lost", "ready"));
    assert!(kept.story_text().contains("it is protected from being replaced"), "{}", kept.story_text());

    let ended = [(20 * MINUTE, protect(false))];
    let over = run(begun().into_iter().chain(killed).chain(ended).collect(), 60 * MINUTE);
    assert!(over.converged, "{:?}", over.unready);
    let left = over.statuses.iter().filter(|(name, status)| name.starts_with("machine/") && **status == "ready");
    assert_eq!(left.count(), 1, "{:?}", over.statuses);
}
