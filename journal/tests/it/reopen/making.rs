//! A journal that was just being made when the power went: it is made, however often that happens.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bailiwick_journal::{
    LocalJournal,
    blocks::{Blocks, MemoryStore, Store, StoreError},
    disk::{Fault, FaultyDisk, SimulatedDisk},
    testing::all,
};

use crate::tools::{ID, inline, open, write};

/// A store that is there once it was opened, as sled's folder is, and which a power cut tears: it opens no more until it
/// is wiped.
#[derive(Debug, Default)]
struct Tearable {
    blocks: MemoryStore,
    exists: AtomicBool,
    torn: bool,
}

impl Tearable {
    fn after_power_cut(&self) -> Self {
        let exists = self.exists.load(Ordering::Relaxed);
        Self { blocks: self.blocks.copy(), exists: exists.into(), torn: exists }
    }
}

impl Store for Tearable {
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError> {
        if self.torn && self.exists() {
            return Err(StoreError { action: "open", problem: "it is torn".into() });
        }
        self.exists.store(true, Ordering::Relaxed);
        self.blocks.open()
    }
    fn wipe(&self) -> Result<(), StoreError> {
        self.exists.store(false, Ordering::Relaxed);
        self.blocks.wipe()
    }
    fn exists(&self) -> bool {
        self.exists.load(Ordering::Relaxed)
    }
    fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let exists = self.exists().into();
        Ok(Some(Box::new(Self { blocks: self.blocks.copy(), exists, torn: self.torn })))
    }
}

/// Opens, on a disk that fails at one operation; what a power cut then leaves, or nothing if there were fewer operations.
fn cut_short(disk: &SimulatedDisk, store: &Tearable, fail_at: u64, seed: u64) -> Option<(SimulatedDisk, Tearable)> {
    let faulty = FaultyDisk::new(Arc::new(disk.clone()), fail_at, Fault::ShortWrite);
    drop(LocalJournal::open_with(Arc::new(faulty.clone()), store, ID, 0, inline()));
    (faulty.operations() >= fail_at).then(|| (disk.after_power_cut(seed), store.after_power_cut()))
}

#[test]
fn a_journal_whose_making_is_cut_short_again_and_again_is_made() {
    let mut tried = 0;
    for first in 1.. {
        let new = (SimulatedDisk::new(), Tearable::default());
        let Some((disk, store)) = cut_short(&new.0, &new.1, first, first) else { break };
        for second in 1.. {
            let (disk, store) = (disk.after_kill(), store.after_power_cut());
            let Some((disk, store)) = cut_short(&disk, &store, second, first * 31 + second) else { break };
            let context = format!("cut at operations {first} and {second}");
            let (journal, _) = open(&disk, &store).unwrap_or_else(|error| panic!("{context}: {error}"));
            write(&journal, 2);
            assert!(all(&journal).len() >= 3, "{context}");
            tried += 1;
        }
    }
    assert!(tried > 300, "{tried}");
}
