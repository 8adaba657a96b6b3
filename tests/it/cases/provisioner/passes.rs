//! Passes over many machines at once.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    supervisor::machines::{
        classify::AgentStatus,
        pass::{Claim, LoadFault, Loaded, PassFault, Provisioner, Seen},
    },
    vocab::{InstanceId, MachineId},
};
use serde::Deserialize;
use serde_json::Value;

use super::{super::read, classes::mode, life, machine_id, same};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassesCase {
    mode: String,
    machines: BTreeMap<String, Value>,
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
    machines: BTreeMap<String, Value>,
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

/// The record of a machine in the store.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Record {
    life: Option<String>,
    instance: Option<String>,
    load_error: bool,
    instance_error: Option<String>,
    remove_error: bool,
    keep_instance: bool,
}

/// The world around the provisioner: a store and a cloud.
struct PassWorld {
    machines: BTreeMap<MachineId, Record>,
    cloud: BTreeSet<InstanceId>,
    list_fails: bool,
    stop_fails: bool,
    provisioner: Provisioner,
}

pub(super) fn passes(case: &Value) -> Result<(), String> {
    let case: PassesCase = read(case)?;
    let mut records = case.machines;
    let mut world = PassWorld {
        machines: BTreeMap::new(),
        cloud: case.cloud.into_iter().map(InstanceId).collect(),
        list_fails: case.broker_list_error,
        stop_fails: case.stop_error,
        provisioner: Provisioner::new(mode(&case.mode)?),
    };
    world.load(&records)?;
    for (number, element) in case.passes.into_iter().enumerate() {
        if let Some(set) = element.set {
            for (id, fields) in set.machines {
                match fields {
                    Value::Null => drop((records.remove(&id), world.machines.remove(&machine_id(&id)?))),
                    fields => {
                        let id = machine_id(&id)?;
                        let record = world.machines.entry(id).or_default();
                        let new: Record = read(&fields)?;
                        merge(record, new, &fields);
                    }
                }
            }
        }
        let got = match (element.ids, element.mode) {
            (Some(ids), None) => {
                let ids: BTreeSet<MachineId> = ids.iter().map(|id| machine_id(id)).collect::<Result<_, _>>()?;
                world.pass(&ids)
            }
            (None, Some(text)) if world.provisioner.set_mode(mode(&text)?) => world.pass(&BTreeSet::new()),
            (None, Some(_)) => ExpectedPass::default(),
            _ => return Err(format!("element {number} has neither ids nor a mode, or both")),
        };
        same(&format!("element {number}"), element.expect, got)?;
    }
    Ok(())
}

/// Takes over the fields that are named.
fn merge(record: &mut Record, new: Record, fields: &Value) {
    for name in fields.as_object().into_iter().flat_map(|fields| fields.keys()) {
        match name.as_str() {
            "life" => record.life.clone_from(&new.life),
            "instance" => record.instance.clone_from(&new.instance),
            "load_error" => record.load_error = new.load_error,
            "instance_error" => record.instance_error.clone_from(&new.instance_error),
            "remove_error" => record.remove_error = new.remove_error,
            _ => record.keep_instance = new.keep_instance,
        }
    }
}

impl PassWorld {
    fn load(&mut self, records: &BTreeMap<String, Value>) -> Result<(), String> {
        for (id, fields) in records {
            self.machines.insert(machine_id(id)?, read(fields)?);
        }
        Ok(())
    }

    fn loaded(&self, machine: &MachineId) -> Result<Loaded, LoadFault> {
        let record = self.machines.get(machine).ok_or(LoadFault::Gone)?;
        if record.load_error {
            return Err(LoadFault::Unreadable);
        }
        Ok(Loaded {
            life: life(record.life.as_deref().unwrap_or("alive")).map_err(|_| LoadFault::Unreadable)?,
            status: AgentStatus::Pending,
            is_being_provisioned: false,
            keep_instance: record.keep_instance,
        })
    }

    fn claim(&self, machine: &MachineId) -> Claim {
        let Some(record) = self.machines.get(machine) else { return Claim::Gone("not_found".into()) };
        match (&record.instance_error, &record.instance) {
            (Some(code), _) if matches!(code.as_str(), "not_found" | "unauthorized") => Claim::Gone(code.clone()),
            (Some(code), _) => Claim::Unreadable(code.clone()),
            (None, Some(instance)) => Claim::Instance(InstanceId(instance.clone())),
            (None, None) => Claim::NotProvisioned,
        }
    }

    fn pass(&mut self, ids: &BTreeSet<MachineId>) -> ExpectedPass {
        let asked = ids | self.provisioner.known();
        let seen = Seen {
            instances: (!self.list_fails).then(|| self.cloud.clone()),
            changed: ids.iter().map(|id| (id.clone(), self.loaded(id))).collect(),
            claims: asked.iter().map(|id| (id.clone(), self.claim(id))).collect(),
        };
        let mut got = ExpectedPass::default();
        let pass = match self.provisioner.pass(&seen) {
            Ok(pass) => pass,
            Err(fault) => {
                got.error = Some(match fault {
                    PassFault::List => "broker_list".into(),
                    PassFault::Load { .. } => "machine_load".into(),
                    PassFault::Claim { code, .. } => format!("unknown_scan:{code}"),
                });
                return got;
            }
        };
        let stop: Vec<String> = pass.stop.iter().map(ToString::to_string).collect();
        if !stop.is_empty() {
            got.stop_call = Some(stop.clone());
            if self.stop_fails {
                got.error = Some("stop".into());
                return got;
            }
            self.cloud.retain(|instance| !pass.stop.contains(instance));
            got.stopped = stop;
        }
        for machine in &pass.remove {
            if !self.machines.get(machine).is_some_and(|record| record.remove_error) {
                self.machines.remove(machine);
                got.removed.push(machine.to_string());
            }
        }
        self.provisioner.removed(&pass.remove);
        got.maintained = pass.maintain.iter().map(ToString::to_string).collect();
        for machine in pass.start {
            let instance = InstanceId(format!("i-{machine}"));
            if let Some(record) = self.machines.get_mut(&machine) {
                record.instance = Some(instance.to_string());
            }
            self.cloud.insert(instance);
            got.started.push(machine.to_string());
        }
        got
    }
}
