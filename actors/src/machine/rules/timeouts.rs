//! Which time-outs and counts are in force for one machine.

use serde::{Deserialize, Serialize};

use crate::policy::{NameReading, Reconciliation};

/// What one machine says otherwise than the policy. Zero is a value: it is honoured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overrides {
    pub creation_timeout_ms: Option<u64>,
    pub health_timeout_ms: Option<u64>,
    pub drain_timeout_ms: Option<u64>,
    pub evictions_max: Option<u32>,
    /// An empty list means that only readiness counts.
    pub node_conditions: Option<Vec<String>>,
}

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    pub creation_timeout_ms: u64,
    pub health_timeout_ms: u64,
    pub drain_timeout_ms: u64,
    pub evictions_max: u32,
    pub node_conditions: Vec<String>,
    /// Refused evictions of one pod that fit into the drain, at most `evictions_max`. May be 0: then pods are deleted
    /// without asking first.
    pub evictions_in_drain: u32,
}

impl InForce {
    /// The policy's values, except where the machine says otherwise.
    pub fn of(overrides: &Overrides, policy: &Reconciliation) -> Self {
        let drain_timeout_ms = overrides.drain_timeout_ms.unwrap_or(policy.drain.timeout_ms);
        let evictions_max = overrides.evictions_max.unwrap_or(policy.drain.evictions_max);
        let fitting = drain_timeout_ms / policy.drain.eviction_retry_ms.max(1);
        Self {
            creation_timeout_ms: overrides.creation_timeout_ms.unwrap_or(policy.creation_timeout_ms),
            health_timeout_ms: overrides.health_timeout_ms.unwrap_or(policy.health_timeout_ms),
            drain_timeout_ms,
            evictions_max,
            node_conditions: overrides.node_conditions.clone().unwrap_or_else(|| policy.node_conditions.clone()),
            evictions_in_drain: evictions_max.min(u32::try_from(fitting).unwrap_or(u32::MAX)),
        }
    }
}

/// The names of a list that is written with commas: `DiskPressure, MemoryPressure`.
pub fn names(text: &str, reading: NameReading) -> Vec<String> {
    let name = |name: &str| match reading {
        NameReading::Verbatim => name.to_owned(),
        NameReading::Trimmed => name.trim().to_owned(),
    };
    text.split(',').map(name).collect()
}
