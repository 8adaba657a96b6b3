//! Crashes at exact moments.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bailiwick_journal::{
    Answered, AppendError, Appended, Done, Draft, Entries, Filter, Head, Headers, Intake, Journal, Position, StreamId,
    Subscription, Version,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use uuid::Uuid;

use super::{sets::Sets, storage::Storage};
use crate::providers::simulated::{World, WorldState};
use bailiwick_actors::vocab::sort_by_key;

/// How the node ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashKind {
    /// The process is killed: what it has written is there.
    Kill,
    /// The machine loses power: only what was synced is sure to be there.
    PowerCut,
}

impl CrashKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Kill, Self::PowerCut];
}

/// A crash at the n-th point that a simulation reaches: before and after an append, a provider call, its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashAt {
    /// From 1, counted over all runs.
    pub point: u64,
    pub kind: CrashKind,
}

/// Disk and world at the moment of a crash.
#[derive(Debug)]
pub(super) struct Kept {
    pub storage: Storage,
    pub world: WorldState,
    pub sets: Sets,
    /// The durable entries at that moment, as far as the journal had said so.
    pub entries: u64,
    pub at: &'static str,
}

/// Counts the points at which a crash is worth trying, and crashes at the chosen ones.
#[derive(Clone, Debug)]
pub(super) struct Points(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    crashed: Notify,
    world: World,
    sets: Sets,
    seed: u64,
}

#[derive(Debug)]
struct State {
    reached: u64,
    planned: Vec<CrashAt>,
    storage: Storage,
    /// The last entry that was acknowledged.
    entries: u64,
    kept: Option<Kept>,
}

impl Points {
    pub(super) fn new(mut planned: Vec<CrashAt>, storage: Storage, world: World, sets: Sets, seed: u64) -> Self {
        sort_by_key(&mut planned, |crash| std::cmp::Reverse(crash.point));
        let state = Mutex::new(State { reached: 0, planned, storage, entries: 0, kept: None });
        Self(Arc::new(Inner { state, crashed: Notify::new(), world, sets, seed }))
    }

    /// A point is reached.
    pub(super) fn reach(&self, name: &'static str) {
        let mut state = self.state();
        if state.kept.is_some() {
            return;
        }
        state.reached += 1;
        if state.planned.last().is_none_or(|crash| state.reached < crash.point) {
            return;
        }
        if let Some(crash) = state.planned.pop() {
            self.keep(&mut state, crash.kind, name);
        }
    }

    /// Entries up to this one are durable.
    fn acknowledged(&self, position: u64) {
        let mut state = self.state();
        if state.kept.is_none() {
            state.entries = position;
        }
    }

    /// Crashes now.
    pub(super) fn crash(&self, kind: CrashKind) {
        let mut state = self.state();
        if state.kept.is_none() {
            self.keep(&mut state, kind, "now");
        }
    }

    /// Waits until there is a crash.
    pub(super) async fn crashed(&self) {
        self.0.crashed.notified().await;
    }

    /// What is left after a crash, if there was one; from then on the next run counts.
    pub(super) fn take(&self) -> Option<Kept> {
        let mut state = self.state();
        let kept = state.kept.take()?;
        state.storage = kept.storage.clone();
        Some(kept)
    }

    pub(super) fn reached(&self) -> u64 {
        self.state().reached
    }

    fn keep(&self, state: &mut State, kind: CrashKind, at: &'static str) {
        let storage = state.storage.after(kind, self.0.seed ^ state.reached);
        let (world, sets) = (self.0.world.snapshot(), self.0.sets.copy());
        state.kept = Some(Kept { storage, world, sets, entries: state.entries, at });
        self.0.crashed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A journal with points around its appends.
pub(super) struct WatchedJournal {
    pub inner: Arc<dyn Journal>,
    pub points: Points,
}

impl fmt::Debug for WatchedJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Journal for WatchedJournal {
    fn append(&self, drafts: Vec<Draft>, intake: Intake, done: Done) {
        self.points.reach("before-append");
        let points = self.points.clone();
        let told = move |answer: Result<Appended, AppendError>| {
            if let Some(last) = answer.as_ref().ok().and_then(|appended| appended.entries().last()) {
                points.acknowledged(last.header.position.0);
            }
            points.reach("appended");
            done(answer);
            points.reach("after-append");
        };
        self.inner.append(drafts, intake, Box::new(told));
    }

    fn id(&self) -> Uuid {
        self.inner.id()
    }

    fn head(&self) -> Head {
        self.inner.head()
    }

    fn version(&self, stream: &StreamId) -> Version {
        self.inner.version(stream)
    }

    fn answered(&self, command_id: &Uuid) -> Option<Answered> {
        self.inner.answered(command_id)
    }

    fn streams(&self, prefix: &str) -> Vec<StreamId> {
        self.inner.streams(prefix)
    }

    fn read_stream(&self, stream: &StreamId, from: Version) -> Entries<'_> {
        self.inner.read_stream(stream, from)
    }

    fn read_stream_back(&self, stream: &StreamId) -> Entries<'_> {
        self.inner.read_stream_back(stream)
    }

    fn read(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_> {
        self.inner.read(from, to, filter)
    }

    fn read_back(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_> {
        self.inner.read_back(from, to, filter)
    }

    fn read_headers(&self, from: Position, to: Position, filter: &Filter) -> Headers<'_> {
        self.inner.read_headers(from, to, filter)
    }

    fn on_append(&self, notice: Box<dyn Fn(Head) + Send + Sync>) -> Subscription {
        self.inner.on_append(notice)
    }
}
