//! What holds of every state that decisions lead to, beside what its types say.
//!
//! Checked in builds with assertions, of every decision before it is recorded: what held before it holds behind it. In all
//! builds a node looks at the state of every object that it builds or changes, and a replay at every state that a journal
//! leads to.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use bailiwick_journal::StreamId;

use super::Decider;

/// One claim about all states of a kind.
pub struct Invariant<S> {
    /// Unique in its kind: `gone-is-not-held`.
    pub name: &'static str,
    /// The claim, in words.
    pub says: &'static str,
    pub holds: fn(&S) -> bool,
}

impl<S> Clone for Invariant<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Invariant<S> {}

impl<S> fmt::Debug for Invariant<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says)
    }
}

impl<S> Invariant<S> {
    /// Those that do not hold of a state.
    fn broken_in<'i>(all: &'i [Self], state: &S) -> impl Iterator<Item = &'i Self> {
        all.iter().filter(|one| !(one.holds)(state))
    }

    /// The first claim that held before and does not any more.
    pub(super) fn broken<'i>(all: &'i [Self], before: &S, behind: &S) -> Option<&'i Self> {
        all.iter().find(|one| (one.holds)(before) && !(one.holds)(behind))
    }
}

/// What does not hold, by object: told once, until it holds again.
#[derive(Debug, Default)]
pub(crate) struct Broken(BTreeMap<StreamId, BTreeSet<&'static str>>);

impl Broken {
    /// Looks at a state; the answer is what did not hold of it for the first time.
    pub(crate) fn look<D: Decider>(&mut self, stream: &StreamId, state: &D) -> Vec<Invariant<D>> {
        let broken: Vec<Invariant<D>> = Invariant::broken_in(D::INVARIANTS, state).copied().collect();
        // Nearly always.
        if broken.is_empty() {
            self.0.remove(stream);
            return broken;
        }
        let names = broken.iter().map(|one| one.name).collect();
        let before = self.0.insert(stream.clone(), names).unwrap_or_default();
        broken.into_iter().filter(|one| !before.contains(one.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_held_before_and_does_not_any_more_is_broken_and_nothing_else() {
        let small = Invariant::<u32> { name: "small", says: "it is small", holds: |number| *number < 10 };
        let even = Invariant::<u32> { name: "even", says: "it is even", holds: |number| number % 2 == 0 };
        let all = [small, even];
        let broken = |before, behind| Invariant::broken(&all, &before, &behind).map(|one| one.says);
        assert_eq!(
            [broken(2, 4), broken(2, 3), broken(2, 12), broken(3, 5)],
            [None, Some("it is even"), Some("it is small"), None]
        );
    }
}
