//! Single passes, and passes one after another.

use bailiwick::actors::{
    machine::reconcile::{Health, Instance, NodeSeen, Outcome, Removing, Retry, Scope, State, last_operation, phase},
    machine::rules::{ConditionStatus, NodeCondition, Taint, TaintEffect, template::LastWritten},
    vocab::Timestamp,
};
use serde_json::{Value, json};

use super::{
    expect::{Expect, bare, differ, sorted},
    given::{Event, ago, spelled},
    policy, read,
    world::{Passed, World},
};

pub(super) fn pass(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let scope = match given.flow.as_str() {
        "create" => Scope::Creation,
        "delete" => Scope::Removal,
        "health" => Scope::Health,
        "sync" => Scope::Sync,
        "reconcile" => Scope::Whole,
        other => return Err(format!("{other} is no pass")),
    };
    let mut world = World::new(&given, policy(&given))?;
    let passed = world.pass(scope)?;
    compare_passed(&mut expect, &passed)?;
    compare_machine(&mut expect, &world.state)?;
    compare_world(&mut expect, &world)?;
    if let Some(expected) = expect.take("node") {
        let name = given.node.as_ref().map(|node| node.name.as_str()).unwrap_or_default();
        compare_node(&expected, world.nodes.get(name), world.unreadable.get(name))?;
    }
    expect.returned()?;
    expect.done()
}

pub(super) fn compare_passed(expect: &mut Expect, passed: &Passed) -> Result<(), String> {
    expect.same("retry_s", passed.retry_s)?;
    expect.same(
        "retry",
        match passed.retry {
            Retry::Short => "short",
            Retry::Medium => "medium",
            Retry::Long => "long",
        },
    )?;
    expect.same(
        "outcome",
        match passed.outcome {
            Outcome::Settled => "settled",
            Outcome::Progressed => "progressed",
            Outcome::Failed => "failed",
        },
    )
}

fn compare_machine(expect: &mut Expect, state: &State) -> Result<(), String> {
    expect.same("phase", phase(state).as_str())?;
    if let Some(expected) = expect.take("last_operation") {
        compare_operation(&expected, state)?;
    }
    expect.same("timeout_active", state.is_timed())?;
    expect.same("provider_id", state.record.provider_id.as_str())?;
    expect.same("finalizer", state.record.is_held)?;
    expect.same("last_known_state", state.record.last_known_state.as_str())?;
    expect.same("labels", json!(state.record.labels))?;
    expect.same("annotations", json!(state.record.annotations))?;
    match expect.take("conditions") {
        Some(expected) => compare_conditions("conditions", &expected, &state.record.conditions),
        None => Ok(()),
    }
}

fn compare_operation(expected: &Value, state: &State) -> Result<(), String> {
    let got = last_operation(state);
    for (key, expected) in expected.as_object().ok_or("last_operation is no map")? {
        let got = match key.as_str() {
            "description" | "description_prefix" => continue,
            "type" => json!(got.kind.map_or("", |kind| kind.as_str())),
            "state" => json!(got.state.map_or("", |state| state.as_str())),
            "next_step" => json!(got.next_step),
            "code" => json!(got.code.map(spelled)),
            other => return Err(format!("the runner does not understand last_operation.{other}")),
        };
        differ(&format!("last_operation.{key}"), expected, &got)?;
    }
    Ok(())
}

fn compare_world(expect: &mut Expect, world: &World) -> Result<(), String> {
    let calls: Vec<&str> = world.trace.iter().filter_map(|entry| entry.strip_prefix("driver ")).collect();
    expect.same("calls", json!(calls))?;
    compare_trace(expect, &world.trace)?;
    if let Some(expected) = expect.take("requests") {
        compare_requests("requests", &expected, &world.requests, &world.state)?;
    }
    if let Some(expected) = expect.take("pending_commands") {
        let open = world.state.open_cleanups();
        let open =
            open.map(|id| json!({"call": "DeleteMachine", "machine": world.state.record.name, "provider_id": id}));
        compare_requests("pending_commands", &expected, &open.collect::<Vec<_>>(), &world.state)?;
    }
    expect.same("enqueued_after_s", json!(world.rechecks()))?;
    expect.same_set("bootstrap_secrets", json!(world.secrets))
}

