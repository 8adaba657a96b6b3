//! Workloads end before an instance goes, and nobody waits where nobody answers.

use std::sync::Arc;

use super::{NOW, State, condition, effect, instance, name, spec, stream};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, answer, case},
    },
    machine::{
        BudgetSeen, Cause, Command, DrainOutcome, Effect, Event, Reason as R, Removal, Report, Skipped, Spec, TurnPlan,
        Workload, rules::READ_ONLY,
    },
    policy::Document,
    ports::{Condition, Healthy},
    vocab::{HarvestMode, Timestamp},
};

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

/// It runs a workload, and its agent reports.
fn busy() -> Vec<Event> {
    let app = Workload::new(name("app"), vec!["app".into()]);
    let spec = Arc::new(Spec { workloads: vec![app], ..(*spec("local")).clone() });
    let at = Timestamp(2);
    vec![
        Event::Declared { spec },
        Event::CreateRequested { at },
        Event::Created { instance: instance(2), at },
        Event::NodeReported { conditions: vec![condition(true)], at },
        Event::BecameWell { at },
    ]
}

/// What is planned for its workload.
fn turns() -> Vec<TurnPlan> {
    vec![TurnPlan { workload: name("app"), volumes: [].into(), wave: 0, grace_ms: Workload::GRACE_MS }]
}

fn began(until: u64) -> Event {
    Event::DrainBegan { at: Timestamp(5), until: Timestamp(until), turns: turns() }
}

fn going(until: u64) -> Vec<Event> {
    then(busy(), [Event::RemovalBegan { at: NOW }, began(until)])
}

fn with_volume(past: Vec<Event>) -> Vec<Event> {
    let reserved = Event::AttachmentReserved { volume: name("data") };
    let mut past = past;
    past.insert(5, reserved);
    past
}

fn overdue() -> Vec<Event> {
    then(busy(), [Event::BecameOverdue { cause: Cause::Unhealthy, until: Timestamp(4), at: Timestamp(4) }])
}

fn ended(outcome: DrainOutcome) -> Event {
    Event::DrainEnded { outcome }
}

fn budget() -> BudgetSeen {
    BudgetSeen { application: name("shop"), available: 1, needed: 2, others: 2 }
}

/// One of an application with two machines.
fn hopeless() -> BudgetSeen {
    BudgetSeen { others: 1, ..budget() }
}

/// Its node says since then that it cannot be written to.
fn unfit(at: u64, text: &str) -> Event {
    let read_only = Condition { kind: READ_ONLY.into(), healthy: Healthy::No, text: text.into() };
    Event::NodeReported { conditions: vec![read_only], at: Timestamp(at) }
}

fn refused(until: u64) -> Event {
    Event::EvictionRefused { workload: name("app"), budget: budget(), until: Timestamp(until) }
}

fn allowed(is_forced: bool) -> Event {
    Event::TurnBegan { workload: name("app"), is_forced, until: NOW.after(35_000) }
}

fn again() -> Event {
    Event::EvictionAskedAgain { workload: name("app") }
}

fn dies() -> [Event; 2] {
    [Event::Died, Event::DeleteRequested { at: NOW }]
}

pub(super) fn table() -> Vec<Case<State>> {
    drains().into_iter().chain(hopeless_budgets()).chain(unfit_nodes()).collect()
}

/// Nothing is forced by how often a budget refuses that never has room.
fn hopeless_budgets() -> Vec<Case<State>> {
    let refuse = || Command::RefuseEviction { effect: effect(2), workload: name("app"), budget: hopeless() };
    let refused = |until| Event::EvictionRefused { workload: name("app"), budget: hopeless(), until };
    let later = || Ok((R::BudgetHopeless, vec![refused(NOW.after(600_000))]));
    let often = (0..400).flat_map(|_| [refused(Timestamp(5)), again()]);
    let stranded = || then(going(900_000), [refused(Timestamp(5))]);
    let shrunk = Command::AllowEviction { effect: effect(2), workloads: [name("app")].into() };
    let grown = Command::RefuseEviction { effect: effect(2), workload: name("app"), budget: budget() };
    let soon = Event::EvictionRefused { workload: name("app"), budget: budget(), until: NOW.after(20_000) };
    vec![
        case(going(900_000), refuse(), later()),
        case(then(going(900_000), often), refuse(), later()),
        // Somebody has acted: the budget has room, or could have it.
        case(stranded(), shrunk, Ok((R::EvictionAllowed, vec![allowed(false)]))),
        case(stranded(), grown, Ok((R::EvictionRefused, vec![soon]))),
        case(stranded(), refuse(), Ok((R::EvictionNotAsked, vec![]))),
    ]
}

