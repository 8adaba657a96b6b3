//! An entry as a test writes it, without a journal that would.

use bailiwick_journal::{Body, Entry, EntryKind, Header, Meta, Outcome, Position, StreamId, Version};
use uuid::Uuid;

/// What a test says of an entry; nobody in particular asked for it.
#[derive(Clone, Debug)]
pub struct Written {
    pub position: Position,
    pub stream: StreamId,
    /// The version that its first event leads to.
    pub first: Version,
    pub time_ms: u64,
    pub command_id: Uuid,
    pub outcome: Outcome,
}

impl Written {
    /// The first entry of a journal and a stream, at the beginning of time.
    pub fn first(stream: StreamId) -> Self {
        let (position, first, command_id) = (Position(1), Version(1), Uuid::nil());
        Self { position, stream, first, time_ms: 0, command_id, outcome: Outcome::Done }
    }

    /// The entry, with these events.
    ///
    /// # Panics
    /// If there are more events than an entry can count.
    pub fn with(self, facts: Body, events: Vec<Body>) -> Entry {
        let meta = Meta {
            kind: EntryKind::Decision,
            outcome: self.outcome,
            code: String::new(),
            time_ms: self.time_ms,
            command_id: self.command_id,
            command_hash: [0; 16],
            cause: None,
            principal: String::new(),
            policy: None,
            view: None,
            cites: Vec::new(),
        };
        let count = u32::try_from(events.len()).expect("few events");
        let (position, stream, first_version) = (self.position, self.stream, self.first);
        let header = Header { position, stream, first_version, events: count, meta };
        Entry { header, command: Body::default(), facts, verdict: Body::default(), events }
    }
}
