//! The last entries in words, for all who watch.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix_web::web::Bytes;
use bailiwick_journal::Header;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::view::LogFilter;

/// So many watchers at once.
const WATCHERS_MAX: usize = 2_048;
/// So many of the last entries are kept in words while somebody watches: some seconds of a busy node.
const KEPT_MAX: usize = 4_096;
/// About so many bytes are sent at once.
const BATCH_BYTES: usize = 32 * 1024;
/// So many of the last batches are kept: most watchers ask for the same, and are sent the same bytes.
const BATCHES_MAX: usize = 64;

/// No entry has this position: that there will be none any more.
pub(super) const CLOSED: u64 = u64::MAX;

/// An entry in words.
#[derive(Debug)]
pub(super) struct Told {
    pub header: Header,
    /// As a server-sent event.
    pub event: String,
}

/// What a watcher is sent at once, and the last entry that is told with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub events: Bytes,
    pub to: u64,
}

impl Batch {
    /// What is wanted of these, which follow one another after an entry: as many as are sent at once.
    ///
    /// # Errors
    /// If one of them cannot be told.
    pub(super) fn of<E, T: AsRef<Told>>(
        after: u64,
        entries: impl Iterator<Item = Result<(u64, Option<T>), E>>,
    ) -> Result<Self, E> {
        let (mut events, mut to) = (String::new(), after);
        for entry in entries {
            let (position, wanted) = entry?;
            to = position;
            events.push_str(wanted.as_ref().map_or("", |told| &told.as_ref().event));
            if events.len() >= BATCH_BYTES {
                break;
            }
        }
        Ok(Self { events: Bytes::from(events), to })
    }
}

impl AsRef<Told> for Told {
    fn as_ref(&self) -> &Told {
        self
    }
}

/// What is kept for all who watch.
#[derive(Debug)]
pub(super) struct Feed {
    kept: Mutex<Kept>,
    /// The last entry that is kept; nothing before the first.
    last: watch::Sender<u64>,
    watchers: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: VecDeque<Told>,
    /// After which entry, of what is wanted like this.
    batches: VecDeque<(u64, LogFilter, Batch)>,
}

impl Kept {
    fn batch(&self, after: u64, filter: &LogFilter) -> Option<Batch> {
        let is_it = |(from, wanted, _): &&(u64, LogFilter, Batch)| *from == after && wanted == filter;
        self.batches.iter().rev().find(is_it).map(|(_, _, batch)| batch.clone())
    }

    fn keep_batch(&mut self, after: u64, filter: &LogFilter, batch: &Batch) {
        if self.batches.len() == BATCHES_MAX {
            self.batches.pop_front();
        }
        self.batches.push_back((after, filter.clone(), batch.clone()));
    }
}

impl Feed {
    /// Nothing is kept before somebody watches.
    pub(super) fn new() -> Self {
        Self { kept: Mutex::default(), last: watch::Sender::new(0), watchers: Arc::new(Semaphore::new(WATCHERS_MAX)) }
    }

    /// Ends all who watch: the node stops.
    pub(super) fn close(&self) {
        self.last.send_replace(CLOSED);
    }

    /// A place among those who watch, until it is dropped; none if there are too many.
    pub(super) fn join(&self) -> Option<OwnedSemaphorePermit> {
        self.watchers.clone().try_acquire_owned().ok()
    }

    pub(super) fn watchers(&self) -> usize {
        WATCHERS_MAX - self.watchers.available_permits()
    }

    /// What is sent next to whoever has heard of everything up to this entry; it has no events and ends there if there is
    /// nothing more. None if it cannot be had from what is kept.
    pub(super) fn next(&self, after: u64, filter: &LogFilter) -> Option<Batch> {
        let mut kept = self.kept();
        if let Some(batch) = kept.batch(after, filter) {
            return Some(batch);
        }
        let first = kept.entries.front()?.header.position.0;
        let skipped = usize::try_from((after + 1).checked_sub(first)?).ok()?;
        let told = kept.entries.iter().skip(skipped).map(|told| {
            let is_wanted = filter.wants_of(&told.header);
            Ok::<_, Infallible>((told.header.position.0, is_wanted.then_some(told)))
        });
        let Ok(batch) = Batch::of(after, told);
        if batch.to > after {
            kept.keep_batch(after, filter, &batch);
        }
        Some(batch)
    }

    /// Keeps a batch that was read from the journal, for other watchers that are as far behind.
    pub(super) fn keep_batch(&self, after: u64, filter: &LogFilter, batch: &Batch) {
        self.kept().keep_batch(after, filter, batch);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps these, which follow what is kept, and tells those who wait.
    pub(super) fn keep(&self, told: Vec<Told>) {
        let Some(last) = told.last().map(|told| told.header.position.0) else { return };
        let mut kept = self.kept();
        let follows =
            |back: &Told| told.first().is_some_and(|first| first.header.position == back.header.position.next());
        if !kept.entries.back().is_none_or(follows) {
            // What is kept is found by counting from its first entry.
            *kept = Kept::default();
        }
        kept.entries.extend(told);
        let excess = kept.entries.len().saturating_sub(KEPT_MAX);
        kept.entries.drain(..excess);
        drop(kept);
        self.last.send_modify(|told| *told = if *told == CLOSED { CLOSED } else { last });
    }

    pub(super) fn forget(&self) {
        *self.kept() = Kept::default();
    }

    /// The position of the last entry that is kept.
    pub(super) fn last(&self) -> Option<u64> {
        self.kept().entries.back().map(|told| told.header.position.0)
    }

    /// Tells whenever more is kept.
    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_journal::{EntryKind, Meta, Outcome, Position, Version};

    use super::*;

    fn told(position: u64) -> Told {
        let meta = Meta {
            kind: EntryKind::Decision,
            outcome: Outcome::Done,
            code: String::new(),
            time_ms: 0,
            command_id: uuid::Uuid::nil(),
            command_hash: [0; 16],
            cause: None,
            principal: "uid:0".to_owned(),
            policy: None,
            view: None,
            cites: Vec::new(),
        };
        let header = Header {
            position: Position(position),
            stream: "space/a".parse().expect("a stream"),
            first_version: Version(position),
            events: 1,
            meta,
        };
        Told { header, event: format!("{position};") }
    }

    fn next(feed: &Feed, after: u64) -> Option<(String, u64)> {
        let wanted = LogFilter { limit: usize::MAX, ..LogFilter::default() };
        let batch = feed.next(after, &wanted)?;
        Some((String::from_utf8(batch.events.to_vec()).expect("text"), batch.to))
    }

    #[test]
    fn nobody_is_sent_what_follows_a_gap_as_if_there_were_none() {
        let feed = Feed::new();
        feed.keep(vec![told(1), told(2)]);
        feed.keep(vec![told(3)]);
        assert_eq!(next(&feed, 0), Some(("1;2;3;".to_owned(), 3)));
        assert_eq!(next(&feed, 2), Some(("3;".to_owned(), 3)));
        assert_eq!(next(&feed, 3), Some((String::new(), 3)), "there is nothing more");
        // Entries 4 to 8 were not told to it: whoever is there has to read them from the journal.
        feed.keep(vec![told(9), told(10)]);
        assert_eq!([next(&feed, 0), next(&feed, 3), next(&feed, 7)], [None, None, None]);
        assert_eq!(next(&feed, 8), Some(("9;10;".to_owned(), 10)));
    }
}
