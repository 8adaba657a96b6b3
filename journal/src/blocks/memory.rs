//! Blocks in memory, for the simulator and for tests.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{BlockReader, Blocks, Store, StoreError};
use crate::disk::Stamp;

/// A block store in memory. Clones are the same store, so that a test can keep it, look at it and damage it.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    blocks: BTreeMap<u64, Vec<u8>>,
    durable: bool,
    fail_next: Option<&'static str>,
    panic_on_open: bool,
    /// How often it was written into, by whatever would also be seen in a file's time.
    written: u64,
}

/// What a test does to a store that no process would.
#[cfg(feature = "testing")]
impl MemoryStore {
    /// Changes the stored blocks, as damage or a foreign hand would.
    pub fn damage(&self, change: impl FnOnce(&mut BTreeMap<u64, Vec<u8>>)) {
        let mut state = self.state();
        state.written += 1;
        change(&mut state.blocks);
    }

    /// As [`MemoryStore::damage`], by the medium itself: nothing but the content tells.
    pub fn rot(&self, change: impl FnOnce(&mut BTreeMap<u64, Vec<u8>>)) {
        change(&mut self.state().blocks);
    }

    /// Lets the next call of this name (`open`, `put`, `checkpoint`, `survey`) fail.
    pub fn fail_next(&self, action: &'static str) {
        self.state().fail_next = Some(action);
    }

    /// Lets the next opening panic, as sled does on some damage.
    pub fn panic_on_open(&self) {
        self.state().panic_on_open = true;
    }

    /// The same blocks in a store of its own.
    pub fn copy(&self) -> Self {
        let state = self.state();
        let copy =
            State { blocks: state.blocks.clone(), durable: state.durable, written: state.written, ..State::default() };
        Self(Arc::new(Mutex::new(copy)))
    }
}

impl MemoryStore {
    /// A store that is empty after a restart, which is then no damage.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store that stands for a durable one: what is missing after a checkpoint counts as damage.
    pub fn durable() -> Self {
        let this = Self::default();
        this.state().durable = true;
        this
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, action: &'static str) -> Result<(), StoreError> {
        let mut state = self.state();
        match state.fail_next {
            Some(planned) if planned == action => {
                state.fail_next = None;
                Err(StoreError { action, problem: "planned fault".into() })
            }
            _ => Ok(()),
        }
    }
}

impl Store for MemoryStore {
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError> {
        let panics = std::mem::take(&mut self.state().panic_on_open);
        assert!(!panics, "planned panic of a damaged store");
        self.pass("open")?;
        Ok(Box::new(self.clone()))
    }

    fn wipe(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        state.written += 1;
        state.blocks.clear();
        Ok(())
    }

    fn exists(&self) -> bool {
        !self.state().blocks.is_empty()
    }

    fn for_later(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(self.clone()))
    }

    fn stamps(&self) -> Option<Vec<(String, Stamp)>> {
        let state = self.state();
        let stamp = Stamp { size: state.blocks.len() as u64, written: state.written };
        state.durable.then(|| vec![("blocks".into(), stamp)])
    }
}

impl Blocks for MemoryStore {
    fn put(&mut self, blocks: &[(u64, &[u8])]) -> Result<(), StoreError> {
        self.pass("put")?;
        self.state().written += 1;
        self.state().blocks.extend(blocks.iter().map(|(number, frame)| (*number, frame.to_vec())));
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.pass("checkpoint")
    }

    fn survey(&self, visit: &mut dyn FnMut(u64, &[u8])) -> Result<(), StoreError> {
        self.pass("survey")?;
        for (number, frame) in &self.state().blocks {
            visit(*number, frame);
        }
        Ok(())
    }

    fn reader(&self) -> Arc<dyn BlockReader> {
        Arc::new(self.clone())
    }

    fn reopened(self: Box<Self>) -> Result<Box<dyn Blocks>, StoreError> {
        self.pass("reopen")?;
        Ok(self)
    }

    fn is_durable(&self) -> bool {
        self.state().durable
    }
}

impl BlockReader for MemoryStore {
    fn read(&self, numbers: &[u64]) -> Vec<Option<Vec<u8>>> {
        let state = self.state();
        numbers.iter().map(|number| state.blocks.get(number).cloned()).collect()
    }

    fn stop(&self) {}
}
