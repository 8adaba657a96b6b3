//! What is wished for: the declared part of a machine set.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error};

use crate::{
    machine::{Spec as MachineSpec, SpecV2},
    vocab::Name,
};

/// A machine set as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// How many machines it shall have. May change at any time.
    pub replicas: u32,
    /// What its machines are made like. A change holds for machines that are made from then on. Their workloads name no
    /// volumes: one volume cannot be attached to all of them.
    #[serde(serialize_with = "store_template", deserialize_with = "load_template")]
    pub template: Arc<MachineSpec>,
    /// Which of its machines go first when there are too many: lower ones before higher ones; who is not named has 3.
    pub priorities: BTreeMap<Name, i32>,
}

impl Spec {
    /// The most machines of one set.
    pub const REPLICAS_MAX: u32 = 100_000;

    /// What a machine of this set is declared as.
    pub fn member(&self, set: &Name) -> Arc<MachineSpec> {
        Arc::new(MachineSpec { set: Some(set.clone()), ..(*self.template).clone() })
    }
}

/// Templates keep the stored form that machines had when sets were made first: they can say no more than that.
fn store_template<S: Serializer>(template: &MachineSpec, to: S) -> Result<S::Ok, S::Error> {
    let stored = template.as_v2().ok_or_else(|| S::Error::custom("workloads of a template name no volumes"))?;
    stored.serialize(to)
}

fn load_template<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<MachineSpec>, D::Error> {
    Ok(Arc::new(SpecV2::deserialize(from)?.into()))
}
