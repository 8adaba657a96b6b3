//! What is on a device, read from its bytes by ourselves.
//!
//! Formatting destroys, so the answer errs on the side of data: a device is blank only if none of its bytes is anything but
//! zero, see [`written`]. Names of what is found are for people.

use std::{fs::File, io, os::unix::fs::FileExt};

use uuid::Uuid;

use super::written;

/// What a device holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Only zeros; from `recognised`, as far as that looks.
    Blank,
    /// A filesystem that was completely made.
    Ext4 { uuid: Uuid },
    /// An ext filesystem that nobody finished making and nobody ever mounted.
    Unfinished,
    /// A partition table; what its partitions hold is another question.
    Table,
    /// Bytes that nothing is known of; the first one that is not zero is here.
    Unknown { at: u64 },
    /// Anything that is recognised.
    Data { what: &'static str },
}

impl Content {
    /// What it is, for people.
    pub fn what(self) -> String {
        let what = match self {
            Self::Blank => "nothing",
            Self::Ext4 { .. } => "an ext4 filesystem",
            Self::Unfinished => "an unfinished ext filesystem",
            Self::Table => "a partition table",
            Self::Unknown { at } => return format!("unknown data at byte {at}"),
            Self::Data { what } => what,
        };
        what.to_owned()
    }
}

/// A mark that says what bytes are: where it stands, and what it is.
struct Mark(u64, &'static [u8], &'static str);

const MARKS: [Mark; 24] = [
    Mark(0, b"XFSB", "an XFS filesystem"),
    Mark(0, b"LUKS\xba\xbe", "an encrypted volume"),
    Mark(0, b"hsqs", "a squashfs image"),
    Mark(0, b"-FVE-FS-", "a BitLocker volume"),
    Mark(3, b"NTFS    ", "an NTFS filesystem"),
    Mark(3, b"EXFAT   ", "an exFAT filesystem"),
    Mark(54, b"FAT1", "a FAT filesystem"),
    Mark(82, b"FAT32", "a FAT filesystem"),
    Mark(1_024, b"\x10\x20\xf5\xf2", "an F2FS filesystem"),
    Mark(1_024, b"\xe2\xe1\xf5\xe0", "an EROFS image"),
    Mark(1_024, b"H+", "an HFS+ filesystem"),
    Mark(24, b"LABELONE", "an LVM volume"),
    Mark(512, b"LABELONE", "an LVM volume"),
    Mark(1_024, b"LABELONE", "an LVM volume"),
    Mark(1_536, b"LABELONE", "an LVM volume"),
    Mark(4_086, b"SWAPSPACE2", "swap space"),
    Mark(4_086, b"SWAP-SPACE", "swap space"),
    Mark(4_096, b"\xfc\x4e\x2b\xa9", "a RAID member"),
    Mark(0, b"\xfc\x4e\x2b\xa9", "a RAID member"),
    Mark(4_120, b"\xc6\x85\x73\xf6", "a bcache device"),
    Mark(32_769, b"CD001", "an ISO 9660 image"),
    Mark(65_588, b"ReIsEr", "a ReiserFS filesystem"),
    Mark(65_600, b"_BHRfS_M", "a Btrfs filesystem"),
    Mark(131_072, b"\x0c\xb1\xba\x00\x00\x00\x00\x00", "a ZFS member"),
];

/// How much of the beginning is read to recognise what is there.
const EDGE: u64 = 1024 * 1024;

/// What the beginning of a device or file of this many bytes says it is. What follows the beginning is not read.
pub fn recognised(file: &File, bytes: u64) -> io::Result<Content> {
    let head = read(file, 0, bytes.min(EDGE))?;
    if let Some(found) = ext(&head, bytes) {
        return Ok(found);
    }
    if let Some(what) = recognise(&head) {
        return Ok(Content::Data { what });
    }
    if is_table(&head) {
        return Ok(Content::Table);
    }
    Ok(head.iter().position(|byte| *byte != 0).map_or(Content::Blank, |at| Content::Unknown { at: at as u64 }))
}

/// Reads what a device or file of this many bytes holds: all of it, but for what was never written to the file behind it.
pub fn inspect(file: &File, behind: Option<&File>, bytes: u64) -> io::Result<Content> {
    match recognised(file, bytes)? {
        Content::Blank => {
            let found = written::first_written(file, behind, bytes.min(EDGE), bytes)?;
            Ok(found.map_or(Content::Blank, |at| Content::Unknown { at }))
        }
        found => Ok(found),
    }
}

