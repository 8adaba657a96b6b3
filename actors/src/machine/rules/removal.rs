//! Why a machine goes, and how its node is drained.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ConditionStatus, NodeCondition};
use crate::{
    policy::{Drain, RemovalReading},
    vocab::{MachinePhase, Timestamp},
};

/// The label that forces a removal, with exactly the text `True`.
pub const FORCE_LABEL: &str = "force-deletion";

/// Why a machine goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovalReason {
    /// It was given up.
    Unhealthy,
    /// It is not needed any more.
    ScaleDown,
}

impl RemovalReason {
    /// The reason that a phase before the removal speaks for.
    pub fn of_phase(phase: MachinePhase) -> Self {
        if phase == MachinePhase::Failed { Self::Unhealthy } else { Self::ScaleDown }
    }

    /// As it stands in the node's condition.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unhealthy => "Unhealthy",
            Self::ScaleDown => "ScaleDown",
        }
    }
}

/// What was asked for when a machine was told to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    pub asked: Timestamp,
    /// None if nobody gave one.
    pub reason: Option<RemovalReason>,
    /// Whether nothing shall hold it up.
    pub force: bool,
}

/// The reason that is written to the node.
pub fn reason(removal: &Removal, phase: MachinePhase, reading: RemovalReading) -> RemovalReason {
    match reading {
        RemovalReading::FromRecord => RemovalReason::of_phase(phase),
        RemovalReading::FromCommand => removal.reason.unwrap_or_else(|| RemovalReason::of_phase(phase)),
    }
}

/// Whether a removal is forced: it was asked for like that, or it takes longer than a drain may.
pub fn is_forced(
    removal: &Removal,
    labels: &BTreeMap<String, String>,
    drain_timeout_ms: u64,
    now: Timestamp,
    reading: RemovalReading,
) -> bool {
    let by_label = labels.get(FORCE_LABEL).is_some_and(|text| text == "True");
    let by_command = reading == RemovalReading::FromCommand && removal.force;
    by_label || by_command || now.since(removal.asked) > drain_timeout_ms
}

/// Whether a drain would be in vain: nothing on the node answers, or nothing can be written there, for too long.
pub fn is_drain_in_vain(conditions: &[NodeCondition], settings: &Drain, now: Timestamp) -> bool {
    let is_bad_for_long = |condition: &NodeCondition| {
        let is_bad = match condition.kind.as_str() {
            NodeCondition::READY => condition.status != ConditionStatus::True,
            NodeCondition::READ_ONLY => condition.status != ConditionStatus::False,
            _ => false,
        };
        is_bad && now.since(condition.since) > settings.skip_after_ms
    };
    conditions.iter().any(is_bad_for_long)
}
