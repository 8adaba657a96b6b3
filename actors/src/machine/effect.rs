//! What the world still owes a machine.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Instance, State, Step, diagnosis, draining, eviction, health, ordered_drain};
use crate::vocab::{EffectId, Effort, Life, Outlook, Timestamp};

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Make the instance of this intent.
    Create { intent: Version, attempt: u32 },
    /// Remove what was made, or may have been made, under this intent.
    Delete { of: Version, attempt: u32 },
    /// Say when it is time.
    WakeAt(Timestamp),
    /// Remove an instance that bears its name and is not its own.
    DeleteStray { effect: EffectId, attempt: u32 },
}

/// At most one call at a time: its own instance comes first, strays wait until nothing else is wanted.
pub(super) fn pending(state: &State) -> BTreeSet<Effect> {
    let own = match &state.instance {
        // It goes as soon as nothing hangs on it: nothing is begun for it any more.
        Instance::Creating(Effort { outlook: Outlook::Trying, .. }) if state.life != Life::Alive => None,
        // A client makes it, and ends it.
        Instance::Creating(_) | Instance::Deleting { .. } if state.is_external() => None,
        // Who prepares the start, hands over what the class says, or chooses the zone, looks at the machine by itself.
        Instance::Creating(_) if state.awaits_start() || state.awaits_site() => None,
        Instance::Creating(effort) if state.awaits_class().is_some() && effort.outlook == Outlook::Trying => None,
        Instance::Creating(effort) => {
            owed(effort, || Effect::Create { intent: effort.intent, attempt: effort.attempt })
        }
        Instance::Deleting { of, effort } => owed(effort, || Effect::Delete { of: *of, attempt: effort.attempt }),
        Instance::None | Instance::Running { .. } | Instance::Lost { .. } => None,
    };
    let is_calling = own.as_ref().is_some_and(|effect| !matches!(effect, Effect::WakeAt(_)));
    let strays = state.strays.iter().filter_map(|(effect, stray)| {
        let (effect, attempt) = (*effect, stray.effort.attempt);
        owed(&stray.effort, || Effect::DeleteStray { effect, attempt })
    });
    let (calls, wakes): (Vec<Effect>, Vec<Effect>) =
        strays.partition(|effect| matches!(effect, Effect::DeleteStray { .. }));
    let call = calls.into_iter().next().filter(|_| !is_calling && state.hold.is_none());
    let mut pending: BTreeSet<Effect> = own.into_iter().chain(call).chain(wakes).collect();
    let judged = [health::until(state), diagnosis::until(state)];
    let times = [draining::until(state), eviction::until(state), ordered_drain::until(state)];
    let times = judged.into_iter().chain(times).flatten().map(Effect::WakeAt);
    if let Some(hold) = &state.hold {
        // A held machine waits for nothing that was noted already, only for the end of the hold.
        let noted = hold.withheld.contains(&Step::Attempt);
        pending.retain(|effect| !(noted && matches!(effect, Effect::WakeAt(_))));
        pending.extend(hold.until.map(Effect::WakeAt));
    }
    // Judging is not doing, and what has begun is finished: these times go on while it is held.
    pending.extend(times);
    pending
}

fn owed(effort: &Effort, call: impl FnOnce() -> Effect) -> Option<Effect> {
    match &effort.outlook {
        Outlook::Trying => Some(call()),
        Outlook::Waiting { .. } | Outlook::GivenUp { .. } => effort.next_attempt().map(Effect::WakeAt),
    }
}
