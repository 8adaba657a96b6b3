//! The living node that cases are put to: machines and supervisors at the desk, in virtual time, under a policy that a node
//! can be given.
//!
//! A case gives a machine as the original records it. Ours gets there by what happens to it: it is declared, made, reported
//! about, told to go, each at the time that the case implies. Then the pass: what the case shows is reported, what is due is
//! woken, the supervisors look, calls are answered from the case's driver. How the original's words are read off our state
//! stands in `words.rs`, as data.

mod differences;
mod drain;
mod held;
mod outages;
mod passes;
mod removal;
mod rules;
mod sequence;
mod sync;
mod undrained;
mod words;

use std::{cmp::Reverse, sync::Arc};

use bailiwick::actors::{
    contract::{Decider, Stored},
    machine::{self, Instance, NodeFacts, Spec, State, Workload},
    policy::Document,
    ports::{self, Healthy, Operation},
    testing::{Answer, Asked, Call, Desk, MemoryJournal, name},
    vocab::{Fault, FaultCode, Outlook, Timestamp},
};
use bailiwick::journal::StreamId;
use serde_json::Value;

pub(in crate::cases) use differences::DIFFERENCES;
pub(super) use drain::{drain, drain_pdb, drain_shared};
pub(super) use outages::safety_api;
pub(super) use passes::{create, health, reconcile};
pub(super) use removal::delete;
pub(super) use rules::{
    class, conditions_changed, create_failure_phase, critical_taint, healthy, node_event, termination_reason, timeouts,
    validate_class,
};
pub(super) use sequence::sequence;
pub(super) use sync::sync;
pub(in crate::cases) use undrained::DRAINS;

use super::{
    Expect,
    given::{Given, Machine, NOW, Node, ago},
};

/// How long before the moment of all cases nothing has happened yet.
const BEFORE_ALL_S: u64 = 1_000_000;

/// An agent that was silent for so long is silent under every policy of ours.
const SILENT_S: u64 = 60;

/// A node with one case's machines.
pub(super) struct Living {
    pub(super) desk: Desk,
    pub(super) journal: MemoryJournal,
    /// How many entries there were when the pass began.
    before: usize,
    /// How many calls there were before the one that is under way then.
    called: usize,
}

impl Living {
    pub(super) fn under(given: &Given) -> Self {
        let journal = MemoryJournal::new("case");
        let mut desk = Desk::new(Arc::new(journal.clone()));
        desk.now = ago(BEFORE_ALL_S);
        desk.revise(document(given));
        Self { desk, journal, before: 0, called: 0 }
    }

    /// Brings machines to where the case has them: all that has happened to them, in the order of time.
    pub(super) fn enter(&mut self, machines: &[(&Machine, Option<&Node>)]) -> Result<(), String> {
        let mut story = Vec::new();
        for (machine, node) in machines {
            story.extend(past(machine, *node)?.into_iter().map(|(age_s, step)| (age_s, *machine, step)));
        }
        story.sort_by_key(|(age_s, ..)| Reverse(*age_s));
        for (age_s, machine, step) in story {
            self.happens(machine, age_s, step);
        }
        Ok(())
    }

    /// Lets something happen so many seconds before the pass.
    fn happens(&mut self, machine: &Machine, age_s: u64, step: Step) {
        self.desk.now = self.desk.now.max(ago(age_s));
        match step {
            Step::Declared => {
                self.desk.machine(&machine.name, machine::Command::Declare(Arc::new(machine.spec())));
                if machine.set.is_some() {
                    // Where the machines of a set are made, the supervisor says when it knows of zones.
                    self.desk.list();
                    self.supervise();
                }
                self.leave_under_way(machine, Operation::CreateMachine);
            }
            Step::Made => self.answered(machine, Operation::CreateMachine, Answer::Done),
            Step::NotMade(code) => {
                let fault = Fault::new(code, "not yet");
                self.answered(machine, Operation::CreateMachine, Answer::Fails(fault));
            }
            Step::Joined(facts) => drop(self.desk.report_joined(&machine.name, "1f", facts)),
            Step::Reported(conditions) => self.report(machine, conditions),
            Step::NeverMade => self.fails_for_good(machine),
            Step::Silent => drop(self.desk.report_silent(&machine.name, ago(age_s + SILENT_S))),
            Step::Woken => self.wake(machine),
            Step::GivenUp => {
                self.desk.machine(&machine.name, machine::Command::RetryProvisioning);
                self.leave_under_way(machine, Operation::DeleteMachine);
            }
            Step::Removed => {
                self.desk.machine(&machine.name, machine::Command::Remove);
                self.leave_under_way(machine, Operation::DeleteMachine);
            }
        }
    }

