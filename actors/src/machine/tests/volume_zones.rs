//! A machine is where its volumes are.

use super::{NOW, State, name, spec, stream};
use crate::{
    contract::given::{Case, after, answer, case},
    machine::{Command, Constraints, Event, Reason as R, Rejection, Spec, ZoneRule},
    policy::Document,
    vocab::{Timestamp, Zone},
};

fn zone(name: &str) -> Zone {
    Zone(name.into())
}

fn note(volume: &str, at: &str) -> Command {
    Command::NoteVolume { volume: name(volume), zone: zone(at) }
}

fn is_in(volume: &str, at: &str) -> Event {
    Event::VolumeIsIn { volume: name(volume), zone: zone(at) }
}

/// A machine to which volumes `data` and `logs` are to be attached.
fn with_volumes(spec: Spec, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let first = [
        Event::Declared { spec: spec.into() },
        Event::CreateRequested { at: Timestamp(1) },
        Event::AttachmentReserved { volume: name("data") },
        Event::AttachmentReserved { volume: name("logs") },
    ];
    first.into_iter().chain(more).collect()
}

fn plain() -> Spec {
    (*spec("local")).clone()
}

fn among(zones: &[&str]) -> Spec {
    let zones = zones.iter().map(|name| zone(name)).collect();
    Spec { constraints: Constraints { zones, ..Constraints::default() }, ..plain() }
}

pub(super) fn table() -> Vec<Case<State>> {
    let apart = Rejection::VolumesApart { volume: name("logs"), zone: zone("b"), other: name("data"), here: zone("a") };
    let elsewhere = Rejection::VolumeElsewhere { volume: name("data"), zone: zone("a") };
    let in_b = Spec { zone: Some(zone("b")), ..plain() };
    vec![
        case(with_volumes(plain(), []), note("data", "a"), Ok((R::VolumeSeen, vec![is_in("data", "a")]))),
        case(with_volumes(plain(), [is_in("data", "a")]), note("data", "a"), Ok((R::VolumeZoneKnown, vec![]))),
        case(with_volumes(plain(), []), note("other", "a"), Ok((R::VolumeZoneKnown, vec![]))),
        case(
            with_volumes(plain(), [is_in("data", "a")]),
            note("logs", "a"),
            Ok((R::VolumeSeen, vec![is_in("logs", "a")])),
        ),
        case(with_volumes(plain(), [is_in("data", "a")]), note("logs", "b"), Err(apart)),
        case(with_volumes(in_b, []), note("data", "a"), Err(elsewhere.clone())),
        case(with_volumes(among(&["b", "c"]), []), note("data", "a"), Err(elsewhere.clone())),
        case(
            with_volumes(among(&["a", "b"]), [Event::Sited { zone: Some(zone("b")), at: NOW }]),
            note("data", "a"),
            Err(elsewhere),
        ),
        case(vec![], note("data", "a"), Err(Rejection::NotDeclared)),
    ]
}

#[test]
fn an_instance_is_made_where_the_volumes_are() {
    let (state, _) = after::<State>(&with_volumes(plain(), [is_in("data", "a")]));
    assert_eq!(state.zone_rule(), ZoneRule::Declared(zone("a")));
    assert_eq!(state.zone(), Some(zone("a")), "which its provider is told");
    let (state, _) = after::<State>(&with_volumes(among(&["a", "b"]), [is_in("data", "a")]));
    assert_eq!(state.zone_rule(), ZoneRule::Spread { allowed: Some(&[zone("a")].into()), group: String::new() });
    assert!(state.awaits_site(), "it is still counted among its zone");
}

#[test]
fn a_volume_that_is_gone_binds_nobody() {
    let released = Event::AttachmentReleased { volume: name("data") };
    let given = with_volumes(plain(), [is_in("data", "a"), released]);
    assert_eq!(after::<State>(&given).0.zone_rule(), ZoneRule::Provider);
    let answer = answer(&stream(), &after::<State>(&given), &note("logs", "b"), NOW, &Document::default());
    assert_eq!(answer.expect("done").reason, R::VolumeSeen);
}

#[test]
fn where_volumes_and_declaration_disagree_later_it_is_nowhere() {
    let given =
        with_volumes(among(&["a", "b"]), [is_in("data", "a"), Event::SpecChanged { spec: among(&["b"]).into() }]);
    assert_eq!(
        after::<State>(&given).0.zone_rule(),
        ZoneRule::Spread { allowed: Some(&[].into()), group: String::new() }
    );
}
