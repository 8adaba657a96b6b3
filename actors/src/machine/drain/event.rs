//! What happened in a drain.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{How, Outcome, Plan, Pod, PodFault};
use crate::vocab::Timestamp;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Begun {
        plan: Box<Plan>,
    },
    /// The node takes no new pods; its own are listed now.
    Cordoned,
    /// These shall leave.
    Listed {
        pods: Vec<Pod>,
    },
    NodeVanished,
    /// A pod on its own lane is told to leave (again).
    LaneCalls {
        pod: String,
        how: How,
        attempt: u32,
    },
    LaneRefused {
        pod: String,
        until: Timestamp,
    },
    LaneLeaves {
        pod: String,
        until: Timestamp,
    },
    LaneOver {
        pod: String,
        fault: Option<PodFault>,
    },
    /// It is the turn of the next pod with volumes.
    TurnBegun,
    /// It is asked again in the next round.
    TurnPostponed,
    VolumesLeave {
        volumes: BTreeSet<String>,
        until: Timestamp,
    },
    VolumeLeft {
        volume: String,
    },
    VolumesArrive {
        volumes: BTreeSet<String>,
        until: Timestamp,
    },
    VolumeArrived {
        volume: String,
    },
    TurnOver {
        fault: Option<PodFault>,
    },
    RoundOver {
        until: Timestamp,
    },
    RoundBegun {
        number: u32,
        how: How,
    },
    /// No turn comes any more; these were not told to leave.
    TurnsEnded {
        untold: Vec<Pod>,
    },
    Ended(Outcome),
}
