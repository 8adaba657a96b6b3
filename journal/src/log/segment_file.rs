//! The file of a segment as it lies in the folder: plain or compressed, how long, and when it was last written.

use std::io;

use crate::{
    disk::{Disk, Stamp},
    log::segment::{self, LOG_DIR},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub number: u32,
    pub compressed: bool,
    pub stamp: Stamp,
}

impl SegmentFile {
    /// The file of a segment as it is now, in whichever form; without a time where the disk cannot tell.
    pub(crate) fn now(disk: &dyn Disk, number: u32) -> io::Result<Self> {
        let plain = disk.stamp(&segment::name_of(number))?;
        let found = match plain {
            Some(_) => plain,
            None => disk.stamp(&segment::compressed_name_of(number))?,
        };
        Ok(Self { number, compressed: plain.is_none(), stamp: found.unwrap_or_default() })
    }

    /// The log's files as they are now; none if the disk cannot tell, or if something else lies among them.
    pub(crate) fn all(disk: &dyn Disk) -> io::Result<Option<Vec<Self>>> {
        let names = disk.list(LOG_DIR)?;
        let mut segments = Vec::new();
        for name in names.iter().filter(|name| !is_unfinished(name, &names)) {
            let known = segment::numbered(name);
            let (Some((number, compressed)), Some(stamp)) = (known, disk.stamp(&format!("{LOG_DIR}/{name}"))?) else {
                return Ok(None);
            };
            segments.push(Self { number, compressed, stamp });
        }
        Ok(Some(segments))
    }
}

/// Whether a file of the log, one of these, counts for nothing: the segment that it was to become is still there.
pub(crate) fn is_unfinished(name: &str, names: &[String]) -> bool {
    let doubled = name.strip_suffix(".zst").is_some_and(|segment| names.iter().any(|other| other == segment));
    doubled || name.ends_with(".zst.tmp")
}
