//! What the journal records about itself, in the stream `node/journal`.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Body, CodecError, Draft, EntryKind, Meta, Outcome, Position, StreamId, Version, model::codec};

/// The stream of the journal's own notes.
pub const NOTE_STREAM: &str = "node/journal";
const SCHEMA: u16 = 1;

/// What the journal records about itself; the one event of a note in [`NOTE_STREAM`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JournalNote {
    /// A writer opened the journal.
    WriterOpened(WriterOpened),
    /// What had been damaged was found behind an opening by a checkpoint, and repaired from the other copy.
    HistoryRepaired {
        /// Blocks of the log that were damaged and were taken from the block store.
        log_filled_blocks: u64,
        /// The block store was damaged and was built anew from the log.
        store_rebuilt: bool,
    },
    /// The journal was made of an export of another one, and goes on beside it.
    ImportedAsNew {
        /// The journal that was exported.
        from: Uuid,
        /// Its last entry then.
        position: Position,
        /// The chain value there.
        hash: [u8; 32],
    },
    /// The clock was found to have been ahead: times recorded at or after this one are ahead by the amount given here. The
    /// entries stay as they are; every display of times takes the correction into account.
    ClockCorrected {
        /// The recorded time from which on, in milliseconds since 1970.
        since_ms: u64,
        /// How much, in milliseconds.
        back_ms: u64,
    },
}

/// What a writer found when it opened the journal. Counts are 0 and flags false after a clean stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterOpened {
    /// Counts the writers, from 1; every block carries its writer's.
    pub epoch: u64,
    /// The last writer had stopped in order.
    pub clean: bool,
    /// Blocks that the block store did not have yet: normal after a crash.
    pub caught_up_blocks: u64,
    /// The block store was damaged and was built anew from the log.
    pub store_rebuilt: bool,
    /// Blocks of the log that were damaged and were taken from the block store.
    pub log_filled_blocks: u64,
    /// A write that was never acknowledged was cut off.
    pub torn_cut: bool,
    /// The head file was missing or damaged and was written anew.
    pub head_rewritten: bool,
    /// The `FORMAT` file was missing or damaged and was written anew.
    pub format_rewritten: bool,
}

impl JournalNote {
    /// The note's stored form.
    ///
    /// # Errors
    /// None in practice: a note is small.
    pub fn encode(&self) -> Result<Body, CodecError> {
        codec::encode(SCHEMA, self)
    }

    /// The entry that records it in [`NOTE_STREAM`], asked for by `principal` with a command of this id.
    pub fn draft(&self, code: &str, command_id: Uuid, principal: &str, expected: Version, time_ms: u64) -> Draft {
        let mut draft = draft(self, code, command_id, expected, time_ms);
        principal.clone_into(&mut draft.meta.principal);
        draft
    }

    /// Reads a note from the event of an entry in [`NOTE_STREAM`].
    ///
    /// # Errors
    /// If the body is no note that this version knows.
    pub fn decode(body: &Body) -> Result<Self, CodecError> {
        codec::decode(body)
    }
}

/// The stream of the journal's own notes.
pub(crate) fn stream() -> StreamId {
    NOTE_STREAM.parse().expect("the notes' stream has a valid name")
}

/// The entry that says what opening found.
pub(crate) fn writer_opened(journal: Uuid, found: WriterOpened, expected: Version, time_ms: u64) -> Draft {
    let note = JournalNote::WriterOpened(found);
    let id = Uuid::new_v5(&journal, format!("writer-opened/{}", found.epoch).as_bytes());
    draft(&note, "writer-opened", id, expected, time_ms)
}

/// The entry that says what was repaired behind the opening of the writer with this epoch.
pub(crate) fn history_repaired(
    journal: Uuid,
    note: &JournalNote,
    epoch: u64,
    expected: Version,
    time_ms: u64,
) -> Draft {
    let id = Uuid::new_v5(&journal, format!("history-repaired/{epoch}").as_bytes());
    draft(note, "history-repaired", id, expected, time_ms)
}

/// The entry that says what a journal with an id of its own was made of.
pub(crate) fn imported(
    journal: Uuid,
    from: Uuid,
    (position, hash): (Position, [u8; 32]),
    expected: Version,
    time_ms: u64,
) -> Draft {
    let note = JournalNote::ImportedAsNew { from, position, hash };
    let id = Uuid::new_v5(&journal, b"imported-as-new");
    draft(&note, "imported-as-new", id, expected, time_ms)
}

fn draft(note: &JournalNote, code: &str, command_id: Uuid, expected: Version, time_ms: u64) -> Draft {
    let event = note.encode().expect("a note fits a body");
    let meta = Meta {
        kind: EntryKind::Note,
        outcome: Outcome::Done,
        code: code.into(),
        time_ms,
        command_id,
        command_hash: codec::digest(&event.bytes),
        cause: None::<Position>,
        principal: "node".into(),
        policy: None,
        view: None,
        cites: Vec::new(),
    };
    let nothing = Body::default();
    Draft {
        stream: stream(),
        expected,
        meta,
        command: nothing.clone(),
        facts: nothing.clone(),
        verdict: nothing,
        events: vec![event],
    }
}