/// Here a node may be unfit for 50 seconds.
fn unfit_nodes() -> Vec<Case<State>> {
    let skipped = || Ok((R::DrainSkipped, then(vec![Event::RemovalBegan { at: NOW }], dies())));
    let begins = Event::DrainBegan { at: NOW, until: NOW.after(7_200_000), turns: turns() };
    let drained = || Ok((R::RemovalDrains, vec![Event::RemovalBegan { at: NOW }, begins.clone()]));
    let well = Event::NodeReported { conditions: vec![condition(true)], at: Timestamp(30_000) };
    let told = |reports: Vec<Event>| then(busy(), reports);
    vec![
        case(told(vec![unfit(49_999, "no")]), Command::Remove, skipped()),
        case(told(vec![unfit(50_000, "no")]), Command::Remove, drained()),
        case(told(vec![unfit(9, "no"), unfit(90_000, "still")]), Command::Remove, skipped()),
        case(told(vec![unfit(9, "no"), well, unfit(90_000, "again")]), Command::Remove, drained()),
    ]
}

fn drains() -> Vec<Case<State>> {
    let drained = || Command::Report(Report::Drained { effect: effect(2) });
    let silent = || Command::Report(Report::NodeSilent { effect: effect(2), last_seen: Timestamp(50_000) });
    let lost = || Command::Report(Report::Lost { effect: effect(2) });
    let begins = Event::DrainBegan { at: NOW, until: NOW.after(7_200_000), turns: turns() };
    let stale = Event::NodeWentStale { last_seen: Timestamp(50_000) };
    let forced = Command::RemoveWith(Removal { force: true, ..Removal::default() });
    let release = Command::ReleaseAttachment { volume: name("data") };
    let released = || Event::AttachmentReleased { volume: name("data") };
    let wake = || Command::Wake { due: NOW };
    let allow = |version| Command::AllowEviction { effect: effect(version), workloads: [name("app")].into() };
    let refuse = |version| Command::RefuseEviction { effect: effect(version), workload: name("app"), budget: budget() };
    let once = |until| then(going(900_000), [refused(until)]);
    let two = then(
        super::with_volume(),
        [Event::AttachmentReserved { volume: name("logs") }, Event::RemovalBegan { at: NOW }],
    );
    vec![
        case(going(900_000), allow(2), Ok((R::EvictionAllowed, vec![allowed(false)]))),
        case(going(900_000), allow(9), Ok((R::EvictionNotAsked, vec![]))),
        case(going(900_000), refuse(9), Ok((R::EvictionNotAsked, vec![]))),
        case(busy(), refuse(2), Ok((R::EvictionNotAsked, vec![]))),
        case(going(900_000), refuse(2), Ok((R::EvictionRefused, vec![refused(120_000)]))),
        case(once(120_000), allow(2), Ok((R::EvictionNotAsked, vec![]))),
        case(once(120_000), wake(), Ok((R::NotDueYet, vec![]))),
        case(once(100_000), wake(), Ok((R::RetryDue, vec![again()]))),
        case(then(once(100_000), [again()]), refuse(2), Ok((R::EvictionRefused, vec![refused(120_000)]))),
        case(
            then(going(900_000), (0..359).flat_map(|_| [refused(5), again()])),
            refuse(2),
            Ok((R::EvictionForced, vec![allowed(true)])),
        ),
        // The drain as a whole has its own time-out.
        case(
            then(going(100_000), [refused(120_000)]),
            wake(),
            Ok((R::DrainTimedOut, then(vec![ended(DrainOutcome::TimedOut)], dies()))),
        ),
        case(two, release.clone(), Ok((R::AttachmentGone, vec![released()]))),
        case(busy(), Command::Remove, Ok((R::RemovalDrains, vec![Event::RemovalBegan { at: NOW }, begins.clone()]))),
        case(
            with_volume(busy()),
            Command::Remove,
            Ok((R::RemovalDrains, vec![Event::RemovalBegan { at: NOW }, begins.clone()])),
        ),
        case(going(900_000), drained(), Ok((R::Drained, then(vec![ended(DrainOutcome::Empty)], dies())))),
        // Volumes go after what uses them, and the machine after them.
        case(with_volume(going(900_000)), drained(), Ok((R::Drained, vec![ended(DrainOutcome::Empty)]))),
        case(with_volume(going(900_000)), release.clone(), Ok((R::AttachmentGone, vec![released()]))),
        case(
            then(with_volume(going(900_000)), [ended(DrainOutcome::Empty)]),
            release,
            Ok((R::LastAttachmentGone, then(vec![released()], dies()))),
        ),
        case(going(900_000), wake(), Ok((R::NotDueYet, vec![]))),
        case(going(100_000), wake(), Ok((R::DrainTimedOut, then(vec![ended(DrainOutcome::TimedOut)], dies())))),
        case(going(900_000), silent(), Ok((R::NodeTooSilent, then(vec![stale, ended(DrainOutcome::Silent)], dies())))),
        case(going(900_000), lost(), Ok((R::InstanceGone, then(vec![Event::InstanceLost { at: NOW }], dies())))),
        case(with_volume(going(900_000)), lost(), Ok((R::InstanceGone, vec![Event::InstanceLost { at: NOW }]))),
        case(going(900_000), forced.clone(), Ok((R::RemovalForced, then(vec![ended(DrainOutcome::Forced)], dies())))),
        case(
            with_volume(busy()),
            forced,
            Ok((
                R::RemovalForced,
                then(
                    vec![
                        Event::RemovalBegan { at: NOW },
                        Event::Skipped { what: Skipped::Attachment { volume: name("data") } },
                    ],
                    dies(),
                ),
            )),
        ),
        case(busy(), drained(), Ok((R::StaleReport, vec![]))),
        case(then(going(900_000), [ended(DrainOutcome::Empty)]), drained(), Ok((R::StaleReport, vec![]))),
        // A replacement waits for what still runs, too; and is not asked for twice.
        case(
            overdue(),
            Command::GiveUp { effect: effect(2) },
            Ok((R::GivenUp, vec![Event::GivenUp { cause: Cause::Unhealthy, at: NOW }, begins])),
        ),
        case(then(overdue(), [began(900_000)]), Command::GiveUp { effect: effect(2) }, Ok((R::AlreadyGoing, vec![]))),
        case(
            then(overdue(), [began(900_000)]),
            drained(),
            Ok((R::Drained, vec![ended(DrainOutcome::Empty), Event::DeleteRequested { at: NOW }])),
        ),
        case(
            then(overdue(), [began(900_000)]),
            Command::Remove,
            Ok((R::RemovalDrains, vec![Event::RemovalBegan { at: NOW }])),
        ),
    ]
}

