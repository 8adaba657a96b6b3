//! What the world still owes a replica set.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Phase, State};
use crate::vocab::{Life, Timestamp};

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Read what there is.
    Look { round: Version },
    /// Take the step of this phase.
    Step { round: Version },
    /// Say when it is time.
    WakeAt(Timestamp),
}

pub(super) fn pending(state: &State) -> BTreeSet<Effect> {
    if state.life != Life::Alive {
        return BTreeSet::new();
    }
    let round = state.phase_at;
    match &state.phase {
        Phase::Idle | Phase::Settled => BTreeSet::new(),
        Phase::Looking => [Effect::Look { round }].into(),
        Phase::Stepping { .. } => [Effect::Step { round }].into(),
        Phase::Waiting { until, .. } => [Effect::WakeAt(*until)].into(),
    }
}