    /// A call goes out, and nobody answers yet.
    fn leave_under_way(&mut self, machine: &Machine, operation: Operation) {
        self.answered(machine, operation, Answer::Late);
    }

    /// The provider answers a machine's call.
    fn answered(&mut self, machine: &Machine, operation: Operation, answer: Answer) {
        self.desk.provider.answers(stream(machine), Asked::Operation(operation), answer);
        self.desk.perform_for(&stream(machine));
    }

    /// The provider refuses to make it until it is given up.
    fn fails_for_good(&mut self, machine: &Machine) {
        let is_given_up = |desk: &Desk| {
            let effort = desk.machine_state(&machine.name).and_then(State::effort);
            effort.is_none_or(|effort| matches!(effort.outlook, Outlook::GivenUp { .. }))
        };
        for _ in 0..100 {
            if is_given_up(&self.desk) {
                return;
            }
            let refused = Fault::new(FaultCode::InvalidArgument, "it cannot be");
            self.answered(machine, Operation::CreateMachine, Answer::Fails(refused));
            self.desk.now = self.desk.now.after(60_000);
            self.wake(machine);
            self.supervise();
        }
        panic!("{} is never given up", machine.name);
    }

    fn report(&mut self, machine: &Machine, conditions: Vec<ports::Condition>) {
        self.desk.report_conditions(&machine.name, conditions);
    }

    /// Whatever is due of it by now happens.
    fn wake(&mut self, machine: &Machine) {
        let (own, now) = (stream(machine), self.desk.now);
        for (due, _) in self.desk.due().into_iter().filter(|(due, stream)| *stream == own && *due <= now) {
            self.desk.wake(&own, due);
        }
    }

    /// The supervisors look and ask, and their orders are carried out; nothing is done.
    fn supervise(&mut self) {
        while self.desk.look() | self.desk.carry_out() {}
        if self.desk.ask_about() {
            while self.desk.look() | self.desk.carry_out() {}
        }
    }

    /// What comes from now on belongs to the pass.
    fn begin_pass(&mut self, machine: &Machine) {
        self.supervise();
        self.desk.now = self.desk.now.max(NOW);
        self.before = self.journal.entries().len();
        let state = self.desk.machine_state(&machine.name);
        let (own, attempt) = (stream(machine), state.and_then(State::effort).map(|effort| effort.attempt));
        let asked = match state.map(|state| &state.instance) {
            Some(Instance::Deleting { .. }) => [Asked::Operation(Operation::DeleteMachine); 2],
            _ => [Asked::Lookup, Asked::Operation(Operation::CreateMachine)],
        };
        let is_under_way = |call: &Call| {
            call.stream.as_ref() == Some(&own) && Some(call.attempt) == attempt && asked.contains(&call.asked)
        };
        let calls = &self.desk.provider.calls;
        self.called = calls.iter().rposition(|call| !is_under_way(call)).map_or(0, |at| at + 1);
    }

    /// Nothing that is under way is answered in this pass.
    fn answers_nothing(&mut self) {
        self.called = self.desk.provider.calls.len();
    }

    /// The calls of the pass, and the one that was under way before.
    fn calls(&self) -> &[Call] {
        &self.desk.provider.calls[self.called..]
    }

    fn state(&self, machine: &Machine) -> Result<&State, String> {
        self.desk.machine_state(&machine.name).ok_or_else(|| "nobody knows this machine".to_owned())
    }

    /// What has happened to a machine in the pass.
    fn happened(&self, machine: &Machine) -> Vec<machine::Event> {
        self.happened_to(&stream(machine))
    }

    fn happened_to(&self, own: &StreamId) -> Vec<machine::Event> {
        let entries = self.journal.entries().split_off(self.before);
        let its = entries.iter().filter(|entry| entry.header.stream == *own);
        its.flat_map(|entry| &entry.events).filter_map(|event| machine::Event::load(event).ok()).collect()
    }
}

/// What happens to a machine.
enum Step {
    /// Its call goes out, and nobody answers yet.
    Declared,
    Made,
    NotMade(FaultCode),
    /// It is refused until it is given up.
    NeverMade,
    Joined(NodeFacts),
    Reported(Vec<ports::Condition>),
    Silent,
    /// What is due by then happens.
    Woken,
    GivenUp,
    Removed,
}