/// Of a trace, calls to the provider and writes of nodes and secrets; writes of a machine are its journal.
pub(super) fn compare_trace(expect: &mut Expect, got: &[String]) -> Result<(), String> {
    let Some(expected) = expect.take("trace") else { return Ok(()) };
    let own = ["update machines", "update machines/status", "update machineclasses"];
    let counts = |entry: &&Value| !own.iter().any(|own| *entry == own);
    let expected: Vec<&Value> = expected.as_array().ok_or("trace is no list")?.iter().filter(counts).collect();
    differ("trace", &json!(expected), &json!(got))
}

fn compare_requests(what: &str, expected: &Value, got: &[Value], state: &State) -> Result<(), String> {
    let expected = expected.as_array().ok_or("requests are no list")?;
    differ(&format!("{what}, number"), &json!(expected.len()), &json!(got.len()))?;
    for (at, (expected, got)) in expected.iter().zip(got).enumerate() {
        let mut expected = expected.as_object().ok_or("a request is no map")?.clone();
        expected.entry("machine").or_insert_with(|| json!(state.record.name));
        for (key, expected) in &expected {
            differ(&format!("{what}[{at}].{key}"), expected, &got[key])?;
        }
    }
    Ok(())
}

fn compare_conditions(what: &str, expected: &Value, got: &[NodeCondition]) -> Result<(), String> {
    let expected = expected.as_array().map(Vec::as_slice).unwrap_or_default();
    differ(&format!("{what}, number"), &json!(expected.len()), &json!(got.len()))?;
    for expected in expected {
        let kind = expected["type"].as_str().unwrap_or_default();
        let Some(got) = got.iter().find(|condition| condition.kind == kind) else {
            return Err(format!("{what}: {kind} is missing"));
        };
        for (key, expected) in expected.as_object().into_iter().flatten() {
            let got = match key.as_str() {
                "type" | "message" => continue,
                "status" => json!(status(got.status)),
                "reason" => json!(got.reason),
                other => return Err(format!("the runner does not understand {what}.{other}")),
            };
            differ(&format!("{what}.{kind}.{key}"), expected, &got)?;
        }
    }
    Ok(())
}

fn status(status: ConditionStatus) -> &'static str {
    match status {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
        ConditionStatus::Unknown => "Unknown",
    }
}

pub(super) fn taint(taint: &Taint) -> Value {
    let effect = match taint.effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    };
    json!({"key": taint.key, "value": taint.value, "effect": effect})
}

/// A taint with the value that is left out when it is blank.
fn whole_taints(expected: &Value) -> Value {
    let whole = |taint: &Value| json!({"key": taint["key"], "value": taint["value"].as_str().unwrap_or_default(), "effect": taint["effect"]});
    expected.as_array().into_iter().flatten().map(whole).collect()
}

pub(super) fn compare_taints(what: &str, expected: &Value, got: &[Taint]) -> Result<(), String> {
    let got: Value = got.iter().map(taint).collect();
    differ(what, &sorted(&whole_taints(expected)), &sorted(&got))
}

