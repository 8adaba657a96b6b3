//! All that a decision may know beside state and command.

use std::sync::Arc;

use bailiwick_journal::{PolicyRef, Position, StreamId, Version};
use uuid::Uuid;

use super::{Decider, StoredFacts};
use crate::{policy::Document, vocab::Timestamp};

/// The facts of one decision.
#[derive(Debug)]
pub struct Facts<'a, D: Decider> {
    /// The stream that is decided about.
    pub stream: &'a StreamId,
    /// The version that the first event of this decision will have: ids that a core makes are derived from it.
    pub next: Version,
    /// Sampled once per command; the same as the entry's time.
    pub now: Timestamp,
    pub policy: &'a Document,
    pub view: &'a D::View,
    /// The journal's id: chance, where a decision needs some, is a hash of this, a key and a number.
    pub journal: Uuid,
}

/// A policy revision, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyInForce {
    /// None only before the first revision was journaled.
    pub reference: Option<PolicyRef>,
    pub document: Document,
}

/// What a shell, a simulator or an audit knows when it puts a command to an entity.
#[derive(Clone, Debug)]
pub struct Known<'a, V> {
    pub now: Timestamp,
    pub policy: Arc<PolicyInForce>,
    pub view: &'a V,
    /// Where the view stands; none where there is no view.
    pub view_at: Option<Position>,
    pub journal: Uuid,
}

impl<V> Known<'_, V> {
    /// The stored form of what the entry's header does not hold already.
    pub fn stored(&self) -> StoredFacts {
        StoredFacts { journal: self.journal }
    }
}
