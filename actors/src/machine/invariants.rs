//! What holds of every machine.

use super::{Instance, Node, State, health::Health};
use crate::{
    contract::Invariant,
    vocab::{Life, Outlook},
};

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant {
        name: "declared",
        says: "what exists was declared",
        holds: |state| !state.life.exists() || state.spec.is_some(),
    },
    Invariant {
        name: "gone-has-no-instance",
        says: "what is gone has no instance, nor was one asked for",
        holds: |state| match &state.instance {
            Instance::None => true,
            Instance::Creating(effort) => state.life.exists() || !(effort.in_doubt || state.is_called()),
            Instance::Running { .. } | Instance::Lost { .. } | Instance::Deleting { .. } => state.life.exists(),
        },
    },
    Invariant {
        name: "gone-has-no-dependents",
        says: "nothing depends on what is gone",
        holds: |state| state.life.exists() || state.is_free(),
    },
    Invariant {
        name: "reports-while-running",
        says: "an agent reports from an instance that runs",
        holds: |state| is_running(state) || (state.node == Node::Silent && state.unfit_since.is_none()),
    },
    Invariant {
        name: "judged-while-running",
        says: "the health of an instance is judged while it runs",
        holds: |state| is_running(state) || state.health == Health::Unjudged,
    },
    Invariant {
        name: "joined-while-running",
        says: "an agent joins an instance that runs",
        holds: |state| is_running(state) || state.joined.is_none(),
    },
    Invariant {
        name: "progress-of-a-call",
        says: "progress is that of the call under way",
        holds: |state| {
            let is_called = state.effort().is_some_and(|effort| effort.outlook == Outlook::Trying);
            is_called || state.progress.is_none()
        },
    },
    Invariant {
        name: "removal-has-a-beginning",
        says: "it is known since when a machine is being removed",
        holds: |state| !state.life.is_leaving() || state.going_since.is_some(),
    },
    Invariant {
        name: "removal-was-asked-for",
        says: "nobody removes a machine that was not asked to go",
        holds: |state| state.life != Life::Alive || state.going_since.is_none(),
    },
    Invariant {
        name: "foreign-in-one-way",
        says: "an instance is a stray, kept, or another control plane's: one of the three",
        holds: |state| {
            state.strays.keys().all(|stray| !state.kept.contains(stray) && !state.of_others.contains(stray))
                && state.kept.is_disjoint(&state.of_others)
        },
    },
    Invariant {
        name: "zones-of-attached-volumes",
        says: "a volume's zone matters while it is attached",
        holds: |state| state.volume_zones.iter().all(|(volume, _)| state.attachments.contains(volume)),
    },
    Invariant {
        name: "gone-is-not-held",
        says: "what is gone is not held",
        holds: |state| state.life.exists() || state.hold.is_none(),
    },
];

fn is_running(state: &State) -> bool {
    matches!(state.instance, Instance::Running { .. })
}
