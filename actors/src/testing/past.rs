//! What has happened, told by hand: a view takes it in as if it stood in a journal.

use std::collections::BTreeMap;

use bailiwick_journal::{Body, Entry, EntryKind, Header, Meta, Outcome, Position, StreamId, Version};
use uuid::Uuid;

use crate::contract::{Stored, View};

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
        let meta = Meta {
            kind: EntryKind::Decision,
            outcome: Outcome::Done,
            code: String::new(),
            time_ms: 0,
            command_id: Uuid::nil(),
            command_hash: [0; 16],
            cause: None,
            principal: String::new(),
            policy: None,
            view: None,
            cites: Vec::new(),
        };
        self.position = self.position.next();
        let version = self.versions.entry(stream.clone()).or_default();
        let count = u32::try_from(events.len()).expect("few events");
        let first_version = version.next();
        let header = Header { position: self.position, stream: stream.clone(), first_version, events: count, meta };
        *version = header.last_version();
        let (command, facts, verdict) = (Body::default(), Body::default(), Body::default());
        self.view.apply(&Entry { header, command, facts, verdict, events }).expect("a readable entry");
    }
}
