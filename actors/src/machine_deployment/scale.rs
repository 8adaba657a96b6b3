//! Another size, also in the middle of a rollout.

use std::cmp::Reverse;

use super::{Found, OwnedSet, Size, Strategy, active_or_latest, bounds};
use crate::vocab::sort_by_key;

/// The sizes for another number of machines. Sets that keep theirs are named, too, if they were scaled for another number.
pub fn scale(strategy: Strategy, replicas: u32, found: &Found<'_>, fallback: u32) -> Vec<Size> {
    let size = |set: &OwnedSet, replicas| Size { set: set.name.clone(), replicas };
    if let Some(only) = active_or_latest(found) {
        return vec![size(only, replicas)];
    }
    if found.new.is_some_and(|new| is_saturated(new, replicas)) {
        return found.old.iter().filter(|set| set.is_active()).map(|set| size(set, 0)).collect();
    }
    if strategy == Strategy::Recreate {
        return Vec::new();
    }
    let most = if replicas == 0 { 0 } else { i64::from(replicas) + i64::from(bounds(strategy, replicas).surge) };
    let mut active: Vec<&OwnedSet> = found.old.iter().copied().chain(found.new).filter(|set| set.is_active()).collect();
    let to_add = most - active.iter().map(|set| i64::from(set.replicas)).sum::<i64>();
    if to_add >= 0 {
        let grown = |set: &OwnedSet| {
            if found.new == Some(set) { i64::from(set.replicas) + to_add } else { set.replicas.into() }
        };
        let is_new_there = found.new.is_some();
        return active
            .iter()
            .map(|set| size(set, if is_new_there { whole(grown(set)) } else { set.replicas }))
            .collect();
    }
    // The larger ones first, and of those the older ones: they are in order of age already.
    sort_by_key(&mut active, |set| Reverse(set.replicas));
    let mut added = 0;
    let mut sizes = Vec::new();
    for set in &active {
        let share = proportion(strategy, replicas, set, to_add, added, fallback);
        added += share;
        sizes.push(i64::from(set.replicas) + share);
    }
    if let Some(largest) = sizes.first_mut() {
        *largest += to_add - added;
    }
    active.iter().zip(sizes).map(|(set, replicas)| size(set, whole(replicas))).collect()
}

fn whole(replicas: i64) -> u32 {
    u32::try_from(replicas.max(0)).unwrap_or(u32::MAX)
}

/// The share of one set in what is to be taken away, of which `added` was already. `fallback` is the size of the deployment,
/// for a set that was never scaled.
fn proportion(strategy: Strategy, replicas: u32, set: &OwnedSet, to_add: i64, added: i64, fallback: u32) -> i64 {
    if to_add == added {
        return 0;
    }
    let (own, left) = (i64::from(set.replicas), to_add - added);
    let fair = match (replicas, i64::from(set.most.unwrap_or(fallback))) {
        (0, _) => -own,
        (_, 0) => left,
        (_, before) => rounded(own * (i64::from(replicas) + i64::from(bounds(strategy, replicas).surge)), before) - own,
    };
    fair.max(left)
}

/// A quotient of numbers that are not negative, to the nearest whole.
fn rounded(dividend: i64, divisor: i64) -> i64 {
    (2 * dividend + divisor) / (2 * divisor)
}

/// Whether the new set has all that the deployment needs: then old ones are not needed, whatever they have.
pub fn is_saturated(new: &OwnedSet, replicas: u32) -> bool {
    new.replicas == replicas && new.sized_for == Some(replicas) && new.counts.available == replicas
}
