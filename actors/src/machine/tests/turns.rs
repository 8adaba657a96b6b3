//! Workloads with volumes end one after the other: each with its volumes, or with its time.

use std::{collections::BTreeSet, sync::Arc};

use proptest::{collection::vec, prelude::*};

use super::{NOW, State, condition, effect, instance, name, spec, stream};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, answer, case},
    },
    machine::{
        BudgetSeen, Cause, Command, DrainOutcome, Effect, Event, Reason as R, Report, Spec, TurnOutcome, TurnPlan,
        Workload,
    },
    policy::Document,
    vocab::{Name, Timestamp},
};

/// The defaults: 30 s to end, and 2 min to be detached.
const TURN_OVER: Timestamp = Timestamp(NOW.0 + 150_000);

fn names<const N: usize>(all: [&str; N]) -> BTreeSet<Name> {
    all.map(name).into()
}

fn workload<const N: usize>(title: &str, volumes: [&str; N]) -> Workload {
    Workload { name: name(title), command: vec![title.into()], env: [].into(), volumes: names(volumes) }
}

/// It is drained: `db` and `web` use a volume each, `web` and `batch` a third one, `idle` none. One is not attached.
fn going() -> Vec<Event> {
    let workloads = vec![
        workload("db", ["data"]),
        workload("idle", []),
        workload("web", ["logs", "shared"]),
        workload("batch", ["elsewhere", "shared"]),
    ];
    let at = Timestamp(2);
    let reserved = ["data", "logs", "shared"].map(|volume| Event::AttachmentReserved { volume: name(volume) });
    let mut past = vec![
        Event::Declared { spec: Arc::new(Spec { workloads, ..(*spec("local")).clone() }) },
        Event::CreateRequested { at },
        Event::Created { instance: instance(2), at },
        Event::NodeReported { conditions: vec![condition(true)], at },
    ];
    past.extend(reserved);
    past.extend([Event::RemovalBegan { at: NOW }, Event::DrainBegan { at, until: Timestamp(900_000) }]);
    past
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn began(title: &str, until: Timestamp) -> Event {
    Event::TurnBegan { workload: name(title), until }
}

fn allowed(is_forced: bool, until: Timestamp) -> Vec<Event> {
    let plan = |title, volumes| TurnPlan { workload: name(title), volumes };
    let turns = vec![
        plan("db", names(["data"])),
        plan("web", names(["logs"])),
        // What several use leaves with the last one.
        plan("batch", names(["elsewhere", "shared"])),
    ];
    vec![Event::EvictionAllowed { is_forced, at: NOW }, Event::TurnsPlanned { turns }, began("db", until)]
}

/// The turn of `db`.
fn first(until: Timestamp) -> Vec<Event> {
    then(going(), allowed(false, until))
}

fn ended<const N: usize>(title: &str, volumes: [&str; N]) -> Event {
    Event::WorkloadEnded { workload: name(title), volumes: names(volumes) }
}

/// `db` has ended, and its volume is still attached.
fn detaching(until: Timestamp) -> Vec<Event> {
    then(first(until), [ended("db", ["data"])])
}

fn over(title: &str, outcome: TurnOutcome) -> Event {
    Event::TurnEnded { workload: name(title), outcome }
}

/// The turn of the last one.
fn last(until: Timestamp) -> Vec<Event> {
    let middle = [over("db", TurnOutcome::Done), began("web", until), over("web", TurnOutcome::WorkloadStayed)];
    then(first(until), then(middle.into(), [began("batch", until)]))
}

fn left(volume: &str) -> Event {
    Event::VolumeDetached { volume: name(volume) }
}

pub(super) fn table() -> Vec<Case<State>> {
    let report = |version, title: &str| {
        Command::Report(Report::WorkloadEnded { effect: effect(version), workload: name(title) })
    };
    let note = |version, volume: &str| Command::NoteDetached { effect: effect(version), volume: name(volume) };
    let drained = || Command::Report(Report::Drained { effect: effect(2) });
    let budget = BudgetSeen { application: name("shop"), available: 1, needed: 2, others: 2 };
    let refuse = Command::RefuseEviction { effect: effect(2), budget: budget.clone() };
    let refused = || Event::EvictionRefused { budget: budget.clone(), until: Timestamp(5) };
    let wake = || Command::Wake { due: NOW };
    let done = |title: &str| over(title, TurnOutcome::Done);
    let late = Timestamp(NOW.0 - 1);
    vec![
        case(
            going(),
            Command::AllowEviction { effect: effect(2) },
            Ok((R::EvictionAllowed, allowed(false, TURN_OVER))),
        ),
        case(
            then(going(), (0..359).flat_map(|_| [refused(), Event::EvictionAskedAgain])),
            refuse,
            Ok((R::EvictionForced, allowed(true, TURN_OVER))),
        ),
        // It has ended: its volume is next, and whoever waits goes on waiting.
        case(first(TURN_OVER), report(2, "db"), Ok((R::WorkloadEnded, vec![ended("db", ["data"])]))),
        case(first(TURN_OVER), report(2, "web"), Ok((R::StaleReport, vec![]))),
        case(first(TURN_OVER), report(9, "db"), Ok((R::StaleReport, vec![]))),
        case(detaching(TURN_OVER), report(2, "db"), Ok((R::StaleReport, vec![]))),
        case(first(TURN_OVER), note(2, "data"), Ok((R::DetachmentNotAwaited, vec![]))),
        case(detaching(TURN_OVER), note(2, "logs"), Ok((R::DetachmentNotAwaited, vec![]))),
        case(detaching(TURN_OVER), note(9, "data"), Ok((R::DetachmentNotAwaited, vec![]))),
        // It has left, in one way or the other: the next one's turn.
        case(
            detaching(TURN_OVER),
            note(2, "data"),
            Ok((R::VolumeDetached, vec![left("data"), done("db"), began("web", TURN_OVER)])),
        ),
        case(
            detaching(TURN_OVER),
            Command::ReleaseAttachment { volume: name("data") },
            Ok((
                R::AttachmentGone,
                vec![Event::AttachmentReleased { volume: name("data") }, done("db"), began("web", TURN_OVER)],
            )),
        ),
        // The time is over, of one step or the other.
        case(first(TURN_OVER), wake(), Ok((R::NotDueYet, vec![]))),
        case(
            first(late),
            wake(),
            Ok((R::TurnTimedOut, vec![over("db", TurnOutcome::WorkloadStayed), began("web", TURN_OVER)])),
        ),
        case(
            detaching(late),
            wake(),
            Ok((R::TurnTimedOut, vec![over("db", TurnOutcome::VolumesStayed), began("web", TURN_OVER)])),
        ),
        // After the last one it is drained when nothing runs any more; a volume that is attached nowhere holds up nobody.
        case(
            then(last(TURN_OVER), [Event::AttachmentReleased { volume: name("shared") }]),
            report(2, "batch"),
            Ok((R::WorkloadEnded, vec![ended("batch", []), done("batch")])),
        ),
        case(first(TURN_OVER), drained(), Ok((R::TurnUnderWay, vec![]))),
        case(detaching(TURN_OVER), drained(), Ok((R::TurnUnderWay, vec![]))),
        case(
            then(last(TURN_OVER), [over("batch", TurnOutcome::VolumesStayed)]),
            drained(),
            Ok((R::Drained, vec![Event::DrainEnded { outcome: DrainOutcome::Empty }])),
        ),
    ]
}

#[test]
fn a_turn_ends_with_the_drain_at_the_latest() {
    let mut policy = Document::default();
    policy.reconciliation.drain.volume_detach_ms = 10_000_000;
    let allow = Command::AllowEviction { effect: effect(2) };
    let decision = answer(&stream(), &after::<State>(&going()), &allow, NOW, &policy).expect("an answer");
    assert_eq!(decision.events, allowed(false, Timestamp(900_000)));
    // And no other begins when the drain's time is over: that ends all of it.
    let detached = Command::NoteDetached { effect: effect(2), volume: name("data") };
    let now = Timestamp(900_000);
    let decision = answer(&stream(), &after::<State>(&detaching(now)), &detached, now, &policy).expect("an answer");
    assert_eq!(decision.events, [left("data"), over("db", TurnOutcome::Done)]);
    let wake = Command::Wake { due: now };
    let decision = answer(&stream(), &after::<State>(&detaching(now)), &wake, now, &policy).expect("an answer");
    assert_eq!(decision.events, [Event::DrainEnded { outcome: DrainOutcome::TimedOut }]);
}

#[test]
fn whose_turn_is_to_come_goes_on_and_its_volumes_stay() {
    let (state, _) = after::<State>(&going());
    assert_eq!((state.going_on(), state.turn()), (names([]), None), "nobody has been told to end yet");
    let (state, _) = after::<State>(&first(TURN_OVER));
    assert_eq!(state.going_on(), names(["batch", "web"]));
    assert!(["data", "logs", "shared"].into_iter().all(|volume| !state.lets_go_of(&name(volume))));
    assert!(state.pending(&NoView).contains(&Effect::WakeAt(TURN_OVER)), "whose time runs is woken");
    let (state, _) = after::<State>(&detaching(TURN_OVER));
    assert!(state.lets_go_of(&name("data")) && !state.lets_go_of(&name("logs")));
    assert!(state.awaits_detachment_of(&name("data")));
    // Who was not waited for any longer still leaves.
    let (state, _) = after::<State>(&then(detaching(TURN_OVER), [over("db", TurnOutcome::VolumesStayed)]));
    assert!(state.lets_go_of(&name("data")) && !state.awaits_detachment_of(&name("data")));
    let (state, _) = after::<State>(&then(last(TURN_OVER), [Event::DrainEnded { outcome: DrainOutcome::Forced }]));
    assert_eq!((state.going_on(), state.turn(), state.lets_go_of(&name("data"))), (names([]), None, false));
}

#[test]
fn what_is_reported_follows_from_what_runs_and_whose_turn_it_is() {
    let told = |past: Vec<Event>, running| after::<State>(&past).0.drain_report(effect(2), &running);
    let ended = Some(Report::WorkloadEnded { effect: effect(2), workload: name("db") });
    assert_eq!(told(first(TURN_OVER), names(["db", "web"])), None);
    assert_eq!(told(first(TURN_OVER), names(["web"])), ended);
    assert_eq!(told(first(TURN_OVER), names([])), ended);
    assert_eq!(told(detaching(TURN_OVER), names([])), None, "its volumes are waited for");
    let after_all = || then(last(TURN_OVER), [over("batch", TurnOutcome::Done)]);
    assert_eq!(told(after_all(), names(["idle"])), None);
    assert_eq!(told(after_all(), names([])), Some(Report::Drained { effect: effect(2) }));
    let all_over = then(after_all(), [Event::DrainEnded { outcome: DrainOutcome::Empty }]);
    assert_eq!(told(all_over, names([])), None);
}

#[test]
fn a_replacement_takes_its_turns_too() {
    let mut past = going();
    past.retain(|event| !matches!(event, Event::RemovalBegan { .. }));
    past.insert(4, Event::BecameOverdue { cause: Cause::Unhealthy, until: Timestamp(2), at: Timestamp(2) });
    let (state, _) = after::<State>(&then(past, allowed(false, TURN_OVER)));
    assert_eq!(state.turn().map(|turn| turn.workload.clone()), Some(name("db")));
}

/// Something that may be said to a machine while it is drained.
fn said(kind: u8, value: u8, state: &State) -> Command {
    let workload = || name(["db", "web", "batch"][usize::from(value % 3)]);
    let volume = || name(["data", "logs", "shared", "elsewhere"][usize::from(value % 4)]);
    let effect = effect(if value.is_multiple_of(11) { 9 } else { 2 });
    match (kind % 6, state.turn()) {
        (0, _) => Command::AllowEviction { effect },
        (1, Some(turn)) => Command::Report(Report::WorkloadEnded { effect, workload: turn.workload.clone() }),
        (1 | 2, _) => Command::Report(Report::WorkloadEnded { effect, workload: workload() }),
        (3, _) => Command::NoteDetached { effect, volume: volume() },
        (4, _) => Command::ReleaseAttachment { volume: volume() },
        _ => Command::Wake { due: NOW },
    }
}

proptest! {
    #[test]
    fn one_turn_follows_the_other_and_no_volume_leaves_before_who_uses_it(
        dice in vec((any::<u8>(), any::<u8>(), 0..200_000u64), 0..40)
    ) {
        let policy = Document::default();
        let (mut past, mut now) = (going(), NOW);
        let spec = after::<State>(&past).0.spec.expect("declared");
        for (kind, value, step) in dice {
            let given = after::<State>(&past);
            let before = given.0.drain.clone().expect("drained");
            now = now.after(step);
            let events = answer(&stream(), &given, &said(kind, value, &given.0), now, &policy).map(|decision| decision.events);
            past.extend(events.unwrap_or_default());
            let state = after::<State>(&past).0;
            let Some(turns) = state.turns() else { break };
            let uses = |workload: &Name, volume: &Name| {
                spec.workloads.iter().any(|known| known.name == *workload && known.volumes.contains(volume))
            };
            let going_on = state.going_on();
            let is_used = |volume: &Name| going_on.iter().any(|workload| uses(workload, volume));
            assert!(!turns.leaving.iter().any(is_used), "nothing leaves before the last who uses it has ended");
            let owed = state.pending(&NoView);
            assert!(state.turn().is_none_or(|turn| owed.contains(&Effect::WakeAt(turn.until))), "who waits is woken");
            assert!(state.turn().is_none_or(|turn| turn.until <= before.until), "no turn takes longer than the drain may");
        }
        let order = past.iter().filter_map(|event| match event {
            Event::TurnBegan { workload, .. } => Some((true, workload.as_str())),
            Event::TurnEnded { workload, .. } => Some((false, workload.as_str())),
            _ => None,
        });
        let all = ["db", "web", "batch"].map(|title| [(true, title), (false, title)]).concat();
        assert!(all.starts_with(&order.collect::<Vec<_>>()), "one after the other, each once");
    }
}
