//! One append on its way to the disk: checked and encoded on the caller's thread.

use std::{iter, mem, sync::Arc};

use uuid::Uuid;

use crate::{
    AppendError, Body, Done, Draft, Entry, Header, Intake, Position, StreamId, Version,
    commit::status::{Keep, answer},
    format::{frame::HEADER_BYTES, record},
};

/// One append on its way to the disk. Whatever can be done on the caller's thread is done there: the commit thread is
/// one for all. That goes for giving memory back as well, which costs several times as much on another thread: what the
/// drafts held is not taken along, unless somebody will read the entries at once.
pub(crate) struct Request {
    /// The records of all drafts, without positions and versions, until they stand in a batch.
    records: Vec<u8>,
    pub(crate) places: Places,
    pub(crate) intake: Intake,
    pub(crate) done: Done,
}

/// What an append is checked by, and what the index keeps of it.
pub(crate) struct Places {
    /// There is always a first one, and mostly no more.
    pub(crate) first: Slot,
    pub(crate) more: Vec<Slot>,
    /// How many bytes the records of all of them have.
    pub(crate) bytes: usize,
    /// The entries to be, without positions; the first version is still the one that is expected. None if nobody follows.
    pub(crate) built: Option<Vec<Arc<Entry>>>,
}

/// One entry to be.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) stream: StreamId,
    pub(crate) expected: Version,
    pub(crate) events: u32,
    pub(crate) time_ms: u64,
    pub(crate) command_id: Uuid,
    pub(crate) command_hash: [u8; 16],
}

impl Slot {
    fn of(draft: &Draft) -> Self {
        let meta = &draft.meta;
        Self {
            stream: draft.stream.clone(),
            expected: draft.expected,
            events: draft.events.len() as u32,
            time_ms: meta.time_ms,
            command_id: meta.command_id,
            command_hash: meta.command_hash,
        }
    }

    /// The version that the next event after it takes.
    pub(crate) fn next_version(&self) -> Version {
        self.expected.plus(u64::from(self.events)).next()
    }
}

impl Places {
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        iter::once(&self.first).chain(&self.more)
    }

    pub(crate) fn count(&self) -> usize {
        1 + self.more.len()
    }
}

impl Request {
    /// Checks what can be checked without the journal, and encodes.
    ///
    /// # Panics
    /// Without drafts.
    pub(crate) fn new(drafts: Vec<Draft>, intake: Intake, keep: Keep, done: Done) -> Result<Self, (AppendError, Done)> {
        let mut records = Vec::with_capacity(drafts.iter().map(rough_bytes).sum());
        for draft in &drafts {
            let problem = match problem_of(draft) {
                None => {
                    record::encode(draft, &mut records);
                    (records.len() > Draft::APPEND_BYTES_MAX).then_some("one append has too many bytes")
                }
                problem => problem,
            };
            if let Some(problem) = problem {
                return Err((AppendError::Invalid { stream: draft.stream.clone(), problem }, done));
            }
        }
        let mut slots = drafts.iter().map(Slot::of);
        let first = slots.next().expect("an append without drafts is answered before");
        let more = slots.collect();
        let built = (keep == Keep::Built).then(|| drafts.into_iter().map(entry_of).collect());
        let places = Places { first, more, bytes: records.len(), built };
        Ok(Self { records, places, intake, done })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.places.bytes
    }

    pub(crate) fn refuse(self, error: AppendError) {
        answer(self.done, Err(error));
    }
}

/// Appends that go to the disk together: their records stand where they will stand in the block.
pub(crate) struct Batch {
    /// Room for a frame's header, and the records.
    pub(crate) frame: Vec<u8>,
    pub(crate) requests: Vec<Request>,
}

impl Batch {
    /// An empty one, with room for so many bytes of records.
    pub(crate) fn with_room(bytes: usize) -> Self {
        let mut frame = Vec::with_capacity(HEADER_BYTES + bytes);
        frame.resize(HEADER_BYTES, 0);
        Self { frame, requests: Vec::new() }
    }

    pub(crate) fn of(request: Request) -> Self {
        let mut batch = Self::with_room(request.bytes());
        drop(batch.push(request));
        batch
    }

    /// Takes one in, and hands back the memory of its records, for the caller to let go of.
    pub(crate) fn push(&mut self, mut request: Request) -> Vec<u8> {
        let records = mem::take(&mut request.records);
        self.frame.extend_from_slice(&records);
        self.requests.push(request);
        records
    }

    /// How many bytes the records have.
    pub(crate) fn bytes(&self) -> usize {
        self.frame.len() - HEADER_BYTES
    }
}
fn entry_of(draft: Draft) -> Arc<Entry> {
    let Draft { stream, expected, meta, command, facts, verdict, events } = draft;
    let count = events.len() as u32;
    let header = Header { position: Position::ZERO, stream, first_version: expected, events: count, meta };
    Arc::new(Entry { header, command, facts, verdict, events })
}

fn rough_bytes(draft: &Draft) -> usize {
    let events: usize = draft.events.iter().map(|body| body.bytes.len() + 6).sum();
    256 + draft.command.bytes.len() + draft.facts.bytes.len() + draft.verdict.bytes.len() + events
}

pub(crate) fn problem_of(draft: &Draft) -> Option<&'static str> {
    let bodies = [&draft.command, &draft.facts, &draft.verdict];
    let body_too_long = |body: &Body| body.bytes.len() > Draft::BODY_BYTES_MAX;
    let meta = &draft.meta;
    let policy_name = meta.policy.as_ref().map_or("", |policy| &policy.name);
    let text_too_long = |text: &str| text.len() > record::TEXT_BYTES_MAX;
    if bodies.into_iter().chain(&draft.events).any(body_too_long) {
        Some("a body is too long")
    } else if draft.events.len() > Draft::EVENTS_MAX {
        Some("there are too many events")
    } else if [meta.code.as_str(), &meta.principal, policy_name].into_iter().any(text_too_long) {
        Some("code, principal or policy name is too long")
    } else if meta.cites.len() > Draft::CITES_MAX {
        Some("there are too many cites")
    } else if meta.cites.iter().any(|cite| cite.version == Version::ZERO) || !meta.cites.is_sorted_by(|a, b| a < b) {
        Some("cites are not in order, or name no event")
    } else {
        None
    }
}
