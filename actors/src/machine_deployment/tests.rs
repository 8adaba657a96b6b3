//! Every reason and rejection of a machine deployment, and what holds along every walk. The rules have cases of their own.

mod windows;

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, answer, case, hold, walk},
    },
    machine,
    machine_deployment::{
        Amount, Command, Condition, Counts, Effect, Event, Progress, ProgressReason as P, Reason as R, Rejection,
        RollingUpdate, Spec, State, Strategy, Totals, status,
    },
    policy::Document,
    vocab::{BadWindows, FailureReason, Life, Name, Timestamp, Window, Windows},
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "machine-deployment/web".parse().expect("a stream")
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn template(version: &str) -> machine::Spec {
    let labels = [("app".to_owned(), "web".to_owned()), ("version".to_owned(), version.to_owned())].into();
    machine::Spec { labels, ..machine::Spec::with_provider(name("local")) }
}

fn spec(replicas: u32, version: &str) -> Spec {
    Spec { progress_deadline_ms: Some(10_000), ..Spec::of(replicas, template(version)) }
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { spec: spec(2, "v1") }]
}

fn paused() -> Vec<Event> {
    [declared(), vec![Event::SpecChanged { spec: Spec { paused: true, ..spec(2, "v1") } }]].concat()
}

fn protected() -> Vec<Event> {
    [declared(), vec![Event::Protected { on: true }]].concat()
}

fn going() -> Vec<Event> {
    [declared(), vec![Event::RemovalBegan]].concat()
}

fn gone() -> Vec<Event> {
    [going(), vec![Event::Removed]].concat()
}

fn counts(machines: u32, available: u32) -> Counts {
    Counts { machines, active: machines, ready: available, available, failure: None }
}

fn observe(all: &[(&str, Counts)], free: &str) -> Command {
    Command::Observe { counts: seen(all), free: name(free), again: None }
}

fn seen(all: &[(&str, Counts)]) -> BTreeMap<Name, Counts> {
    all.iter().map(|(set, counts)| (name(set), *counts)).collect()
}

fn told(reason: P) -> Event {
    Event::Progressed { progress: Progress { reason, at: NOW } }
}

fn counted(machines: u32, updated: u32, available: u32, observed: u64) -> Event {
    let observed = Version(observed);
    Event::Counted { totals: Totals { machines, updated, ready: available, available, observed } }
}

/// Its first pass has made its first set.
fn made() -> Vec<Event> {
    let first = Event::SetMade { set: name("web-1"), replicas: 2, sized_for: 2, most: 3, at: NOW };
    let observed = Event::Observed { counts: seen(&[]), again: None };
    let pass = vec![observed, first, told(P::NewMachineSetCreated), counted(0, 0, 0, 1), Event::PassOwed];
    [declared(), pass].concat()
}

/// All its machines run.
fn complete() -> Vec<Event> {
    let observed = Event::Observed { counts: seen(&[("web-1", counts(2, 2))]), again: None };
    [made(), vec![observed, told(P::NewMachineSetAvailable), counted(2, 2, 2, 1)]].concat()
}

/// Another template is in force, and has its set.
fn rolled() -> Vec<Event> {
    let second = Event::SetMade { set: name("web-2"), replicas: 1, sized_for: 2, most: 3, at: NOW };
    [complete(), vec![Event::SpecChanged { spec: spec(2, "v2") }, second, counted(2, 0, 2, 10)]].concat()
}

fn adopt() -> Command {
    Command::Adopt { set: name("old"), template: Arc::new(template("v0")), replicas: 1, created: Timestamp(5) }
}

fn adopted() -> Event {
    Event::Adopted { set: name("old"), template: Arc::new(template("v0")), replicas: 1, created: Timestamp(5) }
}

