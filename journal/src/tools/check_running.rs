//! A running journal looked at while it is written: a walk of what is durable by now, and how much there is of what.

use crate::{
    CheckReport, Head, IntegrityReport, Journal, JournalStat, LocalJournal, OpenError, Problem, ProblemKind, Recovery,
    format::frame,
    log::{commit_log::Tip, segment},
    open,
    tools::{
        read_only::{Repair, StoreSeen},
        salvage::{Found, Salvage},
        stat::{self, Size},
    },
};

/// Blocks after which a walk through a running journal rests.
const BLOCKS_AT_ONCE: u64 = 32;

impl LocalJournal {
    /// Walks what is durable by now, as [`check`](crate::check()) does with a stopped journal: reads every block from the log anew,
    /// decodes each entry, follows the chain up to its end, and holds the block store against it as far as that has
    /// caught up. Behind damage it goes on. `rest` is called after every 32 blocks: the node's own work comes first.
    ///
    /// # Errors
    /// If the log's folder or the index cannot be read. What is wrong with the history is in the report.
    pub fn check(&self, mut rest: impl FnMut()) -> Result<CheckReport, OpenError> {
        let (head, stored) = (self.head(), self.core().stored());
        let (segments, bytes) = self.size_of_log()?;
        let mut walk = Walk {
            journal: self,
            stored,
            tip: Some(Tip::genesis(self.id()).hash),
            follow: Salvage::dry(self.id()),
            store_trouble: None,
            in_store: Vec::new(),
            nowhere: Vec::new(),
        };
        for number in 1..=head.block {
            walk.block(number, &head);
            if number.is_multiple_of(BLOCKS_AT_ONCE) {
                rest();
            }
        }
        let Walk { follow, store_trouble, in_store, nowhere, .. } = walk;
        let store = match store_trouble {
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
        let epoch = follow.epoch();
        let (mut mendable, mut integrity) = (Vec::new(), IntegrityReport::default());
        let (mut repair, mut recovery) = (None, None);
        if nowhere.is_empty() {
            let blocks_from_store = in_store.iter().filter_map(|problem| problem.blocks).map(|(a, b)| b - a + 1).sum();
            mendable.clone_from(&in_store);
            let problems = in_store;
            let found = Repair { head, streams, epoch, blocks_from_store, problems };
            repair = (blocks_from_store > 0).then_some(found);
            if let StoreSeen::Damaged(_) = &store {
                mendable.push(Problem {
                    kind: ProblemKind::StoreDamaged,
                    file: "sled".into(),
                    offset: None,
                    blocks: None,
                });
            }
        } else {
            let unfollowed = open::io_error(&**self.disk(), "follow the log in");
            let salvaged = follow.end(None).map_err(unfollowed)?;
            integrity.missing.clone_from(&salvaged.missing);
            integrity.problems = nowhere;
            recovery = Recovery::of(salvaged, head.position);
            integrity.missing_positions = recovery.as_ref().map(|recovery| recovery.affected);
            mendable = in_store;
        }
        Ok(CheckReport {
            journal: self.id(),
            head,
            epoch,
            streams,
            segments,
            bytes,
            clean: false,
            mendable,
            integrity,
            repair,
            recovery,
            store,
        })
    }

    /// Counts what is durable by now, as [`stat`](crate::stat()) does with a stopped journal. `rest` is called after every 32
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
    /// The chain value of the last block; none behind one that nobody has.
    tip: Option<[u8; 32]>,
    follow: Salvage,
    store_trouble: Option<String>,
    /// What is wrong with blocks of the log that the block store has.
    in_store: Vec<Problem>,
    /// What is wrong with blocks that neither has.
    nowhere: Vec<Problem>,
}

impl Walk<'_> {
    fn block(&mut self, number: u64, head: &Head) {
        let core = self.journal.core();
        let stored = (number <= self.stored && !core.store_is_gone())
            .then(|| core.read_store(&[number]).and_then(|mut found| found.pop().flatten()).unwrap_or_default());
        let logged = core.read_logged(number).map_err(|error| (ProblemKind::LogDamaged, error.to_string()));
        let (kind, problem) = match logged.and_then(|bytes| self.take(bytes, stored.is_some(), false, head)) {
            Ok(bytes) => {
                if stored.is_some_and(|stored| stored != bytes) && self.store_trouble.is_none() {
                    self.store_trouble = Some(format!("block {number} is missing or damaged"));
                }
                return;
            }
            Err(problem) => problem,
        };
        tracing::error!(block = number, problem, "the running journal is damaged");
        let is_in_store = stored.is_some_and(|bytes| self.take(bytes, false, true, head).is_ok());
        if !is_in_store {
            self.tip = None;
        }
        let problems = if is_in_store { &mut self.in_store } else { &mut self.nowhere };
        match problems.last_mut().filter(|last| last.kind == kind) {
            Some(Problem { blocks: Some((_, last)), .. }) if *last + 1 == number => *last = number,
            _ => problems.push(Problem { kind, file: "log".into(), offset: None, blocks: Some((number, number)) }),
        }
    }

    /// Takes a block that is sound, follows from the one before, and holds what it says. Answers its bytes if they are
    /// still `wanted`.
    fn take(
        &mut self,
        bytes: Vec<u8>,
        wanted: bool,
        from_store: bool,
        head: &Head,
    ) -> Result<Vec<u8>, (ProblemKind, String)> {
        let unsound = |_| (ProblemKind::LogDamaged, "it does not match its checksum".to_owned());
        let (header, _) = frame::check(&bytes).map_err(unsound)?;
        let leads_here = self.tip.is_none_or(|tip| header.previous == tip);
        let ends_there = header.block < head.block || header.hash == head.hash;
        if !leads_here || !ends_there || !frame::hash_fits(&bytes) {
            return Err((ProblemKind::ChainBroken, "the chain does not lead on".into()));
        }
        let kept = if wanted { bytes.clone() } else { Vec::new() };
        let taken = self.follow.take(&Found { header, bytes, from_store });
        if !taken.is_ok_and(|is_sound| is_sound) {
            return Err((ProblemKind::RecordMalformed, "its entries cannot be read".into()));
        }
        self.tip = Some(header.hash);
        Ok(kept)
    }
}