fn compare_node(expected: &Value, got: Option<&NodeSeen>, unreadable: Option<&String>) -> Result<(), String> {
    let Some(fields) = expected.as_object() else {
        return differ("node", expected, &json!(got.map(|node| &node.name)));
    };
    let got = got.ok_or("the node is gone")?;
    for (key, expected) in fields {
        let what = format!("node.{key}");
        match key.as_str() {
            "name" => differ(&what, expected, &json!(got.name))?,
            "labels" => differ(&what, &bare(expected), &bare(&json!(got.labels)))?,
            "annotations" => differ(&what, &bare(expected), &bare(&json!(got.annotations)))?,
            "taints" => compare_taints(&what, expected, &got.taints)?,
            "conditions" => compare_conditions(&what, expected, &got.conditions)?,
            "unschedulable" => differ(&what, expected, &json!(got.is_cordoned))?,
            "last_applied" => compare_record(&what, expected, &got.last_written)?,
            "last_applied_raw" => {
                let raw = (got.last_written == LastWritten::Unreadable).then_some(unreadable).flatten();
                differ(&what, expected, &json!(raw))?;
            }
            other => return Err(format!("the runner does not understand node.{other}")),
        }
    }
    Ok(())
}

fn compare_record(what: &str, expected: &Value, got: &LastWritten) -> Result<(), String> {
    let LastWritten::Known(got) = got else {
        return differ(what, &bare(expected), &Value::Null);
    };
    for (key, expected) in expected.as_object().ok_or("the record is no map")? {
        match key.as_str() {
            "labels" => differ(what, &bare(expected), &bare(&json!(got.labels)))?,
            "annotations" => differ(what, &bare(expected), &bare(&json!(got.annotations)))?,
            "taints" => compare_taints(what, expected, &got.taints)?,
            other => return Err(format!("the runner does not understand {what}.{other}")),
        }
    }
    Ok(())
}

pub(super) fn sequence(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut world = World::new(&given, policy(&given))?;
    let steps = expect.take("steps").ok_or("it expects no steps")?;
    let steps = steps.as_array().ok_or("steps are no list")?;
    let mut run = 0;
    for number in 1..=given.params.passes {
        if let Some(event) = given.params.events.get(&number.to_string()) {
            happen(&mut world, event)?;
        }
        world.trace.clear();
        let passed = world.pass(Scope::Whole)?;
        let step = steps.get(run).ok_or_else(|| format!("pass {number} was not expected"))?;
        run += 1;
        compare_step(step, number, &passed, &world).map_err(|difference| format!("pass {number}: {difference}"))?;
        if world.is_gone() {
            break;
        }
    }
    differ("passes", &json!(steps.len()), &json!(run))?;
    expect.returned()?;
    expect.done()
}

fn compare_step(step: &Value, number: u32, passed: &Passed, world: &World) -> Result<(), String> {
    let mut expect = Expect::new(step.clone())?;
    expect.same("pass", number)?;
    expect.same("node_label", world.state.node().unwrap_or_default())?;
    compare_passed(&mut expect, passed)?;
    compare_machine(&mut expect, &world.state)?;
    compare_trace(&mut expect, &world.trace)?;
    expect.done()
}

fn happen(world: &mut World, event: &Event) -> Result<(), String> {
    if let Some(node) = &event.node {
        world.put_node(node);
    }
    if let Some(name) = &event.node_gone {
        world.nodes.remove(name);
    }
    if let Some(errors) = &event.driver_errors {
        world.driver.errors.clone_from(errors);
    }
    if let Some(age) = event.age_phase_s {
        enter_phase_at(&mut world.state, ago(age));
    }
    match event.delete {
        Some(age) => world.ask_removal(ago(age)),
        None => Ok(()),
    }
}

/// The present phase counts as entered then.
fn enter_phase_at(state: &mut State, at: Timestamp) {
    match &mut state.instance {
        Instance::Joining { since, .. }
        | Instance::Alone { since }
        | Instance::Failing { since }
        | Instance::GivenUp { since } => *since = at,
        Instance::None | Instance::Joined => (),
    }
    match &mut state.health {
        Health::Well { since } | Health::Suspect { since } | Health::GivenUp { since } => *since = at,
        Health::Unjudged => (),
    }
    match &mut state.removing {
        Removing::Step { since, .. } => *since = at,
        Removing::None => (),
    }
}
