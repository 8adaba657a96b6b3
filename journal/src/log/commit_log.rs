//! The commit log: what is durable. Blocks one after the other in segment files that are filled with zeros ahead of
//! the writing, so that a sync changes no metadata.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use uuid::Uuid;

use crate::{
    Position,
    disk::{Access, Disk, DiskFile, crash},
    format::frame::{self, FrameHeader, HEADER_BYTES},
    log::segment::{self, End, LOG_DIR, MARK_BYTES, Mark, NEW_DIR},
};

/// How far ahead of the writing a segment is filled with zeros, in bytes.
const FILL_AHEAD_BYTES: u64 = 1024 * 1024;
/// Blocks from this size on go behind the zeros: for them writing everything twice costs more than the change of
/// metadata that each sync then makes.
const LARGE_BYTES: u64 = 64 * 1024;
/// How many segment files are kept open for reading.
const OPEN_FILES_MAX: usize = 16;

/// Where a block lies in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub segment: u32,
    pub offset: u32,
}

/// The end of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tip {
    pub block: u64,
    pub position: Position,
    pub hash: [u8; 32],
}

impl Tip {
    pub(crate) fn genesis(journal: Uuid) -> Self {
        Self { block: 0, position: Position::ZERO, hash: frame::genesis(journal) }
    }
}

/// Why a block could not be appended.
#[derive(Debug)]
pub(crate) enum LogError {
    /// There is no room, and nothing was written.
    Full,
    /// What the disk holds is unknown.
    Unclear(io::Error),
}

/// The writing end.
#[derive(Debug)]
pub(crate) struct Log {
    disk: Arc<dyn Disk>,
    journal: Uuid,
    segment_bytes: u64,
    segment: u32,
    file: Box<dyn DiskFile>,
    /// Where the next block goes.
    offset: u64,
    /// Up to where the file is filled with zeros.
    filled: u64,
    tip: Tip,
}

impl Log {
    /// Makes segment `segment` behind `tip` and writes on from there.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        journal: Uuid,
        segment_bytes: u64,
        segment: u32,
        tip: Tip,
    ) -> Result<Self, LogError> {
        let (file, filled) = new_segment(&*disk, LOG_DIR, journal, segment_bytes, segment, tip)?;
        Ok(Self { disk, journal, segment_bytes, segment, file, offset: MARK_BYTES as u64, filled, tip })
    }

    /// As [`Log::create`], where a file of that segment is there already: it stays until the new one is whole. A crash in
    /// between leaves one of both, never a log that has lost its only segment.
    pub(crate) fn replace(
        disk: Arc<dyn Disk>,
        journal: Uuid,
        segment_bytes: u64,
        segment: u32,
        tip: Tip,
    ) -> Result<Self, LogError> {
        let (file, filled) = new_segment(&*disk, NEW_DIR, journal, segment_bytes, segment, tip)?;
        crash::point("before-segment-replaced");
        let name = segment::name_of(segment);
        let replaced = disk.rename(&name.replacen(LOG_DIR, NEW_DIR, 1), &name);
        let synced = replaced.and_then(|()| disk.sync_dir(LOG_DIR));
        synced.and_then(|()| disk.remove(NEW_DIR)).map_err(LogError::Unclear)?;
        Ok(Self { disk, journal, segment_bytes, segment, file, offset: MARK_BYTES as u64, filled, tip })
    }

    /// Writes on in an existing segment, whose bytes from `offset` on are zeros or missing.
    pub(crate) fn resume(
        disk: Arc<dyn Disk>,
        journal: Uuid,
        segment_bytes: u64,
        segment: u32,
        offset: u64,
        tip: Tip,
    ) -> io::Result<Self> {
        let file = disk.open(&segment::name_of(segment), Access::Write)?;
        let filled = file.size()?.max(offset);
        Ok(Self { disk, journal, segment_bytes, segment, file, offset, filled, tip })
    }

    /// Writes one block; it is durable after [`Log::sync`].
    pub(crate) fn append(&mut self, frame: &[u8], tip: Tip) -> Result<Place, LogError> {
        let length = frame.len() as u64;
        let begun = self.offset > MARK_BYTES as u64;
        if begun && self.offset + length + MARK_BYTES as u64 > self.segment_bytes {
            self.rotate()?;
        }
        self.fill(self.offset + length)?;
        self.file.write_at(frame, self.offset).map_err(LogError::Unclear)?;
        let place = Place { segment: self.segment, offset: self.offset as u32 };
        self.offset += length;
        self.tip = tip;
        Ok(place)
    }

    /// Makes all appended blocks durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// The next segment is made first: should there be no room for it, nothing has changed. A crash in between leaves
    /// an empty segment behind an unsealed one, which opening completes.
    fn rotate(&mut self) -> Result<(), LogError> {
        crash::point("before-rotate");
        let next = self.segment + 1;
        let (file, filled) = new_segment(&*self.disk, LOG_DIR, self.journal, self.segment_bytes, next, self.tip)?;
        crash::point("after-new-segment");
        seal_file(&*self.file, self.journal, self.segment, self.offset, self.tip).map_err(LogError::Unclear)?;
        crash::point("after-seal");
        (self.segment, self.file, self.offset, self.filled) = (next, file, MARK_BYTES as u64, filled);
        Ok(())
    }

    fn fill(&mut self, needed: u64) -> Result<(), LogError> {
        if needed <= self.filled {
            return Ok(());
        }
        let ahead = (needed + FILL_AHEAD_BYTES).min(self.segment_bytes).max(needed);
        let made = if needed - self.offset >= LARGE_BYTES {
            self.file.reserve(self.filled, ahead)
        } else {
            self.file.allocate(self.filled, ahead)
        };
        made.map_err(full_or_unclear)?;
        self.filled = ahead;
        Ok(())
    }
}

