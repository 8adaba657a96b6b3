//! Node conditions, and what they say about a node.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    policy::{ConditionReading, ReadinessReading},
    vocab::{Taint, TaintEffect, Timestamp},
};

/// One condition of a node, as Kubernetes nodes have them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCondition {
    /// `Ready`, `DiskPressure`.
    pub kind: String,
    pub status: ConditionStatus,
    /// Since when it has this status.
    pub since: Timestamp,
    /// Why, in one word; may be blank.
    pub reason: String,
    /// For people.
    pub message: String,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConditionStatus {
    True,
    False,
    /// Nobody knows; counts as bad.
    Unknown,
}

impl NodeCondition {
    /// The condition that says whether the node as a whole is ready.
    pub const READY: &str = "Ready";
    /// The condition that says that nothing can be written on the node.
    pub const READ_ONLY: &str = "ReadonlyFilesystem";
    /// The condition that a node gets before it is drained.
    pub const TERMINATING: &str = "Terminating";
}

/// The condition that says whether a node as a whole is ready; all others are named after a trouble.
pub const READY: &str = "Ready";

/// The taint of a node whose critical components are not there yet. Counts only as `NoSchedule`.
pub const CRITICAL_TAINT: &str = "node.gardener.cloud/critical-components-not-ready";

/// Whether the conditions are those of a healthy node: there are some, the node is ready (if it says anything about that,
/// or has to), and none of the watched ones holds or is unknown.
pub fn is_healthy(conditions: &[NodeCondition], watched: &BTreeSet<String>, reading: ReadinessReading) -> bool {
    let is_fine = |condition: &NodeCondition| {
        if condition.kind == NodeCondition::READY {
            return condition.status == ConditionStatus::True;
        }
        !watched.contains(&condition.kind) || condition.status == ConditionStatus::False
    };
    let tells_readiness = conditions.iter().any(|condition| condition.kind == NodeCondition::READY);
    let tells_enough = match reading {
        ReadinessReading::IfTold => !conditions.is_empty(),
        ReadinessReading::Required => tells_readiness,
    };
    tells_enough && conditions.iter().all(is_fine)
}

/// Whether a node tells something new. Reasons and texts are not news.
pub fn changed(known: &[NodeCondition], told: &[NodeCondition], reading: ConditionReading) -> bool {
    match reading {
        ConditionReading::ByPlace => {
            known.len() != told.len() || known.iter().zip(told).any(|(known, told)| known.status != told.status)
        }
        ConditionReading::ByKind => statuses(known) != statuses(told),
    }
}

fn statuses(conditions: &[NodeCondition]) -> BTreeMap<&str, ConditionStatus> {
    conditions.iter().map(|condition| (condition.kind.as_str(), condition.status)).collect()
}

/// Whether a node lacks its critical components.
pub fn has_critical_taint(taints: &[Taint]) -> bool {
    taints.iter().any(|taint| taint.key == CRITICAL_TAINT && taint.effect == TaintEffect::NoSchedule)
}
