//! The rules, one by one.

use std::collections::BTreeMap;

use bailiwick::actors::machine::{
    loops::{KnownMachine, NodeSurveyed, orphans, survey},
    reconcile::{Scope, State},
    rules::{
        self, InForce,
        budget::{BudgetView, PermitSeen, Permits, Refusal, room},
        class::{self, ClassSeen},
        removal::RemovalReason,
        template::{self, LastWritten, NodeTemplate},
        token::TokenId,
        wake::{self, NOT_MANAGED, NodeChange, NodesMachine},
    },
};
use serde_json::{Value, json};

use super::{
    expect::differ,
    given::{CLASS, Given, Machine, NOW, ago, phase},
    passes::{compare_passed, compare_taints, compare_trace},
    policy, read,
    world::{Passed, World},
};

fn machine(given: &Given) -> Result<&Machine, String> {
    given.machine.as_ref().ok_or_else(|| "it gives no machine".to_owned())
}

pub(super) fn healthy(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let (machine, policy) = (machine(&given)?, policy(&given));
    let in_force = InForce::of(&machine.overrides(), &policy);
    let healthy = rules::is_healthy(&machine.conditions(), &in_force.node_conditions, policy.readings.readiness);
    expect.same("healthy", healthy)?;
    expect.done()
}

pub(super) fn conditions_changed(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let node = given.node.as_ref().ok_or("it gives no node")?.seen().0;
    let known = machine(&given)?.conditions();
    expect.same("changed", rules::changed(&known, &node.conditions, policy(&given).readings.conditions))?;
    expect.done()
}

pub(super) fn critical_taint(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let node = given.node.as_ref().ok_or("it gives no node")?.seen().0;
    expect.same("present", rules::has_critical_taint(&node.taints))?;
    expect.done()
}

pub(super) fn termination_reason(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let before = phase(given.params.phase.as_deref().ok_or("it gives no phase")?)?;
    expect.same("reason", RemovalReason::of_phase(before).as_str())?;
    expect.done()
}

pub(super) fn timeouts(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let policy = policy(&given);
    let in_force = InForce::of(&machine(&given)?.overrides(), &policy);
    expect.same("creation_timeout_s", in_force.creation_timeout_ms / 1000)?;
    expect.same("health_timeout_s", in_force.health_timeout_ms / 1000)?;
    expect.same("drain_timeout_s", in_force.drain_timeout_ms / 1000)?;
    expect.same("max_evict_retries", in_force.evictions_max)?;
    expect.same("evict_retries_used_in_drain", in_force.evictions_in_drain)?;
    expect.same("node_conditions", in_force.node_conditions.iter().cloned().collect::<Vec<_>>().join(","))?;
    expect.done()
}

pub(super) fn token(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let id = TokenId::of_name(given.params.machine_name.as_deref().ok_or("it gives no name")?);
    expect.same("secret_name", id.secret_name())?;
    expect.same("token_id", id.0)?;
    expect.returned()?;
    expect.done()
}

/// One of the three parts of a template; the other two stay as they are.
pub(super) fn sync(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let wanted = machine(&given)?.template();
    let mut node = given.node.as_ref().ok_or("it gives no node")?.seen().0;
    let last = match &node.last_written {
        LastWritten::Known(last) => last.clone(),
        LastWritten::Nothing | LastWritten::Unreadable => NodeTemplate::default(),
    };
    let changed;
    match given.flow.as_str() {
        "sync_labels" => (changed, node.labels) = template::map(&wanted.labels, &last.labels, &node.labels),
        "sync_annotations" => {
            (changed, node.annotations) = template::map(&wanted.annotations, &last.annotations, &node.annotations);
        }
        _ => (changed, node.taints) = template::taints(&wanted.taints, &last.taints, &node.taints),
    }
    expect.same("changed", changed)?;
    let expected = expect.take("node").ok_or("it expects no node")?;
    for (key, expected) in expected.as_object().ok_or("node is no map")? {
        let map = |map: &BTreeMap<String, String>| super::expect::bare(&json!(map));
        match key.as_str() {
            "labels" => differ(key, &super::expect::bare(expected), &map(&node.labels))?,
            "annotations" => differ(key, &super::expect::bare(expected), &map(&node.annotations))?,
            "taints" => compare_taints(key, expected, &node.taints)?,
            other => return Err(format!("the runner does not understand node.{other}")),
        }
    }
    expect.done()
}

