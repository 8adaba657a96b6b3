//! What the world still owes an attachment.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Attached, Link, State};
use crate::vocab::{Effort, Life, Outlook, Timestamp};

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Attach under this intent.
    Attach { intent: Version, attempt: u32 },
    /// Undo what was attached, or may have been, under this intent.
    Detach { of: Version, attempt: u32 },
    /// Say when it is time.
    WakeAt(Timestamp),
}

pub(super) fn pending<A: Attached>(state: &State<A>) -> BTreeSet<Effect> {
    let Some(effort) = state.effort() else {
        return BTreeSet::new();
    };
    let attempt = effort.attempt;
    // Nothing is attached any more that is on its way out.
    if matches!(state.link, Link::Attaching { .. }) && state.life != Life::Alive {
        return BTreeSet::new();
    }
    let deadline = state.undoing().and_then(Effort::deadline);
    let wake = effort.wakes_at(deadline).map(Effect::WakeAt);
    // It ends with the instance that it is attached to, and nobody is asked for that.
    if state.is_external() {
        return wake.into_iter().collect();
    }
    let call_and = |call| [call].into_iter().chain(wake.clone()).collect();
    match (&effort.outlook, &state.link) {
        (Outlook::Trying, Link::Detaching { of, .. }) => call_and(Effect::Detach { of: *of, attempt }),
        (Outlook::Trying, _) => [Effect::Attach { intent: effort.intent, attempt }].into(),
        (Outlook::Waiting { .. } | Outlook::GivenUp { .. }, _) => wake.into_iter().collect(),
    }
}
