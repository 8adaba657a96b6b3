//! The real sled below: rebuilt, copied when in doubt, and left alone by a refusal.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bailiwick_journal::{
    LocalJournal, OpenError, append_blocking,
    blocks::{Blocks, MemoryStore, Store, StoreError},
    disk::{Disk, SimulatedDisk},
    testing::{all, draft},
};
use uuid::Uuid;

use crate::tools::{Stopped, assert_holds, config, frames, inline, reopened, segment, segments, stopped, write};

use super::{folders::listing, refused};

#[test]
fn sled_is_rebuilt_when_its_folder_is_gone_or_nonsense() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    write(&journal, 100);
    journal.close().unwrap();
    let mut entries = all(&journal);
    for nonsense in [false, true] {
        let sled = dir.path().join("sled");
        std::fs::remove_dir_all(&sled).unwrap();
        if nonsense {
            std::fs::create_dir(&sled).unwrap();
            std::fs::write(sled.join("db"), [0x5A; 70_000]).unwrap();
        }
        let (journal, report) = LocalJournal::open(config(dir.path())).unwrap();
        assert!(report.store_rebuilt.is_some(), "{report}");
        assert_holds(&journal, &entries);
        journal.close().unwrap();
        entries = all(&journal);
    }
    let (_, report) = LocalJournal::open(config(dir.path())).unwrap();
    assert!(report.clean, "{report}");
}

/// A store that changes when it is opened, as sled does: it counts, and can be copied.
#[derive(Clone, Debug, Default)]
struct Changing {
    blocks: MemoryStore,
    opened: Arc<AtomicU64>,
    copied: Arc<AtomicU64>,
}

impl Changing {
    fn holding(blocks: &MemoryStore) -> Self {
        Self { blocks: blocks.copy(), ..Self::default() }
    }

    fn counts(&self) -> (u64, u64) {
        (self.opened.load(Ordering::Relaxed), self.copied.load(Ordering::Relaxed))
    }
}

impl Store for Changing {
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.blocks.open()
    }
    fn wipe(&self) -> Result<(), StoreError> {
        self.blocks.wipe()
    }
    fn exists(&self) -> bool {
        self.blocks.exists()
    }
    fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        self.copied.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Box::new(self.blocks.copy())))
    }
}

#[test]
fn a_copy_of_the_store_is_looked_into_where_log_or_head_file_are_in_doubt() {
    let foreign = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(foreign.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    write(&made.unwrap().0, 60);
    let behind_the_end = |disk: &SimulatedDisk| {
        let name = segment(segments(disk).len() as u32 + 1);
        disk.create(&name).unwrap();
        disk.damage(&name, |bytes| *bytes = foreign.contents()[&segment(2)].clone());
    };
    let torn = |disk: &SimulatedDisk| {
        let last = segments(disk).pop().unwrap();
        disk.damage(&last, |bytes| {
            let last = *frames(bytes).last().unwrap();
            let end = last + 128 + u32::from_le_bytes(bytes[last + 8..last + 12].try_into().unwrap()) as usize;
            bytes[end..end + 9].fill(0xAB);
        });
    };
    type Damage<'a> = &'a dyn Fn(&SimulatedDisk);
    let cases: [(&str, Damage<'_>, u64); 7] = [
        ("nothing", &|_| (), 0),
        ("a torn write", &torn, 0),
        ("damage inside", &|disk| disk.damage(&segment(1), |bytes| bytes[400] ^= 4), 1),
        ("the last segment missing", &|disk| disk.remove(segments(disk).last().unwrap()).unwrap(), 1),
        ("no head file", &|disk| disk.remove("head").unwrap(), 1),
        ("a damaged head file", &|disk| disk.damage("head", |bytes| bytes.fill(7)), 1),
        ("a foreign segment", &behind_the_end, 1),
    ];
    for (what, damage, copies) in cases {
        let Stopped { disk, store, entries, .. } = stopped(60);
        damage(&disk);
        let store = Changing::holding(&store);
        reopened(&disk, &store, &entries);
        assert_eq!(store.counts(), (1, copies), "{what}");
    }
}

#[test]
fn a_refusal_does_not_open_the_store() {
    let Stopped { disk, store, .. } = stopped(60);
    disk.damage(&segment(1), |bytes| bytes[400] ^= 4);
    store.damage(|blocks| blocks.clear());
    store.damage(|blocks| drop(blocks.insert(1, vec![1])));
    let store = Changing::holding(&store);
    refused(&disk, &store);
    assert_eq!(store.counts(), (0, 1));
}

#[test]
fn a_refusal_leaves_sled_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    write(&journal, 200);
    drop(journal);
    // sled is behind after such an end, and what it does not have is cut from the log.
    std::fs::write(dir.path().join(segment(1)), b"").unwrap();
    std::fs::remove_dir_all(dir.path().join("sled")).unwrap();
    std::fs::create_dir(dir.path().join("sled")).unwrap();
    std::fs::write(dir.path().join("sled/db"), [0x5A; 70_000]).unwrap();
    let content = || -> Vec<_> {
        let files = listing(dir.path()).into_iter().filter(|file| !file.0.ends_with("lock"));
        files.map(|(path, bytes, _)| (path, bytes)).collect()
    };
    let before = content();
    let refused = LocalJournal::open(config(dir.path())).err().unwrap();
    assert!(matches!(refused, OpenError::Integrity { .. }), "{refused}");
    assert_eq!(content(), before);
}

#[test]
fn sled_makes_no_blob_files() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    let mut version = 0;
    for round in 0..40 {
        let mut large = draft("machine/0", version, 10 + round, &[1; 200]);
        large.facts.bytes = vec![round as u8; 60_000];
        let more = draft("machine/1", round, 10 + round, &[round]);
        append_blocking(&journal, vec![large, more]).unwrap();
        version += 200;
    }
    journal.close().unwrap();
    let blobs = dir.path().join("sled/blobs");
    let count = std::fs::read_dir(&blobs).map_or(0, Iterator::count);
    assert_eq!(count, 0, "sled does not sync blob files");
    let (_, report) = LocalJournal::open(config(dir.path())).unwrap();
    assert!(report.clean, "{report}");
}
