//! Several passes: the passes are the original's, so what is compared is which phases follow one another, and that a call of
//! ours is under way whenever the original's provider answers one.

use bailiwick::actors::{
    machine::{Command, Node as Agent},
    ports::Operation,
    testing::{Answer, Asked},
    vocab::{Outlook, Timestamp},
};
use serde_json::Value;

use super::{
    super::given::{Event, Given, Machine, Node},
    Living, SILENT_S,
    passes::fault,
    read, stream, tried_once, words,
};

pub(in super::super) fn sequence(case: &Value) -> Result<(), String> {
    let (mut given, mut expect) = read(case)?;
    let machine = given.machine.clone().ok_or("it gives no machine")?;
    let mut living = Living::under(&given);
    if given.driver.exists && machine.phase.is_empty() {
        // Its making was not recorded: somebody has to ask.
        tried_once(&machine).into_iter().for_each(|(age_s, step)| living.happens(&machine, age_s, step));
    } else {
        living.enter(&[(&machine, None)])?;
    }
    living.begin_pass(&machine);
    if given.driver.exists {
        living.exists(&machine)?;
    }
    let (mut node, mut ours, mut theirs) = (given.node.take(), Vec::new(), Vec::new());
    for step in expect.take("steps").as_ref().and_then(Value::as_array).into_iter().flatten() {
        let before = step["pass"].to_string();
        if let Some(event) = given.params.events.get(&before).cloned() {
            living.before_a_pass(&mut given, &machine, event, &mut node)?;
        }
        living.one_pass(&given, &machine, node.as_ref(), step)?;
        let state = living.state(&machine)?;
        ours.push(words::phase_after(state, &living.happened(&machine)).as_str().to_owned());
        theirs.push(step["phase"].as_str().unwrap_or_default().to_owned());
    }
    words::NOT_OURS.iter().for_each(|(key, _)| drop(expect.take(key)));
    let (ours, theirs) = (words::in_turn(ours), words::in_turn(theirs));
    if ours != theirs {
        return Err(format!("phases in turn: expected {theirs:?}, got {ours:?}"));
    }
    expect.done()
}

impl Living {
    fn before_a_pass(
        &mut self,
        given: &mut Given,
        machine: &Machine,
        event: Event,
        node: &mut Option<Node>,
    ) -> Result<(), String> {
        if let Some(errors) = event.driver_errors {
            given.driver.errors = errors;
        }
        if let Some(seen) = event.node {
            *node = Some(seen);
        }
        if event.node_gone.is_some() {
            *node = None;
        }
        if let Some(age_s) = event.age_phase_s {
            self.desk.now = self.desk.now.after(age_s * 1000);
        }
        if event.delete.is_some() {
            self.desk.provider.answers(stream(machine), words::deletes(), Answer::Late);
            self.desk.machine(&machine.name, Command::Remove);
            self.desk.perform();
        }
        Ok(())
    }

    fn one_pass(&mut self, given: &Given, machine: &Machine, node: Option<&Node>, step: &Value) -> Result<(), String> {
        let calls = |call: &str| {
            let trace = step["trace"].as_array().into_iter().flatten();
            trace.filter_map(Value::as_str).any(|entry| entry.strip_prefix("driver ") == Some(call))
        };
        match (node, &self.state(machine)?.node) {
            (Some(node), _) => self.report(machine, node.told()),
            (None, Agent::Reporting { .. }) => {
                self.desk.now = self.desk.now.after(SILENT_S * 1000);
                let last_seen = Timestamp(self.desk.now.0 - SILENT_S * 1000);
                self.desk.report_silent(&machine.name, last_seen);
            }
            (None, _) => (),
        }
        self.wake(machine);
        for (call, operation) in
            [("CreateMachine", Operation::CreateMachine), ("DeleteMachine", Operation::DeleteMachine)]
        {
            if calls(call) {
                self.answers(given, machine, (call, operation))?;
            }
        }
        let asks = self.state(machine)?.effort().is_some_and(|effort| effort.attempt > 1);
        if calls("GetMachineStatus") && given.driver.exists && asks {
            self.desk.perform();
        }
        self.supervise();
        Ok(())
    }

    /// The provider answers what the machine has asked it, or asks it now that it is time.
    fn answers(
        &mut self,
        given: &Given,
        machine: &Machine,
        (call, operation): (&str, Operation),
    ) -> Result<(), String> {
        let waits = self.state(machine)?.effort().and_then(|effort| match effort.outlook {
            Outlook::Waiting { until, .. } => Some(until),
            Outlook::Trying | Outlook::GivenUp { .. } => None,
        });
        if let Some(until) = waits {
            self.desk.now = self.desk.now.max(until);
            self.wake(machine);
        }
        let answer = fault(given.driver.error(call)?).map_or(Answer::Done, Answer::Fails);
        let before = self.happened(machine).len();
        self.desk.provider.answers(stream(machine), Asked::Operation(operation), answer);
        self.desk.perform();
        if self.happened(machine).len() == before {
            return Err(format!("pass {call}: nothing of ours is asked for then"));
        }
        Ok(())
    }
}