#[test]
fn whoever_was_refused_is_woken_to_ask_again() {
    let (state, _) = after::<State>(&then(going(900_000), [refused(120_000)]));
    let due = |until| Effect::WakeAt(Timestamp(until));
    assert_eq!(state.pending(&NoView), [due(120_000), due(900_000)].into());
    let (state, _) = after::<State>(&then(going(900_000), [refused(120_000), again()]));
    assert_eq!(state.asking(), [name("app")].into());
    assert_eq!(state.pending(&NoView), [due(900_000)].into());
}

#[test]
fn who_keeps_its_instance_keeps_what_runs_in_it() {
    let mut policy = Document::default();
    let keeping = Command::RemoveWith(Removal { keep_instance: true, ..Removal::default() });
    let drains = |command: &Command, policy: &Document| {
        let decision = answer(&stream(), &after::<State>(&busy()), command, NOW, policy).expect("an answer");
        decision.events.iter().any(|event| matches!(event, Event::DrainBegan { .. }))
    };
    assert!(!drains(&keeping, &policy));
    assert!(drains(&Command::Remove, &policy));
    policy.harvest.mode = HarvestMode::None;
    assert!(!drains(&Command::Remove, &policy));
    policy.harvest.mode = HarvestMode::Destroyed;
    policy.reconciliation.drain.timeout_ms = 0;
    assert!(!drains(&Command::Remove, &policy), "no time, no drain");
}