fn full_or_unclear(error: io::Error) -> LogError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LogError::Full,
        _ => LogError::Unclear(error),
    }
}

/// Makes a segment file with its first mark, durable with its name. Leaves nothing behind when there is no room.
pub(crate) fn new_segment(
    disk: &dyn Disk,
    dir: &str,
    journal: Uuid,
    segment_bytes: u64,
    segment: u32,
    tip: Tip,
) -> Result<(Box<dyn DiskFile>, u64), LogError> {
    let name = segment::name_of(segment).replacen(LOG_DIR, dir, 1);
    let made = try_new_segment(disk, dir, &name, journal, segment_bytes, segment, tip);
    made.map_err(|error| match full_or_unclear(error) {
        LogError::Full => match disk.remove(&name) {
            Ok(()) => LogError::Full,
            Err(error) => LogError::Unclear(error),
        },
        unclear => unclear,
    })
}

fn try_new_segment(
    disk: &dyn Disk,
    dir: &str,
    name: &str,
    journal: Uuid,
    segment_bytes: u64,
    segment: u32,
    tip: Tip,
) -> io::Result<(Box<dyn DiskFile>, u64)> {
    let first = tip.position.next();
    let mark =
        Mark { end: End::Begin, journal, segment, block: tip.block + 1, position: first, offset: 0, hash: tip.hash };
    let file = disk.create(name)?;
    let filled = FILL_AHEAD_BYTES.min(segment_bytes).max(MARK_BYTES as u64);
    file.allocate(0, filled)?;
    file.write_at(&mark.encode(), 0)?;
    file.sync()?;
    disk.sync_dir(dir)?;
    Ok((file, filled))
}

/// Ends a full segment: the seal behind the last block, nothing behind the seal.
pub(crate) fn seal_file(file: &dyn DiskFile, journal: Uuid, segment: u32, offset: u64, tip: Tip) -> io::Result<()> {
    let mark =
        Mark { end: End::Seal, journal, segment, block: tip.block, position: tip.position, offset, hash: tip.hash };
    file.write_at(&mark.encode(), offset)?;
    file.set_len(offset + MARK_BYTES as u64)?;
    file.sync()
}

/// The reading end: blocks by their place, for whatever neither memory nor the block store has.
#[derive(Debug)]
pub(crate) struct LogReader {
    disk: Arc<dyn Disk>,
    files: Mutex<BTreeMap<u32, Arc<dyn DiskFile>>>,
}

