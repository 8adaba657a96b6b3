//! What a drain may be told.

use serde::{Deserialize, Serialize};

use super::{Budget, How, Plan, Pod};

/// A command to a drain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Begin, unless the node is gone or does not take new pods anyway: then there is nothing to cordon.
    Begin {
        plan: Box<Plan>,
        needs_cordon: bool,
    },
    /// Something that was waited for may be due.
    Wake,
    Report(Report),
}

/// What the world reports to a drain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    Cordoned,
    CordonFailed,
    /// All pods of the node, after it was cordoned.
    Pods(Vec<Pod>),
    ListFailed,
    /// How a pod took being told to leave.
    Told {
        pod: String,
        how: How,
        answer: Answer,
    },
    /// A pod has ended.
    PodGone {
        pod: String,
    },
    /// A volume has left the node.
    VolumeLeft {
        volume: String,
    },
    /// A volume has arrived elsewhere.
    VolumeArrived {
        volume: String,
    },
    /// The node has vanished.
    NodeGone,
}

/// How a pod took being told to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    Accepted,
    /// It is not there any more.
    Gone,
    /// A disruption budget refuses: this one, if it is known.
    Refused(Option<Budget>),
    Failed,
}
