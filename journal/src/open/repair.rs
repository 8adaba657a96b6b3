//! What opening does to a log that is not as it should be: cut its torn end, write it anew, or say what is missing.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    sync::Arc,
};

use uuid::Uuid;

use crate::{
    IntegrityReport, Position, StreamId, Version,
    blocks::BlockReader,
    disk::{Access, Disk, DiskFile, crash},
    format::{
        frame,
        head_file::{FoundHead, HEAD_FILE},
    },
    index::Index,
    log::{
        archive,
        commit_log::{self, LogError, LogReader, Place, Tip},
        scan::Scanned,
        segment::{self, ASIDE, LOG_DIR, MARK_BYTES, NEW_DIR},
    },
    model::integrity::{MissingEvents, Problem, ProblemKind},
    open::{catch_up::Survey, evidence::Evidence},
};

/// How many missing blocks are looked for when a refusal is explained; a damaged number must not keep it busy.
const LISTED_BLOCKS_MAX: usize = 1_000_000;

/// A log that was written anew.
#[derive(Debug)]
pub(crate) struct Rewritten {
    /// Blocks that came from the store.
    pub filled: u64,
    /// Where the old log is.
    pub aside: String,
}

/// All blocks of a log were found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gathered {
    /// Blocks that only the store had.
    pub from_store: u64,
    pub end: Tip,
}

/// What a log that is written anew has to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Up to this block.
    pub last: u64,
    /// A block that is known to have had this chain value.
    pub vouched: Option<(u64, [u8; 32])>,
}

/// Removes what stands behind the chain's end, except the file of a segment that is to be made anew; answers how many
/// bytes that were not zero.
pub(crate) fn cut_tail(disk: &dyn Disk, scanned: &Scanned) -> io::Result<u64> {
    crash::point("before-cut");
    let mut cut = 0;
    let (end_segment, end_offset) = scanned.end.unwrap_or((0, 0));
    for number in scanned.segments.iter().map(|segment| segment.number).filter(|number| *number > end_segment) {
        cut += written_bytes(&*segment::open(disk, number)?, 0)?;
        // The one that is made anew stays until then: a log without any segment is a lost one.
        if Some(number) != scanned.made_anew() {
            segment::remove(disk, number)?;
        }
    }
    disk.sync_dir(LOG_DIR)?;
    if end_segment > 0 && !scanned.ends_in_sealed_segment() {
        let file = disk.open(&segment::name_of(end_segment), Access::Write)?;
        cut += written_bytes(&*file, end_offset)?;
        file.set_len(end_offset)?;
        file.sync()?;
    }
    crash::point("after-cut");
    Ok(cut)
}

fn written_bytes(file: &dyn DiskFile, from: u64) -> io::Result<u64> {
    let bytes = crate::disk::read_all(file)?;
    let behind = bytes.get(from as usize..).unwrap_or(&[]);
    Ok(behind.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1))
}

/// Puts a log in place whose rewriting was complete when the process ended, or removes one that was not.
pub(crate) fn finish_replacing(disk: &dyn Disk) -> io::Result<()> {
    let names = disk.list("")?;
    let there = |name: &str| names.iter().any(|other| other == name);
    let aside = names.iter().any(|name| name.starts_with(ASIDE));
    if !there(NEW_DIR) {
        return Ok(());
    }
    if !there(LOG_DIR) && aside {
        // What was elsewhere is in the new log.
        disk.remove(archive::FILE)?;
        disk.rename(NEW_DIR, LOG_DIR)?;
    } else {
        disk.remove(NEW_DIR)?;
    }
    disk.sync_dir("")
}

/// Writes the log anew as it is wanted, each block from where it is sound; none if one is nowhere, or if the chain does
/// not go through the block that is vouched for.
///
/// The old log is put aside under another name, to find out what happened to it.
pub(crate) fn rewrite_log(
    evidence: &Evidence<'_>,
    segment_bytes: u64,
    wanted: Wanted,
) -> io::Result<Option<Rewritten>> {
    let disk = evidence.disk;
    disk.remove(NEW_DIR)?;
    let Some(filled) = write_log(evidence, segment_bytes, wanted, &**disk, NEW_DIR)? else {
        disk.remove(NEW_DIR)?;
        return Ok(None);
    };
    let names = disk.list("")?;
    let aside = (1..).map(|number| format!("{ASIDE}{number}")).find(|name| !names.contains(name));
    let aside = aside.unwrap_or_else(|| format!("{ASIDE}0"));
    crash::point("before-log-replaced");
    if names.iter().any(|name| name == LOG_DIR) {
        disk.rename(LOG_DIR, &aside)?;
    }
    crash::point("between-log-replaced");
    // What was elsewhere is in the new log.
    disk.remove(archive::FILE)?;
    disk.rename(NEW_DIR, LOG_DIR)?;
    disk.sync_dir("")?;
    crash::point("after-log-replaced");
    Ok(Some(Rewritten { filled, aside }))
}