impl LogReader {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk, files: Mutex::new(BTreeMap::new()) }
    }

    /// The bytes of the block at a place, as long as its header says; they are not checked here.
    pub(crate) fn read(&self, place: Place) -> io::Result<Vec<u8>> {
        let file = self.file(place.segment)?;
        let mut bytes = vec![0; HEADER_BYTES];
        let at = u64::from(place.offset);
        let read = file.read_at(&mut bytes, at)?;
        let header: Result<FrameHeader, _> = frame::peek(&bytes[..read]);
        let Ok(header) = header else { return Ok(bytes) };
        // A header that was damaged since may promise more than there is.
        let behind = file.size()?.saturating_sub(at + HEADER_BYTES as u64);
        let records_bytes = u64::from(header.records_bytes).min(behind) as usize;
        bytes.resize(HEADER_BYTES + records_bytes, 0);
        let read = file.read_at(&mut bytes[HEADER_BYTES..], at + HEADER_BYTES as u64)?;
        bytes.truncate(HEADER_BYTES + read);
        Ok(bytes)
    }

    /// Lets go of a segment that was replaced: an open file keeps its room on the disk.
    pub(crate) fn forget(&self, segment: u32) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).remove(&segment);
    }

    fn file(&self, segment: u32) -> io::Result<Arc<dyn DiskFile>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(&segment) {
            return Ok(file.clone());
        }
        let file: Arc<dyn DiskFile> = segment::open(&*self.disk, segment)?.into();
        if files.len() >= OPEN_FILES_MAX {
            files.pop_first();
        }
        files.insert(segment, file.clone());
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimulatedDisk;

    const JOURNAL: Uuid = Uuid::from_u128(7);
    const SEGMENT_BYTES: u64 = 8192;

    fn log(disk: &SimulatedDisk) -> Log {
        let tip = Tip::genesis(JOURNAL);
        Log::create(Arc::new(disk.clone()), JOURNAL, SEGMENT_BYTES, 1, tip).unwrap()
    }

    /// A frame of so many bytes; of what is in it only the length is looked at here.
    fn frame(bytes: u64) -> Vec<u8> {
        let mut frame = vec![1; bytes as usize];
        frame[..4].copy_from_slice(&frame::MAGIC);
        frame[8..12].copy_from_slice(&((bytes - HEADER_BYTES as u64) as u32).to_le_bytes());
        frame
    }

    fn append(log: &mut Log, bytes: u64) -> Place {
        let tip = Tip { block: log.tip.block + 1, position: log.tip.position.next(), hash: [3; 32] };
        log.append(&frame(bytes), tip).unwrap()
    }

    #[test]
    fn a_segment_takes_what_fits_between_its_marks_to_the_byte() {
        let between = SEGMENT_BYTES - 2 * MARK_BYTES as u64;
        for (second, segment) in [(between - 1000, 1), (between - 999, 2)] {
            let disk = SimulatedDisk::new();
            let mut log = log(&disk);
            assert_eq!(append(&mut log, 1000), Place { segment: 1, offset: 128 });
            let offset = if segment == 1 { 1128 } else { 128 };
            assert_eq!(append(&mut log, second), Place { segment, offset });
            assert_eq!(
                append(&mut log, 200),
                Place { segment: 2, offset: if segment == 1 { 128 } else { 128 + second as u32 } }
            );
            let (_, seal) = segment::marks(&disk, 1).unwrap().unwrap();
            assert_eq!(seal.offset, if segment == 1 { 1128 + second } else { 1128 });
            assert_eq!(seal.block, u64::from(3 - segment));
        }
    }

    #[test]
    fn a_block_that_fits_into_no_segment_has_one_of_its_own() {
        let disk = SimulatedDisk::new();
        let mut log = log(&disk);
        for (bytes, segment) in [(SEGMENT_BYTES * 2, 1), (300, 2), (SEGMENT_BYTES, 3), (300, 4)] {
            assert_eq!(append(&mut log, bytes), Place { segment, offset: 128 });
        }
    }

    #[test]
    fn a_segment_that_is_replaced_is_there_all_the_time() {
        let disk = SimulatedDisk::new();
        let before = disk.create(&segment::name_of(1)).unwrap();
        before.write_at(&[9; 500], 0).and_then(|()| before.sync()).unwrap();
        disk.sync_dir(LOG_DIR).unwrap();
        let mut log = Log::replace(Arc::new(disk.clone()), JOURNAL, SEGMENT_BYTES, 1, Tip::genesis(JOURNAL)).unwrap();
        append(&mut log, 300);
        log.sync().unwrap();
        let left = disk.after_power_cut(1).contents();
        let names: Vec<&String> = left.keys().collect();
        assert_eq!(names, [&segment::name_of(1)]);
        assert!(Mark::decode(&left[&segment::name_of(1)]).is_some());
    }

    #[test]
    fn a_header_that_promises_more_than_there_is_gets_what_there_is() {
        let disk = SimulatedDisk::new();
        let mut log = log(&disk);
        let place = append(&mut log, 1000);
        let reader = LogReader::new(Arc::new(disk.clone()));
        assert_eq!(reader.read(place).unwrap(), frame(1000));
        let (at, name) = (place.offset as usize, segment::name_of(1));
        disk.damage(&name, |bytes| bytes[at + 8..at + 12].copy_from_slice(&1_000_000u32.to_le_bytes()));
        let there = disk.contents()[&name].len() - at;
        assert_eq!(reader.read(place).unwrap().len(), there);
    }

    #[test]
    fn a_few_segments_are_kept_open_for_reading_and_one_that_was_replaced_is_not() {
        let disk = SimulatedDisk::new();
        let mut log = log(&disk);
        let places: Vec<Place> = (0..20).map(|_| append(&mut log, SEGMENT_BYTES)).collect();
        let reader = LogReader::new(Arc::new(disk.clone()));
        for place in &places {
            assert_eq!(reader.read(*place).unwrap().len() as u64, SEGMENT_BYTES);
        }
        let open = || reader.files.lock().unwrap().keys().copied().collect::<Vec<_>>();
        assert_eq!(open(), (5..=20).collect::<Vec<_>>());
        reader.forget(7);
        assert!(open().len() == OPEN_FILES_MAX - 1 && !open().contains(&7));
    }
}
