//! The one writer: takes what waits, makes one block of it, one sync, and answers all.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Appended, COMMAND_WINDOW_MS, Done, Entry, Head, Intake, Position, Room, StreamId, Version,
    api::tail_block::TailBlock,
    checkpoint,
    commit::{
        request::{Batch, Places, Request, Slot},
        status::{Notices, WriterStatus, answer},
    },
    core::Core,
    disk::{Disk, crash, free_space::SpaceWatch},
    format::{
        frame::{self, FrameHeader, HEADER_BYTES},
        head_file::HeadFile,
        record,
    },
    index::{self, Index, Indexed, Item, hash::Keyed},
    log::commit_log::{Log, LogError, Place, Tip},
};

/// The writing end of the journal; there is one, on the commit thread or, inline, behind a lock.
pub(crate) struct Writer {
    pub(crate) core: Arc<Core>,
    pub(crate) status: Arc<WriterStatus>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) log: Log,
    pub(crate) head_file: Arc<HeadFile>,
    pub(crate) epoch: u64,
    pub(crate) tip: Tip,
    pub(crate) space: SpaceWatch,
    /// What a group is checked against; kept from one to the next, because its maps would grow anew for each.
    pub(crate) group: Group,
}

type AnswerList = Vec<(Done, Result<Places, AppendError>)>;

/// The appends of a group that were taken, in their order.
fn taken(list: &AnswerList) -> impl Iterator<Item = &Places> {
    list.iter().filter_map(|(_, result)| result.as_ref().ok())
}

/// All entries of a group, if all of its appends have them: then followers need not decode them.
fn built(list: &AnswerList) -> Option<Vec<Arc<Entry>>> {
    let mut all = Vec::new();
    for places in taken(list) {
        all.extend(places.built.as_ref()?.iter().cloned());
    }
    Some(all)
}

/// Answers that are given once the writer's lock is released.
pub(crate) struct Answers {
    list: AnswerList,
    /// Set if a block became durable.
    pub(crate) head: Option<Head>,
    /// The block, if there is one.
    block: Option<Arc<TailBlock>>,
}

