//! The one writer: takes what waits, makes one block of it, one sync, and answers all.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Appended, COMMAND_WINDOW_MS, Done, Entry, Head, Header, Intake, Position, StreamId, Version,
    core::{Core, TailBlock},
    crash,
    disk::Disk,
    frame::{self, FrameHeader, HEADER_BYTES},
    hash::Keyed,
    head::HeadFile,
    index::{Index, Indexed, Item},
    log::{Log, LogError, Place, Tip},
    record,
    request::Request,
    shared::{Notices, Shared, answer},
    space::SpaceWatch,
};

/// The writing end of the journal; there is one, on the commit thread or, inline, behind a lock.
pub(crate) struct Writer {
    pub(crate) core: Arc<Core>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) log: Log,
    pub(crate) head_file: Arc<HeadFile>,
    pub(crate) epoch: u64,
    pub(crate) tip: Tip,
    pub(crate) space: SpaceWatch,
    /// What a group is checked against; kept from one to the next, because its maps would grow anew for each.
    pub(crate) group: Group,
}

type AnswerList = Vec<(Done, Result<Appended, AppendError>)>;

/// The entries of a group, in their order.
fn taken(list: &AnswerList) -> impl DoubleEndedIterator<Item = &Arc<Entry>> {
    list.iter().filter_map(|(_, result)| result.as_ref().ok()).flat_map(|appended| &appended.entries)
}

/// Answers that are given once the writer's lock is released.
pub(crate) struct Answers {
    list: AnswerList,
    /// Set if a block became durable.
    pub(crate) head: Option<Head>,
}

impl Answers {
    pub(crate) fn give(self, notices: &Notices) {
        for (done, result) in self.list {
            answer(done, result);
        }
        crash::point("after-acknowledge");
        if let Some(head) = self.head {
            notices.call(head);
        }
    }
}

/// What a group is checked against beside the index: what the group itself has taken so far.
#[derive(Default)]
pub(crate) struct Group {
    versions: HashMap<StreamId, Version, Keyed>,
    /// As `versions`, for the append that is being checked; it counts only if all its drafts pass.
    own_versions: HashMap<StreamId, Version, Keyed>,
    own_commands: HashSet<Uuid, Keyed>,
    commands: HashMap<Uuid, Answered, Keyed>,
    position: Position,
    time_ms: u64,
}

/// More room than this is given back behind a group.
const KEPT_MAX: usize = 4096;

impl Group {
    /// Begins an empty one behind `position`.
    fn begin(&mut self, position: Position, time_ms: u64) {
        self.versions.clear();
        self.commands.clear();
        (self.position, self.time_ms) = (position, time_ms);
    }

    /// Lets go of what it holds; after an unusually large one of the room as well.
    fn end(&mut self) {
        self.begin(Position::ZERO, 0);
        self.own_versions.clear();
        self.own_commands.clear();
        self.versions.shrink_to(KEPT_MAX);
        self.commands.shrink_to(KEPT_MAX);
        self.own_versions.shrink_to(KEPT_MAX);
        self.own_commands.shrink_to(KEPT_MAX);
    }
}

impl Writer {
    /// Makes one block of all these appends, as far as they pass, and says what to answer.
    pub(crate) fn commit(&mut self, requests: Vec<Request>) -> Answers {
        if let Some(failure) = self.shared.failure() {
            return refused(requests, &failure);
        }
        let first = self.tip.position.next();
        let mut frame = Vec::with_capacity(HEADER_BYTES + requests.iter().map(Request::bytes).sum::<usize>());
        frame.resize(HEADER_BYTES, 0);
        // What is in the log and not yet in the store still has to go there; sled takes up to twice the bytes.
        let low = self.space.low(&*self.disk, 2 * self.core.lag_bytes());
        let (list, count) = self.admit(requests, low, &mut frame);
        if count == 0 {
            return Answers { list, head: None };
        }
        match self.write(frame, first, count, &list) {
            Ok(head) => Answers { list, head: Some(head) },
            Err(error) => {
                // A refusal may have rested on what was not written: everybody has to ask again.
                let list = list.into_iter().map(|(done, _)| (done, Err(error.clone()))).collect();
                Answers { list, head: None }
            }
        }
    }

    /// Gives every append that passes its places; answers with what to say once they are durable, and their number.
    fn admit(&mut self, requests: Vec<Request>, low: Option<(u64, u64)>, frame: &mut Vec<u8>) -> (AnswerList, u32) {
        let state = self.core.state();
        let group = &mut self.group;
        group.begin(self.tip.position, state.index.last_time_ms);
        let mut list = Vec::with_capacity(requests.len());
        for Request { entries, records, intake, done } in requests {
            let refusal = match low {
                Some((free_mib, floor_mib)) if intake == Intake::Ordinary => {
                    Some(AppendError::NearlyFull { free_mib, floor_mib })
                }
                _ => check(&entries, &state.index, group).err(),
            };
            let result = match refusal {
                Some(refusal) => Err(refusal),
                None => Ok(Appended { entries: take(entries, &records, group, frame) }),
            };
            list.push((done, result));
        }
        let count = group.position.0 - self.tip.position.0;
        group.end();
        (list, count as u32)
    }