fn table() -> Vec<Case<State>> {
    let wake = || Command::Wake { due: NOW };
    let inside = machine::Spec { set: Some(name("x")), ..template("v1") };
    let elsewhere = Spec { selector: [("app".to_owned(), "shop".to_owned())].into(), ..spec(2, "v1") };
    let unpaused = Event::SpecChanged { spec: spec(2, "v1") };
    let nothing = |reason| Ok((reason, vec![]));
    vec![
        case([], Command::Declare(spec(2, "v1")), Ok((R::NewlyDeclared, declared()))),
        case(gone(), Command::Declare(spec(2, "v1")), Ok((R::NewlyDeclared, declared()))),
        case(declared(), Command::Declare(spec(2, "v1")), nothing(R::AlreadyAsDeclared)),
        case(
            declared(),
            Command::Declare(spec(3, "v1")),
            Ok((R::SpecDiffers, vec![Event::SpecChanged { spec: spec(3, "v1") }])),
        ),
        case(going(), Command::Declare(spec(2, "v1")), Err(Rejection::Leaving { life: Life::Dying })),
        case([], Command::Declare(spec(100_001, "v1")), Err(Rejection::TooMany { most: 100_000 })),
        case([], Command::Declare(Spec::of(1, inside)), Err(Rejection::BadTemplate)),
        case([], Command::Declare(elsewhere), Err(Rejection::SelectorMismatch)),
        case(declared(), Command::Protect { on: true }, Ok((R::ProtectionAsked, vec![Event::Protected { on: true }]))),
        case(declared(), Command::Protect { on: false }, nothing(R::ProtectionKnown)),
        case(protected(), Command::Remove, Err(Rejection::Protected)),
        case(protected(), Command::Declare(spec(1, "v1")), Err(Rejection::Protected)),
        case(protected(), Command::Declare(spec(2, "v2")), Err(Rejection::Protected)),
        case(protected(), Command::Restart, Err(Rejection::Protected)),
        case(protected(), Command::Undo { revision: None }, Err(Rejection::Protected)),
        case(
            protected(),
            Command::Declare(spec(3, "v1")),
            Ok((R::SpecDiffers, vec![Event::SpecChanged { spec: spec(3, "v1") }])),
        ),
        case([], Command::Remove, Err(Rejection::NotDeclared)),
        case(declared(), Command::Remove, Ok((R::RemovalAsked, vec![Event::RemovalBegan]))),
        case(going(), Command::Remove, nothing(R::AlreadyGoing)),
        case(gone(), Command::Remove, nothing(R::AlreadyGone)),
        case(declared(), Command::Pause, Ok((R::PauseAsked, vec![paused()[1].clone()]))),
        case(paused(), Command::Pause, nothing(R::AlreadyPaused)),
        case(paused(), Command::Resume, Ok((R::ResumeAsked, vec![unpaused]))),
        case(declared(), Command::Resume, nothing(R::NotPaused)),
        case(gone(), Command::Pause, Err(Rejection::NotDeclared)),
        case(declared(), Command::Restart, Ok((R::RestartAsked, vec![Event::Restarted { at: NOW }]))),
        case(paused(), Command::Restart, Err(Rejection::Paused)),
        case(made(), Command::Undo { revision: None }, Err(Rejection::NoEarlierRevision)),
        case(made(), Command::Undo { revision: Some(7) }, Err(Rejection::UnknownRevision { revision: 7 })),
        case(rolled(), Command::Undo { revision: None }, Ok((R::UndoAsked, vec![Event::RolledBack { revision: 1 }]))),
        case(rolled(), Command::Undo { revision: Some(2) }, nothing(R::SameTemplate)),
        case(paused(), Command::Undo { revision: None }, Err(Rejection::Paused)),
        case(declared(), adopt(), Ok((R::SetTaken, vec![adopted()]))),
        case([declared(), vec![adopted()]].concat(), adopt(), nothing(R::AlreadyOwned)),
        case(
            made(),
            Command::Forget { set: name("web-1") },
            Ok((R::SetGone, vec![Event::Forgotten { set: name("web-1") }])),
        ),
        case(declared(), Command::Forget { set: name("web-1") }, nothing(R::UnknownSet)),
        case(declared(), observe(&[], "web-1"), Ok((R::SetsChange, made()[1..].to_vec()))),
        case(
            made(),
            observe(&[("web-1", counts(2, 1))], "web-2"),
            Ok((
                R::MachinesCounted,
                vec![
                    Event::Observed { counts: seen(&[("web-1", counts(2, 1))]), again: None },
                    told(P::MachineSetUpdated),
                    counted(2, 2, 1, 1),
                ],
            )),
        ),
        case(complete(), observe(&[("web-1", counts(2, 2))], "web-2"), nothing(R::NothingNew)),
        case(going(), observe(&[], "web-1"), Err(Rejection::Leaving { life: Life::Dying })),
        case(going(), Command::ReportEmpty, Ok((R::Empty, vec![Event::Removed]))),
        case(declared(), Command::ReportEmpty, nothing(R::NotEmptyYet)),
        case(waiting(), wake(), nothing(R::NotDueYet)),
        case(waiting(), wake(), Ok((R::Due, vec![Event::DeadlinePassed]))).at(NOW.after(10_001)),
        case(complete(), wake(), nothing(R::NothingWaits)),
        case(rolled(), Command::Hurry, Ok((R::HurryAsked, vec![Event::Hurried]))),
        case([rolled(), vec![Event::Hurried]].concat(), Command::Hurry, nothing(R::AlreadyHurried)),
        case(complete(), Command::Hurry, nothing(R::NothingToHurry)),
        case(paused(), Command::Hurry, Err(Rejection::Paused)),
        case(protected(), Command::Hurry, Err(Rejection::Protected)),
        case(
            [],
            Command::Declare(never_open()),
            Err(Rejection::BadWindows { problem: BadWindows::NoDay(0).to_string() }),
        ),
    ]
}

