//! Under which identity each part of a journal was written.

use bailiwick_journal::{Journal, JournalNote, NOTE_STREAM, Position, Version};
use uuid::Uuid;

/// The identities that a journal has had: another one for what it took over when it was imported as new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    now: Uuid,
    /// Up to which entry which journal wrote; ascending.
    before: Vec<(Position, Uuid)>,
}

impl Lineage {
    /// As the journal's own notes say. What cannot be read there is found by a check of the journal.
    pub fn of(journal: &dyn Journal) -> Self {
        let stream = NOTE_STREAM.parse().expect("a valid name");
        let notes = journal.read_stream(&stream, Version(1)).filter_map(Result::ok);
        let taken_over = notes.filter_map(|entry| match JournalNote::decode(entry.events.first()?) {
            Ok(JournalNote::ImportedAsNew { from, position, .. }) => Some((position, from)),
            _ => None,
        });
        Self { now: journal.id(), before: taken_over.collect() }
    }

    /// The journal that wrote an entry.
    pub fn at(&self, position: Position) -> Uuid {
        self.before.iter().find(|(until, _)| position <= *until).map_or(self.now, |(_, journal)| *journal)
    }
}
