//! What the world still owes a drain.

use std::collections::BTreeSet;

use super::{How, LaneStep, State, Turn, state::Emptying};
use crate::vocab::Timestamp;

/// Work in the outside world. Beside it, the end of pods, the ways of volumes and the end of the node are reported
/// whenever they are seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Let the node take no new pods.
    Cordon,
    /// List its pods.
    List,
    /// Tell a pod to leave; forced, with no grace.
    Tell { pod: String, how: How, attempt: u32, is_forced: bool },
    /// Say when it is time.
    WakeAt(Timestamp),
}

impl State {
    /// What is owed; asked after every step and every restart.
    pub fn pending(&self) -> BTreeSet<Effect> {
        match self {
            Self::Idle | Self::Over(_) => BTreeSet::new(),
            Self::Cordoning(_) => BTreeSet::from([Effect::Cordon]),
            Self::Listing(_) => BTreeSet::from([Effect::List]),
            Self::Emptying(emptying) => emptying.pending(),
        }
    }
}

impl Emptying {
    fn pending(&self) -> BTreeSet<Effect> {
        let is_forced = self.plan.is_forced;
        let tell = |pod: &str, how, attempt| Effect::Tell { pod: pod.to_owned(), how, attempt, is_forced };
        let lanes = self.lanes.iter().filter_map(|lane| match lane.step {
            LaneStep::Calling { how, attempt } => Some(tell(&lane.pod.name, how, attempt)),
            LaneStep::Refused { until, .. } | LaneStep::Leaving { until } => Some(Effect::WakeAt(until)),
            LaneStep::Over => None,
        });
        let turn = match &self.round.turn {
            Turn::Nobody | Turn::Over => None,
            Turn::Calling(pod) => Some(tell(&pod.name, self.round.how, self.round.number)),
            Turn::Detaching { until, .. } | Turn::Reattaching { until, .. } | Turn::Between { until } => {
                Some(Effect::WakeAt(*until))
            }
        };
        lanes.chain(turn).collect()
    }
}

impl LaneStep {
    /// The number of the call that is under way or was refused.
    pub(super) fn attempt(self) -> u32 {
        match self {
            Self::Calling { attempt, .. } | Self::Refused { attempt, .. } => attempt,
            Self::Leaving { .. } | Self::Over => 1,
        }
    }
}

impl Turn {
    /// Whose turn it is.
    pub(super) fn pod(&self) -> Option<&super::Pod> {
        match self {
            Self::Calling(pod) | Self::Detaching { pod, .. } | Self::Reattaching { pod, .. } => Some(pod),
            Self::Nobody | Self::Between { .. } | Self::Over => None,
        }
    }
}
