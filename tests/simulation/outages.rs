//! A zone, a provider, or the node's way to its agents that is gone for a while: nobody is replaced for it, and afterwards
//! everything is as before.

use bailiwick::{
    actors::vocab::Zone,
    simulation::{Happening, Planned, Report, Simulation},
};

use crate::first::wishes;

const MINUTE: u64 = 60_000;

/// A large set in one zone, and a small one in the other.
fn sets(large: u32, large_zone: &str) -> String {
    let set = |name: &str, replicas: u32, zone: &str| {
        let spec = format!("{{provider: simulated, constraints: {{zones: [{zone}]}}}}");
        format!(
            "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {{name: {name}}}\n\
             spec: {{replicas: {replicas}, template: {{spec: {spec}}}}}\n"
        )
    };
    format!("{}---\n{}", set("large", large, large_zone), set("small", 3, "a"))
}

fn run(large: u32, large_zone: &str, happenings: Vec<(u64, Happening)>, until_ms: u64) -> Report {
    let zones = ["a", "b"].map(|zone| Zone(zone.to_owned())).to_vec();
    let begun = [
        (0, Happening::Zones { provider: "simulated".parse().unwrap(), zones }),
        (0, Happening::Apply(wishes(&sets(large, large_zone)))),
    ];
    let mut simulation = Simulation::new(41);
    // Nothing is over before everybody has had the time to replace somebody.
    let last = (until_ms - MINUTE, Happening::Calm);
    let planned = begun.into_iter().chain(happenings).chain([last]).map(|(at_ms, what)| Planned { at_ms, what });
    simulation.script = planned.collect();
    simulation.until_ms = until_ms;
    let report = simulation.run().expect("it runs");
    assert_eq!(report.wrong, Vec::<String>::new());
    report
}

fn outage(for_ms: u64) -> Happening {
    Happening::Outage { provider: "simulated".parse().unwrap(), for_ms }
}

fn all_of_large_silent(large: u32, for_ms: u64) -> Vec<(u64, Happening)> {
    let machine = |number: u32| format!("large-{number}").parse().unwrap();
    (1..=large).map(|number| (5 * MINUTE, Happening::Silence { machine: machine(number), for_ms })).collect()
}

/// How many lines of the story say so.
fn told(report: &Report, what: &str) -> usize {
    report.story_text().lines().filter(|line| line.contains(what)).count()
}

#[test]
#[ignore = "takes long"]
fn a_zone_of_two_hundred_machines_is_dark_and_none_is_replaced() {
    let dark = Happening::Dark { zone: "b".into(), for_ms: 20 * MINUTE };
    let report = run(200, "b", vec![(5 * MINUTE, dark)], 40 * MINUTE);
    assert!(report.converged, "{:?}", report.unready);
    assert_eq!((told(&report, "its time ran out"), told(&report, "requested the deletion of its instance")), (200, 0));
}

#[test]
#[ignore = "takes long"]
fn a_provider_that_cannot_be_reached_keeps_its_silent_machines() {
    let mut happenings = vec![(4 * MINUTE, outage(30 * MINUTE))];
    happenings.extend(all_of_large_silent(200, 36 * MINUTE));
    let report = run(200, "a", happenings, 60 * MINUTE);
    assert!(report.converged, "{:?}", report.unready);
    // Their time is over while it is out, begins again when it is back, and is long enough then.
    let replaced = told(&report, "requested the deletion of its instance");
    assert_eq!((told(&report, "its time ran out"), told(&report, " has not answered since"), replaced), (200, 1, 0));
    assert_eq!(told(&report, "because its provider answers again"), 200);
}

#[test]
fn the_same_machines_are_replaced_where_their_provider_answers() {
    let report = run(6, "a", all_of_large_silent(6, 40 * MINUTE), 120 * MINUTE);
    assert!(told(&report, "requested the deletion of its instance") > 0, "{}", report.story_text());
}

#[test]
fn a_node_that_hears_nobody_replaces_nobody() {
    let dark = |zone: &str| (5 * MINUTE, Happening::Dark { zone: zone.into(), for_ms: 30 * MINUTE });
    // Two machines in the second zone: too few for that to be held by itself.
    let report = run(2, "b", vec![dark("a"), dark("b")], 60 * MINUTE);
    assert!(report.converged, "{:?}", report.unready);
    assert_eq!((told(&report, "its time ran out"), told(&report, "requested the deletion of its instance")), (5, 0));
}
