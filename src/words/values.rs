//! What the bodies of an entry say, as JSON: for exports, and for programs that do not know the stored form.

use bailiwick_actors::{
    contract::{Recorded, Stored, StoredError, StoredFacts},
    shell::{REQUESTS, RequestNote},
};
use bailiwick_journal::{Entry, EntryKind, JournalNote, Readable};
use serde::Serialize;
use serde_json::Value;

use super::{PerKind, Words, of_kind};

/// What the bodies of an entry say; none where this version does not know them.
pub fn readable(entry: &Entry) -> Option<Readable> {
    match entry.header.meta.kind {
        EntryKind::Note if entry.header.stream.to_string() == REQUESTS => {
            Some(Readable { command: value(&RequestNote::load(&entry.command).ok()?), ..Readable::default() })
        }
        EntryKind::Note => {
            let event = JournalNote::decode(entry.events.first()?).ok()?;
            Some(Readable { events: vec![value(&event)?], ..Readable::default() })
        }
        EntryKind::Decision => of_kind(&entry.header.stream, Bodies { entry })?.ok()?,
    }
}

struct Bodies<'e> {
    entry: &'e Entry,
}

impl PerKind for Bodies<'_> {
    type Output = Result<Option<Readable>, StoredError>;

    fn of<D: Words>(self) -> Self::Output {
        let Entry { command, facts, verdict, events, .. } = self.entry;
        let events: Vec<D::Event> = events.iter().map(D::Event::load).collect::<Result<_, _>>()?;
        Ok(events.iter().map(value).collect::<Option<Vec<Value>>>().map(|events| Readable {
            command: D::Command::load(command).ok().as_ref().and_then(value),
            facts: StoredFacts::load(facts).ok().as_ref().and_then(value),
            verdict: Recorded::<D::Reason, D::Rejection>::load(verdict).ok().as_ref().and_then(value),
            events,
        }))
    }
}

fn value(of: &impl Serialize) -> Option<Value> {
    serde_json::to_value(of).ok()
}
