//! Joining, well, suspect, overdue, given up; and the two older ways to say where a machine stands.

use super::{
    NOW, State, condition, dead, declared, dying, effect, given_up, joining, lost, name, removed, replacing, running,
    stream, waiting,
};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, answer, case},
    },
    machine::{Cause, Command, Effect, Event, Health, Reason as R, Report, Step, juju_status, phase},
    policy::Document,
    ports::Condition,
    vocab::{MachinePhase, Timestamp},
};

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn joined_until(until: u64) -> Vec<Event> {
    then(running(), [Event::JoinAwaited { until: Timestamp(until), at: Timestamp(2) }])
}

fn reported(healthy: bool) -> Event {
    Event::NodeReported { conditions: vec![condition(healthy)], at: NOW }
}

fn well() -> Vec<Event> {
    then(joined_until(900_000), [reported(true), Event::BecameWell { at: Timestamp(3) }])
}

fn suspect(until: u64) -> Vec<Event> {
    let event = Event::BecameSuspect { cause: Cause::Silent, at: Timestamp(4), until: Timestamp(until) };
    then(well(), [Event::NodeWentStale { last_seen: Timestamp(4) }, event])
}

fn overdue() -> Vec<Event> {
    then(suspect(5), [Event::BecameOverdue { cause: Cause::Silent, until: Timestamp(5), at: Timestamp(5) }])
}

fn held() -> Event {
    Event::Held { reason: "wait".into(), until: None, at: NOW }
}

fn tell(conditions: Vec<Condition>) -> Command {
    Command::Report(Report::Node { effect: effect(2), conditions })
}

pub(super) fn table() -> Vec<Case<State>> {
    let became_suspect = |cause| Event::BecameSuspect { cause, at: NOW, until: NOW.after(600_000) };
    let silent = Command::Report(Report::NodeSilent { effect: effect(2), last_seen: Timestamp(50_000) });
    let wake = || Command::Wake { due: NOW };
    let give_up = || Command::GiveUp { effect: effect(2) };
    let replaced = |cause| vec![Event::GivenUp { cause, at: NOW }, Event::DeleteRequested { at: NOW }];
    vec![
        case(
            well(),
            tell(vec![condition(false)]),
            Ok((R::NodeSeen, vec![reported(false), became_suspect(Cause::Unhealthy)])),
        ),
        // Who has not joined yet keeps the time that it has, whatever it reports.
        case(joined_until(900_000), tell(vec![condition(false)]), Ok((R::NodeSeen, vec![reported(false)]))),
        case(
            well(),
            silent,
            Ok((
                R::NodeTooSilent,
                vec![Event::NodeWentStale { last_seen: Timestamp(50_000) }, became_suspect(Cause::Silent)],
            )),
        ),
        case(
            suspect(900_000),
            tell(vec![condition(true)]),
            Ok((R::NodeSeen, vec![reported(true), Event::BecameWell { at: NOW }])),
        ),
        case(suspect(100_001), wake(), Ok((R::NotDueYet, vec![]))),
        case(
            suspect(100_000),
            wake(),
            Ok((R::TimeOver, vec![Event::BecameOverdue { cause: Cause::Silent, until: Timestamp(100_000), at: NOW }])),
        ),
        case(
            joined_until(100_000),
            wake(),
            Ok((
                R::TimeOver,
                vec![Event::BecameOverdue { cause: Cause::NeverJoined, until: Timestamp(100_000), at: NOW }],
            )),
        ),
        case(overdue(), give_up(), Ok((R::GivenUp, replaced(Cause::Silent)))),
        case(suspect(900_000), give_up(), Ok((R::Recovered, vec![]))),
        case(overdue(), Command::GiveUp { effect: effect(9) }, Ok((R::Recovered, vec![]))),
        case(
            overdue(),
            Command::Reprieve { effect: effect(2) },
            Ok((R::ZoneIsBack, vec![Event::BecameSuspect { cause: Cause::Silent, at: NOW, until: NOW.after(60_000) }])),
        ),
        case(well(), Command::Reprieve { effect: effect(2) }, Ok((R::Recovered, vec![]))),
        // What was found while its provider was out is found anew: all of its time begins again.
        case(
            overdue(),
            Command::JudgeAnew { effect: effect(2), since: Timestamp(5) },
            Ok((R::ProviderIsBack, vec![became_suspect(Cause::Silent)])),
        ),
        case(
            suspect(100_001),
            Command::JudgeAnew { effect: effect(2), since: Timestamp(4) },
            Ok((R::ProviderIsBack, vec![became_suspect(Cause::Silent)])),
        ),
        case(well(), Command::JudgeAnew { effect: effect(2), since: Timestamp(3) }, Ok((R::Recovered, vec![]))),
        case(overdue(), Command::JudgeAnew { effect: effect(9), since: Timestamp(5) }, Ok((R::Recovered, vec![]))),
        // It got well and came under suspicion again while the order was on its way.
        case(overdue(), Command::JudgeAnew { effect: effect(2), since: Timestamp(2) }, Ok((R::Recovered, vec![]))),
        // It may get well while the order is on its way.
        case(then(overdue(), [reported(true), Event::BecameWell { at: NOW }]), give_up(), Ok((R::Recovered, vec![]))),
        case(
            then(overdue(), [held()]),
            give_up(),
            Ok((R::OnHold, vec![Event::Withheld { step: Step::GiveUp, at: NOW }])),
        ),
        // An operator waits neither for room nor for the zone.
        case(overdue(), Command::RetryProvisioning, Ok((R::OperatorRetries, replaced(Cause::Silent)))),
    ]
}

