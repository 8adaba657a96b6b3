//! What holds of every state that decisions lead to, beside what its types say.
//!
//! Checked in builds with assertions, of every decision before it is recorded: what held before it holds behind it. A replay
//! checks it of every state that a journal leads to, in all builds.

use std::fmt;

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
    pub(crate) fn broken_in<'i>(all: &'i [Self], state: &S) -> impl Iterator<Item = &'i Self> {
        all.iter().filter(|one| !(one.holds)(state))
    }

    /// The first claim that held before and does not any more.
    pub(super) fn broken<'i>(all: &'i [Self], before: &S, behind: &S) -> Option<&'i Self> {
        all.iter().find(|one| (one.holds)(before) && !(one.holds)(behind))
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