pub(super) fn can_fail(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let policy = policy(&given);
    let deployment = given.params.deployment.as_deref().unwrap_or_default();
    let all = given.machine.iter().chain(&given.others);
    let all: Vec<_> = all
        .map(|machine| Ok((machine.label(State::DEPLOYMENT_LABEL), phase(&machine.phase)?)))
        .collect::<Result<_, String>>()?;
    let view = BudgetView::of(deployment, all, PermitSeen::Free, policy.readings.undeployed);
    let may = match room(&view, &policy.throttle) {
        Ok(()) => true,
        Err(Refusal::Spent) => false,
        Err(Refusal::PermitTaken) => return Err("nobody takes the permit".to_owned()),
    };
    expect.same("can_mark_failed", may)?;
    nothing_else(&mut expect)
}

/// A rule calls nobody.
fn nothing_else(expect: &mut super::Expect) -> Result<(), String> {
    expect.error("error", false)?;
    expect.same("calls", json!([]))?;
    expect.same("trace", json!([]))?;
    std::mem::replace(expect, super::Expect::new(json!({}))?).done()
}

pub(super) fn permits(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut permits = Permits::default();
    let mut results = Vec::new();
    for operation in &given.params.ops {
        let text = |at: usize| operation.get(at).and_then(Value::as_str).unwrap_or_default();
        results.push(match text(0) {
            "register" => {
                let count = operation.get(2).and_then(Value::as_u64).ok_or("how many permits?")?;
                permits.register(text(1), u32::try_from(count).map_err(|error| error.to_string())?, NOW);
                Value::Null
            }
            "try" => json!(permits.take(text(1), NOW)),
            "release" => {
                permits.release(text(1), NOW);
                Value::Null
            }
            "delete" => {
                permits.forget(text(1));
                Value::Null
            }
            other => return Err(format!("the runner does not understand the operation {other:?}")),
        });
    }
    expect.same("results", json!(results))?;
    expect.done()
}

/// A pass that looks at nothing but the class.
pub(super) fn validate_class(case: &Value) -> Result<(), String> {
    let mut case = case.clone();
    let name = case["params"]["class"].as_str().unwrap_or(CLASS).to_owned();
    case["machine"] = json!({"name": "m", "finalizer": true, "provider_id": "", "phase": "", "class": name});
    let (given, mut expect) = read(&case)?;
    let mut world = World::new(&given, policy(&given))?;
    compare_passed(&mut expect, &world.pass(Scope::Class)?)?;
    let fault = class::validated(&given.machine_class.seen(&name)).err();
    expect.same("class_enqueued", fault.is_some_and(class::ClassFault::wakes_class))?;
    let secret = given.machine_class.secret();
    let data = class::secrets(secret.as_ref(), given.machine_class.credentials.as_ref());
    expect.same("secret_data", if fault.is_some() { Value::Null } else { json!(data) })?;
    nothing_else(&mut expect)
}

pub(super) fn class(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let users = usize::from(given.machine.is_some());
    let ClassSeen::Found(class) = given.machine_class.seen(CLASS) else {
        return Err("a pass over a class that is not there".to_owned());
    };
    let step = class::step(&class, users);
    let woken = if step.wakes_users() { users } else { 0 };
    expect.same("class_finalizer", step.keeps(&class))?;
    expect.same("machines_enqueued", woken)?;
    expect.same("enqueued_after_s", json!(vec![0; woken]))?;
    expect.error("error", step.is_refused())?;
    expect.same("calls", json!([]))?;
    // Whatever is written is written to the class, which is no node and no secret.
    compare_trace(&mut expect, &[])?;
    expect.done()
}

