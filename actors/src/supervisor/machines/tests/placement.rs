//! New machines are spread over the zones of their provider, each choice knowing those before it.

use std::sync::Arc;

use super::*;
use crate::machine::Spec;

fn zones(names: &[&str]) -> BTreeSet<Zone> {
    names.iter().map(|name| Zone((*name).into())).collect()
}

fn knowing(names: &[&str]) -> State {
    State { zones: [(name("local"), zones(names))].into(), ..State::default() }
}

fn put(view: &mut View, position: u64, stream: &str, first: u64, events: &[machine::Event]) {
    let bodies = events.iter().map(|event| event.store().expect("small")).collect();
    let stream = stream.parse().expect("a stream");
    view.apply(&entry(position, stream, first, Outcome::Done, Uuid::nil(), bodies)).expect("readable");
}

/// So many machines of one set, which wait for a zone.
fn waiting(count: u64) -> View {
    let mut view = View::default();
    for number in 0..count {
        let spec = Arc::new(Spec { set: Some(name("web")), ..Spec::with_provider(name("local")) });
        let events = [machine::Event::Declared { spec }, machine::Event::CreateRequested { at: Timestamp(1) }];
        put(&mut view, 1 + number, &format!("machine/m-{number:02}"), 1, &events);
    }
    view
}

fn look_at(view: &View) -> Command {
    Command::Look { machines: view.tally.unsited.iter().cloned().collect() }
}

fn chosen(events: &[Event]) -> Vec<(String, Option<String>)> {
    let ordered = |event: &Event| match event {
        Event::Issued { order: Order::Machine { machine, command: machine::Command::Site { zone, .. } }, .. } => {
            Some((machine.to_string(), zone.as_ref().map(|zone| zone.0.clone())))
        }
        _ => None,
    };
    events.iter().filter_map(ordered).collect()
}

fn in_zone(zone: &str) -> Option<String> {
    Some(zone.to_owned())
}

#[test]
fn machines_of_a_set_are_spread_over_the_zones() {
    let view = waiting(4);
    let decision = answer(&knowing(&["a", "b", "c"]), &view, &look_at(&view));
    let zones: Vec<Option<String>> = chosen(&decision.events).into_iter().map(|(_, zone)| zone).collect();
    assert_eq!(zones, ["a", "b", "c", "a"].map(in_zone));
}

#[test]
fn what_was_chosen_counts_before_the_machine_has_taken_it_in() {
    let mut view = waiting(1);
    let state = knowing(&["a", "b"]);
    let decision = answer(&state, &view, &look_at(&view));
    let bodies = decision.events.iter().map(|event| event.store().unwrap()).collect();
    view.apply(&entry(9, own(), 1, Outcome::Done, Uuid::nil(), bodies)).unwrap();
    assert_eq!(chosen(&answer(&state, &view, &look_at(&view)).events), [], "it was told, and is not told again");
    let spec = Arc::new(Spec { set: Some(name("web")), ..Spec::with_provider(name("local")) });
    let events = [machine::Event::Declared { spec }, machine::Event::CreateRequested { at: Timestamp(1) }];
    put(&mut view, 10, "machine/z", 1, &events);
    assert_eq!(chosen(&answer(&state, &view, &look_at(&view)).events), [("z".to_owned(), in_zone("b"))]);
}

#[test]
fn a_zone_that_failed_is_tried_again_only_when_all_have() {
    let mut view = waiting(1);
    let state = knowing(&["a", "b"]);
    let sited = |zone: &str| machine::Event::Sited { zone: Some(Zone(zone.into())), at: Timestamp(2) };
    let fault = Fault::new(FaultCode::ResourceExhausted, "full");
    let blamed = |zone: &str| machine::Event::ZoneBlamed { zone: Zone(zone.into()), fault: fault.clone(), until: None };
    put(&mut view, 5, "machine/m-00", 3, &[sited("a"), blamed("a")]);
    assert_eq!(chosen(&answer(&state, &view, &look_at(&view)).events), [("m-00".to_owned(), in_zone("b"))]);
    put(&mut view, 6, "machine/m-00", 5, &[sited("b"), blamed("b")]);
    let events = answer(&state, &view, &look_at(&view)).events;
    let [Event::Issued { order: Order::Machine { command: machine::Command::Site { round_is_new, .. }, .. }, .. }] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert!(round_is_new);
}

