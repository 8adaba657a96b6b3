//! The end of a machine once nothing hangs on it: what becomes of its instance.

use super::{Event, Instance, Leaving, State, verdict::Facts};
use crate::vocab::{Effort, Outlook};

/// Nothing hangs on it any more: it dies, and its instance goes, unless it is to stay.
pub(super) fn death(state: &State, facts: &Facts<'_>) -> Vec<Event> {
    let why = if state.keeps_instance {
        Some(Leaving::OperatorKeeps)
    } else {
        (!facts.policy.harvest.mode.stops_dead()).then_some(Leaving::PolicySpares)
    };
    match (&state.instance, why) {
        // Clients are told that it is dead, and say when it is gone.
        (Instance::None, None) if state.is_external() => vec![Event::Died],
        (Instance::Creating(_), _) if state.is_external() => {
            vec![Event::Died, Event::DeleteRequested { at: facts.now }]
        }
        (Instance::None, _) => vec![Event::Died, Event::Removed],
        (Instance::Deleting { .. }, _) => vec![Event::Died],
        (Instance::Creating(effort), _) if is_all_there_is(state, effort, facts) => {
            let effect = state.effect_of(facts.journal, facts.stream, effort.intent);
            vec![Event::Died, Event::InstanceLeft { effect, why: Leaving::OfOther }, Event::Removed]
        }
        (Instance::Creating(effort), _) if was_never_asked_for(state, effort) => vec![Event::Died, Event::Removed],
        // What was never finished is nobody's, whatever is to become of instances.
        (Instance::Creating(_), _) | (Instance::Running { .. } | Instance::Lost { .. }, None) => {
            vec![Event::Died, Event::DeleteRequested { at: facts.now }]
        }
        (Instance::Running { intent, .. } | Instance::Lost { intent, .. }, Some(why)) => {
            let effect = state.effect_of(facts.journal, facts.stream, *intent);
            vec![Event::Died, Event::InstanceLeft { effect, why }, Event::Removed]
        }
    }
}

/// It waits for its zone, its class or what it is started with, and no attempt before that may have left something.
fn was_never_asked_for(state: &State, effort: &Effort) -> bool {
    effort.outlook == Outlook::Trying && !state.is_called() && !effort.in_doubt
}

/// Whether its instance stays.
pub(super) fn is_spared(death: &[Event]) -> bool {
    death.iter().any(|event| matches!(event, Event::InstanceLeft { .. }))
}

/// Whether nothing of its own can be there: making it was given up because of what stands in its place.
fn is_all_there_is(state: &State, effort: &Effort, facts: &Facts<'_>) -> bool {
    let effect = state.effect_of(facts.journal, facts.stream, effort.intent);
    effort.outlook != Outlook::Trying && state.of_others.contains(&effect)
}