pub(super) fn node_event(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let node = given.node.as_ref().ok_or("it gives no node")?.seen().0;
    let change = match given.params.event.as_deref() {
        Some("add") => NodeChange::Added,
        Some("update") => NodeChange::Updated,
        Some("delete") => NodeChange::Deleted,
        other => return Err(format!("there is no event {other:?}")),
    };
    let conditions = given.machine.as_ref().map(Machine::conditions).unwrap_or_default();
    let machine = match &given.machine {
        None => None,
        Some(machine) => {
            Some(NodesMachine { phase: phase(&machine.phase)?, conditions: &conditions, is_going: machine.is_going() })
        }
    };
    let reading = policy(&given).readings.conditions;
    let verdict = wake::on_node_change(change, &node.annotations, &node.conditions, machine, reading);
    expect.same("machine_enqueued", verdict.wakes_machine)?;
    expect.same("enqueued_after_s", json!(vec![0; usize::from(verdict.wakes_machine)]))?;
    let trace: &[&str] = if verdict.removes_machine { &["delete machines"] } else { &[] };
    expect.same("trace", json!(trace))?;
    expect.returned()?;
    nothing_else(&mut expect)
}

pub(super) fn unmanaged(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let policy = policy(&given);
    let mut nodes = BTreeMap::new();
    for node in &given.nodes {
        let seen = node.seen().0;
        let machines = given.others.iter().filter(|machine| machine.label(State::NODE_LABEL) == seen.name).count();
        let surveyed = NodeSurveyed { created: ago(node.created_age_s), annotations: seen.annotations, machines };
        nodes.insert(seen.name, surveyed);
    }
    let survey = survey(&nodes, &policy, NOW);
    let is_marked = |(name, node): (&String, &NodeSurveyed)| {
        (name.clone(), survey.mark.contains(name) || node.annotations.contains_key(NOT_MANAGED))
    };
    expect.same("annotated", json!(nodes.iter().map(is_marked).collect::<BTreeMap<_, _>>()))?;
    expect.same("trace", json!(vec!["update nodes"; survey.mark.len()]))?;
    let retry_s = survey.retry.ms(&policy) / 1000;
    compare_passed(&mut expect, &Passed { retry: survey.retry, retry_s, outcome: survey.outcome })?;
    nothing_else(&mut expect)
}

pub(super) fn orphans(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let policy = policy(&given);
    let mut machines = BTreeMap::new();
    for machine in &given.others {
        let known = KnownMachine {
            provider_id: machine.provider_id.clone(),
            phase: phase(&machine.phase)?,
            is_being_made: false,
        };
        machines.insert(machine.name.clone(), known);
    }
    let (mut calls, mut requests) = (Vec::new(), Vec::new());
    let (mut left, mut deleted) = (given.driver.vms.clone(), Vec::new());
    let mut state = orphans::State::default();
    let mut outcome = None;
    let mut command = orphans::Command::Begin { machines };
    let (until, retry) = loop {
        for event in orphans::decide(&state, &command, &policy, NOW) {
            state.evolve(&event);
            if let orphans::Event::Ended { outcome: ended, .. } = event {
                outcome = Some(ended);
            }
        }
        command = match state.pending().into_iter().next().ok_or("nothing is owed")? {
            orphans::Effect::ListMachines => {
                calls.push("ListMachines");
                let listed = given.driver.error("ListMachines")?;
                orphans::Command::ReportListed(listed.map(|()| given.driver.vms.clone()))
            }
            orphans::Effect::DeleteMachine { provider_id, machine } => {
                calls.push("DeleteMachine");
                requests.push(json!({"call": "DeleteMachine", "machine": machine, "provider_id": provider_id}));
                let result = given.driver.error("DeleteMachine")?;
                if result.is_ok() {
                    left.remove(&provider_id);
                    deleted.push(provider_id.clone());
                }
                orphans::Command::ReportRemoved { provider_id, result }
            }
            orphans::Effect::SearchAt { until, retry } => break (until, retry),
        };
    };
    expect.same_set("vms_deleted", json!(deleted))?;
    expect.same_set("vms_left", json!(left.keys().collect::<Vec<_>>()))?;
    let trace: Vec<String> = calls.iter().map(|call| format!("driver {call}")).collect();
    expect.same("calls", json!(calls))?;
    expect.same("trace", json!(trace))?;
    expect.same("requests", json!(requests))?;
    let outcome = outcome.ok_or("the search has no end")?;
    compare_passed(&mut expect, &Passed { retry, retry_s: until.since(NOW) / 1000, outcome })?;
    nothing_else(&mut expect)
}