/// Writes a log as it is wanted into a folder of any disk; answers how many of its blocks came from the store, or none as
/// [`rewrite_log`] does.
pub(crate) fn write_log(
    evidence: &Evidence<'_>,
    segment_bytes: u64,
    wanted: Wanted,
    to: &dyn Disk,
    dir: &'static str,
) -> io::Result<Option<u64>> {
    let mut log = NewLog { disk: to, dir, journal: evidence.journal, segment_bytes, open: None, segment: 0, offset: 0 };
    let gathered = gather(evidence, wanted, &mut |bytes, tip| log.append(bytes, tip))?;
    if gathered.is_some() {
        log.finish()?;
    }
    Ok(gathered.map(|gathered| gathered.from_store))
}

/// Shows every block that a log as it is wanted has, and the end of the chain before it; none as [`rewrite_log`].
pub(crate) fn gather(
    evidence: &Evidence<'_>,
    wanted: Wanted,
    keep: &mut dyn FnMut(&[u8], Tip) -> io::Result<()>,
) -> io::Result<Option<Gathered>> {
    let Evidence { journal, disk, scanned, survey, index, .. } = *evidence;
    let sources = Sources::new(disk, scanned, survey, index);
    let mut tip = Tip::genesis(journal);
    let mut from_store = 0;
    for block in 1..=wanted.last {
        let found = sources.block(block, &tip, journal)?;
        let fits = |bytes: &[u8]| {
            let hash = frame::peek(bytes).map(|header| header.hash);
            wanted.vouched.is_none_or(|vouched| vouched.0 != block || hash == Ok(vouched.1))
        };
        let Some((bytes, is_from_store)) = found.filter(|found| fits(&found.0)) else { return Ok(None) };
        keep(&bytes, tip)?;
        from_store += u64::from(is_from_store);
        let (header, _) = frame::check(&bytes).map_err(|_| io::Error::other("a checked block changed"))?;
        let position = Position(tip.position.0 + u64::from(header.count));
        tip = Tip { block: header.block, position, hash: header.hash };
    }
    Ok(Some(Gathered { from_store, end: tip }))
}

/// All places that may have a block.
struct Sources<'a> {
    log: LogReader,
    index: &'a Index,
    later: BTreeMap<u64, Place>,
    store: Option<Arc<dyn BlockReader>>,
}

impl<'a> Sources<'a> {
    fn new(disk: &Arc<dyn Disk>, scanned: &Scanned, survey: &Survey, index: &'a Index) -> Self {
        let later = scanned.later.iter().copied().collect();
        let store = survey.blocks.as_ref().map(|blocks| blocks.reader());
        Self { log: LogReader::new(disk.clone()), index, later, store }
    }

    /// The sound block that follows `tip`, and whether it came from the store.
    fn block(&self, number: u64, tip: &Tip, journal: Uuid) -> io::Result<Option<(Vec<u8>, bool)>> {
        let follows = |bytes: &Vec<u8>| {
            frame::check(bytes).is_ok_and(|(header, records)| {
                header.journal == journal
                    && header.block == number
                    && header.previous == tip.hash
                    && header.first == tip.position.next()
                    && bytes.len() == frame::HEADER_BYTES + records.len()
            }) && frame::hash_fits(bytes)
        };
        let place = self.index.block(number).map(|block| block.place).or_else(|| self.later.get(&number).copied());
        if let Some(place) = place {
            let bytes = self.log.read(place)?;
            if follows(&bytes) {
                return Ok(Some((bytes, false)));
            }
        }
        Ok(self.in_store(number).filter(follows).map(|bytes| (bytes, true)))
    }

    /// Any copy of the block, sound in itself.
    fn any(&self, number: u64) -> Option<Vec<u8>> {
        let from_log = self.later.get(&number).and_then(|place| self.log.read(*place).ok());
        let sound = |bytes: &Vec<u8>| frame::check(bytes).is_ok_and(|(header, _)| header.block == number);
        from_log.filter(sound).or_else(|| self.in_store(number).filter(sound))
    }

