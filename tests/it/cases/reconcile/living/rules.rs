//! The groups about one rule each, put to the machine that follows it.

use std::sync::Arc;

use bailiwick::actors::{
    machine::{self, BudgetSeen, Command, Health, RemovalReason, Spec, TurnStep},
    machine_set,
    ports::{Condition, Healthy, Operation},
    testing::{Answer, name},
    vocab::{ClassContent, Fault, FaultCode, NodeCapacity},
};
use bailiwick::journal::Outcome;
use serde_json::{Value, json};

use super::{
    super::{
        expect::{Expect, compare_trace, differ, sorted},
        given::{CLASS, Given, Machine, NOW, Node, ago},
    },
    Living, SILENT_S, Step, read, seconds_from_now, words,
};

fn machine(given: &Given) -> Result<&Machine, String> {
    given.machine.as_ref().ok_or_else(|| "it gives no machine".to_owned())
}

/// An instance that was made a minute ago, and whose agent has not reported yet.
fn joining(given: &Given, machine: &Machine) -> Living {
    let mut living = Living::under(given);
    let facts = given.node.as_ref().map(Node::facts).unwrap_or_default();
    for (age_s, step) in [(100, Step::Declared), (60, Step::Made), (60, Step::Joined(facts))] {
        living.happens(machine, age_s, step);
    }
    living.begin_pass(machine);
    living
}

fn is_well(living: &Living, machine: &Machine) -> Result<bool, String> {
    Ok(matches!(living.state(machine)?.health, Health::Well { .. }))
}

pub(in super::super) fn healthy(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let machine = machine(&given)?;
    let mut living = joining(&given, machine);
    living.report(machine, machine.told());
    expect.same("healthy", is_well(&living, machine)?)?;
    expect.done()
}

pub(in super::super) fn conditions_changed(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let (machine, node) = (machine(&given)?, given.node.as_ref().ok_or("it gives no node")?);
    let mut living = joining(&given, machine);
    living.report(machine, machine.told());
    living.begin_pass(machine);
    living.report(machine, node.told());
    expect.same("changed", !living.happened(machine).is_empty())?;
    expect.done()
}

pub(in super::super) fn critical_taint(case: &Value) -> Result<(), String> {
    let mut case = case.clone();
    case["machine"] = json!({"name": "m", "finalizer": true, "provider_id": "", "phase": "Pending"});
    let (given, mut expect) = read(&case)?;
    let machine = machine(&given)?;
    let mut living = joining(&given, machine);
    living.report(machine, words::all_well());
    expect.same("present", !is_well(&living, machine)?)?;
    expect.done()
}

/// The machine of a set that fails, or that the set needs no more.
pub(in super::super) fn termination_reason(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let is_failed = given.params.phase.as_deref() == Some("Failed");
    let mut living = Living::under(&given);
    living.desk.now = ago(2_000);
    let replicas = |replicas| {
        let template = Arc::new(Spec::with_provider(name("desk")));
        machine_set::Command::Declare(machine_set::Spec { replicas, template, priorities: [].into(), deployment: None })
    };
    living.desk.machine_set("fleet", replicas(1));
    living.supervise();
    living.desk.list();
    living.supervise();
    if is_failed {
        living.desk.now = NOW;
        let fault = Fault::new(FaultCode::Internal, "no");
        let stream = "machine/fleet-1".parse().expect("a stream");
        let asked = bailiwick::actors::testing::Asked::Operation(Operation::CreateMachine);
        living.desk.provider.answers(stream, asked, Answer::Fails(fault));
        living.desk.perform();
    } else {
        living.desk.settle();
        living.desk.report_conditions("fleet-1", words::all_well());
        living.desk.machine_set("fleet", replicas(0));
    }
    living.supervise();
    let state = living.desk.machine_state("fleet-1").ok_or("the set has made no machine")?;
    let said = match state.goes_because() {
        Some(RemovalReason::Unhealthy) => "Unhealthy",
        Some(RemovalReason::ScaleDown) => "ScaleDown",
        other => return Err(format!("it goes because of {other:?}: {} {:?}", state.status(), state.effort())),
    };
    expect.same("reason", said)?;
    expect.done()
}

pub(in super::super) fn create_failure_phase(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let machine = machine(&given)?;
    let mut living = Living::under(&given);
    living.happens(machine, machine.created_age_s(), Step::Declared);
    living.happens(machine, 0, Step::NotMade(FaultCode::Internal));
    expect.same("phase", machine::phase(living.state(machine)?).as_str())?;
    expect.done()
}

/// A machine with one workload, that has run for a while.
fn busy(given: &Given, given_machine: &Machine) -> Living {
    let mut living = Living::under(given);
    living.desk.now = ago(500);
    living.desk.machine(&given_machine.name, Command::Declare(given_machine.busy()));
    living.desk.perform();
    living.report(given_machine, words::all_well());
    living.begin_pass(given_machine);
    living
}

pub(in super::super) fn timeouts(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let machine = machine(&given)?;
    let mut living = Living::under(&given);
    living.happens(machine, 1, Step::Declared);
    living.happens(machine, 0, Step::Made);
    let joins = living.state(machine)?.health.until().ok_or("it may take for ever to join")?;
    expect.same("creation_timeout_s", seconds_from_now(joins))?;
    let mut living = busy(&given, machine);
    living.desk.report_silent(&machine.name, ago(SILENT_S));
    let suspect = living.state(machine)?.health.until().ok_or("it may be sick for ever")?;
    expect.same("health_timeout_s", seconds_from_now(suspect))?;
    let mut living = busy(&given, machine);
    living.desk.machine(&machine.name, Command::Remove);
    let drained = living.state(machine)?.drain.as_ref().map(|drain| drain.until).ok_or("it is not drained")?;
    expect.same("drain_timeout_s", seconds_from_now(drained))?;
    expect.same("evict_retries_used_in_drain", refusals(&mut living, machine)?)?;
    let watched = expect.take("node_conditions").ok_or("it expects no conditions")?;
    let watched: Value = watched.as_str().unwrap_or_default().split(',').map(Value::from).collect();
    differ("node_conditions", &sorted(&watched), &sorted(&watched_by(&given, machine)?))?;
    // What it amounts to is the number of tries that are used.
    expect.take("max_evict_retries");
    expect.done()
}

