//! Removals: a pass of the original is one of our steps. A drain of these cases has nothing to end, and the agent says so.

use bailiwick::actors::{
    machine::{Command, Instance, Removal, RemovalReason, Report, State},
    ports::Operation,
    testing::Answer,
    vocab::{FaultCode, Life},
};
use serde_json::{Value, json};

use super::{
    super::{
        expect::{Expect, differ},
        given::{Given, Machine},
    },
    Living, Step,
    passes::{compare, fault},
    read, stream, words,
};

pub(in super::super) fn delete(case: &Value) -> Result<(), String> {
    let (given, expect) = read(case)?;
    let machine = given.machine.as_ref().ok_or("it gives no machine")?;
    pass(&given, machine, expect)
}

pub(super) fn pass(given: &Given, machine: &Machine, mut expect: Expect) -> Result<(), String> {
    let mut living = Living::under(given);
    living.desk.provider.answers(stream(machine), words::deletes(), Answer::Late);
    let removal = Command::RemoveWith(removal(given, machine)?);
    match machine.next_step() {
        None => {
            living.enter(&[(machine, None)])?;
            living.begin_pass(machine);
            living.answers_nothing();
            living.desk.machine(&machine.name, removal);
        }
        Some("drain") => {
            living.drains(machine, removal)?;
            living.begin_pass(machine);
            living.desk.agent_says(&machine.name, |effect| Report::Drained { effect });
        }
        Some("delete_vm") => {
            living.enter_running(machine)?;
            living.desk.machine(&machine.name, removal);
            living.desk.perform();
            living.begin_pass(machine);
            living.answer_deletion(given, machine)?;
        }
        other => return Err(format!("no step of ours is {other:?}")),
    }
    living.supervise();
    compare_step(&mut expect, living.state(machine)?)?;
    compare_reason(&mut expect, living.state(machine)?)?;
    // The record goes with the instance: there is nothing in between that it is kept for.
    expect.take("finalizer");
    compare(expect, given, &living, false)
}

fn removal(given: &Given, machine: &Machine) -> Result<Removal, String> {
    let why = match given.params.delete_reason.as_deref() {
        None => RemovalReason::Deleted,
        Some("Unhealthy") => RemovalReason::Unhealthy,
        Some("ScaleDown") => RemovalReason::ScaleDown,
        other => return Err(format!("there is no reason {other:?}")),
    };
    let force = given.params.force || machine.label("force-deletion") == "True";
    Ok(Removal { why, force, ..Removal::default() })
}

impl Living {
    /// It ran for a while, and was well.
    fn enter_running(&mut self, machine: &Machine) -> Result<(), String> {
        let ran = [(400, Step::Declared), (300, Step::Made), (290, Step::Reported(words::all_well()))];
        ran.into_iter().for_each(|(age_s, step)| self.happens(machine, age_s, step));
        Ok(())
    }

    /// It is going, and its workload is to end first.
    fn drains(&mut self, machine: &Machine, removal: Command) -> Result<(), String> {
        self.enter_running(machine)?;
        self.desk.machine(&machine.name, Command::Declare(machine.busy()));
        self.desk.machine(&machine.name, removal);
        Ok(())
    }

    fn answer_deletion(&mut self, given: &Given, machine: &Machine) -> Result<(), String> {
        let fault = fault(given.driver.error("DeleteMachine")?);
        if fault.as_ref().is_some_and(|fault| fault.code == FaultCode::NotFound) {
            // What it does not find, it does not have.
            self.desk.provider.instances.clear();
        }
        self.answered(machine, Operation::DeleteMachine, fault.map_or(Answer::Done, Answer::Fails));
        Ok(())
    }
}

/// What comes next on its way out.
fn compare_step(expect: &mut Expect, state: &State) -> Result<(), String> {
    let Some(mut operation) = expect.take("last_operation") else { return Ok(()) };
    if let Some(step) = operation.as_object_mut().and_then(|fields| fields.remove("next_step")) {
        let ours = match (&state.instance, state.life) {
            _ if state.is_draining() => "drain",
            (Instance::Deleting { .. }, Life::Dying | Life::Dead) => "delete_vm",
            (_, Life::Removed) => "gone",
            _ => "none",
        };
        let step = step.as_str().unwrap_or_default();
        let theirs = words::STEPS.iter().find(|(theirs, _)| *theirs == step).map_or(&[][..], |(_, ours)| ours);
        if !theirs.contains(&ours) {
            return Err(format!("next step: expected {step:?}, which is {theirs:?} here, got {ours:?}"));
        }
    }
    expect.put("last_operation", operation);
    Ok(())
}

/// Why it goes: told to the agent where the original writes it on the node.
fn compare_reason(expect: &mut Expect, state: &State) -> Result<(), String> {
    let Some(node) = expect.take("node") else { return Ok(()) };
    let told = node["conditions"].as_array().into_iter().flatten().find(|it| it["type"] == "Terminating");
    let (Some(told), Some(why)) = (told, state.goes_because()) else { return Ok(()) };
    let ours = if why == RemovalReason::Unhealthy { "Unhealthy" } else { "ScaleDown" };
    differ("the reason of its removal", &told["reason"], &json!(ours))
}
