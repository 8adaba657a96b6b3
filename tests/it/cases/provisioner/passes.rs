//! Passes over many machines at once: what their provider lists, what is asked of them, and what follows.
//!
//! A pass of the original is: the provider is asked what it has until that brings nothing new; then what changed in the
//! store is asked of the machines, and what follows is done.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    machine::{Command, Removal},
    ports::{MachineInstance, Operation},
    testing::{Answer, Asked, Call, name},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{
        lab::{Lab, done_for, stranger},
        read,
    },
    classes::mode,
    policy, same,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassesCase {
    mode: String,
    machines: BTreeMap<String, Record>,
    cloud: BTreeSet<String>,
    #[serde(default)]
    broker_list_error: bool,
    #[serde(default)]
    stop_error: bool,
    passes: Vec<PassElement>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassElement {
    set: Option<PassSet>,
    ids: Option<BTreeSet<String>>,
    mode: Option<String>,
    #[serde(rename = "note")]
    _note: Option<String>,
    expect: ExpectedPass,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassSet {
    #[serde(default)]
    machines: BTreeMap<String, Record>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedPass {
    stopped: Vec<String>,
    removed: Vec<String>,
    started: Vec<String>,
    maintained: Vec<String>,
    error: Option<String>,
    stop_call: Option<Vec<String>>,
}

/// What a store says of a machine.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Record {
    life: Option<String>,
    instance: Option<String>,
    keep_instance: bool,
}

/// The lab of one case.
struct PassWorld {
    lab: Lab,
    known: BTreeSet<String>,
    /// The machines that were there before this pass.
    there: BTreeSet<String>,
}

pub(super) fn passes(case: &Value) -> Result<(), String> {
    let case: PassesCase = read(case)?;
    let mut world = PassWorld::of(&case)?;
    for (number, element) in case.passes.into_iter().enumerate() {
        let got = world.pass(&element)?;
        same(&format!("element {number}"), element.expect, got)?;
    }
    Ok(())
}

impl PassWorld {
    fn of(case: &PassesCase) -> Result<Self, String> {
        let mut policy = policy(3, 10);
        policy.harvest.mode = mode(&case.mode)?;
        let known: BTreeSet<String> = case.machines.keys().cloned().collect();
        let mut world = Self { lab: Lab::new(policy), there: known.clone(), known };
        for (id, record) in &case.machines {
            world.lab.declare(id, |_| ());
            if let Some(instance) = &record.instance {
                world.run(id, instance);
            }
        }
        for (id, record) in &case.machines {
            world.set(id, record)?;
        }
        let instances = &mut world.lab.desk.provider.instances;
        instances.retain(|_, instance| case.cloud.contains(&instance.instance.0));
        let there: BTreeSet<String> = instances.values().map(|instance| instance.instance.0.clone()).collect();
        for id in case.cloud.difference(&there) {
            let unknown = stranger(&format!("of-{id}"), id);
            instances.insert(unknown.effect, unknown);
        }
        let unavailable = || Fault::new(FaultCode::Unavailable, "no answer");
        world.lab.desk.provider.list_fails = case.broker_list_error.then(unavailable);
        if case.stop_error {
            for stops in [Operation::DeleteMachine, Operation::DeleteStray] {
                world.lab.desk.provider.refuses.insert(Asked::Operation(stops), unavailable());
            }
        }
        Ok(world)
    }

    /// The machine has an instance of this name. What else was declared has not been asked for yet.
    fn run(&mut self, id: &str, instance: &str) {
        let effect = self.lab.effect(id).expect("it is being made");
        let made = MachineInstance { effect, instance: InstanceId(instance.to_owned()), ..stranger(id, instance) };
        self.lab.desk.provider.instances.insert(effect, made.clone());
        self.lab.creates(id, [Answer::Instance(Box::new(made))]);
        self.lab.desk.perform_for(&Lab::stream(id));
    }

    /// What the store says of a machine now.
    fn set(&mut self, id: &str, record: &Record) -> Result<(), String> {
        let removal = Removal { keep_instance: record.keep_instance, ..Removal::default() };
        match record.life.as_deref() {
            None | Some("alive") => (),
            Some("dying") => {
                // Whoever has an instance and is dying has something inside that has not ended.
                if self.lab.state(id).running_effect().is_some() {
                    self.lab.desk.machine(id, Command::ReserveAttachment { volume: name("inside") });
                }
                self.lab.desk.machine(id, Command::Remove);
            }
            Some("dead") => drop(self.lab.desk.machine(id, Command::RemoveWith(removal))),
            Some(other) => return Err(format!("the runner does not know the life {other:?}")),
        }
        Ok(())
    }

    fn pass(&mut self, element: &PassElement) -> Result<ExpectedPass, String> {
        // Between two passes lies the wait after a failure.
        let next = self.lab.desk.now.after(self.lab.desk.policy().machines.retry_first_ms);
        let due: Vec<_> = self.lab.desk.due().into_iter().filter(|(due, _)| *due <= next).collect();
        self.lab.desk.now = next;
        let had = self.lab.desk.provider.instances.clone();
        let from = self.lab.desk.provider.calls.len();
        for (due, stream) in due {
            self.lab.desk.wake(&stream, due);
        }
        match (&element.ids, &element.mode) {
            (Some(_), None) => self.lab.search(),
            (None, Some(wanted)) => {
                let mut policy = self.lab.desk.policy().clone();
                policy.harvest.mode = mode(wanted)?;
                self.lab.desk.revise(policy);
                self.lab.search();
            }
            _ => return Err("a pass has either ids or a mode".into()),
        }
        for (id, record) in element.set.iter().flat_map(|set| &set.machines) {
            self.known.insert(id.clone());
            self.set(id, record)?;
        }
        self.lab.desk.settle();
        let told = self.told(from, &had);
        self.there = self.there();
        Ok(told)
    }

    /// The machines that are not gone.
    fn there(&self) -> BTreeSet<String> {
        self.known.iter().filter(|id| self.lab.state(id).life != Life::Removed).cloned().collect()
    }

    fn told(&self, from: usize, had: &BTreeMap<EffectId, MachineInstance>) -> ExpectedPass {
        let provider = &self.lab.desk.provider;
        // By id it is asked for what may never have been there: stopped is what was.
        let stops = |asked: Operation| {
            let calls = provider.calls[from..].iter().filter(move |call: &&Call| call.asked == Asked::Operation(asked));
            let instances: BTreeSet<(String, EffectId)> =
                calls.filter_map(|call| Some((had.get(&call.effect?)?.instance.0.clone(), call.effect?))).collect();
            instances
        };
        let asked: Vec<(String, EffectId)> =
            stops(Operation::DeleteMachine).into_iter().chain(stops(Operation::DeleteStray)).collect();
        let names = |of: Vec<&(String, EffectId)>| of.into_iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let stopped = names(asked.iter().filter(|(_, id)| !provider.instances.contains_key(id)).collect());
        let started = done_for(&self.lab, Operation::CreateMachine, from);
        let is_silent = self.lab.desk.machines_seen().failing.contains_key(&name("desk"));
        let is_left = asked.iter().any(|(_, id)| provider.instances.contains_key(id));
        let error = if is_silent { Some("broker_list") } else { is_left.then_some("stop") };
        ExpectedPass {
            stop_call: (!asked.is_empty()).then(|| names(asked.iter().collect())),
            stopped,
            removed: self.there.difference(&self.there()).cloned().collect(),
            started,
            maintained: Vec::new(),
            error: error.map(str::to_owned),
        }
    }
}
