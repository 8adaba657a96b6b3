//! Instances that belong to no machine: what the machines supervisor makes of a provider's list, and the machines of what it
//! tells them.

use bailiwick::actors::{
    machine::Command,
    policy::{Document, RetryBy},
    ports::{MachineInstance, Operation},
    testing::{Answer, Asked, Call},
    vocab::{Fault, FaultCode, InstanceId, MachinePhase},
};
use serde_json::{Value, json};

use super::{
    super::lab::{Lab, fails, stranger},
    given::{CallError, Machine, phase},
    policy_name, read,
};

/// The calls of a search, by the original's names. A search of ours may list more than once.
const CALLS: [(Asked, &str); 3] = [
    (Asked::List, "ListMachines"),
    (Asked::Operation(Operation::DeleteStray), "DeleteMachine"),
    (Asked::Operation(Operation::DeleteMachine), "DeleteMachine"),
];

pub(super) fn orphans(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let policy = Document::named(policy_name(&given)).expect("a policy of ours");
    let mut lab = Lab::new(policy.clone());
    for machine in &given.others {
        live(&mut lab, machine)?;
    }
    lab.desk.provider.instances.clear();
    for (id, of) in &given.driver.vms {
        let name = of.replace('_', "-");
        let known = given.others.iter().find(|machine| machine.name == *of).filter(|machine| owns(machine, id));
        let own = known.and_then(|_| lab.effect(&name));
        let unknown = stranger(&name, id);
        let there = MachineInstance { effect: own.unwrap_or(unknown.effect), ..unknown };
        lab.desk.provider.instances.insert(there.effect, there);
    }
    lab.desk.provider.list_fails = given.driver.error("ListMachines")?.err().map(fault);
    if let Err(error) = given.driver.error("DeleteMachine")? {
        for of in given.driver.vms.values() {
            let stream = Lab::stream(&of.replace('_', "-"));
            let answer = Answer::Fails(fault(error.clone()));
            lab.desk.provider.answers(stream, Asked::Operation(Operation::DeleteStray), answer);
        }
    }
    let (from, before) = (lab.desk.provider.calls.len(), lab.desk.provider.instances.clone());
    lab.search();
    let calls = told(&lab.desk.provider.calls[from..]);
    let there = &lab.desk.provider.instances;
    let ids = |is_there: bool| {
        let some = before.iter().filter(|(effect, _)| there.contains_key(effect) == is_there);
        some.map(|(_, instance)| instance.instance.0.clone()).collect::<Vec<_>>()
    };
    expect.same_set("vms_deleted", json!(ids(false)))?;
    expect.same_set("vms_left", json!(ids(true)))?;
    expect.same("trace", json!(calls.iter().map(|call| format!("driver {call}")).collect::<Vec<_>>()))?;
    expect.same("calls", json!(calls))?;
    let asked = lab.desk.provider.calls[from..].iter().filter(|call| matches!(call.asked, Asked::Operation(_)));
    let request = |call: &Call| {
        let of = call.effect.and_then(|effect| before.get(&effect))?;
        Some(
            json!({"call": "DeleteMachine", "machine": given.driver.vms.get(&of.instance.0), "provider_id": of.instance.0}),
        )
    };
    expect.same("requests", json!(asked.filter_map(request).collect::<Vec<_>>()))?;
    let is_failing = !lab.desk.machines_seen().failing.is_empty() || deletes_wait(&lab, &given.driver.vms);
    expect.same("outcome", if is_failing { "failed" } else { "settled" })?;
    expect.error("error", is_failing)?;
    // When it is searched next: a class of its own only where waits follow from faults.
    let (retry, retry_s) = (expect.take("retry"), expect.take("retry_s"));
    if policy.retries.by == RetryBy::FaultCode {
        let periods = &policy.reconciliation;
        let classes =
            [(periods.retry_short_ms, "short"), (periods.retry_medium_ms, "medium"), (periods.retry_long_ms, "long")];
        let next_ms = policy.machines.poll_ms;
        let class = classes.iter().find(|(ms, _)| *ms == next_ms).map(|(_, class)| *class);
        super::expect::differ("retry", &retry.unwrap_or_default(), &json!(class))?;
        super::expect::differ("retry_s", &retry_s.unwrap_or_default(), &json!(next_ms / 1_000))?;
    }
    expect.done()
}

fn fault(error: CallError) -> Fault {
    Fault::new(error.code.unwrap_or(FaultCode::Unknown), "provider says no")
}

/// Whether it is, or may be, what the machine has made: by its id, or because the machine is still making something.
fn owns(machine: &Machine, id: &str) -> bool {
    let makes = ["", "Pending", "CrashLoopBackOff"].contains(&machine.phase.as_str());
    machine.provider_id == id || (machine.provider_id.is_empty() && makes)
}

/// A machine in this phase, by its past.
fn live(lab: &mut Lab, machine: &Machine) -> Result<(), String> {
    let name = machine.name.replace('_', "-");
    let is_being_made = machine.provider_id.is_empty();
    lab.declare(&name, |_| ());
    let effect = lab.effect(&name).ok_or("it is being made")?;
    let instance = InstanceId(machine.provider_id.clone());
    let made = MachineInstance { effect, instance, ..stranger(&name, "") };
    let (first, is_going) = match phase(&machine.phase)? {
        MachinePhase::CrashLoopBackOff => (fails(FaultCode::Internal, "no"), false),
        MachinePhase::Blank => (Answer::Late, false),
        MachinePhase::Pending if is_being_made => (Answer::Late, false),
        MachinePhase::Terminating => (Answer::Instance(Box::new(made)), true),
        _ => (Answer::Instance(Box::new(made)), false),
    };
    lab.creates(&name, [first]);
    lab.desk.settle();
    if is_going {
        // It is still going: its deletion has failed once.
        let fails = fails(FaultCode::Unavailable, "no answer");
        lab.desk.provider.answers(Lab::stream(&name), Asked::Operation(Operation::DeleteMachine), fails);
        lab.desk.machine(&name, Command::Remove);
        lab.desk.settle();
    }
    Ok(())
}

/// Whether the deletion of an orphan waits to be tried again.
fn deletes_wait(lab: &Lab, vms: &std::collections::BTreeMap<String, String>) -> bool {
    vms.values().any(|of| !lab.state(&of.replace('_', "-")).strays.is_empty())
}

/// The calls of one search: however often it lists, it is one list.
fn told(calls: &[Call]) -> Vec<&'static str> {
    let mut told = Vec::new();
    for call in calls {
        let name = CALLS.iter().find(|(asked, _)| *asked == call.asked).map(|(_, name)| *name);
        let is_again = call.asked == Asked::List && told.contains(&"ListMachines");
        told.extend(name.filter(|_| !is_again));
    }
    told
}
