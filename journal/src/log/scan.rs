//! Reads the whole log, changes nothing, and says what it found: the blocks that hang together, and every fault.

use std::io;

use uuid::Uuid;

use crate::{
    Position,
    disk::Disk,
    format::frame::{self, FrameError, FrameHeader, HEADER_BYTES},
    log::{
        commit_log::{Place, Tip},
        segment::{self, End, MARK_BYTES, Mark},
        window::Window,
    },
    model::integrity::{Problem, ProblemKind},
};

/// No segment that we write is longer; what is, is not read.
const SEGMENT_FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// What is in the log.
#[derive(Debug)]
pub(crate) struct Scanned {
    pub segments: Vec<Segment>,
    /// The chain as far as it holds.
    pub tip: Tip,
    pub epoch: u64,
    pub time_ms: u64,
    /// The chain value of each block that was read, up to the tip.
    pub hashes: Vec<[u8; 32]>,
    pub faults: Vec<Fault>,
    /// Sound blocks behind a fault, not linked to the chain before it.
    pub later: Vec<(u64, Place)>,
    /// The newest block that a seal or the beginning of a segment tells of.
    pub told_block: u64,
    /// Where the chain ends: segment and offset; none if there is no block.
    pub end: Option<(u32, u64)>,
    /// Of all segment files, as they are stored.
    pub bytes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub number: u32,
    pub sealed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub problem: Problem,
    pub segment: u32,
    pub offset: u64,
    /// Whether this is history that differs, rather than history that cannot be read.
    pub differs: bool,
}

/// Is shown every block of the chain; an error counts as a fault there.
pub(crate) type Visit<'a> = dyn FnMut(&FrameHeader, &[u8], Place) -> Result<(), &'static str> + 'a;

/// What is known of the log before the segments that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub tip: Tip,
    pub epoch: u64,
    pub time_ms: u64,
}

pub(crate) fn scan(disk: &dyn Disk, journal: Uuid, visit: &mut Visit<'_>) -> io::Result<Scanned> {
    let start = Start { tip: Tip::genesis(journal), epoch: 0, time_ms: 0 };
    scan_some(disk, journal, start, &segment::numbers(disk)?, visit)
}

/// Reads some segments, one after the other.
pub(crate) fn scan_some(
    disk: &dyn Disk,
    journal: Uuid,
    start: Start,
    numbers: &[u32],
    visit: &mut Visit<'_>,
) -> io::Result<Scanned> {
    let mut scanned = Scanned::begin(start);
    for number in numbers.iter().copied() {
        read_on(disk, journal, number, &mut scanned, visit)?;
    }
    Ok(scanned)
}

/// Reads one segment more.
pub(crate) fn read_on(
    disk: &dyn Disk,
    journal: Uuid,
    number: u32,
    scanned: &mut Scanned,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let file = segment::open(disk, number)?;
    scanned.bytes += segment::stored_bytes(disk, number)?;
    if file.size()? > SEGMENT_FILE_BYTES_MAX {
        scanned.fault(number, ProblemKind::LogDamaged, 0, false);
        return Ok(());
    }
    let mut window = Window::new(&*file)?;
    OneSegment { scanned, journal, number, at: MARK_BYTES as u64, visit }.read(&mut window)
}

impl Scanned {
    /// Nothing was read yet.
    pub(crate) fn begin(Start { tip, epoch, time_ms }: Start) -> Self {
        Self {
            segments: Vec::new(),
            tip,
            epoch,
            time_ms,
            hashes: Vec::new(),
            faults: Vec::new(),
            later: Vec::new(),
            told_block: 0,
            end: None,
            bytes: 0,
        }
    }

    /// Takes a full segment for what its seal says, without reading what is between its marks.
    pub(crate) fn pass_over(&mut self, seal: &Mark) {
        self.tip = Tip { block: seal.block, position: seal.position, hash: seal.hash };
        self.told_block = self.told_block.max(seal.block);
        self.end = Some((seal.segment, seal.offset));
        self.segments.push(Segment { number: seal.segment, sealed: true });
    }

    /// The number of the newest block that the log knows to have existed.
    pub(crate) fn newest_block(&self) -> u64 {
        self.later.iter().map(|later| later.0).max().unwrap_or(0).max(self.tip.block).max(self.told_block)
    }

