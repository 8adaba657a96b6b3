//! Where a drain stands.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Pod, own_volumes};
use crate::{
    policy::{DeadlineReading, Reconciliation},
    vocab::Timestamp,
};

/// A drain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    #[default]
    Idle,
    Cordoning(Box<Plan>),
    /// Its pods are being listed.
    Listing(Box<Plan>),
    Emptying(Box<Emptying>),
    Over(Outcome),
}

/// What is to be done, settled at the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub began: Timestamp,
    /// Delete at once, wait for nothing.
    pub is_forced: bool,
    /// Whether pods can be evicted, or only deleted.
    pub can_evict: bool,
    /// Whether volumes that arrive elsewhere are reported.
    pub sees_volumes_arrive: bool,
    /// Evictions of one pod before it is deleted; 0 deletes at once.
    pub evictions_max: u32,
    pub timeout_ms: u64,
    pub eviction_retry_ms: u64,
    pub end_buffer_ms: u64,
    pub volume_detach_ms: u64,
    pub volume_reattach_ms: u64,
    pub deadline: DeadlineReading,
    /// Those that shall leave, in the order given; none before they were listed.
    pub pods: Vec<Pod>,
}

/// A node that is being emptied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emptying {
    pub plan: Plan,
    /// Whether the node has vanished meanwhile.
    pub is_node_gone: bool,
    /// Pods that leave at once.
    pub lanes: Vec<Lane>,
    /// Pods that leave one after the other.
    pub round: Round,
    pub faults: Vec<PodFault>,
    /// Pods that were not told to leave, because time was up.
    pub left: Vec<String>,
}

/// One pod that leaves on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    pub pod: Pod,
    pub step: LaneStep,
}

/// Where a pod stands that leaves on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LaneStep {
    /// The call of this number is under way, from 1.
    Calling {
        how: How,
        attempt: u32,
    },
    /// It was refused; asked again then.
    Refused {
        attempt: u32,
        until: Timestamp,
    },
    /// It was told to leave and has to be gone by then.
    Leaving {
        until: Timestamp,
    },
    Over,
}

/// How a pod is told to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum How {
    /// Disruption budgets may refuse.
    Evict,
    Delete,
}

/// The pods with volumes, in one round of asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub number: u32,
    pub how: How,
    /// Whose turn it is.
    pub turn: Turn,
    /// Who comes after, in order.
    pub next: Vec<Pod>,
    /// Who was refused and is asked again in the next round.
    pub again: Vec<Pod>,
}

/// Where the pod stands whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Turn {
    /// Nobody's; the next one is due.
    Nobody,
    Calling(Pod),
    /// Its volumes have to leave the node by then.
    Detaching {
        pod: Pod,
        volumes: BTreeSet<String>,
        until: Timestamp,
    },
    /// Its volumes may arrive elsewhere until then.
    Reattaching {
        pod: Pod,
        volumes: BTreeSet<String>,
        until: Timestamp,
    },
    /// The next round begins then.
    Between {
        until: Timestamp,
    },
    Over,
}

/// How a drain ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Done,
    /// The node cannot be cordoned.
    NotCordoned,
    /// Its pods cannot be listed.
    NotListed,
    /// Some pods did not leave as they should.
    Failed(Vec<PodFault>),
    /// Time was up, and these pods were not told to leave.
    TimedOut {
        left: Vec<String>,
    },
}

/// What went wrong with one pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PodFault {
    /// Its disruption budget never allows an eviction.
    Misconfigured { pod: String },
    /// The call failed, and trying again is not foreseen.
    CallFailed { pod: String },
    /// It did not end in time.
    Stayed { pod: String },
    /// Its volumes did not leave the node in time.
    VolumesStayed { pod: String },
}

impl Plan {
    /// A plan with the policy's figures.
    pub fn new(policy: &Reconciliation, began: Timestamp) -> Self {
        Self {
            began,
            is_forced: false,
            can_evict: true,
            sees_volumes_arrive: false,
            evictions_max: policy.drain.evictions_max,
            timeout_ms: policy.drain.timeout_ms,
            eviction_retry_ms: policy.drain.eviction_retry_ms,
            end_buffer_ms: policy.drain.end_buffer_ms,
            volume_detach_ms: policy.drain.volume_detach_ms,
            volume_reattach_ms: policy.drain.volume_reattach_ms,
            deadline: policy.readings.drain_deadline,
            pods: Vec::new(),
        }
    }

    /// When its time is up.
    pub fn ends(&self) -> Timestamp {
        self.began.after(self.timeout_ms)
    }

    /// How the call of this number is made.
    pub fn how(&self, attempt: u32) -> How {
        if self.is_forced || !self.can_evict || attempt > self.evictions_max { How::Delete } else { How::Evict }
    }

    /// The volumes of a pod that are waited for.
    pub fn volumes(&self, pod: &Pod) -> BTreeSet<String> {
        own_volumes(&self.pods).remove(&pod.name).unwrap_or_default()
    }

    /// Whether a pod has to wait for its turn.
    pub fn takes_turns(&self, pod: &Pod) -> bool {
        !self.is_forced && !pod.volumes.is_empty()
    }
}

impl State {
    /// How it ended, if it did.
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Over(outcome) => Some(outcome),
            Self::Idle | Self::Cordoning(_) | Self::Listing(_) | Self::Emptying(_) => None,
        }
    }
}
