//! A machine that refuses to go: its set says so, and asks again.

use bailiwick::simulation::{Happening, Planned, Report, Simulation, StoryLine};

use crate::first::wishes;

const MINUTE: u64 = 60_000;

fn set(replicas: u32) -> Happening {
    Happening::Apply(wishes(&format!(
        "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {{name: web}}\n\
         spec: {{replicas: {replicas}, template: {{spec: {{provider: simulated}}}}}}\n"
    )))
}

fn held(machine: &str) -> Happening {
    Happening::Hold { machine: machine.parse().unwrap(), reason: "look".into(), for_ms: Some(10 * MINUTE) }
}

/// When this is told of an entity.
fn told(report: &Report, stream: &str, words: &str) -> Vec<u64> {
    let is_it = |line: &&StoryLine| line.stream.as_deref() == Some(stream) && line.what.contains(words);
    report.story.iter().filter(is_it).map(|line| line.at_ms).collect()
}

#[test]
fn a_removal_that_is_refused_is_told_at_once_leaves_the_machine_as_it_was_and_is_tried_again() {
    let mut simulation = Simulation::new(5);
    let at = |minute: u64, what: Happening| Planned { at_ms: minute * MINUTE, what };
    simulation.script =
        vec![at(0, set(2)), at(5, held("web-1")), at(5, held("web-2")), at(6, set(1)), at(29, Happening::Calm)];
    simulation.until_ms = 30 * MINUTE;
    let report = simulation.run().expect("it runs");
    assert_eq!(report.wrong, Vec::<String>::new());
    assert!(report.converged, "{:?}", report.unready);
    // Nothing else happens then that would have the set looked at.
    let refused = told(&report, "machine-set/web", "a machine was refused");
    assert!(refused.first().is_some_and(|at| *at < 6 * MINUTE + 1_000), "{}", report.story_text());
    assert!(refused.iter().all(|at| *at < 16 * MINUTE), "{}", report.story_text());
    let gone = |machine: &str| told(&report, machine, "removal started");
    let removed = [gone("machine/web-1"), gone("machine/web-2")].concat();
    assert!(matches!(removed[..], [at] if at >= 15 * MINUTE), "{}", report.story_text());
}