/// How a machine got to where the case has it, by seconds before the pass.
fn past(machine: &Machine, node: Option<&Node>) -> Result<Vec<(u64, Step)>, String> {
    let (created, entered) = (machine.created_age_s(), machine.phase_age_s());
    let made = |age_s: u64| vec![(created.max(age_s + 60), Step::Declared), (age_s, Step::Made)];
    let ran = |age_s: u64| {
        let mut steps = made(age_s + 10);
        steps.push((age_s + 9, Step::Joined(NodeFacts::default())));
        steps.push((age_s, Step::Reported(words::all_well())));
        steps
    };
    Ok(match machine.phase.as_str() {
        "" => vec![(created, Step::Declared)],
        "CrashLoopBackOff" => tried_once(machine),
        "Pending" => {
            let mut steps = made(entered);
            let facts = node.map(Node::facts).unwrap_or_default();
            let is_tainted = !facts.taints.is_empty();
            steps.push((entered, Step::Joined(facts)));
            steps.extend(is_tainted.then(|| (entered, Step::Reported(machine.told()))));
            let is_silent = node.is_none() && entered > SILENT_S;
            steps.extend(is_silent.then(|| (entered - SILENT_S, Step::Silent)));
            steps
        }
        "Running" => ran(entered),
        "Unknown" => {
            let told = machine.told();
            let is_sick = told.iter().any(|condition| condition.healthy != Healthy::Yes);
            let mut steps = ran(entered + SILENT_S + 10);
            steps.push((entered, if is_sick { Step::Reported(told) } else { Step::Silent }));
            steps
        }
        // A set's machine that ran would be made again in its place.
        "Failed" if machine.set.is_some() => vec![(created, Step::Declared), (created - 3_000, Step::NeverMade)],
        "Failed" => {
            let mut steps = made(entered + 100_000);
            steps.extend([(entered, Step::Woken), (entered, Step::GivenUp)]);
            steps
        }
        "Terminating" => {
            let mut steps = ran(entered + 10);
            steps.push((entered, Step::Removed));
            steps
        }
        other => return Err(format!("no machine of ours is ever {other:?}")),
    })
}

/// Its first attempt has failed, in doubt, and the next one is about to begin.
fn tried_once(machine: &Machine) -> Vec<(u64, Step)> {
    let declared = machine.created_age_s().max(120);
    let failed = Step::NotMade(FaultCode::Unavailable);
    vec![(declared, Step::Declared), (declared - 1, failed), (declared - 60, Step::Woken)]
}

fn stream(machine: &Machine) -> StreamId {
    StreamId::new(State::KIND, &machine.name).expect("the names of cases are names")
}

/// What a case gives and expects. Names have no capitals here.
fn read(case: &Value) -> Result<(Given, Expect), String> {
    let (mut given, expect) = super::read(case)?;
    for machine in given.machine.iter_mut().chain(&mut given.others) {
        machine.name = machine.name.to_lowercase();
    }
    Ok((given, expect))
}

/// The policy that a case is asserted under, as a node gets it.
fn document(given: &Given) -> Document {
    let name = if given.defect { "default" } else { "gardener-0.49" };
    let mut document = Document::named(name).expect("a policy of ours");
    if let Some(seconds) = given.flags.drain_timeout_s {
        document.reconciliation.drain.timeout_ms = seconds * 1000;
    }
    document
}

impl Machine {
    /// What would be declared of it here.
    fn spec(&self) -> Spec {
        let labels = self.labels.clone().unwrap_or_default();
        let labels = labels.into_iter().filter(|(key, _)| key != words::NODE_LABEL).collect();
        let set = self.set.as_deref().map(name);
        Spec { labels, set, patience: self.overrides(), ..Spec::with_provider(name("desk")) }
    }

    /// The same with something that runs on it.
    fn busy(&self) -> Arc<Spec> {
        let workload = Workload::new(name("w"), vec!["w".into()]);
        Arc::new(Spec { workloads: vec![workload], ..self.spec() })
    }

    fn told(&self) -> Vec<ports::Condition> {
        self.conditions().iter().map(words::condition).collect()
    }
}

impl Node {
    fn told(&self) -> Vec<ports::Condition> {
        self.seen().0.conditions.iter().map(words::condition).collect()
    }

    fn facts(&self) -> NodeFacts {
        let seen = self.seen().0;
        NodeFacts { labels: seen.labels, annotations: seen.annotations, taints: seen.taints, ..NodeFacts::default() }
    }
}

/// Seconds from the moment of the pass, which takes some milliseconds.
fn seconds_from_now(until: Timestamp) -> u64 {
    (until.since(NOW) + 500) / 1000
}
