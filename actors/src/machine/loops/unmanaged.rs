//! Which nodes belong to no machine.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    machine::{
        reconcile::{Outcome, Retry},
        rules::wake::NOT_MANAGED,
    },
    policy::Reconciliation,
    vocab::Timestamp,
};

/// A node as it is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSurveyed {
    pub created: Timestamp,
    pub annotations: BTreeMap<String, String>,
    /// How many machines name it.
    pub machines: usize,
}

/// What one look amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Nodes that are to be marked as not ours.
    pub mark: BTreeSet<String>,
    pub outcome: Outcome,
    pub retry: Retry,
}

/// Marks nodes that nobody names for longer than a machine may take to come. One that several machines name is left alone.
pub fn survey(nodes: &BTreeMap<String, NodeSurveyed>, policy: &Reconciliation, now: Timestamp) -> Survey {
    let is_nobodys = |node: &NodeSurveyed| {
        node.machines == 0
            && !node.annotations.contains_key(NOT_MANAGED)
            && now.since(node.created) > policy.creation_timeout_ms
    };
    let mark: BTreeSet<String> =
        nodes.iter().filter(|(_, node)| is_nobodys(node)).map(|(name, _)| name.clone()).collect();
    let outcome = if mark.is_empty() { Outcome::Settled } else { Outcome::Progressed };
    Survey { mark, outcome, retry: Retry::Long }
}
