//! With what an instance is started, which units stand on a machine, and which machines stand in it.

use std::sync::Arc;

use bailiwick_journal::Version;

use super::{NOW, State, effect, instance, name, spec, stream};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, after, answer, case},
    },
    machine::{
        Command, Constraints, Effect, Event, InstanceConfig, Reason as R, Rejection, Removal, Report, Skipped, Spec,
        StartHost, StartParameters, Unstartable, ZoneRule,
    },
    policy::Document,
    vocab::{Cited, FaultCode, InstanceId, Life, Timestamp, Zone},
};

fn zone(name: &str) -> Zone {
    Zone(name.into())
}

/// It has to reach space `inner`, and waits for what it is started with.
fn awaiting() -> Vec<Event> {
    let constraints = Constraints { spaces: ["inner".parse().expect("a wish")].into(), ..Constraints::default() };
    let spec = Arc::new(Spec { constraints, ..(*spec("local")).clone() });
    vec![Event::Declared { spec }, Event::CreateRequested { at: Timestamp(1) }]
}

/// It has to reach another space now.
fn declared_anew() -> Event {
    let constraints = Constraints { spaces: ["outer".parse().expect("a wish")].into(), ..Constraints::default() };
    Event::SpecChanged { spec: Arc::new(Spec { constraints, ..(*spec("local")).clone() }) }
}

fn plain() -> Vec<Event> {
    vec![Event::Declared { spec: spec("local") }, Event::CreateRequested { at: Timestamp(1) }]
}

