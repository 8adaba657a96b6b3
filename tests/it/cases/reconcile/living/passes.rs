//! Whole passes: what is seen is reported, what is due happens, what is owed is done.

use bailiwick::actors::{
    machine::{Event, Instance, Node, Report, State, rules::token},
    policy::RetryBy,
    ports::{InstanceStatus, MachineInstance, Operation},
    testing::{Answer, Asked, name},
    vocab::{Fault, InstanceId, Outlook},
};
use serde_json::{Value, json};

use super::{
    super::{
        expect::{Expect, bare, differ},
        given::{CallResult, Given, Machine, ago, spelled},
    },
    Living, SILENT_S, document, read, removal, seconds_from_now, stream, tried_once, words,
};

fn machine(given: &Given) -> Result<&Machine, String> {
    given.machine.as_ref().ok_or_else(|| "it gives no machine".to_owned())
}

pub(in super::super) fn health(case: &Value) -> Result<(), String> {
    let (given, expect) = read(case)?;
    health_pass(&given, machine(&given)?, expect)
}

pub(in super::super) fn create(case: &Value) -> Result<(), String> {
    let (given, expect) = read(case)?;
    create_pass(&given, machine(&given)?, expect)
}

/// A whole pass: the one that the machine's state calls for.
pub(in super::super) fn reconcile(case: &Value) -> Result<(), String> {
    let (given, expect) = read(case)?;
    let machine = machine(&given)?;
    match machine.phase.as_str() {
        _ if machine.is_going() => removal::pass(&given, machine, expect),
        "" | "CrashLoopBackOff" => create_pass(&given, machine, expect),
        _ => health_pass(&given, machine, expect),
    }
}

fn health_pass(given: &Given, machine: &Machine, expect: Expect) -> Result<(), String> {
    let mut living = Living::under(given);
    let node = given.node.as_ref().filter(|node| machine.label(words::NODE_LABEL) == node.name);
    let others = given.others.iter().map(|other| (other, None));
    living.enter(&others.chain([(machine, node)]).collect::<Vec<_>>())?;
    living.begin_pass(machine);
    let effect = living.state(machine)?.running_effect();
    match (node, &living.state(machine)?.node) {
        (Some(node), _) => {
            let facts = Box::new(node.facts());
            let known = living.state(machine)?.joined.as_ref().map(|joined| joined.node.taints.clone());
            if known.is_some_and(|taints| taints != facts.taints) {
                living.desk.agent_says(&machine.name, |effect| Report::NodeChanged { effect, node: facts });
            }
            living.report(machine, node.told());
        }
        (None, Node::Reporting { .. }) if effect.is_some() => {
            living.desk.report_silent(&machine.name, ago(SILENT_S));
        }
        (None, _) => (),
    }
    if let Some(fault) = fault(given.driver.error("GetMachineStatus")?) {
        living.desk.provider.refuses.insert(Asked::Lookup, fault);
    }
    living.wake(machine);
    living.supervise();
    compare(expect, given, &living, node.is_some())
}

fn create_pass(given: &Given, machine: &Machine, expect: Expect) -> Result<(), String> {
    let mut living = Living::under(given);
    // Whether something is there is asked only after an attempt that may have begun: so one has.
    let is_asked = given.driver.exists || given.driver.fails("GetMachineStatus");
    match is_asked && machine.phase.is_empty() {
        true => tried_once(machine).into_iter().for_each(|(age_s, step)| living.happens(machine, age_s, step)),
        false => living.enter(&[(machine, None)])?,
    }
    living.begin_pass(machine);
    if given.driver.exists {
        living.exists(machine)?;
    }
    let lookup = given.driver.error("GetMachineStatus")?;
    let lookup = fault(lookup).map_or(Answer::Done, Answer::Fails);
    living.desk.provider.answers(stream(machine), Asked::Lookup, lookup);
    let made = fault(given.driver.error("CreateMachine")?).map_or(Answer::Done, Answer::Fails);
    living.answered(machine, Operation::CreateMachine, made);
    living.supervise();
    compare(expect, given, &living, false)
}

pub(super) fn fault(called: CallResult) -> Option<Fault> {
    let error = called.err()?;
    Some(Fault::new(error.code?, error.text.as_str()))
}

impl Living {
    /// The provider has what an earlier attempt has made.
    pub(super) fn exists(&mut self, machine: &Machine) -> Result<(), String> {
        let own = stream(machine);
        let Some(effect) = self.state(machine)?.own(self.desk.journal().id(), &own) else { return Ok(()) };
        let instance = MachineInstance {
            effect,
            instance: InstanceId("i-earlier".into()),
            machine: name(&machine.name),
            facts: [].into(),
            status: InstanceStatus::Running,
        };
        self.desk.provider.instances.insert(effect, instance);
        Ok(())
    }
}

