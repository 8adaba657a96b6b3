//! Rules that the node and the agent share with the cases as they are.

use std::collections::BTreeMap;

use bailiwick::actors::machine::rules::{
    budget::{BudgetView, has_room, weight},
    template,
};
use serde_json::{Value, json};

use super::{
    expect::{Expect, compare_taints, differ},
    given::{Given, Machine, phase},
    policy, read,
};

/// The label that names the deployment whose machines share a budget.
const DEPLOYMENT: &str = "name";

fn machine(given: &Given) -> Result<&Machine, String> {
    given.machine.as_ref().ok_or_else(|| "it gives no machine".to_owned())
}

/// One of the three parts of a template; the other two stay as they are.
pub(super) fn sync(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let wanted = machine(&given)?.template();
    let mut node = given.node.as_ref().ok_or("it gives no node")?.seen().0;
    let last = given.node.as_ref().map(super::given::Node::last_applied).unwrap_or_default();
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
        .map(|machine| Ok((machine.label(DEPLOYMENT), 1, weight(phase(&machine.phase)?))))
        .collect::<Result<_, String>>()?;
    let view = BudgetView::counted(deployment, all, policy.readings.undeployed);
    expect.same("can_mark_failed", has_room(&view, &policy.throttle))?;
    nothing_else(&mut expect)
}

/// A rule calls nobody.
fn nothing_else(expect: &mut Expect) -> Result<(), String> {
    expect.error("error", false)?;
    expect.same("calls", json!([]))?;
    expect.same("trace", json!([]))?;
    std::mem::replace(expect, Expect::new(json!({}))?).done()
}
