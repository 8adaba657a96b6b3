//! Failures of machines that others shipped, each as a scenario here. What keeps each from happening is named with it, and is an
//! entry of `tests/guards/scenarios.txt`: `tests/guards/run.py` takes it out of a copy and shows that the scenario fails then.

use bailiwick::{
    actors::vocab::{FaultCode, Zone},
    providers::simulated::Faults,
    simulation::{CrashAt, CrashKind, Happening, Planned, Report, Simulation},
};

use crate::first::{LAB, wishes};

const MINUTE: u64 = 60_000;

const ONE: &str = "
apiVersion: bailiwick/v1
kind: Machine
metadata: {name: alpha}
spec: {provider: simulated}
";

const WITH_VOLUME: &str = "
apiVersion: bailiwick/v1
kind: Machine
metadata: {name: alpha}
spec: {provider: simulated}
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: data}
spec: {provider: simulated, size: 64M}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {machine: alpha, volume: data}
";

fn simulation(script: &[(u64, Happening)], until_ms: u64) -> Simulation {
    let mut simulation = Simulation::new(7);
    simulation.script = script.iter().map(|(at_ms, what)| Planned { at_ms: *at_ms, what: what.clone() }).collect();
    simulation.until_ms = until_ms;
    simulation
}

fn run(script: &[(u64, Happening)], until_ms: u64) -> Report {
    sound(simulation(script, until_ms), "no crash")
}

/// Nothing was made twice or left over, and everything is as declared.
fn sound(simulation: Simulation, what: &str) -> Report {
    let report = simulation.run().unwrap_or_else(|error| panic!("{what}: {error:?}"));
    assert_eq!(report.wrong, Vec::<String>::new(), "{what}\n{}", report.story_text());
    assert!(report.converged, "{what}: {:?}\n{}", report.unready, report.story_text());
    report
}

/// The same with a crash at each point at which the node might crash, one after the other, of both kinds.
fn with_every_crash(script: &[(u64, Happening)], until_ms: u64) {
    let points = run(script, until_ms).points;
    assert!(points > 10, "{points} points");
    for point in 1..=points {
        for kind in CrashKind::ALL {
            let mut crashing = simulation(script, until_ms);
            crashing.crashes.push(CrashAt { point, kind });
            let report = sound(crashing, &format!("{kind:?} at {point}"));
            assert_eq!(report.crashes, 1, "{kind:?} at {point}");
        }
    }
}

fn apply(text: &str) -> Happening {
    Happening::Apply(wishes(text))
}

fn remove(entity: &str) -> Happening {
    Happening::Remove(vec![entity.parse().unwrap()])
}

fn faults(faults: Faults) -> Happening {
    Happening::Misbehave { provider: "simulated".parse().unwrap(), faults: Box::new(faults) }
}

fn failing(code: FaultCode) -> Happening {
    faults(Faults { fail_per_mille: 1000, fail_codes: vec![code], ..Faults::default() })
}

/// Source: cluster-api-provider-aws 5794 and 6131, machine-controller-manager 318. Guard: an effect has one id over all its
/// attempts, and what may have been begun is asked for by that id first.
#[test]
fn a_crash_after_the_create_and_before_its_record_makes_no_second_instance() {
    with_every_crash(&[(0, apply(ONE))], 10 * MINUTE);
    // The record is also missing where the answer was lost, and what follows is another attempt.
    let lost = Faults { lost_answer_per_mille: 1_000, ..Faults::default() };
    let script =
        [(0, faults(lost)), (0, apply(ONE)), (60 * MINUTE, Happening::Calm), (61 * MINUTE, Happening::RetryFailed)];
    run(&script, 90 * MINUTE);
}