#[test]
fn only_what_is_watched_makes_a_node_unhealthy() {
    let policy = Document::default();
    let told = |kind: &str, healthy: bool| {
        let condition = Condition { kind: kind.into(), healthy: healthy.into(), text: String::new() };
        let given = after::<State>(&joined_until(900_000));
        let decision = answer(&stream(), &given, &tell(vec![condition]), NOW, &policy).expect("an answer");
        decision.events.contains(&Event::BecameWell { at: NOW })
    };
    assert!(told("DiskPressure", true) && told("MemoryPressure", true) && told("Ready", true));
    assert!(!told("DiskPressure", false) && !told("KernelDeadlock", false) && !told("Ready", false));
    assert!(told("MemoryPressure", false), "nobody watches it");
    assert!(told("HostDiskPressure", false), "what is wrong with the host is not wrong with each machine on it");
}

#[test]
fn whose_time_runs_is_woken_also_while_it_is_held() {
    let wanted = |events: &[Event]| after::<State>(events).0.pending(&NoView);
    assert_eq!(wanted(&suspect(77)), [Effect::WakeAt(Timestamp(77))].into());
    assert_eq!(wanted(&then(suspect(77), [held()])), [Effect::WakeAt(Timestamp(77))].into());
    assert_eq!(wanted(&overdue()), [].into(), "the supervisor sees it");
    assert_eq!(wanted(&well()), [].into());
}

#[test]
fn a_new_instance_is_judged_anew() {
    let given = after::<State>(&then(overdue(), [Event::DeleteRequested { at: NOW }]));
    assert_eq!(given.0.health, Health::Unjudged);
    let again = [Event::DeleteRequested { at: NOW }, Event::Deleted, Event::CreateRequested { at: NOW }];
    assert_eq!(after::<State>(&then(overdue(), again)).0.health, Health::Unjudged);
}

#[test]
fn the_table_of_phases_holds() {
    use MachinePhase as P;
    let rows = [
        (vec![], P::Blank, "pending"),
        (declared(), P::Blank, "pending"),
        (waiting(5), P::CrashLoopBackOff, "pending"),
        (given_up(), P::Failed, "error"),
        (joined_until(9), P::Pending, "pending"),
        (well(), P::Running, "started"),
        (suspect(9), P::Unknown, "down"),
        (overdue(), P::Unknown, "down"),
        (lost(), P::Failed, "down"),
        (replacing(), P::Terminating, "down"),
        (dying(), P::Terminating, "pending"),
        (dead(), P::Terminating, "stopped"),
        (removed(), P::Terminating, "stopped"),
    ];
    for (past, expected, status) in rows {
        let (state, _) = after::<State>(&past);
        assert_eq!((phase(&state), juju_status(&state)), (expected, status), "{past:?}");
    }
    assert_eq!((name("a").as_str(), joining()), ("a", joining()));
}
