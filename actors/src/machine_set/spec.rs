//! What is wished for: the declared part of a machine set.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    machine::Spec as MachineSpec,
    storage_rules::{ClaimForm, claimed},
    vocab::Name,
};

/// A machine set as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// How many machines it shall have. May change at any time.
    pub replicas: u32,
    /// What its machines are made like. A change holds for machines that are made from then on. The volumes of their
    /// workloads are what each machine asks for itself, by the names that it asks under: one volume cannot be attached to all.
    pub template: Arc<MachineSpec>,
    /// Which of its machines go first when there are too many: lower ones before higher ones; who is not named has 3.
    pub priorities: BTreeMap<Name, i32>,
    /// The deployment that owns it; none if it stands alone. Who owns it says its size.
    pub deployment: Option<Name>,
}

impl Spec {
    /// The most machines of one set.
    pub const REPLICAS_MAX: u32 = 100_000;

    /// What this machine of the set is declared as: what a workload uses is called as it is made for this machine.
    pub fn member(&self, set: &Name, machine: &Name) -> Arc<MachineSpec> {
        let mut spec = MachineSpec { set: Some(set.clone()), ..(*self.template).clone() };
        for workload in &mut spec.workloads {
            let all = claimed(machine, &self.template.storage);
            let used = all.filter(|one| workload.volumes.contains(&one.claim.name));
            workload.volumes = used.filter_map(|one| one.volume).collect();
        }
        Arc::new(spec)
    }

    /// Whether machines of sets can be made like this: they are in no set and in no machine yet, and their workloads use no
    /// volumes but those that they ask for.
    pub fn is_template(machine: &MachineSpec) -> bool {
        let is_asked_for = |volume: &Name| {
            machine.storage.iter().any(|claim| claim.name == *volume && claim.form == ClaimForm::Volume)
        };
        let mut used = machine.workloads.iter().flat_map(|workload| &workload.volumes);
        machine.set.is_none() && machine.parent.is_none() && used.all(is_asked_for)
    }
}