/// Source: cluster-api-provider-aws 2915 and 6131. Guards: nothing is concluded from a partial list, from one that is older
/// than what was seen, or about an instance that is newer than the list.
#[test]
fn a_list_that_omits_an_instance_makes_no_second_one() {
    let lists = Faults { partial_list_per_mille: 600, stale_list_per_mille: 600, ..Faults::default() };
    let report = run(&[(0, faults(lists)), (0, apply(LAB)), (50 * MINUTE, Happening::Calm)], 60 * MINUTE);
    assert!(!report.story_text().contains("its instance is gone and the policy"), "{}", report.story_text());
}

/// Source: machine-controller-manager, which never asks its driver about health. Guard: nobody is given up before its provider was
/// asked about its instance. No list is complete here, so that only an answer about the instance can say that it is gone.
#[test]
fn what_is_gone_is_replaced_for_that_and_not_for_its_silence() {
    let lists = Faults { partial_list_per_mille: 1_000, ..Faults::default() };
    let script = [
        (0, apply(LAB)),
        (2 * MINUTE, faults(lists)),
        (3 * MINUTE, Happening::Vanish("alpha".parse().unwrap())),
        (50 * MINUTE, Happening::Calm),
    ];
    let report = run(&script, 60 * MINUTE);
    let story = report.story_text();
    assert!(story.contains("its time ran out") && story.contains("because its instance is gone"), "{story}");
    assert!(!story.contains("gave up"), "{story}");
}

/// Source: juju 5940. Guard: who waits is woken (retry configured and never run).
#[test]
fn a_retry_that_is_configured_runs() {
    let script = [(0, failing(FaultCode::Unavailable)), (0, apply(ONE)), (5 * MINUTE, Happening::Calm)];
    let report = run(&script, 30 * MINUTE);
    assert_eq!(report.statuses["machine/alpha"], "ready");
    let story = report.story_text();
    assert!(story.contains("started the next attempt, because the next attempt is due"), "{story}");
}

/// Source: juju 13212 (the flag that asks for another attempt was put on the wrong object). Guard: attempts end; and a retry
/// is a command to whoever gave up.
#[test]
fn an_operators_retry_reaches_what_gave_up() {
    let script = [
        (0, failing(FaultCode::InvalidArgument)),
        (0, apply(ONE)),
        (5 * MINUTE, Happening::Calm),
        (20 * MINUTE, Happening::RetryFailed),
    ];
    let before = simulation(&script[..3], 19 * MINUTE).run().unwrap();
    assert_eq!(before.statuses["machine/alpha"], "failed", "it is not tried again by itself");
    assert_eq!(run(&script, 30 * MINUTE).statuses["machine/alpha"], "ready");
}

/// Source: juju 3366. Guard: an attachment waits for its machine without an attempt of its own, and goes with it.
#[test]
fn an_attachment_to_a_machine_that_is_never_made_waits_and_goes_with_it() {
    let without_machines = Faults { instances_max: Some(0), ..Faults::default() };
    let script = [(0, faults(without_machines)), (0, apply(WITH_VOLUME)), (90 * MINUTE, remove("machine/alpha"))];
    let before = simulation(&script[..2], 80 * MINUTE).run().unwrap();
    assert_eq!(before.statuses["volume/data"], "reserved");
    assert_eq!(before.statuses["volume-attachment/alpha:data"], "waiting");
    let after = run(&[&script[..], &[(91 * MINUTE, remove("volume-attachment/alpha:data"))]].concat(), 120 * MINUTE);
    assert_eq!(after.statuses["machine/alpha"], "removed");
    assert_eq!(after.statuses["volume-attachment/alpha:data"], "removed");
    assert_eq!(after.statuses["volume/data"], "available");
}