    /// Whether something before the chain's end cannot be read, although no block is missing for it.
    pub(crate) fn damaged_inside(&self) -> bool {
        self.faults.iter().any(|fault| self.end.is_some_and(|end| (fault.segment, fault.offset) < end))
    }

    /// The faults behind the last sound block: what stood there may have been a block, or a write that was torn.
    pub(crate) fn faults_at_the_end(&self) -> impl Iterator<Item = &Fault> {
        let later = self.later.iter().map(|(_, place)| (place.segment, u64::from(place.offset)));
        let last = later.chain(self.end).max();
        self.faults.iter().filter(move |fault| last.is_none_or(|last| last <= (fault.segment, fault.offset)))
    }

    /// Whether history stands there that is not what should stand there.
    pub(crate) fn differs(&self) -> bool {
        self.faults.iter().any(|fault| fault.differs)
    }

    /// Whether the chain's last block is the last one of a full segment.
    pub(crate) fn ends_in_sealed_segment(&self) -> bool {
        let end = self.end.map(|end| end.0);
        self.segments.iter().any(|segment| Some(segment.number) == end && segment.sealed)
    }

    /// The segment that is made anew, and written on in; none if the one in which the chain ends is written on in.
    pub(crate) fn made_anew(&self) -> Option<u32> {
        match self.end {
            Some((segment, _)) if self.ends_in_sealed_segment() => Some(segment + 1),
            Some(_) => None,
            None => Some(1),
        }
    }

    /// Whether the last segment that was read is a full one.
    pub(crate) fn ends_in_seal(&self) -> bool {
        self.segments.last().is_some_and(|segment| segment.sealed)
    }

    fn fault(&mut self, segment: u32, kind: ProblemKind, offset: u64, differs: bool) {
        let problem = Problem { kind, file: segment::name_of(segment), offset: Some(offset), blocks: None };
        self.faults.push(Fault { problem, segment, offset, differs });
    }
}

struct OneSegment<'a, 'v> {
    scanned: &'a mut Scanned,
    journal: Uuid,
    number: u32,
    at: u64,
    visit: &'a mut Visit<'v>,
}

impl OneSegment<'_, '_> {
    fn read(&mut self, window: &mut Window<'_>) -> io::Result<()> {
        let begun_at = self.scanned.tip.block;
        let later_before = self.scanned.later.len();
        self.check_beginning(window.at(0, MARK_BYTES)?);
        let sealed = loop {
            if let Some(mark) = Mark::decode(window.at(self.at, MARK_BYTES)?) {
                self.check_seal(&mark);
                break true;
            }
            let found = frame::check(frame_at(window, self.at)?);
            match found.map(|(header, records)| (header, HEADER_BYTES + records.len())) {
                Ok((header, frame_bytes)) => {
                    self.take(&header, window.at(self.at, frame_bytes)?);
                    self.at += frame_bytes as u64;
                }
                Err(FrameError::Blank) if window.is_blank_from(self.at)? => break false,
                // A node that runs has gone on writing since these bytes were read.
                Err(FrameError::Blank) if !is_blank_still(window, self.at)? => (),
                Err(error) => {
                    let kind = match error {
                        FrameError::Newer { format } => ProblemKind::NewerFormat { format },
                        _ => ProblemKind::LogDamaged,
                    };
                    self.scanned.fault(self.number, kind, self.at, false);
                    let Some(next) = self.next_sound_place(window)? else { break false };
                    self.at = next;
                }
            }
        };
        let has_blocks = self.scanned.tip.block > begun_at || self.scanned.later.len() > later_before;
        self.check_order_of_segments(has_blocks);
        self.scanned.segments.push(Segment { number: self.number, sealed });
        Ok(())
    }

    fn check_beginning(&mut self, bytes: &[u8]) {
        let tip = self.scanned.tip;
        let Some(mark) = Mark::decode(bytes).filter(|mark| mark.end == End::Begin) else {
            self.scanned.fault(self.number, ProblemKind::SegmentBeginDamaged, 0, false);
            return;
        };
        if mark.journal == self.journal {
            self.scanned.told_block = self.scanned.told_block.max(mark.block.saturating_sub(1));
        }
        if mark.journal != self.journal || mark.segment != self.number {
            self.scanned.fault(self.number, ProblemKind::ForeignBlock, 0, true);
        } else if mark.block == tip.block + 1 && mark.hash != tip.hash {
            self.scanned.fault(self.number, ProblemKind::ChainBroken, 0, true);
        }
    }

