//! Whether a change of a node wakes its machine.

use std::collections::BTreeMap;

use super::{NodeCondition, changed};
use crate::{policy::ConditionReading, vocab::MachinePhase};

/// On a node that is not ours.
pub const NOT_MANAGED: &str = "node.machine.sapcloud.io/not-managed-by-mcm";
/// On a node whose machine shall go; counts with the text `true`.
pub const ASKS_FOR_REMOVAL: &str = "node.machine.sapcloud.io/trigger-deletion-by-mcm";

/// What happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeChange {
    Added,
    Updated,
    Deleted,
}

/// What of the machine with a node's name counts here.
#[derive(Clone, Copy, Debug)]
pub struct NodesMachine<'a> {
    pub phase: MachinePhase,
    pub conditions: &'a [NodeCondition],
    pub is_going: bool,
}

/// What follows from a change of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeVerdict {
    /// The machine is looked at now.
    pub wakes_machine: bool,
    /// The machine is told to go.
    pub removes_machine: bool,
}

/// What follows from a change of a node for its machine, if it has one.
pub fn on_node_change(
    change: NodeChange,
    annotations: &BTreeMap<String, String>,
    conditions: &[NodeCondition],
    machine: Option<NodesMachine<'_>>,
    reading: ConditionReading,
) -> NodeVerdict {
    let Some(machine) = machine else {
        return NodeVerdict::default();
    };
    let asks = change == NodeChange::Updated && annotations.get(ASKS_FOR_REMOVAL).is_some_and(|text| text == "true");
    let is_news = match change {
        NodeChange::Deleted => true,
        NodeChange::Added | NodeChange::Updated => {
            !annotations.contains_key(NOT_MANAGED)
                && machine.phase != MachinePhase::CrashLoopBackOff
                && changed(machine.conditions, conditions, reading)
        }
    };
    NodeVerdict { wakes_machine: is_news, removes_machine: asks && !machine.is_going }
}
