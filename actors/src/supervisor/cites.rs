//! What an order rests on: the events that it followed from, not all that was looked at.
//!
//! Each supervisor has one file, `rests.rs`, that says it for every order it can issue. It is held to account over journals of
//! bad days: without any one of the cited events the order would not have been issued as it was, and from the cited events
//! alone it would have been.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId, Version};

use crate::{
    contract::{Decider, Fold},
    vocab::Fact,
};

/// The events that an order rests on.
#[derive(Debug, Default)]
pub(super) struct Cites(BTreeSet<Cite>);

impl Cites {
    /// These sides of an entity, as far as it is known and they have any event.
    pub(super) fn fold<D: Decider>(mut self, fold: &Fold<D>, name: &str, facts: &[Fact]) -> Self {
        self.0.extend(facts.iter().filter_map(|fact| fold.cite(name, *fact)));
        self
    }

    /// One event of a stream, if there is one.
    pub(super) fn event(mut self, kind: &str, name: &str, at: Option<Version>) -> Self {
        if let (Ok(stream), Some(version)) = (StreamId::new(kind, name), at) {
            self.0.insert(Cite { stream, version });
        }
        self
    }

    /// An event that is known already.
    pub(super) fn cite(mut self, cite: Option<Cite>) -> Self {
        self.0.extend(cite);
        self
    }

    /// All of them, in order.
    pub(super) fn list(self) -> Vec<Cite> {
        self.0.into_iter().collect()
    }
}
