//! Every policy revision that a journal has had so far.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    contract::{Decider, PolicyInForce, Stored, StoredError},
    policy,
};
use bailiwick_journal::{Entry, PolicyRef};

/// The revisions, folded from the `policy/*` streams.
#[derive(Debug)]
pub(super) struct Policies {
    by_name: BTreeMap<String, Revisions>,
    none: Arc<PolicyInForce>,
}

#[derive(Debug, Default)]
struct Revisions {
    state: policy::State,
    /// In order; the first is revision 1.
    all: Vec<Arc<PolicyInForce>>,
}

/// What a decision may cite.
#[derive(Debug)]
pub(super) enum Cited {
    Found(Arc<PolicyInForce>),
    /// The revision is there, but it is not what was cited.
    Other(Arc<PolicyInForce>),
    Missing,
}

impl Policies {
    pub(super) fn new() -> Self {
        let none = PolicyInForce { reference: None, document: policy::Document::default() };
        Self { by_name: BTreeMap::new(), none: Arc::new(none) }
    }

    /// The settings that a decision cites. Before the first revision they are the built-in ones.
    pub(super) fn cited(&self, reference: Option<&PolicyRef>) -> Cited {
        let Some(reference) = reference else {
            return Cited::Found(self.none.clone());
        };
        let number = usize::try_from(reference.revision).ok().and_then(|revision| revision.checked_sub(1));
        let revisions = self.by_name.get(&reference.name);
        match number.and_then(|number| revisions?.all.get(number)) {
            None => Cited::Missing,
            Some(found) if found.reference.as_ref() == Some(reference) => Cited::Found(found.clone()),
            Some(found) => Cited::Other(found.clone()),
        }
    }

    /// Takes an entry in, if it revises a policy.
    pub(super) fn take_in(&mut self, entry: &Entry) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        if stream.kind() != policy::State::KIND {
            return Ok(());
        }
        let revisions = self.by_name.entry(stream.name().to_owned()).or_default();
        for (at, body) in entry.versioned_events() {
            revisions.state.evolve(at, &policy::Event::load(body)?);
            // What stands beside the settings, as pools do, is no revision of them.
            if u64::try_from(revisions.all.len()).is_ok_and(|known| known < revisions.state.revision) {
                revisions.all.push(Arc::new(revisions.state.in_force(stream)));
            }
        }
        Ok(())
    }
}