/// Compares all that a pass of the original says with what became of ours.
pub(super) fn compare(mut expect: Expect, given: &Given, living: &Living, has_reported: bool) -> Result<(), String> {
    let machine = machine(given)?;
    let (state, happened) = (living.state(machine)?, living.happened(machine));
    compare_phase(&mut expect, state, &happened)?;
    let is_withheld = living.desk.machines_seen().withheld.contains_key(&name(&machine.name));
    expect.same("outcome", words::outcome(is_withheld, &happened))?;
    compare_retry(&mut expect, given, state)?;
    expect.same("finalizer", state.life.exists())?;
    let has_instance = matches!(state.instance, Instance::Running { .. });
    if let Some(expected) = expect.take("provider_id").filter(|_| given.flow == "create") {
        differ("whether it has an instance", &json!(expected != ""), &json!(has_instance))?;
    }
    let spec = state.spec.as_ref().ok_or("it is not declared")?;
    for (key, own) in [("labels", &spec.labels), ("annotations", &spec.annotations)] {
        if let Some(expected) = expect.take(key) {
            differ(key, &bare(&words::of_users(&expected)), &bare(&words::of_users(&json!(own))))?;
        }
    }
    if let Some(expected) = expect.take("conditions").filter(|_| has_reported && has_instance) {
        compare_conditions(&expected, state)?;
    }
    if let Some(expected) = expect.take("last_operation") {
        compare_operation(&expected, state, &happened)?;
    }
    if let Some(expected) = expect.take("calls") {
        // As long as it is not answered, a call belongs to no pass.
        let calls = if happened.is_empty() { &[] } else { living.calls() };
        let expected = words::expected_calls(&expected, calls);
        differ("calls", &bare(&expected), &bare(&json!(words::calls(calls))))?;
    }
    if let Some(expected) = expect.take("requests") {
        compare_requests(&expected, given)?;
    }
    if let Some(expected) = expect.take("enqueued_after_s") {
        let waits = living.desk.due().into_iter().any(|(_, due)| due == stream(machine));
        differ("whether it is looked at again", &json!(!bare(&expected).is_null()), &json!(waits))?;
    }
    words::NOT_OURS.iter().for_each(|(key, _)| drop(expect.take(key)));
    expect.done()
}

fn compare_phase(expect: &mut Expect, state: &State, happened: &[Event]) -> Result<(), String> {
    let Some(expected) = expect.take("phase") else { return Ok(()) };
    let got = words::phase_after(state, happened);
    // What takes the original a pass for labels and another for the phase is one step.
    let is_one_step = expected == "" && happened.iter().any(|event| matches!(event, Event::Created { .. }));
    let expected = if is_one_step { json!("Pending") } else { expected };
    differ("phase", &expected, &json!(got.as_str()))
}

/// The wake-up that follows a failed call, where the policy has it follow from the code.
fn compare_retry(expect: &mut Expect, given: &Given, state: &State) -> Result<(), String> {
    let expected = expect.take("retry_s");
    let outlook = state.effort().map(|effort| &effort.outlook);
    match (expected, outlook) {
        (Some(expected), Some(Outlook::Waiting { until, .. })) if document(given).retries.by == RetryBy::FaultCode => {
            differ("retry_s", &expected, &json!(seconds_from_now(*until)))
        }
        _ => Ok(()),
    }
}

fn compare_conditions(expected: &Value, state: &State) -> Result<(), String> {
    let Node::Reporting { conditions, .. } = &state.node else { return Err("its agent does not report".to_owned()) };
    let text = |kind: &str, status: &str| format!("{kind}={status}");
    let list = expected.as_array().into_iter().flatten();
    let of = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut expected: Vec<String> = list.map(|it| text(&of(it, "type"), &of(it, "status"))).collect();
    expected.sort();
    let mut got: Vec<String> = conditions.values().map(|it| text(&it.kind, words::status(it))).collect();
    got.sort();
    differ("conditions", &json!(expected), &json!(got))
}

fn compare_operation(expected: &Value, state: &State, happened: &[Event]) -> Result<(), String> {
    let (has_failed, code) = words::operation(state, happened);
    // What stood there before and was not touched is not ours.
    if !happened.is_empty() {
        differ("whether its operation failed", &json!(expected["state"] == "Failed"), &json!(has_failed))?;
    }
    match &expected["code"] {
        Value::Null => Ok(()),
        expected => differ("last_operation.code", expected, &json!(code.map(spelled))),
    }
}

/// Under which id it is asked for follows from the journal; what stands in the user data is placed right before the call.
fn compare_requests(expected: &Value, given: &Given) -> Result<(), String> {
    let template = given.machine_class.secret().unwrap_or_default();
    for request in expected.as_array().into_iter().flatten().filter(|it| it["call"] == "CreateMachine") {
        let placed = template.get("userData").map(|text| token::placed(text, "TOKEN"));
        differ("userData", &words::user_data(&request["userData"]), &json!(placed))?;
    }
    Ok(())
}
