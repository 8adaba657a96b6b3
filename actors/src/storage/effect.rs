//! What the world still owes a volume or a filesystem.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Provisioned, Removal, State, Storage};
use crate::vocab::{Effort, Life, Outlook, Timestamp};

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Make what this intent asks for.
    Create { intent: Version, attempt: u32 },
    /// Destroy what was made, or may have been made, under this intent.
    Destroy { of: Version, attempt: u32 },
    /// Say when it is time.
    WakeAt(Timestamp),
    /// Let go of what was made, or may have been made, under this intent, and leave its data.
    Release { of: Version, attempt: u32 },
}

pub(super) fn pending<K: Provisioned>(state: &State<K>) -> BTreeSet<Effect> {
    let Some(effort) = state.effort() else {
        return BTreeSet::new();
    };
    let attempt = effort.attempt;
    // Nothing more is made for what is on its way out; what an attempt may have left is undone when it dies.
    if matches!(state.storage, Storage::Creating { .. }) && state.life != Life::Alive {
        return BTreeSet::new();
    }
    let deadline = state.undoing().and_then(Effort::deadline);
    let wake = effort.wakes_at(deadline).map(Effect::WakeAt);
    let call_and = |call| [call].into_iter().chain(wake.clone()).collect();
    match (&effort.outlook, &state.storage) {
        (Outlook::Trying, Storage::Destroying { of, .. }) => match state.removal {
            Removal::Destroy => call_and(Effect::Destroy { of: *of, attempt }),
            Removal::Release => call_and(Effect::Release { of: *of, attempt }),
        },
        (Outlook::Trying, _) => [Effect::Create { intent: effort.intent, attempt }].into(),
        (Outlook::Waiting { .. } | Outlook::GivenUp { .. }, _) => wake.into_iter().collect(),
    }
}
