//! How many calls providers have had since the node started, how long they took, and what was answered.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    ports::{CallKind, Operation},
    vocab::{Fault, FaultCode, Name},
};

/// The calls of a node. Clones are the same, and may be looked at from another thread.
#[derive(Clone, Debug, Default)]
pub struct CallTimes(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// By provider, which engines of replica sets do not have, and operation.
    times: BTreeMap<(Option<Name>, Operation), CallTime>,
    answers: BTreeMap<Answered, u64>,
}

/// A provider, what it was called for, and the fault that it answered; none if it did what it was asked.
pub type Answered = (Option<Name>, CallKind, Option<FaultCode>);

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
        self.state().times.entry((provider, operation)).or_default().add(items, took_ms);
    }

    /// Notes what was answered for each item of a call.
    pub(super) fn note_answers<T>(&self, provider: Option<&Name>, kind: CallKind, answers: &[Result<T, Fault>]) {
        let mut seen = self.state();
        for answer in answers {
            let fault = answer.as_ref().err().map(|fault| fault.code);
            *seen.answers.entry((provider.cloned(), kind, fault)).or_default() += 1;
        }
    }

    /// All of them: the provider (none for engines of replica sets), the operation, and its calls.
    pub fn seen(&self) -> Vec<(Option<Name>, Operation, CallTime)> {
        let seen = self.state();
        seen.times.iter().map(|((provider, operation), time)| (provider.clone(), *operation, *time)).collect()
    }

    /// How often each provider has answered what, an item each.
    pub fn answers(&self) -> Vec<(Answered, u64)> {
        self.state().answers.iter().map(|(answered, count)| (answered.clone(), *count)).collect()
    }

    fn state(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_item_by_item() {
        let times = CallTimes::default();
        let local: Name = "local".parse().expect("a name");
        let busy = || Err(Fault::new(FaultCode::Unavailable, "busy"));
        times.note_answers(Some(&local), CallKind::Make, &[Ok(1), busy(), busy()]);
        let of = |fault| (Some(local.clone()), CallKind::Make, fault);
        assert_eq!(times.answers(), [(of(None), 1), (of(Some(FaultCode::Unavailable)), 2)]);
    }

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
