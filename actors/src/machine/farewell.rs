//! The order of a removal: who lets a machine go first, and when it dies.

use super::{
    Event, Reason, State,
    death::{death, is_spared},
    draining,
    verdict::Facts,
};

/// What comes next on the way out, and why: replica sets do without it, the machines that stand in it go, its workloads
/// end, its attachments go, it dies.
pub(super) fn farewell(state: &State, facts: &Facts<'_>) -> (Reason, Vec<Event>) {
    if !state.engaged.is_empty() {
        return (Reason::RemovalWaitsForSet, Vec::new());
    }
    if !state.containers.is_empty() {
        return (Reason::RemovalWaitsForContainers, Vec::new());
    }
    let stays = state.keeps_instance || !facts.policy.harvest.mode.stops_dead();
    let drain = draining::begin(state, facts).filter(|_| !stays);
    if drain.is_some() || state.is_draining() {
        return (Reason::RemovalDrains, drain.into_iter().collect());
    }
    if state.holds_storage() {
        return (Reason::RemovalBlocked, Vec::new());
    }
    let death = death(state, facts);
    let reason = match is_spared(&death) {
        true => Reason::InstanceSpared,
        false if draining::is_skipped(state, facts) => Reason::DrainSkipped,
        false if draining::is_too_late(state, facts) => Reason::DrainTimedOut,
        false => Reason::RemovalAsked,
    };
    (reason, death)
}
