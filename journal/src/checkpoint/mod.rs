//! The index, written down, so that the next opening need not read the whole log to have it: at a stop in order all of
//! it, and behind the commits, from time to time, as far as full segments of the log go.
//!
//! ```text
//!  0 [4]  "bwix"                    32 u64  block             80 [32] chain value of that block
//!  4 u8   format version, 2         40 u64  position         112 u32  number of segments
//!  5 [7]  zero                      48 u64  time, ms         116 u32  number of the store's files
//! 12 u32  CRC32C over all but       56 u64  epoch            120 [8]  zero
//!         these four bytes          64 [16] zero             128      segments, the store's files, then the index
//! 16 [16] journal id
//! segment     u32 number, u32 1 if compressed, u64 length, u64 time of the last writing
//! store file  u16 length of the name, the name, u64 length, u64 time of the last writing
//! ```
//!
//! One of a stop in order tells of the store's files too; one of between has none of them.
//!
//! It is a cache: one that is missing, damaged, of another journal or of another end is left aside, and the log is read
//! in full. A running journal looks up in it what it holds (`index/rebase.rs`), through a handle of its own: to delete or
//! replace the file does no harm then either, but to write into it fails the journal. What it may be trusted for, and when,
//! is told at the head of `open/by_checkpoint.rs`.

mod grow;

use std::{io, io::Write};

use uuid::Uuid;

use crate::{
    Head, Position,
    disk::{self, Access, Disk, DiskFile, Stamp},
    format::frame,
    index::{Base, Bytes, Index},
    log::segment_file::SegmentFile,
};
pub(crate) use grow::{Grown, Unfit, grow};

const FILE: &str = "index.checkpoint";
/// Its name while what it was trusted for has not been read.
const IN_USE: &str = "index.checkpoint.used";
const FORMAT: u8 = 2;
const HEADER_BYTES: usize = 128;
const SEGMENT_BYTES: usize = 24;
const STAMP_BYTES: usize = 16;
/// What is written at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// Files of the store and segments that are believed.
const FILES_MAX: u32 = 1 << 20;

/// A checkpoint as it was read.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub journal: Uuid,
    pub head: Head,
    pub epoch: u64,
    pub files: Files,
    pub base: Base,
}

/// The files that an index was made of, as they were then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub segments: Vec<SegmentFile>,
    pub store: Vec<(String, Stamp)>,
}

impl Files {
    /// A segment has another form now: what was in it when it was `before` was compared with what is in it now.
    pub(crate) fn change(&mut self, before: SegmentFile, now: SegmentFile) {
        if let Some(known) = self.segments.iter_mut().find(|known| **known == before) {
            *known = now;
        }
    }
}

impl Checkpoint {
    /// The one before anything was written: everything is behind it.
    pub(crate) fn of_nothing(journal: Uuid) -> Self {
        let head = Head { hash: frame::genesis(journal), ..Head::default() };
        Self { journal, head, epoch: 0, files: Files::default(), base: Base::default() }
    }
}

/// Writes the checkpoint so that it is there in full or not at all. False, and nothing is written, if there is too much for
/// one.
pub(crate) fn write(
    disk: &dyn Disk,
    journal: Uuid,
    head: Head,
    epoch: u64,
    files: &Files,
    index: &Index,
) -> io::Result<bool> {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(b"bwix");
    header[4] = FORMAT;
    header[16..32].copy_from_slice(journal.as_bytes());
    let numbers = [head.block, head.position.0, head.time_ms, epoch];
    for (number, to) in numbers.into_iter().zip(header[32..64].chunks_exact_mut(8)) {
        to.copy_from_slice(&number.to_le_bytes());
    }
    header[80..112].copy_from_slice(&head.hash);
    header[112..116].copy_from_slice(&(files.segments.len() as u32).to_le_bytes());
    header[116..120].copy_from_slice(&(files.store.len() as u32).to_le_bytes());
    disk::write_whole_by(disk, FILE, |file| {
        let mut to = Summed { file, at: HEADER_BYTES as u64, sum: crc(&header) };
        let mut buffered = io::BufWriter::with_capacity(BUFFER_BYTES, &mut to);
        let fits = write_files(files, &mut buffered)? && index.write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        header[12..16].copy_from_slice(&to.sum.to_le_bytes());
        file.write_at(&header, 0)?;
        Ok(fits)
    })
}