    fn check_seal(&mut self, mark: &Mark) {
        let tip = self.scanned.tip;
        let here = mark.end == End::Seal && mark.journal == self.journal && mark.segment == self.number;
        if !here {
            self.scanned.fault(self.number, ProblemKind::ForeignBlock, self.at, true);
        } else if mark.block > tip.block && self.scanned.faults.is_empty() {
            // Blocks before the seal are missing although what is there hangs together.
            self.scanned.fault(self.number, ProblemKind::LogDamaged, self.at, false);
        }
        if here {
            self.scanned.told_block = self.scanned.told_block.max(mark.block);
        }
    }

    /// Takes in a frame that is whole.
    fn take(&mut self, header: &FrameHeader, frame: &[u8]) {
        let records = &frame[HEADER_BYTES..];
        let tip = self.scanned.tip;
        let place = Place { segment: self.number, offset: self.at as u32 };
        if header.journal != self.journal {
            self.scanned.fault(self.number, ProblemKind::ForeignBlock, self.at, true);
        } else if header.block <= tip.block {
            self.scanned.fault(self.number, ProblemKind::ChainBroken, self.at, true);
        } else if header.block > tip.block + 1 {
            if self.scanned.faults.is_empty() {
                self.scanned.fault(self.number, ProblemKind::BlocksMissing, self.at, false);
            }
            self.scanned.later.push((header.block, place));
        } else if header.previous != tip.hash || !frame::hash_fits(frame) {
            self.scanned.fault(self.number, ProblemKind::ChainBroken, self.at, true);
        } else if (self.visit)(header, records, place).is_err() {
            self.scanned.fault(self.number, ProblemKind::RecordMalformed, self.at, true);
        } else {
            self.scanned.tip = Tip {
                block: header.block,
                position: Position(header.first.0 + u64::from(header.count) - 1),
                hash: header.hash,
            };
            self.scanned.hashes.push(header.hash);
            self.scanned.epoch = self.scanned.epoch.max(header.epoch);
            let last = frame::records(records).last().and_then(Result::ok);
            self.scanned.time_ms = last.map_or(self.scanned.time_ms, |record| record.time_ms());
            self.scanned.end = Some((self.number, self.at + frame.len() as u64));
        }
    }

    /// The next offset at which a whole block or a seal stands.
    fn next_sound_place(&self, window: &mut Window<'_>) -> io::Result<Option<u64>> {
        let mut from = self.at + 1;
        while let Some(at) = window.find(*b"bw", from)? {
            let sound = frame::check(frame_at(window, at)?).is_ok_and(|(header, _)| header.journal == self.journal)
                || Mark::decode(window.at(at, MARK_BYTES)?)
                    .is_some_and(|mark| mark.journal == self.journal && mark.end == End::Seal);
            if sound {
                return Ok(Some(at));
            }
            from = at + 1;
        }
        Ok(None)
    }

    /// Every segment but the last one is sealed, except that the last one may have no blocks yet.
    fn check_order_of_segments(&mut self, has_blocks: bool) {
        let unsealed_before = self.scanned.segments.last().is_some_and(|before| !before.sealed);
        if unsealed_before && has_blocks {
            let before = self.scanned.segments.last().map_or(0, |before| before.number);
            self.scanned.fault(before, ProblemKind::SealDamaged, 0, false);
        }
    }
}

/// The frame at an offset, as far as its header says that it goes; its header's bytes alone if that is no header.
fn frame_at<'w>(window: &'w mut Window<'_>, at: u64) -> io::Result<&'w [u8]> {
    let header = frame::peek(window.at(at, HEADER_BYTES)?);
    window.at(at, header.map_or(HEADER_BYTES, |header| HEADER_BYTES + header.records_bytes as usize))
}

/// Whether nothing stands at an offset now.
fn is_blank_still(window: &mut Window<'_>, at: u64) -> io::Result<bool> {
    window.forget();
    Ok(frame::peek(window.at(at, HEADER_BYTES)?) == Err(FrameError::Blank))
}
