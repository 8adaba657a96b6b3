//! How patient one is with one machine.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What one machine says otherwise than the policy. Zero is a value: it is honoured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overrides {
    pub creation_timeout_ms: Option<u64>,
    pub health_timeout_ms: Option<u64>,
    pub drain_timeout_ms: Option<u64>,
    pub evictions_max: Option<u32>,
    /// An empty list means that only readiness counts.
    pub node_conditions: Option<BTreeSet<String>>,
    pub keep_failed_ms: Option<u64>,
}