/// Writes on in a file, and sums up what is written.
struct Summed<'f> {
    file: &'f dyn DiskFile,
    at: u64,
    sum: u32,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        self.sum = crc32c::crc32c_append(self.sum, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// False if a name is too long for its number.
fn write_files(files: &Files, to: &mut dyn Write) -> io::Result<bool> {
    for SegmentFile { number, compressed, stamp } in &files.segments {
        to.write_all(&number.to_le_bytes())?;
        to.write_all(&u32::from(*compressed).to_le_bytes())?;
        write_stamp(*stamp, to)?;
    }
    for (name, stamp) in &files.store {
        let Ok(length) = u16::try_from(name.len()) else { return Ok(false) };
        to.write_all(&length.to_le_bytes())?;
        to.write_all(name.as_bytes())?;
        write_stamp(*stamp, to)?;
    }
    Ok(true)
}

/// Removes it, in use or not: what it says is no longer to be trusted.
pub(crate) fn remove(disk: &dyn Disk) -> io::Result<()> {
    disk.remove(IN_USE)?;
    disk.remove(FILE)?;
    disk.sync_dir("")
}

/// Takes it into use, durably: until [`put_back`] no other opening goes by it.
pub(crate) fn take_up(disk: &dyn Disk) -> io::Result<()> {
    disk.rename(FILE, IN_USE)?;
    disk.sync_dir("")
}

/// Removes one that a writer took up and did not put back, as far as that goes: it is gone by no more either way.
pub(crate) fn forget_used(disk: &dyn Disk) {
    if let Err(error) = disk.remove(IN_USE) {
        tracing::warn!(%error, "an index checkpoint that was in use stays");
    }
}

/// What it was trusted for has been read and is right.
pub(crate) fn put_back(disk: &dyn Disk) -> io::Result<()> {
    match disk.rename(IN_USE, FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        renamed => renamed.and_then(|()| disk.sync_dir("")),
    }
}

/// Whether there is one, sound or not.
pub(crate) fn exists(disk: &dyn Disk) -> bool {
    disk.open(FILE, Access::Read).is_ok()
}

/// Where the checkpoints end that are there, in use or not, by their names: as far as they are sound and of this journal.
pub(crate) fn ends(disk: &dyn Disk, journal: Uuid) -> Vec<(&'static str, Head)> {
    let end = |name: &'static str| {
        let found = decode(Bytes::left_in(disk.open(name, Access::Read).ok()?).ok()?)?;
        (found.journal == journal).then_some((name, found.head))
    };
    [FILE, IN_USE].into_iter().filter_map(end).collect()
}

/// Reads it into memory; says why it is of no use.
pub(crate) fn read(disk: &dyn Disk) -> Result<Checkpoint, String> {
    let file = open(disk)?;
    let bytes = disk::read_all(&*file).map_err(|error| format!("it cannot be read: {error}"))?;
    decode(Bytes::of(bytes)).ok_or_else(|| UNFIT.into())
}

/// As [`read`], but leaves the index in the file, for a reader that looks up little in it.
pub(crate) fn look_into(disk: &dyn Disk) -> Result<Checkpoint, String> {
    let bytes = Bytes::left_in(open(disk)?).map_err(|error| format!("it cannot be read: {error}"))?;
    decode(bytes).ok_or_else(|| UNFIT.into())
}

