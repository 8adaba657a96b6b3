//! A journal in memory, which can be held, refused and copied.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bailiwick_journal::{
    Answered, AppendError, Appended, Done, Draft, Entries, Entry, Filter, Head, Header, Headers, Intake, Journal,
    Position, StreamId, Subscription, Version,
};
use uuid::Uuid;

use crate::vocab::derived_uuid;

/// A journal without a disk. Clones are the same journal.
///
/// It keeps the rules of every journal (versions, command ids, times) and answers before `append` returns, unless it is
/// [held](MemoryJournal::hold).
#[derive(Clone, Debug)]
pub struct MemoryJournal(Arc<Mutex<State>>);

type Notice = Arc<dyn Fn(Head) + Send + Sync>;

#[derive(Default)]
struct State {
    id: Uuid,
    head: Head,
    entries: Vec<Arc<Entry>>,
    versions: BTreeMap<StreamId, Version>,
    streams: BTreeMap<StreamId, Vec<usize>>,
    commands: BTreeMap<Uuid, Answered>,
    notices: BTreeMap<u64, Notice>,
    next_notice: u64,
    is_held: bool,
    held_after: Option<Position>,
    held: Vec<(Vec<Draft>, Done)>,
    refusals: Vec<AppendError>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryJournal").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl MemoryJournal {
    /// An empty journal; its id follows from the name.
    pub fn new(name: &str) -> Self {
        let state = State { id: derived_uuid(&format!("journal {name}")), ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Another journal with the same entries: what a process that starts again finds. What is held is lost.
    #[must_use]
    pub fn reopened(&self) -> Self {
        let state = self.state();
        let copy = State {
            id: state.id,
            head: state.head,
            entries: state.entries.clone(),
            versions: state.versions.clone(),
            streams: state.streams.clone(),
            commands: state.commands.clone(),
            ..State::default()
        };
        Self(Arc::new(Mutex::new(copy)))
    }

    /// From now on appends are taken and not answered.
    pub fn hold(&self) {
        self.state().is_held = true;
    }

    /// Once this entry is there, appends are taken and not answered: what a process that ends then never hears.
    pub fn hold_after(&self, position: Position) {
        self.state().held_after = Some(position);
    }

    /// How many appends wait.
    pub fn held(&self) -> usize {
        self.state().held.len()
    }

    /// Answers what waits, in order, and everything after it.
    pub fn release(&self) {
        let held = {
            let mut state = self.state();
            (state.is_held, state.held_after) = (false, None);
            std::mem::take(&mut state.held)
        };
        for (drafts, done) in held {
            self.append(drafts, Intake::Ordinary, done);
        }
    }

    /// The next append is refused like this.
    pub fn refuse_next(&self, error: AppendError) {
        self.state().refusals.insert(0, error);
    }

    /// All entries.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.state().entries.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check(&self, drafts: &[Draft]) -> Result<(), AppendError> {
        let mut versions: BTreeMap<&StreamId, Version> = BTreeMap::new();
        let mut ids = BTreeSet::new();
        let mut time_ms = self.head.time_ms;
        for draft in drafts {
            let meta = &draft.meta;
            if let Some(answered) = self.commands.get(&meta.command_id) {
                let same_content = answered.command_hash == meta.command_hash;
                let (command_id, position) = (meta.command_id, answered.position);
                return Err(AppendError::Repeated { command_id, position, same_content });
            }
            let invalid = |problem| AppendError::Invalid { stream: draft.stream.clone(), problem };
            if !ids.insert(meta.command_id) {
                return Err(invalid("a command id is used twice"));
            }
            if meta.time_ms < time_ms {
                return Err(invalid("the time is before the last entry's"));
            }
            time_ms = meta.time_ms;
            let found = versions.get(&draft.stream).or(self.versions.get(&draft.stream)).copied().unwrap_or_default();
            if found != draft.expected {
                return Err(AppendError::Conflict { stream: draft.stream.clone(), expected: draft.expected, found });
            }
            versions.insert(&draft.stream, found.plus(draft.events.len() as u64));
        }
        Ok(())
    }

    fn take(&mut self, draft: Draft) -> Arc<Entry> {
        let position = self.head.position.next();
        let first_version = draft.expected.next();
        let events = u32::try_from(draft.events.len()).expect("drafts are small");
        let version = draft.expected.plus(u64::from(events));
        let header = Header { position, stream: draft.stream, first_version, events, meta: draft.meta };
        let answered = Answered { position, command_hash: header.meta.command_hash };
        self.commands.insert(header.meta.command_id, answered);
        if events > 0 {
            self.versions.insert(header.stream.clone(), version);
        }
        self.streams.entry(header.stream.clone()).or_default().push(self.entries.len());
        let (command, facts, verdict, events) = (draft.command, draft.facts, draft.verdict, draft.events);
        let entry = Arc::new(Entry { header, command, facts, verdict, events });
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.head.hash).update(format!("{entry:?}").as_bytes());
        let (time_ms, block) = (entry.header.meta.time_ms, self.head.block + 1);
        self.head = Head { position, time_ms, block, hash: *hasher.finalize().as_bytes() };
        self.entries.push(entry.clone());
        entry
    }

