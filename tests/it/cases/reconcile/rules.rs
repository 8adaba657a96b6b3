//! The rules, one by one.

use std::collections::BTreeMap;

use bailiwick::actors::machine::{
    loops::{KnownMachine, NodeSurveyed, orphans, survey},
    reconcile::State,
    rules::{
        budget::{BudgetView, PermitSeen, Refusal, room},
        template::{self, LastWritten, NodeTemplate},
        wake::NOT_MANAGED,
    },
};
use serde_json::json;

use super::{
    expect::differ,
    given::{Given, Machine, NOW, ago, phase},
    passes::{compare_passed, compare_taints},
    policy, read,
    world::Passed,
};
use serde_json::Value;

fn machine(given: &Given) -> Result<&Machine, String> {
    given.machine.as_ref().ok_or_else(|| "it gives no machine".to_owned())
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