fn running() -> Vec<Event> {
    then(plain(), [Event::Created { instance: instance(2), at: Timestamp(2) }])
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn parameters(zones: &[&str]) -> Box<StartParameters> {
    let zones = zones.iter().map(|name| zone(name)).collect();
    Box::new(StartParameters { zones, ..StartParameters::default() })
}

fn cited() -> Vec<Cited> {
    vec![Cited { document: "space/inner".parse().expect("a stream"), revision: 2 }]
}

fn prepared(zones: &[&str]) -> Event {
    Event::StartPrepared { parameters: parameters(zones), config: None, cited: cited(), at: NOW }
}

fn no_space() -> Unstartable {
    Unstartable::NoSpace { space: name("inner") }
}

fn refused(why: Unstartable) -> Event {
    Event::StartRefused { why, cited: cited(), at: NOW }
}

fn assigned() -> Event {
    Event::UnitAssigned { application: name("shop") }
}

fn contains() -> Event {
    Event::ContainerReserved { container: name("web-lxd-0") }
}

fn let_go() -> Event {
    Event::ContainerReleased { container: name("web-lxd-0") }
}

pub(super) fn table() -> Vec<Case<State>> {
    let prepare =
        |at| Command::Prepare { asked: Version(at), parameters: parameters(&["a"]), config: None, cited: cited() };
    let refuse = |why| Command::RefuseStart { asked: Version(2), why, cited: cited() };
    let assign = || Command::Assign { application: name("shop") };
    let unassign = || Command::Unassign { application: name("shop") };
    let unassigned = Event::UnitUnassigned { application: name("shop") };
    let reserve = |of: &str| Command::ReserveContainer { container: name(of) };
    let release = |of: &str| Command::ReleaseContainer { container: name(of) };
    let forced = Command::RemoveWith(Removal { force: true, ..Removal::default() });
    let skipped = Event::Skipped { what: Skipped::Container { container: name("web-lxd-0") } };
    let dies = || [Event::Died, Event::DeleteRequested { at: NOW }];
    let host = || then(running(), [contains()]);
    let dying = |past| then(past, [Event::RemovalBegan { at: NOW }]);
    let leaving = || Err(Rejection::Leaving { life: Life::Dying });
    let empty = || Unstartable::EmptySpace { space: name("inner") };
    vec![
        case(awaiting(), prepare(2), Ok((R::StartPrepared, vec![prepared(&["a"])]))),
        // What was put together for an earlier instance, or for another declaration, says nothing about this one.
        case(awaiting(), prepare(1), Ok((R::StartNotAwaited, vec![]))),
        case(then(awaiting(), [declared_anew()]), prepare(2), Ok((R::StartNotAwaited, vec![]))),
        case(then(awaiting(), [declared_anew()]), refuse(no_space()), Ok((R::StartNotAwaited, vec![]))),
        case(then(awaiting(), [declared_anew()]), prepare(3), Ok((R::StartPrepared, vec![prepared(&["a"])]))),
        case(plain(), prepare(2), Ok((R::StartNotAwaited, vec![]))),
        case(awaiting(), refuse(no_space()), Ok((R::StartRefused, vec![refused(no_space())]))),
        case(then(awaiting(), [refused(no_space())]), refuse(no_space()), Ok((R::StartNotAwaited, vec![]))),
        case(then(awaiting(), [refused(no_space())]), refuse(empty()), Ok((R::StartRefused, vec![refused(empty())]))),
        case(then(awaiting(), [refused(no_space())]), prepare(2), Ok((R::StartPrepared, vec![prepared(&["a"])]))),
        case([], assign(), Err(Rejection::NotDeclared)),
        case(dying(running()), assign(), leaving()),
        case(plain(), assign(), Ok((R::UnitWanted, vec![assigned()]))),
        case(then(plain(), [assigned()]), assign(), Ok((R::UnitKnown, vec![]))),
        case(then(plain(), [assigned()]), unassign(), Ok((R::UnitUnwanted, vec![unassigned]))),
        case(plain(), unassign(), Ok((R::UnitKnown, vec![]))),
        case([], reserve("web-lxd-0"), Err(Rejection::NotDeclared)),
        case(dying(running()), reserve("web-lxd-0"), leaving()),
        case(running(), reserve("web-lxd-0"), Ok((R::ContainerWanted, vec![contains()]))),
        case(host(), reserve("web-lxd-0"), Ok((R::ContainerKnown, vec![]))),
        case(host(), release("web-lxd-1"), Ok((R::ContainerKnown, vec![]))),
        case(host(), release("web-lxd-0"), Ok((R::ContainerGone, vec![let_go()]))),
        // What stands in it goes first.
        case(host(), Command::Remove, Ok((R::RemovalWaitsForContainers, vec![Event::RemovalBegan { at: NOW }]))),
        case(dying(host()), release("web-lxd-0"), Ok((R::RemovalAsked, then(vec![let_go()], dies())))),
        case(
            dying(then(host(), [Event::ContainerReserved { container: name("web-lxd-1") }])),
            release("web-lxd-0"),
            Ok((R::ContainerGone, vec![let_go()])),
        ),
        // A forced removal does not wait, and it is recorded what may be left behind.
        case(host(), forced, Ok((R::RemovalForced, then(vec![Event::RemovalBegan { at: NOW }, skipped], dies())))),
    ]
}

fn calls(past: &[Event]) -> Vec<Effect> {
    after::<State>(past).0.pending(&NoView).into_iter().collect()
}

#[test]
fn nothing_is_made_before_it_is_known_with_what() {
    let create = || Effect::Create { intent: Version(2), attempt: 1 };
    assert_eq!(calls(&awaiting()), []);
    assert_eq!(calls(&then(awaiting(), [refused(no_space())])), []);
    assert_eq!(calls(&then(awaiting(), [refused(no_space()), prepared(&[])])), [create()]);
    // Who needs nothing of it starts at once, and a unit that comes with the declaration is waited for.
    assert_eq!(calls(&plain()), [create()]);
    assert_eq!(calls(&then(plain(), [assigned()])), []);
}

#[test]
fn what_it_is_told_of_the_control_plane_stands_with_what_it_is_started_with() {
    let config = || Box::new(InstanceConfig { image_stream: "daily".into(), ..InstanceConfig::default() });
    let (asked, parameters) = (Version(2), || parameters(&["a"]));
    let command = Command::Prepare { asked, parameters: parameters(), config: Some(config()), cited: cited() };
    let given = after::<State>(&awaiting());
    let decided = answer(&stream(), &given, &command, NOW, &Document::default()).expect("an answer");
    let event = Event::StartPrepared { parameters: parameters(), config: Some(config()), cited: cited(), at: NOW };
    assert_eq!(decided.events, std::slice::from_ref(&event));
    let (state, _) = after::<State>(&then(awaiting(), [event]));
    assert_eq!((state.config(), state.parameters()), (Some(&*config()), Some(&*parameters())));
    assert_eq!(after::<State>(&then(awaiting(), [prepared(&["a"])])).0.config(), None);
}

#[test]
fn a_zone_is_chosen_among_those_that_its_subnets_leave() {
    let (state, _) = after::<State>(&then(awaiting(), [prepared(&["a", "b"])]));
    assert!(state.awaits_site());
    let allowed = [zone("a"), zone("b")].into();
    assert_eq!(state.zone_rule(), ZoneRule::Spread { allowed: Some(&allowed), group: String::new() });
    let (waiting, _) = after::<State>(&awaiting());
    assert!(!waiting.awaits_site(), "not before it is known with what it is started");
}

#[test]
fn units_of_one_application_are_kept_apart_and_a_container_is_where_its_host_is() {
    let spread = Box::new(StartParameters { spread: Some(name("shop")), ..StartParameters::default() });
    let of = |parameters| Event::StartPrepared { parameters, config: None, cited: Vec::new(), at: NOW };
    let (state, _) = after::<State>(&then(plain(), [assigned(), of(spread.clone())]));
    assert_eq!(state.zone_rule(), ZoneRule::Spread { allowed: None, group: "application/shop".into() });
    let instance = InstanceId("i-0".into());
    let host = StartHost { machine: name("host"), effect: effect(9), instance, zone: Some(zone("a")) };
    let inside = Box::new(StartParameters { host: Some(host), ..*spread });
    let (state, _) = after::<State>(&then(plain(), [assigned(), of(inside)]));
    assert_eq!(state.zone_rule(), ZoneRule::Provider);
    assert!(!state.awaits_site());
}

#[test]
fn a_new_instance_is_prepared_anew() {
    let at = Timestamp(5);
    let made = [prepared(&[]), Event::Created { instance: instance(2), at }, Event::InstanceLost { at }];
    let again = [Event::DeleteRequested { at }, Event::Deleted, Event::CreateRequested { at }];
    let (state, _) = after::<State>(&then(then(awaiting(), made), again));
    assert!(state.awaits_start());
    assert_eq!(state.parameters(), None);
    assert_eq!(state.own(JOURNAL, &stream()), Some(effect(8)));
}

#[test]
fn what_is_declared_anew_while_it_waits_is_prepared_anew() {
    for waits in [vec![], vec![refused(no_space())], vec![prepared(&["a", "b"])]] {
        let (state, _) = after::<State>(&then(then(awaiting(), waits.clone()), [declared_anew()]));
        let changed_at = u64::try_from(waits.len()).expect("few") + 3;
        assert_eq!(state.start_asked(), Some(Version(changed_at)), "{waits:?}");
        assert_eq!((state.unstartable(), state.parameters()), (None, None), "{waits:?}");
        // It is the same intent: whatever may be there already is found by its id.
        assert_eq!(state.own(JOURNAL, &stream()), Some(effect(2)));
    }
    let plain = Event::SpecChanged { spec: spec("local") };
    assert_eq!(calls(&then(awaiting(), [plain])), [Effect::Create { intent: Version(2), attempt: 1 }]);
}

#[test]
fn each_attempt_is_prepared_anew_and_a_call_under_way_is_left_alone() {
    let until = Timestamp(9);
    let called = then(awaiting(), [prepared(&[]), declared_anew()]);
    assert_eq!(calls(&called), [Effect::Create { intent: Version(2), attempt: 1 }]);
    assert!(after::<State>(&called).0.parameters().is_some(), "what is made was started with these");
    let fault = super::fault(FaultCode::Unavailable);
    let waiting = then(called, [Event::CreateRetryScheduled { until, fault }]);
    assert_eq!(calls(&waiting), [Effect::WakeAt(until)]);
    let again = then(waiting, [Event::AttemptBegun]);
    assert_eq!(calls(&again), []);
    assert_eq!(after::<State>(&again).0.start_asked(), Some(Version(6)));
    // An operator who has mended a document says "again", and it counts.
    let given_up = Event::CreateGivenUp { fault: super::fault(FaultCode::InvalidArgument), again: None };
    let (again, _) = after::<State>(&then(awaiting(), [prepared(&[]), given_up, Event::AttemptBegun]));
    assert!(again.awaits_start());
}

#[test]
fn a_zone_is_chosen_anew_if_it_is_not_allowed_any_more() {
    let (at, until) = (NOW, Timestamp(9));
    let fault = super::fault(FaultCode::DeadlineExceeded);
    let sited = [prepared(&["a", "b"]), Event::Sited { zone: Some(zone("a")), at }];
    let failed = [Event::CreateRetryScheduled { until, fault }, Event::AttemptBegun];
    let again = |zones: &[&str]| then(then(then(awaiting(), sited.clone()), failed.clone()), [prepared(zones)]);
    assert_eq!(after::<State>(&again(&["a", "c"])).0.zone(), Some(zone("a")));
    assert!(after::<State>(&again(&["b", "c"])).0.awaits_site());
    assert_eq!(calls(&again(&[])), [Effect::Create { intent: Version(2), attempt: 2 }], "the provider chooses");
}

#[test]
fn what_is_removed_while_it_is_made_is_deleted_by_its_id() {
    // Given a create that is under way, when the machine goes
    let decision = answer(&stream(), &after::<State>(&plain()), &Command::Remove, NOW, &Document::default());
    let events = decision.expect("an answer").events;
    assert_eq!(events, [Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: NOW }]);
    // Then it is deleted, once, under the id that the create has
    let going = then(plain(), events);
    let (state, _) = after::<State>(&going);
    let delete = Effect::Delete { of: Version(2), attempt: 1 };
    assert_eq!(state.pending(&NoView), [delete].into());
    // And the answer to the create comes too late to count
    let report = Report::Created { attempt: 1, instance: instance(2) };
    let late = answer(&stream(), &after::<State>(&going), &Command::Report(report), NOW, &Document::default());
    assert_eq!(late.expect("an answer").reason, R::StaleReport);
    // A second request for its removal asks for nothing new
    let again = answer(&stream(), &after::<State>(&going), &Command::Remove, NOW, &Document::default());
    assert_eq!(again.expect("an answer").reason, R::AlreadyGoing);
}
