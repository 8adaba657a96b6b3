//! What is wished for: the declared part of a machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::vocab::Name;

/// A machine as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Which provider makes it. Cannot change while the machine lives.
    pub provider: Name,
    /// What runs on it. May change at any time; the agent follows.
    pub workloads: Vec<Workload>,
    /// For people and selectors. May change at any time.
    pub labels: BTreeMap<String, String>,
}

/// A process that the machine's agent keeps running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Unique within the machine.
    pub name: Name,
    /// Program and arguments, run without a shell; at least one element.
    pub command: Vec<String>,
    /// Added to the agent's clean environment. Not for secrets: it is journaled.
    pub env: BTreeMap<String, String>,
}
