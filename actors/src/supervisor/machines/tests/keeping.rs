//! Which of the machines that fail are kept to be looked at.

use super::*;
use crate::{
    machine::Spec,
    policy::{AskReading, Keep},
};

fn of_set(set: &str) -> Spec {
    Spec { set: Some(name(set)), ..Spec::with_provider(name("local")) }
}

/// One of a set that is well, and so many that have failed.
fn failing(set: &str, failed: u64) -> View {
    let mut view = View::default();
    add_like(&mut view, of_set(set), 0, None, None);
    for number in 1..=failed {
        add_like(&mut view, of_set(set), number, None, Some(machine::Cause::Unhealthy));
    }
    view
}

fn decided(view: &View, keep: Keep) -> Vec<Event> {
    let mut policy = Document::default();
    policy.reconciliation.throttle.replacements_max = 9;
    policy.reconciliation.keep = keep;
    policy.reconciliation.readings.ask_provider = AskReading::Never;
    let (stream, journal) = (own(), JOURNAL);
    let facts = Facts { stream: &stream, next: Version(1), now: Timestamp(100), policy: &policy, view, journal };
    State::default().decide(&look(), &facts).expect("it refuses nothing").events
}

fn kept(events: &[Event]) -> Vec<String> {
    let ordered = |event: &Event| match event {
        Event::Issued { order: Order::Machine { machine, command: machine::Command::KeepFailed { .. } }, .. } => {
            Some(machine.to_string())
        }
        _ => None,
    };
    events.iter().filter_map(ordered).collect()
}

#[test]
fn as_many_of_a_set_as_may_be_are_kept_and_the_others_replaced() {
    let view = failing("fleet", 4);
    let events = decided(&view, Keep { failed_ms: 5, most: 2 });
    assert_eq!(
        (kept(&events), given_up(&events)),
        (vec!["m-01".into(), "m-02".into()], vec!["m-03".into(), "m-04".into()])
    );
    // Those that are kept already count, and so does everybody's wish to keep none.
    let mut view = view;
    for (number, machine) in [(20, "machine/m-01"), (21, "machine/m-02")] {
        let laid = machine::Event::LaidAside { until: Timestamp(900), at: Timestamp(90) }.store().unwrap();
        view.apply(&entry(number, machine.parse().unwrap(), 6, Outcome::Done, Uuid::nil(), vec![laid])).unwrap();
    }
    let events = decided(&view, Keep { failed_ms: 5, most: 2 });
    assert_eq!((kept(&events).len(), given_up(&events)), (0, vec!["m-03".into(), "m-04".into()]));
    assert_eq!(kept(&decided(&failing("fleet", 4), Keep { failed_ms: 0, most: 2 })), [""; 0]);
}

#[test]
fn a_machine_of_no_set_is_replaced_because_nobody_takes_its_place() {
    let view = fleet(1, 1);
    let events = decided(&view, Keep { failed_ms: 5, most: 2 });
    assert_eq!((kept(&events).len(), given_up(&events).len()), (0, 1));
}
