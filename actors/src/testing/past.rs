//! What has happened, told by hand: a view takes it in as if it stood in a journal.

use std::collections::BTreeMap;

use bailiwick_journal::{Body, Position, StreamId, Version};

use crate::contract::{Stored, View, Written};

/// A view, and what it has seen so far.
#[derive(Debug, Default)]
pub struct Past<V> {
    pub view: V,
    position: Position,
    versions: BTreeMap<StreamId, Version>,
}

impl<V: View> Past<V> {
    /// The version of what happened last to a stream.
    pub fn version(&self, stream: &StreamId) -> Version {
        self.versions.get(stream).copied().unwrap_or_default()
    }

    /// These events happened to a stream, in one entry.
    ///
    /// # Panics
    /// If they cannot be stored, or the view cannot read them.
    pub fn happened<E: Stored>(&mut self, stream: &StreamId, events: impl IntoIterator<Item = E>) {
        let events: Vec<Body> = events.into_iter().map(|event| event.store().expect("small events")).collect();
        self.position = self.position.next();
        let first = self.versions.entry(stream.clone()).or_default().next();
        let written = Written { position: self.position, first, ..Written::first(stream.clone()) };
        let entry = written.with(Body::default(), events);
        self.versions.insert(stream.clone(), entry.header.last_version());
        self.view.apply(&entry).expect("a readable entry");
    }
}
