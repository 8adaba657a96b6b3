//! A stopped journal as it is found, judged as the node judges it when it starts, without changing anything.
//!
//! Where the block store's files are as the last stop in order left them, there is nothing to look for in it. Otherwise a
//! copy of it is opened, because opening sled rewrites it: perhaps only the store knows that log and head file were put
//! back to an older state, or has what the log has lost.

use std::{collections::HashSet, fmt, io, path::Path, sync::Arc};

use uuid::Uuid;

use super::{CopyOfStore, attach, copy_store};
use crate::{
    Head, IntegrityReport, OpenError, Problem,
    blocks::{Blocks, SledStore, Store},
    disk::Disk,
    format::{
        frame::{self, FrameHeader, HEADER_BYTES},
        head_file::{self, FoundHead},
    },
    index::Index,
    log::{
        commit_log::{Place, Tip},
        scan::{self, Scanned},
        segment::LOG_DIR,
    },
    open::{
        self, Evidence, RollbackGuard, Survey,
        repair::{self, Wanted},
    },
};

/// A segment of a log that is written anew in memory: each is filled ahead, and a reader is to hold little more than the
/// journal has.
const SEGMENT_BYTES: u64 = 256 * 1024;

/// What was found. The copy of the store is removed behind what reads from it.
pub(crate) struct Inspection {
    /// The folder, with what of the log is elsewhere.
    pub disk: Arc<dyn Disk>,
    pub scanned: Scanned,
    pub index: Index,
    pub found: FoundHead,
    pub store: StoreSeen,
    journal: Uuid,
    guard: RollbackGuard,
    survey: Survey,
    copy: Option<CopyOfStore>,
}

/// What was seen of the block store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreSeen {
    /// Its files are as the last stop in order left them.
    AsLeft,
    /// A copy of it was looked into: it has every block up to this one.
    Until(u64),
    /// It is open in the running node, and has every block up to this one.
    Open(u64),
    /// A copy of it was looked into: it is damaged, and the next start builds it anew from the log.
    Damaged(String),
    /// There is none; the next start builds it from the log.
    Missing,
    /// It could not be looked into.
    NotSeen(String),
}

/// What the node will do with the journal when it starts.
pub(crate) enum Outlook {
    /// Go on with the log.
    Whole,
    /// Write the log anew, from what log and block store have together.
    Repair(Repair, Wanted),
    /// Refuse it.
    Lost(IntegrityReport),
}

/// What the node will repair when it starts: nothing is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The journal's end once it is repaired; its time is that of the last entry that the log has.
    pub head: Head,
    pub streams: usize,
    /// Of the last writer that appended.
    pub epoch: u64,
    /// Blocks that are taken from the block store.
    pub blocks_from_store: u64,
    /// What is wrong with the log, or with log and head file.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { head, blocks_from_store, .. } = self;
        let from = if *blocks_from_store > 0 { " from sled" } else { "" };
        write!(f, "the node will repair this{from} when it starts; nothing is lost up to entry {}", head.position)
    }
}

impl fmt::Display for StoreSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsLeft => f.write_str("unchanged since the last stop"),
            Self::Open(0) => f.write_str("open, empty"),
            Self::Open(block) => write!(f, "open, has blocks up to {block}"),
            Self::Until(0) => f.write_str("empty; the next start fills it from the log"),
            Self::Until(block) => write!(f, "sound, has blocks 1 to {block}"),
            Self::Damaged(problem) => write!(f, "damaged ({problem}); the next start rebuilds it from the log"),
            Self::Missing => f.write_str("missing; the next start rebuilds it from the log"),
            Self::NotSeen(problem) => write!(f, "not checked: {problem}"),
        }
    }
}

/// How closely the block store is looked at where nothing is wrong with log and head file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Whether it has a block that the log has not.
    Ahead,
    /// Every block.
    Every,
}

/// Is shown each block of the log.
pub(crate) type Each = fn(&mut Index, &FrameHeader, &[u8], Place) -> Result<(), &'static str>;

/// Reads log, head file and, where it may matter, block store.
pub(crate) fn inspect(
    disk: Arc<dyn Disk>,
    journal: Uuid,
    dir: Option<&Path>,
    care: Care,
    each: Each,
) -> Result<Inspection, OpenError> {
    let (disk, copy) = attach(disk, journal, dir)?;
    let mut index = Index::default();
    let found = head_file::read_of(&*disk, journal).map_err(open::io_error(&*disk, "read the head of"))?;
    let mut visit = |header: &FrameHeader, records: &[u8], place: Place| each(&mut index, header, records, place);
    let scanned = scan::scan(&*disk, journal, &mut visit).map_err(open::io_error(&*disk, "read the log in"))?;
    let guard = RollbackGuard::find(&*disk, journal);
    let (store, survey) = (StoreSeen::AsLeft, Survey::default());
    let mut looked = Inspection { disk, journal, scanned, index, found, store, copy, guard, survey };
    looked.look_into_store(dir, care);
    Ok(looked)
}