fn never_open() -> Spec {
    let window = Window { days: [].into(), from_minute: 0, for_ms: 3_600_000 };
    Spec { windows: Some(Windows(vec![window])), ..spec(2, "v1") }
}

/// It has not got on since its first set was made.
fn waiting() -> Vec<Event> {
    let observed = Event::Observed { counts: seen(&[("web-1", counts(2, 0))]), again: None };
    [made(), vec![observed, counted(2, 2, 0, 1)]].concat()
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    let rejections = [
        "bad-template",
        "leaving",
        "no-earlier-revision",
        "not-declared",
        "paused",
        "selector-mismatch",
        "too-many",
        "unknown-revision",
        "protected",
        "bad-windows",
    ];
    hold(&stream(), NOW, &Document::default(), table(), R::ALL, &rejections);
}

#[test]
fn who_does_not_get_on_is_told_so_when_its_time_is_over_and_not_before() {
    let (state, version) = after::<State>(&waiting());
    assert_eq!(state.due(), Some(NOW.after(10_001)));
    let mut live = (state, version);
    act(&mut live, &Command::Wake { due: NOW }, NOW.after(10_001));
    act(&mut live, &observe(&[("web-1", counts(2, 0))], "web-2"), NOW.after(10_002));
    assert_eq!((live.0.status(), live.0.due()), ("stuck", None));
    act(&mut live, &observe(&[("web-1", counts(2, 1))], "web-2"), NOW.after(20_000));
    assert_eq!(live.0.status(), "progressing", "it gets on again");
}

#[test]
fn a_machine_that_is_not_ready_for_long_enough_brings_the_next_pass() {
    let mut live = after::<State>(&made());
    let command =
        Command::Observe { counts: seen(&[("web-1", counts(2, 0))]), free: name("web-2"), again: Some(NOW.after(5)) };
    act(&mut live, &command, NOW);
    assert_eq!(live.0.due(), Some(NOW.after(5)));
    act(&mut live, &Command::Wake { due: NOW.after(5) }, NOW.after(5));
    assert!(live.0.wants_a_pass());
}

#[test]
fn a_restart_is_another_template_and_an_undo_brings_the_old_one_back() {
    let mut live = after::<State>(&complete());
    act(&mut live, &Command::Restart, NOW);
    act(&mut live, &observe(&[("web-1", counts(2, 2))], "web-2"), NOW);
    let annotation =
        |live: &(State, Version)| live.0.template().expect("declared").annotations.get(Spec::RESTARTED).cloned();
    assert_eq!(annotation(&live), Some(NOW.to_string()));
    assert_eq!(live.0.sets.len(), 2);
    act(&mut live, &Command::Undo { revision: None }, NOW);
    assert_eq!(annotation(&live), None);
    act(&mut live, &observe(&[("web-1", counts(2, 2))], "web-3"), NOW);
    assert_eq!(live.0.sets[&name("web-1")].revision, 3, "it is the newest again");
}

