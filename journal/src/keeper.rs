//! Brings durable blocks into the block store, behind the commits: on a thread of its own, or inline.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::{blocks::Blocks, core::Core, crash, disk::Disk, head::HeadFile, space::SpaceWatch};

/// How many blocks are handed to the store at once.
const BLOCKS_AT_ONCE: u64 = 64;

/// The store's writing end.
pub(crate) struct Keeper {
    core: Arc<Core>,
    head_file: Arc<HeadFile>,
    disk: Arc<dyn Disk>,
    space: SpaceWatch,
    blocks: Option<Box<dyn Blocks>>,
    checkpoint_bytes: u64,
    bytes_since: u64,
    synced: u64,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Keeper {
    pub(crate) fn new(
        core: Arc<Core>,
        head_file: Arc<HeadFile>,
        (disk, space): (Arc<dyn Disk>, SpaceWatch),
        blocks: Option<Box<dyn Blocks>>,
        checkpoint_bytes: u64,
        trouble: Arc<Mutex<Option<String>>>,
    ) -> Self {
        Self { core, head_file, disk, space, blocks, checkpoint_bytes, bytes_since: 0, synced: 0, trouble }
    }

    /// Stores all that is durable by now. On a nearly full disk it waits: the room that is left is for reports, which the
    /// log has to take, and what the store does not have is read from the log.
    pub(crate) fn catch_up(&mut self) {
        loop {
            let (stored, last) = (self.core.stored(), self.core.state().head.block);
            if stored >= last || self.blocks.is_none() || self.space.low(&*self.disk).is_some() {
                return;
            }
            let numbers: Vec<u64> = (stored + 1..=last.min(stored + BLOCKS_AT_ONCE)).collect();
            self.guarded("put", |this| this.store(&numbers));
            if self.blocks.is_some() && self.bytes_since >= self.checkpoint_bytes {
                self.checkpoint();
            }
        }
    }

    /// Makes all that is stored durable in the store, and writes down how far that is.
    pub(crate) fn checkpoint(&mut self) {
        let stored = self.core.stored();
        if self.blocks.as_ref().is_none_or(|blocks| !blocks.is_durable()) || stored == self.synced {
            self.bytes_since = 0;
            return;
        }
        self.guarded("checkpoint", |this| {
            crash::point("before-checkpoint");
            let Some(blocks) = this.blocks.as_mut() else { return Ok(()) };
            blocks.checkpoint().map_err(|error| error.problem)?;
            crash::point("after-checkpoint");
            this.bytes_since = 0;
            this.synced = stored;
            let noted = this.head_file.write_store_synced(stored).and_then(|()| this.head_file.sync());
            noted.map_err(|error| format!("head file: {error}"))
        });
    }

    /// Closes the store and opens it again, once everything is in it: what it had read into memory, most of it while the
    /// node was rebuilt, is given back. Meanwhile reads are answered from the log.
    pub(crate) fn give_memory_back(&mut self) {
        self.catch_up();
        let Some(blocks) = self.blocks.take() else { return };
        if let Some(reader) = self.core.set_store(None) {
            reader.stop();
        }
        self.guarded("reopen", |this| {
            let blocks = blocks.reopened().map_err(|error| error.problem)?;
            this.core.set_store(Some(blocks.reader()));
            this.blocks = Some(blocks);
            Ok(())
        });
    }

    fn store(&mut self, numbers: &[u64]) -> Result<(), String> {
        let Some(blocks) = self.blocks.as_mut() else { return Ok(()) };
        crash::point("before-store");
        let loaded = self.core.load(numbers).map_err(|error| error.to_string())?;
        let pairs: Vec<(u64, &[u8])> = numbers.iter().copied().zip(loaded.iter().map(|one| one.bytes())).collect();
        blocks.put(&pairs).map_err(|error| error.problem)?;
        self.bytes_since += pairs.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        if let Some(last) = numbers.last() {
            self.core.set_stored(*last);
        }
        Ok(())
    }

    /// An error or a panic of the store ends its use; the log goes on alone.
    fn guarded(&mut self, action: &str, act: impl FnOnce(&mut Self) -> Result<(), String>) {
        let result = catch_unwind(AssertUnwindSafe(|| act(self))).unwrap_or_else(|_| Err("it panicked".into()));
        if let Err(problem) = result {
            tracing::error!(action, %problem, "the block store failed; reading from the log from now on");
            *lock(&self.trouble) = Some(format!("{action}: {problem}"));
            self.let_go();
        }
    }

    fn let_go(&mut self) {
        self.core.set_stored(0);
        if let Some(reader) = self.core.set_store(None) {
            reader.stop();
        }
        let blocks = self.blocks.take();
        // Dropping a damaged store may panic as well.
        if catch_unwind(AssertUnwindSafe(|| drop(blocks))).is_err() {
            tracing::error!("the block store panicked while it was closed");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// What the keeper's thread is told.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<BellState>,
    rung: Condvar,
}

#[derive(Default)]
struct BellState {
    rung: bool,
    /// Whether memory is to be given back.
    freshen: bool,
    end: Option<Ending>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Store everything, make it durable.
    InOrder,
    /// Stop where you are.
    AtOnce,
}

impl Bell {
    /// Says that there are new blocks.
    pub(crate) fn ring(&self) {
        let mut state = lock(&self.state);
        if !state.rung {
            state.rung = true;
            drop(state);
            self.rung.notify_one();
        }
    }

    /// Asks for memory to be given back.
    pub(crate) fn freshen(&self) {
        lock(&self.state).freshen = true;
        self.ring();
    }

    fn take_freshen(&self) -> bool {
        std::mem::take(&mut lock(&self.state).freshen)
    }

    pub(crate) fn end(&self, how: Ending) {
        lock(&self.state).end = Some(how);
        self.rung.notify_one();
    }

    fn wait(&self) -> Option<Ending> {
        let mut state = lock(&self.state);
        while !state.rung && state.end.is_none() {
            state = self.rung.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.rung = false;
        state.end
    }
}

/// The keeper's thread.
pub(crate) fn run(mut keeper: Keeper, bell: &Bell) {
    loop {
        match bell.wait() {
            None if bell.take_freshen() => keeper.give_memory_back(),
            None => keeper.catch_up(),
            Some(Ending::AtOnce) => return,
            Some(Ending::InOrder) => {
                keeper.catch_up();
                keeper.checkpoint();
                return;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