/// As [`look_into`], for a reader that relies on it from now on, whatever becomes of the file's name.
pub(crate) fn look_for_long(disk: &dyn Disk) -> Result<Checkpoint, String> {
    let found = look_into(disk)?;
    let base = found.base.for_long().ok_or("it cannot be read")?;
    Ok(Checkpoint { base, ..found })
}

/// Removes one whose index cannot be read back, as far as that goes: its sum tells the next opening as well.
pub(crate) fn give_up(disk: &dyn Disk) {
    if let Err(error) = remove(disk) {
        tracing::error!(%error, "the index checkpoint cannot be removed");
    }
}

const UNFIT: &str = "it is damaged, or of another version";

fn open(disk: &dyn Disk) -> Result<Box<dyn DiskFile>, String> {
    disk.open(FILE, Access::Read).map_err(|error| format!("it cannot be opened: {error}"))
}

/// The checkpoint in these bytes, if they are one.
pub(crate) fn decode(mut bytes: Bytes) -> Option<Checkpoint> {
    let head: [u8; HEADER_BYTES] = bytes.get(0, HEADER_BYTES)?.as_ref().try_into().ok()?;
    let sum = bytes.sum(HEADER_BYTES, crc(&head))?;
    if head[..4] != *b"bwix" || head[4] != FORMAT || sum.to_le_bytes() != head[12..16] {
        return None;
    }
    let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let count = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let journal = Uuid::from_slice(&head[16..32]).ok()?;
    let position = Position(number(40));
    let found = Head { position, block: number(32), time_ms: number(48), hash: head[80..112].try_into().ok()? };
    let (epoch, segments, stored) = (number(56), count(112), count(116));
    if segments > FILES_MAX || stored > FILES_MAX {
        return None;
    }
    let mut at = HEADER_BYTES;
    let mut next = |count: usize| {
        let found = bytes.get(at, count)?;
        at += count;
        Some(found)
    };
    let mut files = Files::default();
    for _ in 0..segments {
        let entry = next(SEGMENT_BYTES)?;
        let number = u32::from_le_bytes(*entry.first_chunk()?);
        files.segments.push(SegmentFile { number, compressed: entry[4] == 1, stamp: stamp(&entry[8..])? });
    }
    for _ in 0..stored {
        let length = u16::from_le_bytes(*next(2)?.first_chunk()?);
        let name = String::from_utf8(next(length.into())?.into_owned()).ok()?;
        files.store.push((name, stamp(&next(STAMP_BYTES)?)?));
    }
    let base = Base::read(bytes, at)?;
    Some(Checkpoint { journal, head: found, epoch, files, base })
}

fn write_stamp(stamp: Stamp, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(&stamp.size.to_le_bytes())?;
    to.write_all(&stamp.written.to_le_bytes())
}

fn stamp(bytes: &[u8]) -> Option<Stamp> {
    let (size, rest) = bytes.split_first_chunk()?;
    Some(Stamp { size: u64::from_le_bytes(*size), written: u64::from_le_bytes(*rest.first_chunk()?) })
}