#[test]
fn who_can_be_in_no_zone_waits_and_that_is_said() {
    let mut view = View::default();
    let constraints = machine::Constraints { zones: zones(&["x"]), ..machine::Constraints::default() };
    let spec = Arc::new(Spec { constraints, ..Spec::with_provider(name("local")) });
    let events = [machine::Event::Declared { spec }, machine::Event::CreateRequested { at: Timestamp(1) }];
    put(&mut view, 1, "machine/web", 1, &events);
    assert_eq!(answer(&State::default(), &view, &look_at(&view)).events, [], "the zones are not known yet");
    let withheld = Event::Withheld { machine: name("web"), why: Withholding::NoZone };
    for listed in [&["a"][..], &[]] {
        let events = answer(&knowing(listed), &view, &look_at(&view)).events;
        assert_eq!(events, std::slice::from_ref(&withheld));
    }
    // When the zone is there it is released from that.
    let state = State { withheld: [(name("web"), Withholding::NoZone)].into(), ..knowing(&["x"]) };
    let events = answer(&state, &view, &look_at(&view)).events;
    assert_eq!(chosen(&events), [("web".to_owned(), in_zone("x"))]);
    assert_eq!(events.last(), Some(&Event::Released { machine: name("web") }));
}

#[test]
fn where_the_provider_has_no_zones_a_machine_is_made_in_none() {
    let view = waiting(1);
    assert_eq!(chosen(&answer(&knowing(&[]), &view, &look_at(&view)).events), [("m-00".to_owned(), None)]);
}

#[test]
fn the_counts_are_those_of_a_count_anew() {
    let mut view = fleet(3, 2);
    let gone = machine::Event::Removed.store().unwrap();
    for position in [20, 21] {
        // Told twice, and counted once.
        let machine = if position == 20 { "machine/m-00" } else { "machine/m-03" };
        let entry = entry(position, machine.parse().unwrap(), 9, Outcome::Done, Uuid::nil(), vec![gone.clone()]);
        view.apply(&entry).unwrap();
    }
    let standing = view.tally.standing(&Zone("a".into())).unwrap();
    assert_eq!((standing.well.len(), standing.others.len()), (2, 1));
    let mut anew = crate::supervisor::machines::Tally::default();
    for (name, folded) in view.machines.iter() {
        let nowhere = anew.mark(name, None);
        anew.saw(&name.parse().unwrap(), nowhere, Some(&folded.state));
    }
    assert_eq!(view.tally, anew);
}

#[test]
fn what_was_given_up_takes_no_place_in_a_zone() {
    let mut view = waiting(2);
    let sited = machine::Event::Sited { zone: Some(Zone("a".into())), at: Timestamp(2) };
    let fault = Fault::new(FaultCode::ResourceExhausted, "full");
    put(&mut view, 5, "machine/m-00", 3, &[sited, machine::Event::CreateGivenUp { fault, again: None }]);
    let state = knowing(&["a", "b"]);
    assert_eq!(chosen(&answer(&state, &view, &look_at(&view)).events), [("m-01".to_owned(), in_zone("a"))]);
    // An operator says again: it is to be made where it was, and counts there.
    put(&mut view, 6, "machine/m-00", 5, &[machine::Event::AttemptBegun]);
    assert_eq!(chosen(&answer(&state, &view, &look_at(&view)).events), [("m-01".to_owned(), in_zone("b"))]);
}

#[test]
fn the_zones_are_those_that_were_listed_last_and_who_stands_elsewhere_goes_on_counting() {
    let mut view = waiting(3);
    let sited = |zone: &str| machine::Event::Sited { zone: Some(Zone(zone.into())), at: Timestamp(2) };
    put(&mut view, 5, "machine/m-00", 3, &[sited("c")]);
    let where_next = |listed: &[&str]| -> Vec<Option<String>> {
        chosen(&answer(&knowing(listed), &view, &look_at(&view)).events).into_iter().map(|(_, zone)| zone).collect()
    };
    assert_eq!(where_next(&["a"]), ["a", "a"].map(in_zone));
    assert_eq!(where_next(&["a", "b", "c"]), ["a", "b"].map(in_zone));
    assert_eq!(view.tally.population(&name("local"), None)[&Zone("c".into())], 1);
}