/// How often the eviction of its workloads is asked for before it is forced.
fn refusals(living: &mut Living, machine: &Machine) -> Result<u32, String> {
    let budget = BudgetSeen { application: name("shop"), available: 0, needed: 1, others: 1 };
    for tries in 1..2_000 {
        let effect = living.state(machine)?.running_effect().ok_or("it has no instance")?;
        let refused = Command::RefuseEviction { effect, workload: name("w"), budget: budget.clone() };
        living.desk.machine(&machine.name, refused);
        let turn = living.state(machine)?.turns().and_then(|turns| turns.of(&name("w")).cloned());
        match turn.map(|turn| turn.step) {
            Some(TurnStep::Ending { .. }) => return Ok(tries),
            Some(TurnStep::Refused { until, .. }) => living.desk.now = until,
            other => return Err(format!("{other:?}")),
        }
        living.wake(machine);
    }
    Err("it is refused for ever".to_owned())
}

/// The conditions of which one alone makes a machine suspect.
fn watched_by(given: &Given, machine: &Machine) -> Result<Value, String> {
    const KNOWN: [&str; 7] = [
        "KernelDeadlock",
        "ReadonlyFilesystem",
        "DiskPressure",
        "NetworkUnavailable",
        "MemoryPressure",
        "PIDPressure",
        "CorruptDockerOverlay2",
    ];
    let mut watched = Vec::new();
    for kind in KNOWN {
        let mut living = busy(given, machine);
        let bad = Condition { kind: kind.into(), healthy: Healthy::No, text: String::new() };
        living.report(machine, vec![bad]);
        if !is_well(&living, machine)? {
            watched.push(kind);
        }
    }
    Ok(json!(watched))
}

pub(in super::super) fn node_event(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let node = given.node.as_ref().ok_or("it gives no node")?;
    let mut is_woken = false;
    if let Some(machine) = &given.machine {
        let mut living = Living::under(&given);
        living.enter(&[(machine, None)])?;
        living.report(machine, machine.told());
        living.begin_pass(machine);
        match given.params.event.as_deref() {
            Some("add" | "update") => drop(living.desk.report_conditions(&machine.name, node.told())),
            Some("delete") => drop(living.desk.report_silent(&machine.name, ago(SILENT_S))),
            other => return Err(format!("there is no event {other:?}")),
        }
        is_woken = !living.happened(machine).is_empty();
    }
    expect.same("machine_enqueued", is_woken)?;
    expect.same("enqueued_after_s", json!(vec![0; usize::from(is_woken)]))?;
    expect.returned()?;
    nobody_called(&mut expect)
}

/// A rule calls nobody, and writes nothing but the journal.
fn nobody_called(expect: &mut Expect) -> Result<(), String> {
    expect.error("error", false)?;
    expect.same("calls", json!([]))?;
    compare_trace(expect, &[])?;
    std::mem::replace(expect, Expect::new(json!({}))?).done()
}

fn content(given: &Given) -> ClassContent {
    let template = given.machine_class.capacity().map(|(capacity, instance_type, region, zone)| NodeCapacity {
        capacity,
        instance_type,
        region,
        zone,
    });
    ClassContent { node_template: template, ..ClassContent::with_provider(name("desk")) }
}

/// A class of ours is kept while machines use it, because it knows them.
pub(in super::super) fn class(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut living = Living::under(&given);
    living.desk.declare_class(CLASS, content(&given));
    if let Some(machine) = &given.machine {
        let spec = Spec { class: Some(name(CLASS)), ..machine.spec() };
        living.desk.machine(&machine.name, Command::Declare(Arc::new(spec)));
        living.desk.settle();
    }
    let mut is_refused = false;
    if given.machine_class.is_leaving() {
        let removed = living.desk.class(CLASS, bailiwick::actors::machine_class::Command::Remove);
        is_refused = removed.header.meta.outcome == Outcome::Refused;
    }
    let is_used = living.desk.machine_class_state(CLASS).is_some_and(|class| !class.users.is_empty());
    expect.same("class_finalizer", is_used)?;
    expect.error("error", is_refused)?;
    expect.same("calls", json!([]))?;
    // Whoever is refused its removal is told who uses it; nobody has to be woken for that.
    expect.take("machines_enqueued");
    expect.take("enqueued_after_s");
    compare_trace(&mut expect, &[])?;
    expect.done()
}

/// What is wrong with a class is refused when it is declared.
pub(in super::super) fn validate_class(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut living = Living::under(&given);
    let declared = living.desk.declare_class(CLASS, content(&given));
    let is_refused = declared.header.meta.outcome == Outcome::Refused;
    expect.same("outcome", if is_refused { "failed" } else { "settled" })?;
    // Nothing of it is tried again, and no machine ever waits for it; secrets are read for each call.
    for key in ["retry", "retry_s", "class_enqueued", "secret_data"] {
        expect.take(key);
    }
    nobody_called(&mut expect)
}