    /// Makes the block durable, then visible.
    fn write(
        &mut self,
        mut frame: Vec<u8>,
        first: Position,
        count: u32,
        list: &AnswerList,
    ) -> Result<Head, AppendError> {
        let header = FrameHeader {
            journal: self.core.journal,
            block: self.tip.block + 1,
            first,
            epoch: self.epoch,
            count,
            records_bytes: 0,
            previous: self.tip.hash,
            hash: [0; 32],
        };
        let hash = frame::seal(&mut frame, &header);
        let tip = Tip { block: header.block, position: self.tip.position.plus(u64::from(count)), hash };
        crash::point("before-append");
        let place = match self.log.append(&frame, tip) {
            Ok(place) => place,
            Err(LogError::Full) => return Err(self.space.found_full(&*self.disk)),
            Err(LogError::Unclear(error)) => return Err(self.shared.fail(format!("cannot write the log: {error}"))),
        };
        crash::point("after-log-write");
        self.log.sync().map_err(|error| self.shared.fail(format!("cannot sync the log: {error}")))?;
        crash::point("after-sync");
        let time_ms = taken(list).last().map_or(0, |entry| entry.header.meta.time_ms);
        let head = Head { position: tip.position, time_ms, block: tip.block, hash };
        self.tip = tip;
        if let Err(error) = self.head_file.write(head) {
            tracing::error!(%error, "cannot write the head file; a cut of the log would not be seen");
            self.shared.head_trouble.fetch_add(1, Ordering::Relaxed);
        }
        self.show(head, place, frame, first, list);
        self.shared.groups.fetch_add(1, Ordering::Relaxed);
        Ok(head)
    }

    fn show(&self, head: Head, place: Place, frame: Vec<u8>, first: Position, list: &AnswerList) {
        // Whoever follows reads them soon. Without followers they would only be held, and be given back late.
        let live = self.shared.notices.any().then(|| taken(list).cloned().collect());
        let bytes = frame.len() as u64;
        let block = Arc::new(TailBlock::new(head.block, live, frame));
        let mut state = self.core.state_mut();
        self.core.add_written_bytes(bytes);
        state.index.add_block(first, place);
        for entry in taken(list) {
            let header = &entry.header;
            let indexed = Indexed {
                item: Item { position: header.position, next_version: header.last_version().next() },
                time_ms: header.meta.time_ms,
                command_id: header.meta.command_id,
                command_hash: header.meta.command_hash,
            };
            state.index.add(&header.stream, &indexed);
        }
        state.head = head;
        let old = state.push_tail(block);
        drop(state);
        // Given back without the lock: readers need not wait for it.
        drop(old);
    }
}

fn refused(requests: Vec<Request>, error: &AppendError) -> Answers {
    let list = requests.into_iter().map(|request| (request.done, Err(error.clone()))).collect();
    Answers { list, head: None }
}

/// Whether all entries of one append may be taken. On success the group has not changed yet, except for scratch.
fn check(entries: &[Arc<Entry>], index: &Index, group: &mut Group) -> Result<(), AppendError> {
    group.own_versions.clear();
    group.own_commands.clear();
    // Most appends are one entry: that meets no other of its own append.
    let several = entries.len() > 1;
    let mut time_ms = group.time_ms;
    for entry in entries {
        let Header { stream, meta, first_version: expected, events, .. } = &entry.header;
        let known = known_version(stream, index, group);
        if *expected != known {
            return Err(AppendError::Conflict { stream: stream.clone(), expected: *expected, found: known });
        }
        if several && !group.own_commands.insert(meta.command_id) {
            return Err(AppendError::Invalid { stream: stream.clone(), problem: "two drafts have one command id" });
        }
        let before = group.commands.get(&meta.command_id).copied().or_else(|| {
            // What the index has not yet forgotten may be too old by now: this append's time counts.
            let answered = index.answered_at(&meta.command_id)?;
            (answered.1.saturating_add(COMMAND_WINDOW_MS) >= meta.time_ms).then_some(answered.0)
        });
        if let Some(Answered { position, command_hash }) = before {
            let same_content = command_hash == meta.command_hash;
            return Err(AppendError::Repeated { command_id: meta.command_id, position, same_content });
        }
        if meta.time_ms < time_ms {
            return Err(AppendError::Invalid {
                stream: stream.clone(),
                problem: "its time is before the last entry's",
            });
        }
        time_ms = meta.time_ms;
        if several {
            group.own_versions.insert(stream.clone(), known.plus(u64::from(*events)));
        }
    }
    Ok(())
}

fn known_version(stream: &StreamId, index: &Index, group: &Group) -> Version {
    let in_group = group.own_versions.get(stream).or_else(|| group.versions.get(stream));
    in_group.copied().unwrap_or_else(|| index.version(stream))
}

/// Gives the entries of a checked append their places.
fn take(mut entries: Vec<Arc<Entry>>, records: &[u8], group: &mut Group, frame: &mut Vec<u8>) -> Vec<Arc<Entry>> {
    let mut at = frame.len();
    frame.extend_from_slice(records);
    group.own_versions.clear();
    for entry in &mut entries {
        // Nobody else has it yet; if somebody had, this would be a copy.
        let header = &mut Arc::make_mut(entry).header;
        // The append was checked: what it expected is what the stream is at.
        let before = header.first_version;
        group.position = group.position.next();
        group.time_ms = header.meta.time_ms;
        (header.position, header.first_version) = (group.position, before.next());
        record::place(&mut frame[at..], header.position, header.first_version);
        at += record::length(&frame[at..]);
        let answered = Answered { position: header.position, command_hash: header.meta.command_hash };
        group.commands.insert(header.meta.command_id, answered);
        let after = before.plus(u64::from(header.events));
        match group.versions.get_mut(&header.stream) {
            Some(version) => *version = after,
            None => drop(group.versions.insert(header.stream.clone(), after)),
        }
    }
    debug_assert_eq!(at, frame.len(), "the records of an append are those of its entries");
    entries
}