impl Answers {
    pub(crate) fn give(self, notices: &Notices) {
        let mut from = 0;
        for (done, result) in self.list {
            let result = match (result, &self.block) {
                (Err(error), _) => Err(error),
                (Ok(Places { built: Some(entries), .. }), _) => {
                    from += entries.len();
                    Ok(Appended::of(entries))
                }
                (Ok(places), Some(block)) => {
                    let count = places.count();
                    from += count;
                    Ok(Appended::in_block(block.clone(), from - count, count))
                }
                (Ok(_), None) => unreachable!("what was taken stands in a block"),
            };
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
    pub(crate) fn commit(&mut self, batch: Batch) -> Answers {
        let Batch { mut frame, requests } = batch;
        if let Some(failure) = self.status.failure() {
            return refused(requests, &failure);
        }
        let first = self.tip.position.next();
        let low = self.space.low(&*self.disk, SpaceWatch::promised(self.core.lag_bytes()));
        let (list, count) = match self.admit(requests, low, &mut frame) {
            Ok(admitted) => admitted,
            Err(list) => {
                checkpoint::give_up(&*self.disk);
                let error = self.status.fail(index::UNREADABLE.into());
                return Answers { list: all_refused(list, &error), head: None, block: None };
            }
        };
        if count == 0 {
            return Answers { list, head: None, block: None };
        }
        match self.write(frame, first, count, &list) {
            Ok((head, block)) => Answers { list, head: Some(head), block: Some(block) },
            Err(error) => {
                // A refusal may have rested on what was not written: everybody has to ask again.
                Answers { list: all_refused(list, &error), head: None, block: None }
            }
        }
    }

    /// Gives every append that passes its places, and takes the records of the others out of the frame; answers with what
    /// to say once they are durable, and their number. None of that counts if the index could not be read: then it is an
    /// error.
    fn admit(
        &mut self,
        requests: Vec<Request>,
        low: Option<Room>,
        frame: &mut Vec<u8>,
    ) -> Result<(AnswerList, u32), AnswerList> {
        let state = self.core.state();
        let group = &mut self.group;
        group.begin(self.tip.position, state.index.last_time_ms);
        let mut list = Vec::with_capacity(requests.len());
        let (mut from, mut to) = (HEADER_BYTES, HEADER_BYTES);
        for Request { mut places, intake, done, .. } in requests {
            let records = from..from + places.bytes;
            from = records.end;
            let refusal = match low {
                Some(room) if intake == Intake::Ordinary => Some(AppendError::NearlyFull(room)),
                _ => check(&places, &state.index, group).err(),
            };
            let result = match refusal {
                Some(refusal) => Err(refusal),
                None => {
                    let length = records.len();
                    // Where nothing was refused before, it stands there already.
                    if records.start != to {
                        frame.copy_within(records, to);
                    }
                    take(&mut places, group, &mut frame[to..to + length]);
                    to += length;
                    Ok(places)
                }
            };
            list.push((done, result));
        }
        frame.truncate(to);
        let count = group.position.0 - self.tip.position.0;
        group.end();
        if state.index.has_failed() { Err(list) } else { Ok((list, count as u32)) }
    }

    /// Makes the block durable, then visible.
    fn write(
        &mut self,
        mut frame: Vec<u8>,
        first: Position,
        count: u32,
        list: &AnswerList,
    ) -> Result<(Head, Arc<TailBlock>), AppendError> {
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
            Err(LogError::Unclear(error)) => return Err(self.status.fail(format!("cannot write the log: {error}"))),
        };
        crash::point("after-log-write");
        self.log.sync().map_err(|error| self.status.fail(format!("cannot sync the log: {error}")))?;
        crash::point("after-sync");
        let time_ms = taken(list).last().map_or(0, |places| places.more.last().unwrap_or(&places.first).time_ms);
        let head = Head { position: tip.position, time_ms, block: tip.block, hash };
        self.tip = tip;
        if let Err(error) = self.head_file.write(head) {
            tracing::error!(%error, "cannot write the head file; a truncated log would not be noticed");
            self.status.head_trouble.fetch_add(1, Ordering::Relaxed);
        }
        // What it might have grown by would be kept with it.
        frame.shrink_to_fit();
        let block = Arc::new(TailBlock::new(head.block, built(list), frame));
        self.show(head, place, block.clone(), first, list);
        self.status.groups.fetch_add(1, Ordering::Relaxed);
        Ok((head, block))
    }

    fn show(&self, head: Head, place: Place, block: Arc<TailBlock>, first: Position, list: &AnswerList) {
        let bytes = block.frame.len() as u64;
        let mut state = self.core.state_mut();
        self.core.add_written_bytes(bytes);
        state.index.add_block(first, place);
        let mut position = first;
        for slot in taken(list).flat_map(Places::slots) {
            let indexed = Indexed {
                item: Item { position, next_version: slot.next_version() },
                time_ms: slot.time_ms,
                command_id: slot.command_id,
                command_hash: slot.command_hash,
            };
            state.index.add(&slot.stream, &indexed);
            position = position.next();
        }
        state.head = head;
        let old = state.push_tail(block);
        drop(state);
        // Given back without the lock: readers need not wait for it.
        drop(old);
    }
}

fn all_refused(list: AnswerList, error: &AppendError) -> AnswerList {
    list.into_iter().map(|(done, _)| (done, Err(error.clone()))).collect()
}

fn refused(requests: Vec<Request>, error: &AppendError) -> Answers {
    let list = requests.into_iter().map(|request| (request.done, Err(error.clone()))).collect();
    Answers { list, head: None, block: None }
}

/// Whether all entries of one append may be taken. On success the group has not changed yet, except for scratch.
fn check(places: &Places, index: &Index, group: &mut Group) -> Result<(), AppendError> {
    group.own_versions.clear();
    group.own_commands.clear();
    // Most appends are one entry: that meets no other of its own append.
    let several = places.count() > 1;
    let mut time_ms = group.time_ms;
    for slot in places.slots() {
        let Slot { stream, expected, events, command_id, .. } = slot;
        let known = known_version(stream, index, group);
        if *expected != known {
            return Err(AppendError::Conflict { stream: stream.clone(), expected: *expected, found: known });
        }
        if several && !group.own_commands.insert(*command_id) {
            return Err(AppendError::Invalid { stream: stream.clone(), problem: "two drafts have one command id" });
        }
        let before = group.commands.get(command_id).copied().or_else(|| {
            // What the index has not yet forgotten may be too old by now: this append's time counts.
            let answered = index.answered_at(command_id)?;
            (answered.1.saturating_add(COMMAND_WINDOW_MS) >= slot.time_ms).then_some(answered.0)
        });
        if let Some(Answered { position, command_hash }) = before {
            let same_content = command_hash == slot.command_hash;
            return Err(AppendError::Repeated { command_id: *command_id, position, same_content });
        }
        if slot.time_ms < time_ms {
            return Err(AppendError::Invalid {
                stream: stream.clone(),
                problem: "its time is before the last entry's",
            });
        }
        time_ms = slot.time_ms;
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
fn take(places: &mut Places, group: &mut Group, records: &mut [u8]) {
    let mut at = 0;
    let before = group.position;
    for slot in places.slots() {
        group.position = group.position.next();
        group.time_ms = slot.time_ms;
        // The append was checked: what it expected is what the stream is at.
        record::place(&mut records[at..], group.position, slot.expected.next());
        at += record::length(&records[at..]);
        let answered = Answered { position: group.position, command_hash: slot.command_hash };
        group.commands.insert(slot.command_id, answered);
        let after = slot.expected.plus(u64::from(slot.events));
        match group.versions.get_mut(&slot.stream) {
            Some(version) => *version = after,
            None => drop(group.versions.insert(slot.stream.clone(), after)),
        }
    }
    debug_assert_eq!(at, records.len(), "the records of an append are those of its entries");
    let mut position = before;
    for entry in places.built.iter_mut().flatten() {
        // Nobody else has it yet; if somebody had, this would be a copy.
        let header = &mut Arc::make_mut(entry).header;
        position = position.next();
        (header.position, header.first_version) = (position, header.first_version.next());
    }
}
