//! How many calls providers have had since the node started, and how long they took.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{ports::Operation, vocab::Name};

/// The calls of a node. Clones are the same; whoever is asked how things are may look from another thread.
#[derive(Clone, Debug, Default)]
pub struct CallTimes(Arc<Mutex<ByPlace>>);

/// By provider, which engines of replica sets do not have, and operation.
type ByPlace = BTreeMap<(Option<Name>, Operation), CallTime>;

/// The calls of one operation to one provider that are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTime {
    pub calls: u64,
    /// What was asked for in them.
    pub items: u64,
    /// How long all of them took together, in milliseconds.
    pub total_ms: u64,
    /// How many took at most as long as the bound of the same place in [`CallTime::BOUNDS_MS`].
    pub within: [u64; Self::BOUNDS_MS.len()],
}

impl CallTime {
    /// From what is answered at once to what most providers take for a machine, and beyond.
    pub const BOUNDS_MS: [u64; 9] = [5, 25, 100, 500, 2_500, 10_000, 60_000, 300_000, 1_200_000];

    fn add(&mut self, items: usize, took_ms: u64) {
        self.calls += 1;
        self.items += items as u64;
        self.total_ms += took_ms;
        for (within, bound) in self.within.iter_mut().zip(Self::BOUNDS_MS) {
            *within += u64::from(took_ms <= bound);
        }
    }
}

impl CallTimes {
    /// Notes a call that is over.
    pub(super) fn note(&self, provider: Option<Name>, operation: Operation, items: usize, took_ms: u64) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.entry((provider, operation)).or_default().add(items, took_ms);
    }

    /// All of them: the provider (none for engines of replica sets), the operation, and its calls.
    pub fn seen(&self) -> Vec<(Option<Name>, Operation, CallTime)> {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.iter().map(|((provider, operation), time)| (provider.clone(), *operation, *time)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_under_every_bound_that_they_keep() {
        let times = CallTimes::default();
        let provider: Option<Name> = "local".parse().ok();
        times.note(provider.clone(), Operation::CreateMachine, 3, 5);
        times.note(provider.clone(), Operation::CreateMachine, 1, 501);
        times.note(None, Operation::LookAtReplicaSet, 1, 2_000_000);
        let created = CallTime { calls: 2, items: 4, total_ms: 506, within: [1, 1, 1, 1, 2, 2, 2, 2, 2] };
        let looked = CallTime { calls: 1, items: 1, total_ms: 2_000_000, within: [0; 9] };
        assert_eq!(
            times.seen(),
            [(None, Operation::LookAtReplicaSet, looked), (provider, Operation::CreateMachine, created)]
        );
    }
}
