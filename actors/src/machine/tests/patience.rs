//! What a machine says otherwise than the policy counts everywhere; what its node lacks, and what nobody can tell; why it
//! goes.

use std::sync::Arc;

use super::{NOW, declared, effect, failed, fault, name, running, spec, stream};
use crate::{
    contract::given::{Case, after, answer, case},
    machine::{
        Cause, Command, Event, NodeFacts, Reason as R, Removal, RemovalReason, Report, Spec, State, TurnPlan, Workload,
        rules::{CRITICAL_TAINT, Overrides, Taint, TaintEffect},
    },
    policy::{Document, ReportReading, TaintReading},
    ports::{Condition, Healthy},
    vocab::{FaultCode, Timestamp},
};

/// What is planned for its workload.
fn turns() -> Vec<TurnPlan> {
    vec![TurnPlan { workload: name("w"), volumes: [].into(), wave: 0, grace_ms: Workload::GRACE_MS }]
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

/// What was declared before is declared like this.
fn with(past: Vec<Event>, patience: Overrides) -> Vec<Event> {
    let workload = Workload::new(name("w"), vec!["sleep".into()]);
    let spec = Arc::new(Spec { patience, workloads: vec![workload], ..(*spec("local")).clone() });
    then(past, [Event::SpecChanged { spec }])
}

fn hasty() -> Overrides {
    Overrides {
        creation_timeout_ms: Some(50_000),
        health_timeout_ms: Some(7_000),
        drain_timeout_ms: Some(40_000),
        evictions_max: Some(9),
        node_conditions: Some(["MemoryPressure".to_owned()].into()),
        keep_failed_ms: None,
    }
}

fn told(kind: &str, healthy: Healthy) -> Vec<Condition> {
    vec![Condition { kind: kind.into(), healthy, text: String::new() }]
}

fn reports(conditions: Vec<Condition>) -> Command {
    Command::Report(Report::Node { effect: effect(2), conditions })
}

fn reported(conditions: Vec<Condition>) -> Event {
    Event::NodeReported { conditions, at: NOW }
}

fn joining(past: Vec<Event>) -> Vec<Event> {
    then(past, [Event::JoinAwaited { until: NOW.after(9), at: NOW }])
}

fn well(past: Vec<Event>) -> Vec<Event> {
    then(joining(past), [reported(told("DiskPressure", Healthy::Yes)), Event::BecameWell { at: NOW }])
}

fn node(taints: &[&str]) -> Box<NodeFacts> {
    let taint = |key: &&str| Taint { key: (*key).into(), value: String::new(), effect: TaintEffect::NoSchedule };
    Box::new(NodeFacts { taints: taints.iter().map(taint).collect(), ..NodeFacts::default() })
}

fn joined(taints: &[&str]) -> Event {
    Event::AgentJoined { token: "1f".into(), node: node(taints), at: NOW }
}

fn tells(taints: &[&str]) -> Command {
    Command::Report(Report::NodeChanged { effect: effect(2), node: node(taints) })
}

fn changed(taints: &[&str]) -> Event {
    Event::NodeChanged { node: node(taints), at: NOW }
}

fn suspect(cause: Cause, ms: u64) -> Event {
    Event::BecameSuspect { cause, at: NOW, until: NOW.after(ms) }
}

pub(super) fn table() -> Vec<Case<State>> {
    let gone = |why| Command::RemoveWith(Removal { why, ..Removal::default() });
    let goes = |why| vec![Event::RemovalExplained { why }, Event::RemovalBegan { at: NOW }, Event::Died];
    let late = Event::CreateGivenUp { fault: fault(FaultCode::Unavailable), again: Some(NOW.after(1_800_000)) };
    let (fine, lacking) = (told("DiskPressure", Healthy::Yes), then(joining(running()), [joined(&[CRITICAL_TAINT])]));
    vec![
        // It was asked for 100 s ago, and may take 50 s.
        case(with(declared(), hasty()), failed(1, FaultCode::Unavailable), Ok((R::TookTooLong, vec![late]))),
        case(
            with(well(running()), hasty()),
            reports(told("MemoryPressure", Healthy::No)),
            Ok((R::NodeSeen, vec![reported(told("MemoryPressure", Healthy::No)), suspect(Cause::Unhealthy, 7_000)])),
        ),
        // What the policy has watched is not, where the machine says what is.
        case(
            with(well(running()), hasty()),
            reports(told("DiskPressure", Healthy::No)),
            Ok((R::NodeSeen, vec![reported(told("DiskPressure", Healthy::No))])),
        ),
        case(
            with(well(running()), hasty()),
            Command::Remove,
            Ok((
                R::RemovalDrains,
                vec![
                    Event::RemovalBegan { at: NOW },
                    Event::DrainBegan { at: NOW, until: NOW.after(40_000), turns: turns() },
                ],
            )),
        ),
        // What nobody can tell is as bad as what is bad.
        case(
            well(running()),
            reports(told("DiskPressure", Healthy::Unknown)),
            Ok((
                R::NodeSeen,
                vec![reported(told("DiskPressure", Healthy::Unknown)), suspect(Cause::Unhealthy, 600_000)],
            )),
        ),
        // That it reports at all means that it runs.
        case(well(running()), reports(vec![]), Ok((R::NodeSeen, vec![reported(vec![])]))),
        // A text alone is no news.
        case(
            well(running()),
            reports(vec![Condition { text: "71 % used".into(), ..fine[0].clone() }]),
            Ok((R::NodeUnchanged, vec![])),
        ),
        // Without its critical components a node becomes no machine's; with them it does, whatever else is on it.
        case(lacking.clone(), reports(fine.clone()), Ok((R::NodeSeen, vec![reported(fine.clone())]))),
        case(
            then(lacking.clone(), [reported(fine.clone())]),
            tells(&["dedicated"]),
            Ok((R::NodeSeen, vec![changed(&["dedicated"]), Event::BecameWell { at: NOW }])),
        ),
        case(lacking.clone(), tells(&[CRITICAL_TAINT]), Ok((R::NodeUnchanged, vec![]))),
        case(lacking, tells(&[]), Ok((R::NodeSeen, vec![changed(&[])]))),
        case(running(), tells(&[]), Ok((R::StaleReport, vec![]))),
        case(
            running(),
            gone(RemovalReason::ScaleDown),
            Ok((R::RemovalAsked, then(goes(RemovalReason::ScaleDown), [Event::DeleteRequested { at: NOW }]))),
        ),
    ]
}

#[test]
fn a_machine_that_was_well_and_lacks_components_is_not_ready_and_not_given_up_for_it() {
    let well = then(well(running()), [joined(&[])]);
    let (state, _) = after::<State>(&well);
    assert!(state.is_ready() && state.status() == "ready");
    let (state, _) = after::<State>(&then(well, [changed(&[CRITICAL_TAINT])]));
    assert!(!state.is_ready() && state.status() == "starting" && state.health.until().is_none());
}

#[test]
fn what_a_node_is_that_reports_no_condition_is_the_policys() {
    let is_suspect = |reading| {
        let mut policy = Document::default();
        policy.reconciliation.readings.bare_report = reading;
        let decision = answer(&stream(), &after::<State>(&well(running())), &reports(vec![]), NOW, &policy);
        decision.expect("an answer").events.contains(&suspect(Cause::Unhealthy, 600_000))
    };
    assert!(is_suspect(ReportReading::Unhealthy) && !is_suspect(ReportReading::Healthy));
}

#[test]
fn whether_the_taint_holds_back_who_was_well_before_is_the_policys() {
    let lost = then(well(running()), [joined(&[CRITICAL_TAINT]), suspect(Cause::Silent, 9)]);
    let becomes_well = |reading| {
        let mut policy = Document::default();
        policy.reconciliation.readings.critical_taint = reading;
        let given = after::<State>(&then(lost.clone(), [Event::NodeWentStale { last_seen: Timestamp(1) }]));
        let decision = answer(&stream(), &given, &reports(told("DiskPressure", Healthy::Yes)), NOW, &policy);
        decision.expect("an answer").events.contains(&Event::BecameWell { at: NOW })
    };
    assert!(becomes_well(TaintReading::HoldsJoining) && !becomes_well(TaintReading::HoldsAll));
}

#[test]
fn why_it_goes_is_known_before_its_drain_and_until_it_is_gone() {
    let why = |past: &[Event]| after::<State>(past).0.goes_because();
    let busy = with(well(running()), Overrides::default());
    assert_eq!(why(&busy), None);
    assert_eq!(why(&then(busy.clone(), [Event::RemovalBegan { at: NOW }])), Some(RemovalReason::Deleted));
    let scaled = [Event::RemovalExplained { why: RemovalReason::ScaleDown }, Event::RemovalBegan { at: NOW }];
    let scaled = then(busy.clone(), scaled);
    assert_eq!(why(&scaled), Some(RemovalReason::ScaleDown));
    assert_eq!(
        why(&then(scaled.clone(), [Event::Died, Event::DeleteRequested { at: NOW }])),
        Some(RemovalReason::ScaleDown)
    );
    assert_eq!(why(&then(scaled, [Event::Died, Event::Removed])), None);
    // Who is given up is drained, and another instance made.
    let drained = Event::DrainBegan { at: NOW, until: NOW.after(9), turns: turns() };
    assert_eq!(
        why(&then(busy, [Event::GivenUp { cause: Cause::Silent, at: NOW }, drained])),
        Some(RemovalReason::Unhealthy)
    );
    assert!(RemovalReason::ALL.iter().all(|why| !why.to_string().is_empty() && !why.as_str().is_empty()));
}
