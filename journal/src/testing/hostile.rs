//! Doors to every decoder, for tests that throw hostile bytes at them.

use uuid::Uuid;

use crate::{
    Body, JournalNote, Position, Version, checkpoint,
    format::{
        frame::{self, HEADER_BYTES},
        head_record::HeadRecord,
    },
    index::{Bytes, Index},
    log::{archive::Catalog, commit_log::Place, segment::Mark},
    model::codec,
    open::format_file::{self, FoundFormat},
    tools::snapshot,
};

/// What bytes are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decoder {
    /// A block: checked, hashed, its entries decoded, and taken into an index.
    Frame,
    /// The entries of a block whose checksum was right.
    Records,
    /// A slot of the head file.
    Head,
    /// The beginning or the seal of a segment.
    Mark,
    /// The `FORMAT` file.
    Format,
    /// A saved state.
    Snapshot,
    /// A body: the journal's own note, and a value with text, bytes and an option.
    Body,
    /// The index as a stop in order leaves it: decoded, and asked for streams, blocks and commands.
    Checkpoint,
    /// What says which segments have left the log.
    Catalog,
}

impl Decoder {
    pub const ALL: [Self; 9] = [
        Self::Frame,
        Self::Records,
        Self::Head,
        Self::Mark,
        Self::Format,
        Self::Snapshot,
        Self::Body,
        Self::Checkpoint,
        Self::Catalog,
    ];

    /// Decodes as far as anything in the journal would; whether the bytes were taken.
    pub fn accepts(self, bytes: &[u8]) -> bool {
        match self {
            Self::Frame => frame_is_taken(bytes),
            Self::Records => records_are_taken(bytes),
            Self::Head => HeadRecord::decode(bytes).is_some(),
            Self::Mark => Mark::decode(bytes).is_some(),
            Self::Format => matches!(format_file::parse(bytes), FoundFormat::Journal(_)),
            Self::Snapshot => snapshot::decode(bytes).is_some(),
            Self::Checkpoint => checkpoint_is_taken(bytes),
            Self::Catalog => Catalog::decode(bytes).is_some(),
            Self::Body => {
                let body = Body { schema: 1, bytes: bytes.to_vec() };
                let note = JournalNote::decode(&body).is_ok();
                let value = codec::decode::<(String, Vec<u8>, Option<u64>)>(&body).is_ok();
                note || value
            }
        }
    }
}

/// Gives a block the length, chain value and checksum that its content should have, so that what lies behind them is
/// reached. Does nothing to what is shorter than a block's header.
pub fn reseal(bytes: &mut [u8]) {
    if bytes.len() >= HEADER_BYTES {
        let records_bytes = (bytes.len() - HEADER_BYTES) as u32;
        bytes[8..12].copy_from_slice(&records_bytes.to_le_bytes());
        let (hash, _) = frame::values(bytes);
        bytes[96..128].copy_from_slice(&hash);
        let (_, sum) = frame::values(bytes);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    }
}

fn frame_is_taken(bytes: &[u8]) -> bool {
    let Ok((header, records)) = frame::check(bytes) else { return false };
    let whole = &bytes[..HEADER_BYTES + records.len()];
    let place = Place { segment: 1, offset: 128 };
    let mut index = Index::default();
    index.last_position.0 = header.first.0.saturating_sub(1);
    // Whether it follows is for the blocks before it to say.
    let _ = index.add_found(&header, records, place);
    frame::hash_fits(whole) && records_are_taken(records)
}

fn checkpoint_is_taken(bytes: &[u8]) -> bool {
    let Some(found) = checkpoint::decode(Bytes::of(bytes.to_vec())) else { return false };
    let index = Index::of(found.base, found.head.position, found.head.time_ms);
    for stream in index.streams("") {
        let items = index.items(&stream);
        let read = (0..items.len()).filter_map(|number| items.get(number)).count();
        let _ = (read, index.version(&stream), index.items_before(&stream, Version(3)));
    }
    for number in 0..index.block_count().min(1_000) + 2 {
        let place = index.block(number);
        let _ = (place, index.block_of(Position(number)), index.answered(&Uuid::from_u128(number.into())));
    }
    true
}

fn records_are_taken(bytes: &[u8]) -> bool {
    let mut taken = 0;
    for record in frame::records(bytes) {
        let Ok(record) = record else { return false };
        let read = record.stream_text().is_ok() && record.header().is_ok() && record.entry().is_ok();
        if !read {
            return false;
        }
        taken += 1;
    }
    taken > 0
}
