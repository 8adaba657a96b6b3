//! Workloads end by their priority, those with volumes one after the other: each with its volumes, or with its time.

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
    policy::{Document, DrainOrder},
    vocab::{Name, Timestamp},
};

/// The defaults: 5 s of grace, and 2 min to be detached.
const TURN_OVER: Timestamp = Timestamp(NOW.0 + 125_000);

fn names<const N: usize>(all: [&str; N]) -> BTreeSet<Name> {
    all.map(name).into()
}

fn workload<const N: usize>(title: &str, volumes: [&str; N]) -> Workload {
    Workload { volumes: names(volumes), ..Workload::new(name(title), vec![title.into()]) }
}

fn plan<const N: usize>(title: &str, volumes: [&str; N], wave: u32) -> TurnPlan {
    TurnPlan { workload: name(title), volumes: names(volumes), wave, grace_ms: 5_000 }
}

/// `db` and `web` use a volume each, `web` and `batch` a third one, `idle` none. One is not attached.
fn workloads() -> Vec<Workload> {
    vec![
        workload("db", ["data"]),
        workload("idle", []),
        workload("web", ["logs", "shared"]),
        workload("batch", ["elsewhere", "shared"]),
    ]
}

/// A machine on which these run.
fn running(workloads: Vec<Workload>) -> Vec<Event> {
    let at = Timestamp(2);
    let reserved = ["data", "logs", "shared"].map(|volume| Event::AttachmentReserved { volume: name(volume) });
    let mut past = vec![
        Event::Declared { spec: Arc::new(Spec { workloads, ..(*spec("local")).clone() }) },
        Event::CreateRequested { at },
        Event::Created { instance: instance(2), at },
        Event::NodeReported { conditions: vec![condition(true)], at },
    ];
    past.extend(reserved);
    past
}

