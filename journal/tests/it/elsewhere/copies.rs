//! When a store that has the only copy of history is opened itself, and when a copy of it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bailiwick_journal::{
    blocks::{Blocks, MemoryStore, Store, StoreError},
    disk::{Disk, SimulatedDisk, Stamp},
    testing::all,
};

use crate::tools::{assert_holds, write};

use super::{keeping, open};

const CHECKPOINT: &str = "index.checkpoint";

/// A store of which copies are made, as of sled, because opening changes it; it counts them, and those that take its place.
#[derive(Clone, Debug)]
struct Copied {
    blocks: MemoryStore,
    copies: Arc<AtomicU64>,
    adopted: Arc<AtomicU64>,
}

impl Store for Copied {
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError> {
        self.blocks.open()
    }
    fn wipe(&self) -> Result<(), StoreError> {
        self.blocks.wipe()
    }
    fn exists(&self) -> bool {
        self.blocks.exists()
    }
    fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        self.copies.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Box::new(self.blocks.copy())))
    }
    fn adopt_copy(&self) -> Result<(), StoreError> {
        self.adopted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn for_later(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(self.clone()))
    }
    fn stamps(&self) -> Option<Vec<(String, Stamp)>> {
        self.blocks.stamps()
    }
}

#[test]
fn the_store_is_opened_itself_only_as_a_stop_in_order_left_it() {
    type Change<'c> = &'c dyn Fn(&SimulatedDisk, &Copied, &[u8]);
    let cases: [(&str, bool, Change<'_>, u64); 5] = [
        ("a stop in order", true, &|_, _, _| (), 0),
        ("no stop in order", false, &|_, _, _| (), 1),
        ("the store was written into since", true, &|_, store, _| store.blocks.damage(|_| ()), 1),
        ("no checkpoint", true, &|disk, _, _| disk.remove(CHECKPOINT).unwrap(), 1),
        (
            "a checkpoint of another stop",
            true,
            &|disk, _, other| disk.damage(CHECKPOINT, |bytes| *bytes = other.into()),
            1,
        ),
    ];
    for (what, in_order, change, copies) in cases {
        let disk = SimulatedDisk::new();
        let store = Copied { blocks: MemoryStore::durable(), copies: Arc::default(), adopted: Arc::default() };
        let (journal, _) = open(&disk, &store, keeping()).unwrap();
        write(&journal, 200);
        journal.close().unwrap();
        drop(journal);
        let other = disk.contents()[CHECKPOINT].clone();
        let (journal, _) = open(&disk, &store, keeping()).unwrap();
        write(&journal, 5);
        let entries = all(&journal);
        if in_order {
            journal.close().unwrap();
        }
        drop(journal);
        change(&disk, &store, &other);
        let count = || [&store.copies, &store.adopted].map(|count| count.load(Ordering::Relaxed));
        let before = count();
        let (journal, _) = open(&disk, &store, keeping()).unwrap_or_else(|error| panic!("{what}: {error}"));
        // What only a copy was seen to hold is not opened in its old place.
        assert_eq!(count(), before.map(|count| count + copies), "{what}");
        assert_holds(&journal, &entries);
    }
}