fn crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Answered, Version,
        disk::SimulatedDisk,
        index::{Indexed, Item},
        log::commit_log::Place,
        model::codec,
        tools::hex,
    };

    const JOURNAL: Uuid = Uuid::from_u128(7);

    fn index(blocks: u64) -> Index {
        let mut index = Index::default();
        for number in 1..=blocks {
            let position = Position(number);
            index.add_block(position, Place { segment: 1 + number as u32 / 4, offset: 128 * number as u32 });
            let version = number.div_ceil(3) + 1;
            let entry = Indexed {
                item: Item { position, next_version: Version(version) },
                time_ms: 1_000 + number,
                command_id: Uuid::from_u128(number.into()),
                command_hash: [number as u8; 16],
            };
            index.add(&format!("machine/{}", number % 3).parse().unwrap(), &entry);
        }
        index
    }

    fn written(index: &Index) -> Vec<u8> {
        let disk = SimulatedDisk::new();
        let head = Head { position: Position(9), block: 9, time_ms: 1_009, hash: [5; 32] };
        let stamp = Stamp { size: 4096, written: 77 };
        let files = Files {
            segments: vec![
                SegmentFile { number: 1, compressed: true, stamp },
                SegmentFile { number: 2, compressed: false, stamp },
            ],
            store: vec![("conf".into(), stamp), ("db".into(), stamp)],
        };
        assert!(write(&disk, JOURNAL, head, 3, &files, index).unwrap());
        let bytes = disk.contents()[FILE].clone();
        let found = read(&disk).unwrap();
        assert_eq!((found.journal, found.head, found.epoch, found.files), (JOURNAL, head, 3, files));
        bytes
    }

    #[test]
    fn the_stored_form_is_as_released() {
        let bytes = written(&index(9));
        assert_eq!(bytes.len(), 1_049);
        assert_eq!(hex::encode(&codec::digest(&bytes)), "e2e49d2529b0d1498b6140e3a540a2f4");
    }

    #[test]
    fn a_changed_segment_is_taken_over_only_from_what_was_known() {
        let file = |number, compressed, written| SegmentFile { number, compressed, stamp: Stamp { size: 9, written } };
        let known = Files { segments: vec![file(1, false, 5), file(2, false, 6)], store: Vec::new() };
        let mut files = known.clone();
        files.change(file(2, false, 7), file(2, true, 8));
        assert_eq!(files, known, "it was written into before it was compressed");
        files.change(file(2, false, 6), file(2, true, 8));
        assert_eq!(files.segments, [file(1, false, 5), file(2, true, 8)]);
    }

    #[test]
    fn an_index_over_a_checkpoint_is_written_as_one_without() {
        // The second is read in several pieces.
        for (known, all) in [(5, 9), (15_000, 20_000)] {
            let later = index(all);
            let whole = written(&later);
            let disk = SimulatedDisk::new();
            disk.create("file").unwrap().write_at(&written(&index(known)), 0).unwrap();
            let left = Bytes::left_in(disk.open("file", Access::Read).unwrap()).unwrap();
            for bytes in [Bytes::of(written(&index(known))), left] {
                let mut grown = Index::of(decode(bytes).unwrap().base, Position(known), 1_000 + known);
                (known + 1..=all).for_each(|number| pass_on(&later, number, &mut grown));
                assert!(written(&grown) == whole, "{known} of {all}");
                assert_eq!((grown.stream_count(), grown.block_count(), grown.item_count()), (3, all, all));
            }
        }
    }

    /// Puts a block of one index behind another one.
    fn pass_on(from: &Index, number: u64, to: &mut Index) {
        let block = from.block(number).unwrap();
        to.add_block(block.first, block.place);
        let stream = format!("machine/{}", number % 3).parse().unwrap();
        let item = from.items(&stream).get((number.div_ceil(3) - 1) as usize).unwrap();
        let command_id = Uuid::from_u128(number.into());
        let (Answered { command_hash, .. }, time_ms) = from.answered_at(&command_id).unwrap();
        to.add(&stream, &Indexed { item, time_ms, command_id, command_hash });
    }

    #[test]
    fn one_whose_file_cannot_be_read_any_more_is_not_passed_on() {
        let disk = SimulatedDisk::new();
        disk.create(FILE).unwrap().write_at(&written(&index(9)), 0).unwrap();
        let found = look_into(&disk).unwrap();
        let index = Index::of(found.base, found.head.position, found.head.time_ms);
        disk.open(FILE, Access::Write).unwrap().set_len(200).unwrap();
        assert!(write(&SimulatedDisk::new(), JOURNAL, found.head, 3, &found.files, &index).is_err());
    }

    #[test]
    fn every_flipped_bit_and_every_shorter_one_is_refused() {
        let bytes = written(&index(9));
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(Bytes::of(other)).is_none(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(decode(Bytes::of(bytes[..length].to_vec())).is_none(), "{length} bytes");
        }
    }
}
