//! What is wished for: the declared part of a machine set.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{machine::Spec as MachineSpec, vocab::Name};

/// A machine set as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// How many machines it shall have. May change at any time.
    pub replicas: u32,
    /// What its machines are made like. A change holds for machines that are made from then on. Their workloads name no
    /// volumes: one volume cannot be attached to all of them.
    pub template: Arc<MachineSpec>,
    /// Which of its machines go first when there are too many: lower ones before higher ones; who is not named has 3.
    pub priorities: BTreeMap<Name, i32>,
    /// The deployment that owns it; none if it stands alone. Who owns it says its size.
    pub deployment: Option<Name>,
}

impl Spec {
    /// The most machines of one set.
    pub const REPLICAS_MAX: u32 = 100_000;

    /// What a machine of this set is declared as.
    pub fn member(&self, set: &Name) -> Arc<MachineSpec> {
        Arc::new(MachineSpec { set: Some(set.clone()), ..(*self.template).clone() })
    }
}