    fn between(&self, from: Position, to: Position) -> Vec<Arc<Entry>> {
        let end = to.0.min(self.head.position.0) as usize;
        let begin = (from.0.max(1) - 1) as usize;
        self.entries.get(begin..end).unwrap_or_default().to_vec()
    }
}

impl Journal for MemoryJournal {
    fn id(&self) -> Uuid {
        self.state().id
    }

    fn head(&self) -> Head {
        self.state().head
    }

    fn append(&self, drafts: Vec<Draft>, _intake: Intake, done: Done) {
        let mut state = self.state();
        if state.is_held || state.held_after.is_some_and(|last| state.head.position >= last) {
            state.held.push((drafts, done));
            return;
        }
        if let Some(error) = state.refusals.pop() {
            drop(state);
            return done(Err(error));
        }
        if let Err(error) = state.check(&drafts) {
            drop(state);
            return done(Err(error));
        }
        let entries = drafts.into_iter().map(|draft| state.take(draft)).collect();
        let notices: Vec<Notice> = state.notices.values().cloned().collect();
        let head = state.head;
        drop(state);
        done(Ok(Appended::of(entries)));
        for notice in notices {
            notice(head);
        }
    }

    fn version(&self, stream: &StreamId) -> Version {
        self.state().versions.get(stream).copied().unwrap_or_default()
    }

    fn answered(&self, command_id: &Uuid) -> Option<Answered> {
        self.state().commands.get(command_id).copied()
    }

    fn streams(&self, prefix: &str) -> Vec<StreamId> {
        self.state().streams.keys().filter(|stream| stream.as_str().starts_with(prefix)).cloned().collect()
    }

    fn read_stream(&self, stream: &StreamId, from: Version) -> Entries<'_> {
        let state = self.state();
        let all = state.streams.get(stream).map(Vec::as_slice).unwrap_or_default();
        let entries: Vec<Arc<Entry>> = all
            .iter()
            .map(|index| state.entries[*index].clone())
            .filter(|entry| from.0 <= 1 || entry.header.first_version.plus(entry.header.events.into()) > from)
            .collect();
        Box::new(entries.into_iter().map(Ok))
    }

    fn read_stream_back(&self, stream: &StreamId) -> Entries<'_> {
        let mut all: Vec<_> = self.read_stream(stream, Version::ZERO).collect();
        all.reverse();
        Box::new(all.into_iter())
    }

    fn read(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_> {
        let filter = filter.clone();
        let all = self.state().between(from, to);
        Box::new(all.into_iter().filter(move |entry| filter.wants(&entry.header.stream)).map(Ok))
    }

    fn read_back(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_> {
        let filter = filter.clone();
        let all = self.state().between(from, to);
        Box::new(all.into_iter().rev().filter(move |entry| filter.wants(&entry.header.stream)).map(Ok))
    }

    fn read_headers(&self, from: Position, to: Position, filter: &Filter) -> Headers<'_> {
        Box::new(self.read(from, to, filter).map(|entry| entry.map(|entry| entry.header.clone())))
    }

    fn on_append(&self, notice: Box<dyn Fn(Head) + Send + Sync>) -> Subscription {
        let mut state = self.state();
        let number = state.next_notice;
        state.next_notice += 1;
        state.notices.insert(number, Arc::from(notice));
        let journal = Arc::downgrade(&self.0);
        Subscription::new(move || {
            if let Some(state) = journal.upgrade() {
                state.lock().unwrap_or_else(PoisonError::into_inner).notices.remove(&number);
            }
        })
    }
}
