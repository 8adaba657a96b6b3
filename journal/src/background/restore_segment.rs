//! Makes one full segment of a running journal's log anew: every block from where it is sound, each at its place.

use std::{io, sync::Arc};

use crate::{
    Position,
    core::Core,
    disk::{self, Access, Disk, crash},
    format::frame,
    log::{
        commit_log::Tip,
        segment::{self, ASIDE, End, LOG_DIR, MARK_BYTES, Mark},
    },
};

/// What became of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Restored {
    Whole {
        /// Blocks that came from the store.
        filled: u64,
        /// Where the damaged one is, relative to the journal's folder.
        aside: String,
    },
    /// A block is whole nowhere; nothing was changed.
    Lost,
}

/// Makes segment `number`, which goes on from `tip`, anew. The damaged one is put aside under another name.
pub(crate) fn segment(disk: &Arc<dyn Disk>, core: &Core, number: u32, mut tip: Tip) -> io::Result<Restored> {
    let journal = core.journal;
    let (first, next) = core.state().index.segment(number);
    let mark = |end, tip: Tip, offset| {
        let (block, position) = match end {
            End::Begin => (tip.block + 1, tip.position.next()),
            End::Seal => (tip.block, tip.position),
        };
        Mark { end, journal, segment: number, block, position, offset, hash: tip.hash }.encode()
    };
    let mut bytes = mark(End::Begin, tip, 0).to_vec();
    let mut filled = 0;
    for block in first..next {
        let follows = |bytes: &Vec<u8>| {
            core.is_block(bytes, block)
                && frame::hash_fits(bytes)
                && frame::peek(bytes)
                    .is_ok_and(|header| header.previous == tip.hash && header.first == tip.position.next())
        };
        let logged = core.read_logged(block).ok().filter(follows);
        filled += u64::from(logged.is_none());
        let stored = || core.read_store(&[block])?.pop().flatten().filter(follows);
        let Some(found) = logged.or_else(stored) else { return Ok(Restored::Lost) };
        let known = core.state().index.block(block).map(|block| block.place.offset as usize);
        let Ok(header) = frame::peek(&found) else { return Ok(Restored::Lost) };
        if known != Some(bytes.len()) {
            return Err(io::Error::other(format!("block {block} has another place in the index")));
        }
        let position = Position(tip.position.0 + u64::from(header.count));
        tip = Tip { block, position, hash: header.hash };
        bytes.extend_from_slice(&found);
    }
    let offset = bytes.len() as u64;
    bytes.extend_from_slice(&mark(End::Seal, tip, offset));
    debug_assert_eq!(bytes.len(), offset as usize + MARK_BYTES, "a seal is a mark");
    let aside = put_aside(&**disk, number)?;
    crash::point("before-segment-restored");
    disk::write_whole(&**disk, &segment::name_of(number), &bytes)?;
    crash::point("after-segment-restored");
    // Where both forms are there, the plain one counts.
    disk.remove(&segment::compressed_name_of(number))?;
    disk.sync_dir(LOG_DIR)?;
    core.forget_segment(number);
    Ok(Restored::Whole { filled, aside })
}

/// Copies the damaged segment, in the form it is stored in.
fn put_aside(disk: &dyn Disk, number: u32) -> io::Result<String> {
    let names = disk.list("")?;
    let aside = (1..).map(|number| format!("{ASIDE}{number}")).find(|name| !names.contains(name));
    let aside = aside.unwrap_or_else(|| format!("{ASIDE}0"));
    for name in [segment::name_of(number), segment::compressed_name_of(number)] {
        let Ok(file) = disk.open(&name, Access::Read) else { continue };
        let bytes = disk::read_all(&*file)?;
        let copy = disk.create(&name.replacen(LOG_DIR, &aside, 1))?;
        copy.write_at(&bytes, 0)?;
        copy.sync()?;
    }
    disk.sync_dir(&aside)?;
    disk.sync_dir("")?;
    Ok(aside)
}
