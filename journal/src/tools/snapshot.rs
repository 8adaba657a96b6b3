//! Saved states: a cache keyed by stream and version, safe to delete at any time.
//!
//! One file per stream, `snapshots/<hash of the stream>.snap`, replaced as a whole:
//!
//! ```text
//!  0 [4]  "bwsn"                8 u32  length of the state    24 u64  version       44 u8 + text  stream
//!  4 u8   format version, 1    12 u32  CRC32C over all but    32 u64  position      then the state
//!  5 u8   zero                         these four bytes       40 u32  fingerprint
//!  6 u16  schema               16 [8]  zero
//! ```

use std::{io, path::Path, sync::Arc};

use crate::{
    Position, StreamId, Version,
    disk::{self, Access, Disk, OsDisk, crash},
    model::codec,
    tools::hex,
};

const DIR: &str = "snapshots";
const FORMAT: u8 = 1;
const FIXED: usize = 44;
/// The largest state that is saved, in bytes.
const STATE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A state as it was after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub stream: StreamId,
    /// The version of the last event in it.
    pub version: Version,
    /// The position of the last entry in it.
    pub position: Position,
    /// Counts the frozen forms of the state, from 1; a reader that wants another one takes it as missing.
    pub schema: u16,
    /// Whatever else must be equal for the state to be of use, such as a hash of the code's evolving rules.
    pub fingerprint: u32,
    pub state: Vec<u8>,
}

/// The saved states of one journal.
#[derive(Clone, Debug)]
pub struct Snapshots {
    disk: Arc<dyn Disk>,
}

impl Snapshots {
    /// Those beside the journal in a folder.
    pub fn in_dir(dir: &Path) -> Self {
        Self::on(Arc::new(OsDisk::new(dir)))
    }

    /// Those on any disk.
    pub fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }

    /// Saves a state in place of the stream's earlier one.
    ///
    /// # Errors
    /// As the disk's; the earlier state is then still there. Losing either is harmless.
    pub fn save(&self, snapshot: &Snapshot) -> io::Result<()> {
        if snapshot.state.len() > STATE_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the state is too large to be saved"));
        }
        crash::point("before-snapshot");
        let saved = disk::write_whole(&*self.disk, &name_of(&snapshot.stream), &encode(snapshot));
        crash::point("after-snapshot");
        saved
    }

    /// The stream's saved state, if there is one at or before `at_most` that can be read.
    ///
    /// `at_most` is the journal's version of the stream: a state ahead of the journal is not one of its.
    pub fn load(&self, stream: &StreamId, at_most: Version) -> Option<Snapshot> {
        let file = self.disk.open(&name_of(stream), Access::Read).ok()?;
        if file.size().ok()? > (STATE_BYTES_MAX + FIXED + 256) as u64 {
            return None;
        }
        let snapshot = decode(&disk::read_all(&*file).ok()?)?;
        (snapshot.stream == *stream && snapshot.version <= at_most).then_some(snapshot)
    }

    /// Forgets a stream's saved state.
    ///
    /// # Errors
    /// As the disk's.
    pub fn remove(&self, stream: &StreamId) -> io::Result<()> {
        self.disk.remove(&name_of(stream))
    }
}

fn name_of(stream: &StreamId) -> String {
    format!("{DIR}/{}.snap", hex::encode(&codec::digest(stream.as_str().as_bytes())))
}

fn encode(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = vec![0; FIXED];
    bytes[..4].copy_from_slice(b"bwsn");
    bytes[4] = FORMAT;
    bytes[6..8].copy_from_slice(&snapshot.schema.to_le_bytes());
    bytes[8..12].copy_from_slice(&(snapshot.state.len() as u32).to_le_bytes());
    bytes[24..32].copy_from_slice(&snapshot.version.0.to_le_bytes());
    bytes[32..40].copy_from_slice(&snapshot.position.0.to_le_bytes());
    bytes[40..44].copy_from_slice(&snapshot.fingerprint.to_le_bytes());
    bytes.push(snapshot.stream.as_str().len() as u8);
    bytes.extend_from_slice(snapshot.stream.as_str().as_bytes());
    bytes.extend_from_slice(&snapshot.state);
    let sum = crc(&bytes);
    bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    bytes
}

pub(crate) fn decode(bytes: &[u8]) -> Option<Snapshot> {
    let fixed = bytes.first_chunk::<FIXED>()?;
    let known = fixed[..4] == *b"bwsn" && fixed[4] == FORMAT;
    if !known || crc(bytes).to_le_bytes() != fixed[12..16] {
        return None;
    }
    let number = |at: usize| u64::from_le_bytes(fixed[at..at + 8].try_into().expect("eight bytes"));
    let (length, rest) = bytes[FIXED..].split_first()?;
    let (stream, state) = rest.split_at_checked(usize::from(*length))?;
    if state.len() != u32::from_le_bytes(fixed[8..12].try_into().ok()?) as usize {
        return None;
    }
    Some(Snapshot {
        stream: str::from_utf8(stream).ok()?.parse().ok()?,
        version: Version(number(24)),
        position: Position(number(32)),
        schema: u16::from_le_bytes(fixed[6..8].try_into().ok()?),
        fingerprint: u32::from_le_bytes(fixed[40..44].try_into().ok()?),
        state: state.to_vec(),
    })
}

fn crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}
