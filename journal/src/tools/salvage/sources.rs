//! Every sound block that is anywhere: in the log, whether the chain reaches it or not, and in a copy of the store.

use std::{collections::BTreeMap, fs, io, path::Path, sync::Arc};

use uuid::Uuid;

use crate::{
    blocks::{BlockReader, Store},
    disk::{self, Disk},
    format::frame::{self, FrameHeader, HEADER_BYTES},
    log::{
        archive::{self, ArchiveOverlay, Catalog},
        commit_log::{LogReader, Place, Tip},
        segment::{self, Mark},
    },
    open,
};

/// One sound block.
pub(crate) struct Found {
    pub header: FrameHeader,
    pub bytes: Vec<u8>,
    pub from_store: bool,
}

/// A block that was found sound, and where it is.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    hash: [u8; 32],
    previous: [u8; 32],
    /// None: in the store.
    place: Option<Place>,
}

/// Every sound block that is anywhere.
pub(super) struct Sources {
    pub journal: Option<Uuid>,
    pub store_trouble: Option<String>,
    /// By block number; those of the log before those of the store.
    candidates: BTreeMap<u64, Vec<Candidate>>,
    log: LogReader,
    store: Option<Arc<dyn BlockReader>>,
}

impl Sources {
    /// Looks at everything. Without an id, the journal is that of the first sound block.
    pub(super) fn find(from: &Arc<dyn Disk>, store: Option<&dyn Store>, id: Option<Uuid>) -> io::Result<Self> {
        let from = &with_archive(from, id);
        let log = LogReader::new(from.clone());
        let mut this = Self { journal: id, store_trouble: None, candidates: BTreeMap::new(), log, store: None };
        for number in segment::numbers(&**from)? {
            // A segment that cannot be read has nothing for us; the others may.
            match segment::open(&**from, number).and_then(|file| disk::read_all(&*file)) {
                Ok(bytes) => this.look_into(number, &bytes),
                Err(error) => tracing::warn!(%error, segment = number, "a segment cannot be read"),
            }
        }
        if let Some(store) = store.filter(|store| store.exists()) {
            this.look_into_store(store);
        }
        Ok(this)
    }

    fn look_into(&mut self, segment: u32, bytes: &[u8]) {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= HEADER_BYTES) {
            match frame::check(rest) {
                Ok((header, records)) => {
                    let length = HEADER_BYTES + records.len();
                    let place = Some(Place { segment, offset: at as u32 });
                    self.add(&header, &rest[..length], place);
                    at += length;
                }
                Err(_) => {
                    let next = rest[1..].windows(4).position(|four| four == frame::MAGIC);
                    let Some(next) = next else { break };
                    at += 1 + next;
                }
            }
        }
        // The id of a journal without FORMAT and without blocks.
        if let Some(mark) = Mark::decode(bytes) {
            self.journal.get_or_insert(mark.journal);
        }
    }

    fn look_into_store(&mut self, store: &dyn Store) {
        let opened = open::open_copy(store);
        let surveyed = open::on_its_own_thread(store, || -> Result<_, String> {
            let blocks = opened?;
            let mut found = Vec::new();
            let mut visit = |number: u64, bytes: &[u8]| {
                if let Ok((header, records)) = frame::check(bytes)
                    && header.block == number
                    && bytes.len() == HEADER_BYTES + records.len()
                    && frame::hash_fits(bytes)
                {
                    found.push(header);
                }
            };
            let surveyed = blocks.survey(&mut visit).map_err(|error| error.problem);
            let reader = blocks.reader();
            Ok((found, reader, surveyed.err()))
        });
        match surveyed {
            Ok((found, reader, trouble)) => {
                for header in found {
                    self.add_checked(&header, None);
                }
                self.store = Some(reader);
                self.store_trouble = trouble;
            }
            Err(problem) => self.store_trouble = Some(problem),
        }
    }

    fn add(&mut self, header: &FrameHeader, bytes: &[u8], place: Option<Place>) {
        if frame::hash_fits(bytes) {
            self.add_checked(header, place);
        }
    }

    fn add_checked(&mut self, header: &FrameHeader, place: Option<Place>) {
        if *self.journal.get_or_insert(header.journal) != header.journal {
            return;
        }
        let same = self.candidates.entry(header.block).or_default();
        if same.iter().all(|other| other.hash != header.hash) {
            same.push(Candidate { hash: header.hash, previous: header.previous, place });
        }
    }

    /// The next block behind number `after`: one that goes on from `tip` if there is any; of several, one that the next
    /// block goes on from; else the log's.
    pub(super) fn next(&self, after: u64, tip: &Tip) -> io::Result<Option<Found>> {
        for (number, candidates) in self.candidates.range(after + 1..) {
            let followers = self.candidates.get(&(number + 1)).map_or(&[][..], Vec::as_slice);
            let rank = |candidate: &&Candidate| {
                let linked = *number == tip.block + 1 && candidate.previous == tip.hash;
                let followed = followers.iter().any(|follower| follower.previous == candidate.hash);
                (linked, followed, candidate.place.is_some())
            };
            let mut ranked: Vec<&Candidate> = candidates.iter().collect();
            ranked.sort_by_key(|candidate| std::cmp::Reverse(rank(candidate)));
            for candidate in ranked {
                if let Some(found) = self.load(*number, candidate)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    fn load(&self, number: u64, candidate: &Candidate) -> io::Result<Option<Found>> {
        let bytes = match (candidate.place, &self.store) {
            (Some(place), _) => Some(self.log.read(place)?),
            (None, Some(store)) => store.read(&[number]).pop().flatten(),
            (None, None) => None,
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let sound = frame::check(&bytes).ok().filter(|(header, _)| header.hash == candidate.hash);
        let Some((header, _)) = sound else { return Ok(None) };
        Ok(Some(Found { header, bytes, from_store: candidate.place.is_none() }))
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        if let Some(store) = &self.store {
            store.stop();
        }
    }
}

/// The log with what of it is in an archive; what is there no more has nothing for us.
fn with_archive(from: &Arc<dyn Disk>, id: Option<Uuid>) -> Arc<dyn Disk> {
    let catalog = id.and_then(|id| Some((id, archive::read(&**from, id).ok()??)));
    match catalog {
        // What was removed is in the store, which is looked into anyway.
        Some((id, catalog)) if catalog.archive.is_some() => {
            Arc::new(ArchiveOverlay::new(from.clone(), id, Catalog { removed: Vec::new(), ..catalog }))
        }
        _ => from.clone(),
    }
}

/// Copies a folder with all that is in it.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy_folder(&entry.path(), &path)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), path)?;
        }
    }
    Ok(())
}