/// It is drained.
fn going() -> Vec<Event> {
    let turns = vec![
        plan("db", ["data"], 0),
        plan("idle", [], 0),
        plan("web", ["logs", "shared"], 0),
        plan("batch", ["elsewhere", "shared"], 0),
    ];
    let began = Event::DrainBegan { at: Timestamp(2), until: Timestamp(900_000), turns };
    then(running(workloads()), [Event::RemovalBegan { at: NOW }, began])
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn began(title: &str, until: Timestamp) -> Event {
    Event::TurnBegan { workload: name(title), is_forced: false, until }
}

/// The turn of `db`.
fn first(until: Timestamp) -> Vec<Event> {
    then(going(), [began("db", until)])
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

/// The turn of the last one; `idle` has ended, and `web` has stayed.
fn last(until: Timestamp) -> Vec<Event> {
    let done = |title| over(title, TurnOutcome::Done);
    let middle = [done("db"), done("idle"), began("web", until), over("web", TurnOutcome::WorkloadStayed)];
    then(first(until), then(middle.into(), [began("batch", until)]))
}

fn left(volume: &str) -> Event {
    Event::VolumeDetached { volume: name(volume) }
}

fn budget() -> BudgetSeen {
    BudgetSeen { application: name("shop"), available: 1, needed: 2, others: 2 }
}

fn refused(title: &str, until: u64) -> Event {
    Event::EvictionRefused { workload: name(title), budget: budget(), until: Timestamp(until) }
}

fn allow<const N: usize>(titles: [&str; N]) -> Command {
    Command::AllowEviction { effect: effect(2), workloads: names(titles) }
}

pub(super) fn table() -> Vec<Case<State>> {
    let report = |version, title: &str| {
        Command::Report(Report::WorkloadsEnded { effect: effect(version), workloads: names([title]) })
    };
    let note = |version, volume: &str| Command::NoteDetached { effect: effect(version), volume: name(volume) };
    let drained = || Command::Report(Report::Drained { effect: effect(2) });
    let refuse = |title: &str| Command::RefuseEviction { effect: effect(2), workload: name(title), budget: budget() };
    let again = |title: &str| Event::EvictionAskedAgain { workload: name(title) };
    let wake = || Command::Wake { due: NOW };
    let done = |title: &str| over(title, TurnOutcome::Done);
    let late = Timestamp(NOW.0 - 1);
    vec![
        // Who has volumes has its turn, and who has none does not wait for it; the others are not asked yet.
        case(
            going(),
            allow(["db", "idle", "web"]),
            Ok((R::EvictionAllowed, vec![began("db", TURN_OVER), began("idle", NOW.after(35_000))])),
        ),
        case(first(TURN_OVER), allow(["web"]), Ok((R::EvictionNotAsked, vec![]))),
        case(going(), refuse("web"), Ok((R::EvictionNotAsked, vec![]))),
        case(
            then(going(), (0..359).flat_map(|_| [refused("db", 5), again("db")])),
            refuse("db"),
            Ok((R::EvictionForced, vec![Event::TurnBegan { workload: name("db"), is_forced: true, until: TURN_OVER }])),
        ),
        // Each is refused by itself, and holds up nobody.
        case(
            then(going(), [refused("db", 200_000)]),
            allow(["web"]),
            Ok((R::EvictionAllowed, vec![began("web", TURN_OVER)])),
        ),
        case(then(going(), [refused("db", 5), refused("web", 200_000)]), wake(), Ok((R::RetryDue, vec![again("db")]))),
        // It has ended: its volume is next, and the other goes on waiting.
        case(first(TURN_OVER), report(2, "db"), Ok((R::WorkloadEnded, vec![ended("db", ["data"])]))),
        case(first(TURN_OVER), report(2, "web"), Ok((R::StaleReport, vec![]))),
        case(first(TURN_OVER), report(9, "db"), Ok((R::StaleReport, vec![]))),
        case(detaching(TURN_OVER), report(2, "db"), Ok((R::StaleReport, vec![]))),
        case(first(TURN_OVER), note(2, "data"), Ok((R::DetachmentNotAwaited, vec![]))),
        case(detaching(TURN_OVER), note(2, "logs"), Ok((R::DetachmentNotAwaited, vec![]))),
        case(detaching(TURN_OVER), note(9, "data"), Ok((R::DetachmentNotAwaited, vec![]))),
        // It has left, in one way or the other.
        case(detaching(TURN_OVER), note(2, "data"), Ok((R::VolumeDetached, vec![left("data"), done("db")]))),
        case(
            detaching(TURN_OVER),
            Command::ReleaseAttachment { volume: name("data") },
            Ok((R::AttachmentGone, vec![Event::AttachmentReleased { volume: name("data") }, done("db")])),
        ),
        // The time is over, of one step or the other.
        case(first(TURN_OVER), wake(), Ok((R::NotDueYet, vec![]))),
        case(first(late), wake(), Ok((R::TurnTimedOut, vec![over("db", TurnOutcome::WorkloadStayed)]))),
        case(detaching(late), wake(), Ok((R::TurnTimedOut, vec![over("db", TurnOutcome::VolumesStayed)]))),
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

fn decided(past: Vec<Event>, command: &Command, now: Timestamp, policy: &Document) -> Vec<Event> {
    answer(&stream(), &after::<State>(&past), command, now, policy).expect("an answer").events
}

/// What is planned when the machine of these is removed, as `workload: wave`.
fn planned(workloads: Vec<Workload>, policy: &Document) -> Vec<String> {
    let events = decided(running(workloads), &Command::Remove, NOW, policy);
    let turns = events.into_iter().find_map(|event| match event {
        Event::DrainBegan { turns, .. } => Some(turns),
        _ => None,
    });
    turns.expect("it is drained").iter().map(|plan| format!("{}: {}", plan.workload, plan.wave)).collect()
}

#[test]
fn the_least_important_end_first_or_as_the_policy_says() {
    let mut policy = Document::default();
    let graded = || {
        let priorities = [0, 9, -5, 9];
        let graded = workloads().into_iter().zip(priorities);
        graded.map(|(workload, priority)| Workload { priority, ..workload }).collect::<Vec<_>>()
    };
    assert_eq!(planned(graded(), &policy), ["web: 0", "db: 1", "idle: 2", "batch: 2"]);
    assert_eq!(planned(workloads(), &policy), ["db: 0", "idle: 0", "web: 0", "batch: 0"]);
    policy.reconciliation.drain.order = DrainOrder::HighestFirst;
    assert_eq!(planned(graded(), &policy), ["idle: 0", "batch: 0", "db: 0", "web: 0"]);
}

#[test]
fn a_wave_waits_for_the_one_before_and_for_nobody_whom_a_budget_keeps() {
    let turns = vec![plan("db", [], 0), plan("idle", [], 0), plan("web", [], 1), plan("batch", [], 2)];
    let drained = Event::DrainBegan { at: Timestamp(2), until: Timestamp(900_000), turns };
    let drained = then(running(workloads()), [Event::RemovalBegan { at: NOW }, drained]);
    let asking = |more: Vec<Event>| after::<State>(&then(drained.clone(), more)).0.asking();
    let done = |title: &str| over(title, TurnOutcome::Done);
    assert_eq!(asking(vec![]), names(["db", "idle"]), "side by side");
    assert_eq!(asking(vec![began("db", TURN_OVER)]), names(["idle"]));
    assert_eq!(asking(vec![began("db", TURN_OVER), began("idle", TURN_OVER)]), names([]));
    let one = vec![began("db", TURN_OVER), began("idle", TURN_OVER), done("db")];
    assert_eq!(asking(one.clone()), names([]));
    assert_eq!(asking(then(one, [done("idle")])), names(["web"]));
    let kept = vec![began("db", TURN_OVER), refused("idle", 200_000), done("db")];
    assert_eq!(asking(kept.clone()), names(["web"]));
    let both = then(kept, [Event::EvictionAskedAgain { workload: name("idle") }]);
    assert_eq!(asking(both), names(["idle"]), "whoever is asked again comes before the later ones");
}

#[test]
fn each_has_its_own_grace_beside_the_time_that_the_policy_gives_all() {
    let policy = Document::default();
    let patient = |title: &str, volume: &[&str]| {
        let volumes = volume.iter().map(|volume| name(volume)).collect();
        Workload { grace_ms: Some(60_000), volumes, ..workload(title, []) }
    };
    let both = vec![patient("db", &["data"]), patient("idle", &[]), workload("web", [])];
    let events = decided(running(both.clone()), &Command::Remove, NOW, &policy);
    let allow = allow(["db", "idle", "web"]);
    let told = decided(then(running(both), events), &allow, NOW, &policy);
    let until = |ms| NOW.after(ms);
    assert_eq!(told, [began("db", until(180_000)), began("idle", until(90_000)), began("web", until(35_000))]);
}

#[test]
fn a_turn_ends_with_the_drain_at_the_latest() {
    let mut policy = Document::default();
    policy.reconciliation.drain.volume_detach_ms = 10_000_000;
    assert_eq!(decided(going(), &allow(["db"]), NOW, &policy), [began("db", Timestamp(900_000))]);
    // When the drain's time is over, that ends all of it.
    let now = Timestamp(900_000);
    let wake = Command::Wake { due: now };
    let events = decided(detaching(now), &wake, now, &policy);
    assert_eq!(events, [Event::DrainEnded { outcome: DrainOutcome::TimedOut }]);
}

#[test]
fn whose_turn_is_to_come_goes_on_and_its_volumes_stay() {
    let (state, _) = after::<State>(&going());
    assert_eq!(state.going_on(), names(["batch", "db", "idle", "web"]), "nobody has been told to end yet");
    let (state, _) = after::<State>(&first(TURN_OVER));
    assert_eq!(state.going_on(), names(["batch", "idle", "web"]));
    assert!(["data", "logs", "shared"].into_iter().all(|volume| !state.lets_go_of(&name(volume))));
    assert!(state.pending(&NoView).contains(&Effect::WakeAt(TURN_OVER)), "whose time runs is woken");
    let (state, _) = after::<State>(&detaching(TURN_OVER));
    assert!(state.lets_go_of(&name("data")) && !state.lets_go_of(&name("logs")));
    assert!(state.awaits_detachment_of(&name("data")));
    // Who was not waited for any longer still leaves.
    let (state, _) = after::<State>(&then(detaching(TURN_OVER), [over("db", TurnOutcome::VolumesStayed)]));
    assert!(state.lets_go_of(&name("data")) && !state.awaits_detachment_of(&name("data")));
    let (state, _) = after::<State>(&then(last(TURN_OVER), [Event::DrainEnded { outcome: DrainOutcome::Forced }]));
    assert_eq!((state.going_on(), state.asking(), state.lets_go_of(&name("data"))), (names([]), names([]), false));
}

#[test]
fn what_several_use_leaves_with_the_last_of_them_that_ends() {
    let policy = Document::default();
    let ends = |title: &str| Command::Report(Report::WorkloadsEnded { effect: effect(2), workloads: names([title]) });
    let web = then(going(), [over("db", TurnOutcome::Done), began("web", TURN_OVER)]);
    assert_eq!(decided(web, &ends("web"), NOW, &policy), [ended("web", ["logs"])]);
    // A budget keeps `web`, so that `batch` ends before it.
    let batch = then(going(), [over("db", TurnOutcome::Done), refused("web", 900_000), began("batch", TURN_OVER)]);
    let done = over("batch", TurnOutcome::Done);
    assert_eq!(decided(batch.clone(), &ends("batch"), NOW, &policy), [ended("batch", []), done.clone()]);
    let again = Event::EvictionAskedAgain { workload: name("web") };
    let web = then(batch, [ended("batch", []), done, again, began("web", TURN_OVER)]);
    assert_eq!(decided(web, &ends("web"), NOW, &policy), [ended("web", ["logs", "shared"])]);
}

#[test]
fn what_is_reported_follows_from_what_runs_and_whose_turn_it_is() {
    let told = |past: Vec<Event>, running| {
        let state = after::<State>(&past).0;
        state.drain_report(effect(2), &running, &state.going_on())
    };
    let ended = Some(Report::WorkloadsEnded { effect: effect(2), workloads: names(["db"]) });
    assert_eq!(told(first(TURN_OVER), names(["db", "web"])), None);
    assert_eq!(told(first(TURN_OVER), names(["web"])), ended);
    assert_eq!(told(first(TURN_OVER), names([])), ended);
    assert_eq!(told(detaching(TURN_OVER), names([])), None, "its volumes are waited for");
    let after_all = || then(last(TURN_OVER), [over("batch", TurnOutcome::Done)]);
    assert_eq!(told(after_all(), names(["web"])), None);
    assert_eq!(told(after_all(), names([])), Some(Report::Drained { effect: effect(2) }));
    let kept = then(going(), [refused("db", 900_000)]);
    assert_eq!(told(kept, names([])), None, "whoever goes on may come back");
    let all_over = then(after_all(), [Event::DrainEnded { outcome: DrainOutcome::Empty }]);
    assert_eq!(told(all_over, names([])), None);
}

#[test]
fn a_replacement_takes_its_turns_too() {
    let mut past = going();
    past.retain(|event| !matches!(event, Event::RemovalBegan { .. }));
    past.insert(4, Event::BecameOverdue { cause: Cause::Unhealthy, until: Timestamp(2), at: Timestamp(2) });
    assert_eq!(after::<State>(&past).0.asking(), names(["db", "idle"]));
}

/// Something that may be said to a machine while it is drained.
fn said(kind: u8, value: u8) -> Command {
    let workload = || name(["db", "web", "batch", "idle"][usize::from(value % 4)]);
    let volume = || name(["data", "logs", "shared", "elsewhere"][usize::from(value % 4)]);
    let effect = effect(if value.is_multiple_of(11) { 9 } else { 2 });
    match kind % 7 {
        0 => Command::AllowEviction { effect, workloads: names(["batch", "db", "idle", "web"]) },
        1 => Command::RefuseEviction { effect, workload: workload(), budget: budget() },
        2 | 3 => Command::Report(Report::WorkloadsEnded { effect, workloads: [workload()].into() }),
        4 => Command::NoteDetached { effect, volume: volume() },
        5 => Command::ReleaseAttachment { volume: volume() },
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
        for (kind, value, step) in dice {
            let given = after::<State>(&past);
            let before = given.0.drain.clone().expect("drained");
            now = now.after(step);
            let events = answer(&stream(), &given, &said(kind, value), now, &policy).map(|decision| decision.events);
            past.extend(events.unwrap_or_default());
            let state = after::<State>(&past).0;
            let Some(turns) = state.turns() else { break };
            let begun: BTreeSet<Name> = turns.all.iter().filter_map(|turn| match turn.step {
                crate::machine::TurnStep::Ending { until } => {
                    assert!(until <= before.until, "no turn takes longer than the drain may");
                    Some(turn.plan.workload.clone())
                }
                _ => None,
            }).collect();
            let inside = |title: &Name| state.going_on().contains(title) || begun.contains(title);
            let uses = |volume: &Name| workloads().iter().any(|it| it.volumes.contains(volume) && inside(&it.name));
            assert!(!turns.leaving.iter().any(uses), "nothing leaves before the last who uses it has ended");
            let one_by_one = workloads().iter().filter(|it| !it.volumes.is_empty() && begun.contains(&it.name)).count();
            assert!(one_by_one <= 1, "those with volumes end one after the other");
            assert!(begun.is_empty() || state.pending(&NoView).iter().any(|it| matches!(it, Effect::WakeAt(_))));
        }
        let mut started = BTreeSet::new();
        let order = past.iter().filter_map(|event| match event {
            Event::TurnBegan { workload, .. } => Some(workload.clone()),
            _ => None,
        });
        assert!(order.into_iter().all(|workload| started.insert(workload)), "each once");
    }
}