#[test]
fn machines_that_a_set_has_yet_to_make_take_their_room() {
    let mut live = after::<State>(&rolled());
    act(&mut live, &observe(&[("web-1", counts(2, 2)), ("web-2", Counts::default())], "web-3"), NOW);
    assert_eq!(live.0.sets[&name("web-2")].replicas, 1, "two and one are three, which is all that may be");
}

#[test]
fn machines_that_a_set_has_yet_to_tell_to_go_are_not_counted_on() {
    let declared = Spec {
        strategy: Strategy::RollingUpdate(RollingUpdate {
            max_surge: Amount::Machines(2),
            max_unavailable: Amount::Machines(1),
        }),
        ..spec(4, "v1")
    };
    let set = |name: Name, replicas| Event::SetMade { set: name, replicas, sized_for: 4, most: 6, at: NOW };
    let changed = Spec { template: Arc::new(template("v2")), ..declared.clone() };
    let past = [
        Event::Declared { spec: declared },
        set(name("web-1"), 3),
        Event::SpecChanged { spec: changed },
        set(name("web-2"), 2),
    ];
    let mut live = after::<State>(&past);
    // One of the first set is still there that is to go; of the second, one is not available.
    act(&mut live, &observe(&[("web-1", counts(4, 4)), ("web-2", counts(2, 1))], "web-3"), NOW);
    assert_eq!(live.0.sets[&name("web-1")].replicas, 2, "three and one are four, of which one may go");
}

#[test]
fn what_its_sets_are_refused_is_told() {
    let mut live = after::<State>(&made());
    let failing = Counts { failure: Some(FailureReason::FailedCreate), ..counts(1, 1) };
    act(&mut live, &observe(&[("web-1", failing)], "web-2"), NOW);
    let conditions = status(&live.0).conditions;
    assert!(conditions.contains(&Condition::ReplicaFailure(FailureReason::FailedCreate)), "{conditions:?}");
}

fn act(live: &mut (State, Version), command: &Command, now: Timestamp) {
    let verdict = answer(&stream(), live, command, now, &Document::default());
    for event in verdict.expect("it is not refused").events {
        live.1 = live.1.next();
        live.0.evolve(live.1, &event);
    }
}

/// A command that makes sense in this state, or nearly.
fn command(state: &State, version: Version, kind: u8, value: u8) -> Command {
    let some = |set: &Name| {
        let wanted = state.sets[set].replicas;
        let machines = wanted.saturating_sub(u32::from(value % 2));
        (set.clone(), counts(machines, machines.saturating_sub(u32::from(value % 3))))
    };
    match kind % 12 {
        0 => Command::Declare(Spec { paused: value.is_multiple_of(7), ..spec(u32::from(value % 12), "v1") }),
        1 => Command::Declare(spec(u32::from(value % 12), ["v1", "v2", "v3"][usize::from(value % 3)])),
        2 if value.is_multiple_of(4) => Command::Remove,
        3 => Command::Undo { revision: None },
        4 => Command::Restart,
        5 => [Command::Pause, Command::Resume][usize::from(value % 2)].clone(),
        6 => Command::Wake { due: Timestamp(0) },
        7 if value.is_multiple_of(4) => Command::ReportEmpty,
        _ => Command::Observe {
            counts: state.sets.keys().map(some).collect(),
            free: name(&format!("web-{}", version.0)),
            again: None,
        },
    }
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_deployment_promises(dice in vec((any::<u8>(), any::<u8>(), 0..100_000u32), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, command, |before, state, events| {
            let Some(spec) = &state.spec else { return };
            let wanted = |state: &State| state.sets.values().map(|set| set.replicas).sum::<u32>();
            let grows = events.iter().any(|event| matches!(event, Event::SetMade { .. } | Event::Scaled { .. }));
            assert!(!grows || wanted(state) <= wanted(before).max(spec.replicas + 1), "no more than the surge: {events:?}");
            assert!(state.due().is_none_or(|due| state.pending(&NoView) == [Effect::WakeAt(due)].into()));
        });
    }
}