    fn in_store(&self, number: u64) -> Option<Vec<u8>> {
        self.store.as_ref()?.read(&[number]).pop().flatten()
    }
}

impl Drop for Sources<'_> {
    fn drop(&mut self) {
        if let Some(store) = &self.store {
            store.stop();
        }
    }
}

/// Segments in another folder.
struct NewLog<'d> {
    disk: &'d dyn Disk,
    dir: &'static str,
    journal: Uuid,
    segment_bytes: u64,
    open: Option<Box<dyn DiskFile>>,
    segment: u32,
    offset: u64,
}

impl NewLog<'_> {
    fn append(&mut self, bytes: &[u8], tip: Tip) -> io::Result<()> {
        let length = bytes.len() as u64;
        let full = self.offset + length + MARK_BYTES as u64 > self.segment_bytes && self.offset > MARK_BYTES as u64;
        if let Some(file) = self.open.take_if(|_| full) {
            commit_log::seal_file(&*file, self.journal, self.segment, self.offset, tip)?;
        }
        let file = match self.open.take() {
            Some(file) => file,
            None => {
                self.segment += 1;
                self.offset = MARK_BYTES as u64;
                let made =
                    commit_log::new_segment(self.disk, self.dir, self.journal, self.segment_bytes, self.segment, tip);
                let (file, _) = made.map_err(|error| match error {
                    LogError::Full => io::ErrorKind::StorageFull.into(),
                    LogError::Unclear(error) => error,
                })?;
                file
            }
        };
        file.write_at(bytes, self.offset)?;
        self.offset += length;
        self.open = Some(file);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(file) = &self.open {
            file.sync()?;
        }
        self.disk.sync_dir(self.dir)?;
        self.disk.sync_dir("")
    }
}

/// What is known to have been there behind the chain's end: how far, and of which streams.
pub(crate) fn missing(
    journal: Uuid,
    disk: &Arc<dyn Disk>,
    scanned: &Scanned,
    survey: &Survey,
    index: &Index,
    found: FoundHead,
) -> IntegrityReport {
    let mut report = IntegrityReport::default();
    let tip = scanned.tip;
    // Sound blocks behind the damage belong to the log: it ends after the last of them.
    let reached = scanned.later.iter().map(|later| later.0).fold(tip.block, u64::max);
    let cut = |file: &str, last: u64| Problem {
        kind: ProblemKind::LogCut,
        file: format!("{LOG_DIR} (against {file})"),
        offset: None,
        blocks: Some((reached + 1, last)),
    };
    let mut last_position = tip.position;
    if let FoundHead::Read { newest, .. } = found
        && newest.journal == journal
        && newest.head.block > tip.block
    {
        if newest.head.block > reached {
            report.problems.push(cut(HEAD_FILE, newest.head.block));
        }
        last_position = newest.head.position;
    }
    if survey.newest > reached {
        report.problems.push(cut("sled", survey.newest));
    }
    if scanned.told_block > reached && report.problems.is_empty() {
        report.problems.push(cut("a later segment", scanned.told_block));
    }
    let sources = Sources::new(disk, scanned, survey, index);
    let mut streams: HashMap<StreamId, MissingEvents> = HashMap::new();
    let newest = scanned.newest_block().max(survey.newest);
    for number in (tip.block + 1..=newest).take(LISTED_BLOCKS_MAX) {
        let Some(bytes) = sources.any(number) else { continue };
        let records = frame::check(&bytes).map_or(&[][..], |(_, records)| records);
        for record in frame::records(records).map_while(Result::ok) {
            let Some(stream) = record.stream_text().ok().and_then(|text| text.parse::<StreamId>().ok()) else {
                continue;
            };
            last_position = last_position.max(record.position());
            let (whole, events) = (index.version(&stream), u64::from(record.events()));
            let last = Version(record.first_version().0.saturating_add(events).saturating_sub(1));
            let missing = streams.entry(stream.clone());
            missing.or_insert_with(|| MissingEvents::behind(stream, whole)).lose(events, last);
        }
    }
    if last_position > tip.position {
        report.missing_positions = Some((tip.position.next(), last_position));
    }
    report.missing = streams.into_values().collect();
    report.missing.sort_by(|a, b| a.stream.cmp(&b.stream));
    report
}