fn read(file: &File, at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut content = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
    file.read_exact_at(&mut content, at)?;
    Ok(content)
}

fn has(content: &[u8], at: u64, mark: &[u8]) -> bool {
    let at = at as usize;
    content.get(at..at + mark.len()) == Some(mark)
}

/// What the beginning of a device says it is.
fn recognise(head: &[u8]) -> Option<&'static str> {
    MARKS.iter().find(|Mark(at, mark, _)| has(head, *at, mark)).map(|Mark(.., what)| *what)
}

/// Looked for last, because FAT and others end their first sector in the same way.
fn is_table(head: &[u8]) -> bool {
    has(head, 512, b"EFI PART") || has(head, 4_096, b"EFI PART") || has(head, 510, b"\x55\xaa")
}

/// What the superblock of an ext filesystem says, if there is one.
///
/// Whoever makes one writes the main superblock last and calls it clean only then; whoever mounts it counts the mounts.
fn ext(head: &[u8], bytes: u64) -> Option<Content> {
    let block = head.get(1_024..2_048)?;
    let u16_at = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
    let u32_at = |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    if u16_at(56) != 0xef53 {
        return None;
    }
    let (is_clean, was_mounted) = (u16_at(58) & 1 == 1, 0 < u16_at(52));
    if !is_clean && !was_mounted {
        return Some(Content::Unfinished);
    }
    let (has_extents, has_64_bits) = (u32_at(96) & 0x40 != 0, u32_at(96) & 0x80 != 0);
    let block_bytes = 1_024u64.checked_shl(u32_at(24)).filter(|bytes| *bytes <= 65_536).unwrap_or(0);
    let blocks = u64::from(u32_at(4)) | if has_64_bits { u64::from(u32_at(336)) << 32 } else { 0 };
    let fits = blocks.checked_mul(block_bytes).is_some_and(|size| 0 < size && size <= bytes);
    let uuid = Uuid::from_slice(&block[104..120]).ok().filter(|uuid| !uuid.is_nil());
    match uuid {
        Some(uuid) if has_extents && fits => Some(Content::Ext4 { uuid }),
        _ => Some(Content::Data { what: "an ext filesystem of another kind, or a damaged one" }),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: u64, marks: &[(u64, &[u8])]) -> (tempfile::NamedTempFile, u64) {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(bytes).unwrap();
        for (at, mark) in marks {
            file.as_file().write_all_at(mark, *at).unwrap();
        }
        file.as_file().flush().unwrap();
        (file, bytes)
    }

    fn look(bytes: u64, marks: &[(u64, &[u8])]) -> Content {
        let (file, bytes) = file(bytes, marks);
        inspect(file.as_file(), None, bytes).unwrap()
    }

    #[test]
    fn zeros_of_any_size_are_blank() {
        for bytes in [0, 1, 512, 4_096, EDGE - 1, EDGE, EDGE + 1, 2 * EDGE, 2 * EDGE + 1, 40 * EDGE] {
            assert_eq!(look(bytes, &[]), Content::Blank, "{bytes}");
        }
    }

    #[test]
    fn every_mark_is_data() {
        for Mark(at, mark, what) in &MARKS {
            assert_eq!(look(4 * EDGE, &[(*at, *mark)]), Content::Data { what });
        }
        for (at, mark) in [(510, &b"\x55\xaa"[..]), (512, b"EFI PART"), (4_096, b"EFI PART")] {
            assert_eq!(look(4 * EDGE, &[(at, mark)]), Content::Table);
        }
        assert_eq!(look(4 * EDGE, &[(1_080, b"\x53\xef")]), Content::Unfinished);
        assert!(matches!(look(4 * EDGE, &[(1_080, b"\x53\xef\x01")]), Content::Data { .. }), "clean, and of no size");
    }

    #[test]
    fn one_byte_anywhere_is_data_and_is_named() {
        for at in [0, 700, EDGE - 1, EDGE, EDGE + 1, 2 * EDGE + 77, 3 * EDGE, 4 * EDGE - 1] {
            assert_eq!(look(4 * EDGE, &[(at, b"x")]), Content::Unknown { at });
        }
    }
}
