//! What the world still owes a volume.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{State, Storage};
use crate::vocab::{Outlook, Timestamp};

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Make the volume of this intent.
    Create { intent: Version, attempt: u32 },
    /// Destroy what was made, or may have been made, under this intent.
    Destroy { of: Version, attempt: u32 },
    /// Say when it is time.
    WakeAt(Timestamp),
}

pub(super) fn pending(state: &State) -> BTreeSet<Effect> {
    let Some(effort) = state.effort() else {
        return BTreeSet::new();
    };
    let attempt = effort.attempt;
    match (&effort.outlook, &state.storage) {
        (Outlook::Trying, Storage::Destroying { of, .. }) => [Effect::Destroy { of: *of, attempt }].into(),
        (Outlook::Trying, _) => [Effect::Create { intent: effort.intent, attempt }].into(),
        (Outlook::Waiting { until, .. }, _) => [Effect::WakeAt(*until)].into(),
        (Outlook::GivenUp { .. }, _) => BTreeSet::new(),
    }
}