impl Inspection {
    /// What the node will do when it starts.
    pub(crate) fn outlook(&self) -> Result<Outlook, OpenError> {
        let evidence = self.evidence();
        let wanted = match evidence.judge() {
            Ok(None) => return Ok(Outlook::Whole),
            Ok(Some(wanted)) => wanted,
            Err(report) => return Ok(Outlook::Lost(report)),
        };
        let (mut streams, mut epoch) = (HashSet::new(), 0);
        let gathered = repair::gather(&evidence, wanted, &mut |bytes, _| {
            epoch = frame::peek(bytes).map_or(epoch, |header| header.epoch.max(epoch));
            let records = frame::records(bytes.get(HEADER_BYTES..).unwrap_or(&[])).map_while(Result::ok);
            for record in records {
                let known = record.stream_text().is_ok_and(|stream| streams.contains(stream));
                streams.extend(record.stream_text().ok().filter(|_| !known).map(str::to_owned));
            }
            Ok(())
        });
        let Some(gathered) = gathered.map_err(open::io_error(&*self.disk, "read the log in"))? else {
            return Ok(Outlook::Lost(evidence.refusal()));
        };
        let Tip { block, position, hash } = gathered.end;
        let head = Head { block, position, hash, time_ms: self.scanned.time_ms };
        let problems = evidence.refusal().problems;
        let blocks_from_store = gathered.from_store;
        let repair = Repair { head, streams: streams.len(), epoch, blocks_from_store, problems };
        Ok(Outlook::Repair(repair, wanted))
    }

    /// The newest block that anybody knows of.
    pub(crate) fn known_block(&self) -> u64 {
        open::required(&self.scanned, &self.survey, self.found).max(self.guard.block())
    }

    /// Writes the log as the node will into another place.
    pub(crate) fn write_repaired(&self, wanted: Wanted, to: &dyn Disk) -> io::Result<()> {
        repair::write_log(&self.evidence(), SEGMENT_BYTES, wanted, to, LOG_DIR)?;
        Ok(())
    }

    fn evidence(&self) -> Evidence<'_> {
        let Self { disk, journal, scanned, index, found, guard, survey, .. } = self;
        Evidence { journal: *journal, disk, scanned, index, found: *found, guard, survey }
    }

    /// The open copy of a block store that has what the log has not any more.
    pub(crate) fn only_copy(&self) -> Option<&dyn Blocks> {
        let is_needed = self.copy.as_ref().is_some_and(|copy| copy.whole.is_some());
        self.survey.blocks.as_deref().filter(|_| is_needed)
    }

    fn look_into_store(&mut self, dir: Option<&Path>, care: Care) {
        self.store = match self.store_seen(dir, care) {
            Ok(seen) => seen,
            Err(problem) => {
                tracing::warn!(%problem, "sled cannot be inspected; this is what log and head file say");
                StoreSeen::NotSeen(problem)
            }
        };
    }

    fn store_seen(&mut self, dir: Option<&Path>, care: Care) -> Result<StoreSeen, String> {
        let Some(dir) = dir else { return Ok(StoreSeen::NotSeen("only the log was given".into())) };
        let in_doubt = open::is_in_doubt(&self.scanned, self.found, &self.guard);
        let opened = match &mut self.copy {
            Some(copy) => copy.blocks.take().ok_or_else(|| "its copy was closed".to_owned()),
            None => {
                let sled = SledStore::new(dir.join("sled"));
                let stopped = |newest| open::store_is_as_left(&*self.disk, &sled, newest);
                if !in_doubt && matches!(&self.found, FoundHead::Read { newest, .. } if stopped(newest)) {
                    return Ok(StoreSeen::AsLeft);
                }
                if !sled.exists() {
                    return Ok(StoreSeen::Missing);
                }
                let store = copy_store(&sled, dir).map_err(|error| error.to_string())?;
                let opened = open::open_copy(&store);
                self.copy = Some(CopyOfStore { whole: None, store, blocks: None });
                opened
            }
        };
        let blocks = match opened {
            Ok(blocks) => blocks,
            Err(problem) => {
                self.survey.trouble = Some(problem.clone());
                return Ok(StoreSeen::Damaged(problem));
            }
        };
        if care == Care::Ahead && !in_doubt && !has(&*blocks, self.scanned.tip.block + 1) {
            self.survey.blocks = Some(blocks);
            return Ok(StoreSeen::NotSeen("only its end was checked".into()));
        }
        let Some(copy) = &self.copy else { return Ok(StoreSeen::Missing) };
        self.survey = open::survey_of(&copy.store, blocks, self.journal);
        self.survey.compare(&self.scanned.hashes);
        Ok(match &self.survey.trouble {
            Some(problem) => StoreSeen::Damaged(problem.clone()),
            None => StoreSeen::Until(self.survey.contiguous),
        })
    }
}

impl Drop for Inspection {
    /// Readers of the copy end before it is closed.
    fn drop(&mut self) {
        if let Some(copy) = &mut self.copy {
            copy.blocks = self.survey.blocks.take().or_else(|| copy.blocks.take());
            copy.let_go();
        }
    }
}

/// Whether an open store has a sound block of this number.
fn has(blocks: &dyn Blocks, number: u64) -> bool {
    let reader = blocks.reader();
    let found = reader.read(&[number]).pop().flatten();
    reader.stop();
    found.is_some_and(|bytes| frame::check(&bytes).is_ok_and(|(header, _)| header.block == number))
}
