//! What the bodies of an entry say, as JSON: for exports, and for programs that do not know the stored form.

use bailiwick_actors::{
    contract::{Recorded, Stored, StoredError, StoredFacts},
    shell::{DENIALS, DenialNote, REQUESTS, RequestNote},
};
use bailiwick_journal::{Entry, EntryKind, JournalNote, Readable};
use serde::Serialize;
use serde_json::Value;

use super::{Words, spoken};

/// What the bodies of an entry say; none where this version does not know them.
pub fn readable(entry: &Entry) -> Option<Readable> {
    match entry.header.meta.kind {
        EntryKind::Note if entry.header.stream.to_string() == REQUESTS => {
            Some(Readable { command: value(&RequestNote::load(&entry.command).ok()?), ..Readable::default() })
        }
        EntryKind::Note if entry.header.stream.to_string() == DENIALS => {
            Some(Readable { command: value(&DenialNote::load(&entry.command).ok()?), ..Readable::default() })
        }
        EntryKind::Note => {
            let event = JournalNote::decode(entry.events.first()?).ok()?;
            Some(Readable { events: vec![value(&event)?], ..Readable::default() })
        }
        EntryKind::Decision => (spoken(&entry.header.stream)?.readable)(entry).ok()?,
    }
}

/// What the bodies of an entry of a kind say.
pub(super) fn bodies<D: Words>(entry: &Entry) -> Result<Option<Readable>, StoredError> {
    let Entry { command, facts, verdict, events, .. } = entry;
    let events: Vec<D::Event> = events.iter().map(D::Event::load).collect::<Result<_, _>>()?;
    Ok(events.iter().map(value).collect::<Option<Vec<Value>>>().map(|events| Readable {
        command: D::Command::load(command).ok().as_ref().and_then(value),
        facts: StoredFacts::load(facts).ok().as_ref().and_then(value),
        verdict: Recorded::<D>::load(verdict).ok().as_ref().and_then(value),
        events,
    }))
}

fn value(of: &impl Serialize) -> Option<Value> {
    serde_json::to_value(of).ok()
}
