//! The `FORMAT` file: what wrote this folder, and whose journal it is. Plain lines, so that a person can read them.

use std::io;

use uuid::Uuid;

use crate::{
    Draft,
    disk::{self, Access, Disk},
    format::head_file::{self, FoundHead},
    log::segment::{self, MARK_BYTES, Mark},
};

pub(crate) const FORMAT_FILE: &str = "FORMAT";
const FIRST_LINE: &str = "bailiwick-journal";
/// Format 1 was never released: its journals are refused by name.
const VERSION: u32 = 2;
const BYTES_MAX: u64 = 4096;

/// What the `FORMAT` file held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundFormat {
    Missing,
    /// It is none, or none any more; in words for a person.
    Damaged(String),
    /// It is of another version or engine; in words for a person.
    Refused(String),
    Journal(Uuid),
}

/// The content of the file.
pub(crate) fn text(journal: Uuid) -> String {
    let lines = format!(
        "{FIRST_LINE}\nformat {VERSION}\nengine log 1, sled 0.34.7\ncodec bincode 1.3.3, fixed integers, little endian, \
         {} bytes\njournal {journal}\n",
        Draft::BODY_BYTES_MAX
    );
    let sum = checksum(&lines);
    lines + &sum
}

/// The last line: of all that stands before it.
fn checksum(lines: &str) -> String {
    format!("checksum {:08x}\n", crc32c::crc32c(lines.as_bytes()))
}

pub(crate) fn write(disk: &dyn Disk, journal: Uuid) -> io::Result<()> {
    disk::write_whole(disk, FORMAT_FILE, text(journal).as_bytes())
}

pub(crate) fn read(disk: &dyn Disk) -> io::Result<FoundFormat> {
    let file = match disk.open(FORMAT_FILE, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FoundFormat::Missing),
        file => file?,
    };
    if file.size()? > BYTES_MAX {
        return Ok(FoundFormat::Damaged("its FORMAT file was not written by bailiwick".into()));
    }
    Ok(parse(&disk::read_all(&*file)?))
}

pub(crate) fn parse(bytes: &[u8]) -> FoundFormat {
    let damaged = |problem: &str| FoundFormat::Damaged(problem.to_owned());
    let Ok(found) = str::from_utf8(bytes) else { return damaged("its FORMAT file is damaged") };
    if found.lines().next() != Some(FIRST_LINE) {
        return damaged("its FORMAT file was not written by bailiwick");
    }
    let value = |key: &str| found.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    match value("format").and_then(|version| version.parse::<u32>().ok()) {
        Some(VERSION) => (),
        Some(earlier) if earlier < VERSION => {
            return FoundFormat::Refused(format!(
                "it was written by a pre-release version in format {earlier}; this version reads format {VERSION} only"
            ));
        }
        Some(newer) => {
            return FoundFormat::Refused(format!(
                "it was written by a newer version in format {newer}; this version reads format {VERSION}"
            ));
        }
        None => return damaged("its FORMAT file is damaged"),
    }
    let journal = value("journal").and_then(|id| id.parse().ok());
    match journal {
        Some(journal) if text(journal) == found => FoundFormat::Journal(journal),
        _ if is_checked(found) => FoundFormat::Refused("its FORMAT file is of another engine".into()),
        _ => damaged("its FORMAT file is damaged"),
    }
}

/// Whether the last line is the checksum of those before it.
fn is_checked(text: &str) -> bool {
    text.rfind("checksum ").is_some_and(|at| text[at..] == checksum(&text[..at]))
}

/// Whose journal this is where no `FORMAT` file says it: the head file and the first mark of the log, each with a checksum
/// of its own, have to name the same one.
pub(crate) fn recover_id(disk: &dyn Disk) -> io::Result<Option<Uuid>> {
    let FoundHead::Read { newest, .. } = head_file::read(disk)? else { return Ok(None) };
    let Some(first) = segment::numbers(disk)?.first().copied() else { return Ok(None) };
    let mut bytes = [0; MARK_BYTES];
    // A segment that cannot be read is no witness.
    let read = segment::open(disk, first).and_then(|file| file.read_at(&mut bytes, 0));
    let mark = read.ok().and_then(|_| Mark::decode(&bytes));
    Ok(mark.filter(|mark| mark.journal == newest.journal).map(|mark| mark.journal))
}
