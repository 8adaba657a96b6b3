//! One step from old sets to a new one.

use super::{OwnedSet, Strategy, bounds};
use crate::vocab::Name;

/// A set, and how many machines it shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    pub set: Name,
    pub replicas: u32,
}

impl Size {
    fn of(set: &OwnedSet, replicas: u32) -> Self {
        Self { set: set.name.clone(), replicas }
    }
}

/// How many machines the new set may have now: all of them, or as many as there is room for above the old ones.
pub fn new_size<'a>(strategy: Strategy, replicas: u32, new: u32, all: impl IntoIterator<Item = &'a OwnedSet>) -> u32 {
    if strategy == Strategy::Recreate {
        return replicas;
    }
    let room = u64::from(replicas) + u64::from(bounds(strategy, replicas).surge);
    let taken: u64 = all.into_iter().map(|set| u64::from(set.machines())).sum();
    if taken >= room {
        return new;
    }
    let more = u32::try_from(room - taken).unwrap_or(u32::MAX);
    new.saturating_add(more).min(replicas)
}

/// How many machines the new set has when what is missing of the number is made, and nothing beyond: nobody is replaced.
pub fn restored_size<'a>(replicas: u32, new: u32, all: impl IntoIterator<Item = &'a OwnedSet>) -> u32 {
    let taken: u64 = all.into_iter().map(|set| u64::from(set.machines())).sum();
    let missing = u64::from(replicas).saturating_sub(taken);
    new.saturating_add(u32::try_from(missing).unwrap_or(u32::MAX)).min(replicas.max(new))
}

/// One step of a rolling update: the new set grows, or else old ones shrink. Nothing if it has to wait, or is over.
pub fn rolling(strategy: Strategy, replicas: u32, new: &OwnedSet, old: &[&OwnedSet]) -> Vec<Size> {
    let size = match new.replicas > replicas {
        true => replicas,
        false => new_size(strategy, replicas, new.replicas, old.iter().copied().chain([new])),
    };
    if size != new.replicas {
        return vec![Size::of(new, size)];
    }
    shrink(strategy, replicas, new, old)
}

/// Old sets give away what does not work anyway, then what others are available for, the oldest set first.
fn shrink(strategy: Strategy, replicas: u32, new: &OwnedSet, old: &[&OwnedSet]) -> Vec<Size> {
    let min_available = bounds(strategy, replicas).min_available;
    let wanted: u32 = old.iter().map(|set| set.replicas).sum::<u32>().saturating_add(new.replicas);
    let needed = min_available.saturating_add(new.replicas.saturating_sub(new.counts.available));
    let mut useless = wanted.saturating_sub(needed);
    if useless == 0 {
        return Vec::new();
    }
    let staying: u32 = old.iter().map(|set| set.staying()).sum::<u32>().saturating_add(new.staying());
    let mut spare = staying.saturating_sub(min_available);
    let mut sizes: Vec<(&OwnedSet, u32)> = old.iter().map(|set| (*set, set.replicas)).collect();
    for (set, size) in &mut sizes {
        // A set takes away last who runs, however long that has been so.
        let fit = set.counts.ready.max(set.counts.available);
        let goes = useless.min(set.replicas.saturating_sub(fit));
        useless -= goes;
        *size -= goes;
    }
    for (_, size) in &mut sizes {
        let goes = spare.min(*size);
        spare -= goes;
        *size -= goes;
    }
    let changed = sizes.into_iter().filter(|(set, size)| *size != set.replicas);
    changed.map(|(set, size)| Size::of(set, size)).collect()
}

/// One step of a recreation. None: the old ones are gone, and the new set may be made and grow.
pub fn recreate(old: &[&OwnedSet]) -> Option<Vec<Size>> {
    let to_nothing: Vec<Size> = old.iter().filter(|set| set.is_active()).map(|set| Size::of(set, 0)).collect();
    let is_over = to_nothing.is_empty() && old.iter().all(|set| set.counts.machines == 0);
    (!is_over).then_some(to_nothing)
}

/// The old sets that nobody has to remember: of those beyond the limit, which are the oldest, the empty ones.
pub fn to_clean(old: &[&OwnedSet], limit: Option<u32>) -> Vec<Name> {
    let Some(limit) = limit else { return Vec::new() };
    let beyond = old.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    let empty = old.iter().take(beyond).filter(|set| set.replicas == 0 && set.counts.machines == 0);
    empty.map(|set| set.name.clone()).collect()
}