/// Source: juju 13516, linstor-csi 52. Guards: an attachment has one id over all its attempts, a volume is attached to a machine
/// once; what is detached already is detached.
#[test]
fn attaching_twice_and_detaching_twice_are_the_same_as_once() {
    let lost = || faults(Faults { lost_answer_per_mille: 1_000, ..Faults::default() });
    let (things, _) = WITH_VOLUME.rsplit_once("---").unwrap();
    let script = [
        (0, apply(things)),
        (2 * MINUTE, lost()),
        (3 * MINUTE, apply(WITH_VOLUME)),
        (10 * MINUTE, Happening::Calm),
        (20 * MINUTE, lost()),
        (20 * MINUTE, remove("volume-attachment/alpha:data")),
        (60 * MINUTE, Happening::Calm),
    ];
    let before = simulation(&script[..4], 19 * MINUTE).run().unwrap();
    assert_eq!(before.statuses["volume-attachment/alpha:data"], "attached");
    assert_eq!(run(&script, 120 * MINUTE).statuses["volume-attachment/alpha:data"], "removed");
}

/// Source: cassandra-operator 402, cass-operator 118. Guards: an instance that is newer than a list is not missed in it; the loss
/// of an earlier instance is not the loss of this one (same name, other uid).
#[test]
fn a_late_word_about_an_earlier_one_of_the_name_does_nothing() {
    let slow = Faults { latency_ms: (500, 9_000), stale_list_per_mille: 700, ..Faults::default() };
    let mut script = vec![(0, faults(slow)), (0, apply(ONE))];
    for round in 1..6 {
        script.push((round * 4 * MINUTE, remove("machine/alpha")));
        script.push((round * 4 * MINUTE + 70_000, apply(ONE)));
    }
    script.push((40 * MINUTE, Happening::Calm));
    let report = run(&script, 60 * MINUTE);
    assert_eq!(report.statuses["machine/alpha"], "ready");
    assert!(!report.story_text().contains("its instance is gone and the policy"), "{}", report.story_text());
}

/// Source: casskop 370. Guard: what was done is an event, and what is owed follows from events: there is no flag to lose.
#[test]
#[ignore = "takes long"]
fn nothing_that_was_done_is_forgotten_in_a_crash() {
    let script = [(0, apply(WITH_VOLUME)), (3 * MINUTE, remove("machine/alpha"))];
    // The attachment goes first; here nobody else asks it to.
    let script = [&script[..], &[(3 * MINUTE, remove("volume-attachment/alpha:data"))]].concat();
    with_every_crash(&script, 20 * MINUTE);
}

/// Source: rabbitmq cluster-operator 782. Guard: the remains of a lost instance are deleted under their own id, and another
/// one is asked for in the entry that records their absence.
#[test]
#[ignore = "takes long"]
fn a_crash_between_taking_the_old_away_and_making_the_new_ends_with_one() {
    with_every_crash(&[(0, apply(ONE)), (3 * MINUTE, Happening::Kill("alpha".parse().unwrap()))], 20 * MINUTE);
}

/// Source: machine-controller-manager 354 and 760. Guard: while every machine of a zone is silent, nobody there is replaced,
/// though those of another zone are well.
#[test]
fn a_zone_that_is_silent_as_a_whole_costs_no_machine() {
    let machine = |(zone, number): (&str, u32)| {
        format!(
            "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: {zone}-{number}}}\n\
             spec: {{provider: simulated, zone: {zone}}}\n---\n"
        )
    };
    let text: String =
        (0..4).map(|number| ("a", number)).chain((0..4).map(|number| ("b", number))).map(machine).collect();
    let zones = vec![Zone("a".into()), Zone("b".into())];
    let script = [
        (0, Happening::Zones { provider: "simulated".parse().unwrap(), zones }),
        (0, apply(&text)),
        (10 * MINUTE, Happening::Dark { zone: "a".into(), for_ms: 40 * MINUTE }),
        (60 * MINUTE, Happening::Calm),
    ];
    let report = run(&script, 120 * MINUTE);
    let story = report.story_text();
    assert!(!story.contains("it did not become healthy in time and the replacement budget allows it"), "{story}");
    assert!(story.contains("replacements were held back"), "{story}");
}
