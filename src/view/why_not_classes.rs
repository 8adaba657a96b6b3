//! Why a class is not as declared, or still there.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::{Life, Name};
use bailiwick_journal::StreamId;

use super::{
    Fleet,
    unmet::Unmet,
    why_not::{A_REQUEST, NO_REQUEST, THE_END, declared, why_not},
    why_not_sets::unmet_of,
};

pub(super) fn of_machine_class(fleet: &Fleet, entity: &StreamId, wanted: &str) -> Option<Option<Unmet>> {
    let state = fleet.machine_classes.get(entity.name())?;
    Some(match (wanted, state.life) {
        ("removed", Life::Undeclared | Life::Removed) => None,
        ("removed", Life::Alive) => Some(in_use(fleet, entity, &state.users)),
        ("removed", _) => Some(match state.users.iter().next() {
            Some(user) => unmet_of(fleet, &format!("machine/{user}"), "removed", THEIR_REMOVAL),
            None => Unmet::new(THE_END, "its removal is under way", "nothing to do: it completes by itself"),
        }),
        (_, life) => declared(life),
    })
}

const THEIR_REMOVAL: &str = "the removal of the machines that use it";

/// So many of those that use a class are named.
const USERS_MAX: usize = 3;

/// A class goes with those that use it, or after them: alone it is refused.
fn in_use(fleet: &Fleet, class: &StreamId, users: &BTreeSet<Name>) -> Unmet {
    let stays = |user: &&Name| fleet.machines.get(user.as_str()).is_some_and(|state| state.life == Life::Alive);
    let users: Vec<&Name> = users.iter().filter(stays).collect();
    let Some(first) = users.first() else {
        return Unmet::new(A_REQUEST, NO_REQUEST, format!("`bailiwick delete {class}`"));
    };
    let because = match users.len() - 1 {
        0 => format!("machine/{first} uses it"),
        others => format!("machine/{first} and {others} more use it"),
    };
    let owners: BTreeSet<String> = users.iter().map(|user| owner(fleet, user)).collect();
    if let Some(kept) = owners.iter().find(|owner| is_kept(fleet, owner)) {
        return unmet_of(fleet, kept, "removed", THEIR_REMOVAL);
    }
    let named: Vec<&str> = owners.iter().take(USERS_MAX).map(String::as_str).collect();
    let by = if owners.len() <= USERS_MAX {
        format!("`bailiwick delete {} {class}`, or another class in their manifests", named.join(" "))
    } else {
        format!("the removal of all that use it ({}, …), then `bailiwick delete {class}`", named.join(", "))
    };
    Unmet::new(THEIR_REMOVAL, because, by)
}

/// Whether an order to delete it would be refused: it is held or protected.
fn is_kept(fleet: &Fleet, owner: &str) -> bool {
    let answer = owner.parse().ok().and_then(|owner| why_not(fleet, &owner, "removed"));
    answer.and_then(|answer| answer.unmet).is_some_and(|unmet| unmet.precondition != A_REQUEST)
}

/// What has to be deleted so that a machine goes and does not come back.
fn owner(fleet: &Fleet, machine: &Name) -> String {
    let spec = fleet.machines.get(machine.as_str()).and_then(|state| state.spec.as_ref());
    let Some(set) = spec.and_then(|spec| spec.set.as_ref()) else { return format!("machine/{machine}") };
    let of_set = fleet.machine_sets.get(set.as_str()).and_then(|state| state.spec.as_ref());
    let deployment = of_set.and_then(|spec| spec.deployment.as_ref());
    deployment.map_or_else(|| format!("machine-set/{set}"), |owner| format!("machine-deployment/{owner}"))
}
