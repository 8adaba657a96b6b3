//! The one interface that everybody above uses.

use std::{fmt, ops::ControlFlow, sync::Arc};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Draft, Entry, EntryView, Head, Header, Position, ReadError, StreamId, Version,
    api::tail_block::TailBlock,
};

/// Is called once with the answer to an append, on the journal's own thread (or, inline or when the append is refused at
/// once, on the caller's, before `append` returns). Dropped without a call only if the journal's thread itself failed.
/// It must not block: it hands the answer on.
pub type Done = Box<dyn FnOnce(Result<Appended, AppendError>) + Send>;

/// What has become durable: the entries of one append, in the order of its drafts.
#[derive(Clone, Debug)]
pub struct Appended(Taken);

#[derive(Clone, Debug)]
enum Taken {
    Built(Vec<Arc<Entry>>),
    /// Entries of a block, from its so-many-th on.
    InBlock {
        block: Arc<TailBlock>,
        from: usize,
        count: usize,
    },
}

impl Appended {
    /// What has become durable; for implementations of [`Journal`].
    pub fn of(entries: Vec<Arc<Entry>>) -> Self {
        Self(Taken::Built(entries))
    }

    pub(crate) fn in_block(block: Arc<TailBlock>, from: usize, count: usize) -> Self {
        Self(Taken::InBlock { block, from, count })
    }

    /// The entries, in the order of the drafts. While nobody follows the journal they are built for the first caller.
    pub fn entries(&self) -> &[Arc<Entry>] {
        match &self.0 {
            Taken::Built(entries) => entries,
            Taken::InBlock { block, from, count } => {
                let entries = block.entries().expect("we have just encoded this block ourselves");
                &entries[*from..*from + *count]
            }
        }
    }
}

/// How urgent an append is when the disk is nearly full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intake {
    /// New work: refused early, with [`AppendError::NearlyFull`].
    #[default]
    Ordinary,
    /// What running effects report: taken as long as anything can be written.
    Report,
}

/// Which entries a read wants. Empty means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these kinds of streams (`machine`).
    pub kinds: Vec<String>,
    /// Only these streams.
    pub streams: Vec<StreamId>,
}

impl Filter {
    /// Every entry.
    pub fn all() -> Self {
        Self::default()
    }

    /// Whether an entry of this stream is wanted.
    pub fn wants(&self, stream: &StreamId) -> bool {
        let kind_wanted = self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == stream.kind());
        let stream_wanted = self.streams.is_empty() || self.streams.contains(stream);
        kind_wanted && stream_wanted
    }
}

/// Entries in order, read as the iterator is moved.
pub type Entries<'a> = Box<dyn Iterator<Item = Result<Arc<Entry>, ReadError>> + 'a>;
/// Headers in order; bodies are skipped, not decoded.
pub type Headers<'a> = Box<dyn Iterator<Item = Result<Header, ReadError>> + 'a>;

/// The ordered, durable record of every decision.
///
/// All reads see exactly what was acknowledged: a reader never meets an entry that is not durable, nor misses one that is.
pub trait Journal: Send + Sync + fmt::Debug {
    /// Chosen once, when the journal is created.
    fn id(&self) -> Uuid;

    /// The last durable entry.
    fn head(&self) -> Head;

    /// Hands in drafts that become durable together or not at all, and calls `done` when that is known.
    ///
    /// Several drafts may concern one stream; the later one then expects the version after the earlier one.
    fn append(&self, drafts: Vec<Draft>, intake: Intake, done: Done);

    /// The version of a stream, [`Version::ZERO`] if it has no events.
    ///
    /// This, [`Journal::answered`] and [`Journal::streams`] cannot say that the index is unreadable. Where it is, the journal
    /// has failed, and takes nothing that is decided by what they say.
    fn version(&self, stream: &StreamId) -> Version;

    /// Looks up an answered command within [`COMMAND_WINDOW_MS`](crate::COMMAND_WINDOW_MS) of the newest entry.
    fn answered(&self, command_id: &Uuid) -> Option<Answered>;

    /// The streams that have an entry, in order of their text, beginning with `prefix`.
    fn streams(&self, prefix: &str) -> Vec<StreamId>;

    /// One stream's entries whose events are at or after `from`, and those without events among them, oldest first.
    /// `from` at or below 1 gives all.
    fn read_stream(&self, stream: &StreamId, from: Version) -> Entries<'_>;

    /// One stream's entries, newest first.
    fn read_stream_back(&self, stream: &StreamId) -> Entries<'_>;

    /// Entries with `from <= position <= to` (`to` is cut to the head at the time of the call), oldest first.
    fn read(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_>;

    /// As [`Journal::read`], newest first: begins at `to`.
    fn read_back(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_>;

    /// As [`Journal::read`], for a pass over many entries: shows each where it lies, without building it, until the
    /// visitor breaks off.
    ///
    /// # Errors
    /// As the items of [`Journal::read`].
    fn pass(
        &self,
        from: Position,
        to: Position,
        filter: &Filter,
        visit: &mut dyn FnMut(&EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        for entry in self.read(from, to, filter) {
            if visit(&EntryView::of(&*entry?)).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// As [`Journal::read`], without bodies.
    fn read_headers(&self, from: Position, to: Position, filter: &Filter) -> Headers<'_>;

    /// Calls `notice` after every group has become durable. It must not block. The call ends with the returned guard.
    fn on_append(&self, notice: Box<dyn Fn(Head) + Send + Sync>) -> Subscription;
}

/// Ends a subscription when dropped.
pub struct Subscription(pub(crate) Option<Box<dyn FnOnce() + Send>>);

impl Subscription {
    /// A guard that calls `end` when it is dropped; for implementations of [`Journal`].
    pub fn new(end: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

/// Waits for the answer to an append on the calling thread. Not for use inside an async runtime.
///
/// # Errors
/// As the append's.
pub fn append_blocking(journal: &dyn Journal, drafts: Vec<Draft>) -> Result<Appended, AppendError> {
    let (send, receive) = std::sync::mpsc::sync_channel(1);
    journal.append(drafts, Intake::Ordinary, Box::new(move |answer| drop(send.send(answer))));
    receive.recv().unwrap_or(Err(AppendError::Unknown { problem: "the journal's thread ended".into() }))
}
