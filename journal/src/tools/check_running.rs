//! A running journal looked at while it is written: a walk of what is durable by now, and how much there is of what.

use crate::{
    CheckReport, Head, IntegrityReport, Journal, JournalStat, LocalJournal, OpenError, Problem, ProblemKind, ReadError,
    format::frame::{self, HEADER_BYTES},
    log::segment,
    open,
    tools::{
        read_only::StoreSeen,
        stat::{self, Size},
    },
};

/// Blocks after which whoever walks a running journal rests.
const BLOCKS_AT_ONCE: u64 = 64;

impl LocalJournal {
    /// Walks what is durable by now, as [`check`](crate::check()) does with a stopped journal: reads every block from the log anew,
    /// decodes each entry, follows the chain up to its end, and holds the block store against it as far as that has
    /// caught up. `rest` is called after every 64 blocks: the node's own work comes first.
    ///
    /// # Errors
    /// If the log's folder or the index cannot be read. What is wrong with the history is in the report.
    pub fn check(&self, mut rest: impl FnMut()) -> Result<CheckReport, OpenError> {
        let (head, stored) = (self.head(), self.core().stored());
        let (segments, bytes) = self.size_of_log()?;
        let mut walk = Walk { journal: self, stored, tip: [0; 32], epoch: 0, store_trouble: None };
        let mut integrity = IntegrityReport::default();
        for number in 1..=head.block {
            if let Err((kind, problem)) = walk.block(number, &head) {
                tracing::error!(block = number, problem, "the running journal is damaged");
                let blocks = Some((number, number));
                integrity.problems.push(Problem { kind, file: "log".into(), offset: None, blocks });
                break;
            }
            if number.is_multiple_of(BLOCKS_AT_ONCE) {
                rest();
            }
        }
        let store = match walk.store_trouble {
            Some(problem) => StoreSeen::Damaged(problem),
            None => StoreSeen::Open(stored.min(head.block)),
        };
        let streams = {
            let state = self.core().state();
            let count = state.index.stream_count();
            let unreadable = open::io_error(&**self.disk(), "read the index checkpoint in");
            state.is_readable().map_err(|error| unreadable(std::io::Error::other(error)))?;
            count
        };
        let mut mendable = Vec::new();
        if let (StoreSeen::Damaged(_), true) = (&store, integrity.is_whole()) {
            mendable.push(Problem { kind: ProblemKind::StoreDamaged, file: "sled".into(), offset: None, blocks: None });
        }
        Ok(CheckReport {
            journal: self.id(),
            head,
            epoch: walk.epoch,
            streams,
            segments,
            bytes,
            clean: false,
            mendable,
            integrity,
            repair: None,
            store,
        })
    }

    /// Counts what is durable by now, as [`stat`](crate::stat()) does with a stopped journal. `rest` is called after every 64
    /// blocks.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn stat(&self, mut rest: impl FnMut()) -> Result<JournalStat, OpenError> {
        let (segments, bytes) = self.size_of_log()?;
        let size = Size { segments, bytes };
        stat::count(self.core(), self, size, self.disk().path(), |block| {
            if block.is_multiple_of(BLOCKS_AT_ONCE) {
                rest();
            }
        })
    }

    fn size_of_log(&self) -> Result<(usize, u64), OpenError> {
        let disk = self.disk();
        let unreadable = open::io_error(&**disk, "read the log in");
        let numbers = segment::numbers(&**disk).map_err(&unreadable)?;
        let mut bytes = 0;
        for number in &numbers {
            match segment::open(&**disk, *number).and_then(|file| file.size()) {
                Ok(size) => bytes += size,
                // Compressed or moved to the archive at this very moment: it is counted at the next time.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
                Err(error) => return Err(unreadable(error)),
            }
        }
        Ok((numbers.len(), bytes))
    }
}

/// A walk along the chain.
struct Walk<'j> {
    journal: &'j LocalJournal,
    stored: u64,
    /// The chain value of the last block.
    tip: [u8; 32],
    epoch: u64,
    store_trouble: Option<String>,
}

impl Walk<'_> {
    fn block(&mut self, number: u64, head: &Head) -> Result<(), (ProblemKind, String)> {
        let core = self.journal.core();
        let damaged = |error: ReadError| (ProblemKind::LogDamaged, error.to_string());
        let bytes = core.read_logged(number).map_err(damaged)?;
        let unsound = |_| (ProblemKind::LogDamaged, "it does not match its checksum".to_owned());
        let (header, records) = frame::check(&bytes).map_err(unsound)?;
        for record in frame::records(records) {
            let read = record.and_then(|record| record.entry());
            read.map_err(|problem| (ProblemKind::RecordMalformed, problem.to_owned()))?;
        }
        let leads_here = number == 1 || header.previous == self.tip;
        let ends_there = number < head.block || header.hash == head.hash;
        if !leads_here || !ends_there {
            return Err((ProblemKind::ChainBroken, "the chain does not lead on".into()));
        }
        (self.tip, self.epoch) = (header.hash, header.epoch);
        if number <= self.stored && self.store_trouble.is_none() {
            let stored = core.read_store(&[number]).and_then(|mut found| found.pop().flatten());
            let same = stored.is_some_and(|stored| stored.len() >= HEADER_BYTES && stored == bytes);
            if !same && !core.store_is_gone() {
                self.store_trouble = Some(format!("block {number} is missing or damaged"));
            }
        }
        Ok(())
    }
}
