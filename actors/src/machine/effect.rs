//! What the world still owes a machine.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Instance, State};
use crate::vocab::{Effort, Outlook, Timestamp};

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Make the instance of this intent.
    Create { intent: Version, attempt: u32 },
    /// Remove what was made, or may have been made, under this intent.
    Delete { of: Version, attempt: u32 },
    /// Say when it is time.
    WakeAt(Timestamp),
}

pub(super) fn pending(state: &State) -> BTreeSet<Effect> {
    let owed = match &state.instance {
        Instance::Creating(effort) => {
            owed(effort, || Effect::Create { intent: effort.intent, attempt: effort.attempt })
        }
        Instance::Deleting { of, effort } => owed(effort, || Effect::Delete { of: *of, attempt: effort.attempt }),
        Instance::None | Instance::Running { .. } | Instance::Lost { .. } => None,
    };
    owed.into_iter().collect()
}

fn owed(effort: &Effort, call: impl FnOnce() -> Effect) -> Option<Effect> {
    match &effort.outlook {
        Outlook::Trying => Some(call()),
        Outlook::Waiting { until, .. } => Some(Effect::WakeAt(*until)),
        Outlook::GivenUp { .. } => None,
    }
}
