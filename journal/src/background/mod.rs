//! Brings durable blocks into the block store, behind the commits: on a thread of its own, or inline.

pub(crate) mod archiver;
mod checkpoints;
mod deferred_open;
pub(crate) mod restore_segment;
mod signal;
pub(crate) mod verify;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    Settings,
    background::archiver::Archiver,
    blocks::{BlockReader, Blocks, Store},
    core::{Core, Loaded},
    disk::{Disk, crash, free_space::SpaceWatch},
    format::head_file::HeadFile,
    log::compress::Compressor,
};
pub(crate) use checkpoints::CheckpointSchedule;
pub(crate) use deferred_open::DeferredOpen;
pub(crate) use signal::{Ending, Signal};

/// How long new blocks are gathered before they are stored.
const GATHER: Duration = Duration::from_millis(50);
/// More than this written while gathering: commits follow one another, and each would wait for what the store writes and
/// syncs on the same disk.
const BRISK_BYTES: u64 = 16 * 1024;
/// How far the store may fall behind then. A stop in order, which stores the rest, takes a quarter of a second longer: 0.31 s
/// right after 14,000 commands, 0.06 s after twelve.
const BRISK_LAG_BYTES: u64 = 8 * 1024 * 1024;
/// More than this written while gathering: much is being committed, and the processor is left to the commits.
const BUSY_BYTES: u64 = 256 * 1024;
/// How much is stored before it is asked again whether much is being committed: sled holds up to three times as much in
/// memory meanwhile, so it is little, unless commits come so fast that the store would fall behind for good.
const TURN_BYTES: u64 = 1024 * 1024;
const BUSY_TURN_BYTES: u64 = 8 * 1024 * 1024;

/// The store's writing end.
pub(crate) struct BackgroundWriter {
    pub core: Arc<Core>,
    pub head_file: Arc<HeadFile>,
    pub disk: Arc<dyn Disk>,
    pub space: SpaceWatch,
    pub settings: Settings,
    /// The store, if it is open.
    pub blocks: Option<Box<dyn Blocks>>,
    /// Blocks up to this one are durable in it: it has said so.
    pub synced: u64,
    /// What was put into it since.
    pub bytes_since: u64,
    /// The store's place, where it can be opened behind the opening or built anew.
    pub place: Option<Box<dyn Store>>,
    /// What is known of the store, if it is to be opened behind the opening.
    pub deferred: Option<DeferredOpen>,
    pub compressor: Compressor,
    /// Where full segments go, if they go.
    pub archiver: Option<Archiver>,
    /// When index checkpoints are made, if they are.
    pub schedule: Option<CheckpointSchedule>,
    /// Where it says why the store is no longer used.
    pub trouble: Arc<Mutex<Option<String>>>,
    /// Where it is called.
    pub signal: Arc<Signal>,
}

impl BackgroundWriter {
    /// Lets segments go that the store has durably. What cannot go stays, and is tried again after the next checkpoint.
    fn archive_segments(&mut self) {
        while let Some(archiver) = self.archiver.as_ref().filter(|_| !self.core.is_being_read()) {
            match archiver.next(&self.core, self.synced) {
                Ok(Some(before)) => {
                    tracing::debug!(segment = before.number, "a full segment has left the log's folder");
                    self.note_change(before);
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "a full segment stays in the log's folder");
                    return;
                }
            }
        }
    }

    /// Stores all that is durable by now. On a nearly full disk it waits: the room that is left is for reports, which the
    /// log has to take, and what the store does not have is read from the log.
    pub(crate) fn catch_up(&mut self) {
        while self.is_behind() {
            self.store_some();
        }
        // What came from before the opening was never counted as written.
        self.core.level_lag();
    }

    /// Stores what is durable in large pieces. While much is being committed the store falls behind, up to its bound:
    /// an appender waits for the log alone, and reads are answered from memory or the log meanwhile.
    fn follow(&mut self) {
        while self.is_behind() {
            let before = self.core.written_bytes();
            if self.signal.is_interrupted_within(GATHER) {
                return;
            }
            let written = self.core.written_bytes() - before;
            let bound = self.lag_bytes_max(written);
            if bound > 0 {
                // What the store does not get now it cannot tell either, should log and head file be put back to before.
                self.head_file.write_reached();
            }
            let until = self.core.stored_bytes() + if written > BUSY_BYTES { BUSY_TURN_BYTES } else { TURN_BYTES };
            while self.is_behind() && self.core.lag_bytes() > bound && self.core.stored_bytes() < until {
                self.store_some();
            }
        }
    }

    /// How far the store may be behind where so many bytes were written while gathering.
    fn lag_bytes_max(&self, written: u64) -> u64 {
        if written > BUSY_BYTES {
            self.settings.store_lag_bytes
        } else if written > BRISK_BYTES {
            self.settings.store_lag_bytes.min(BRISK_LAG_BYTES)
        } else {
            0
        }
    }

    /// Stores what is durable, and compresses full segments while there is nothing to store.
    fn attend(&mut self) {
        loop {
            self.follow();
            // Looked at before the last look at the blocks: a later ring is heard.
            let called = self.signal.is_interrupted_within(Duration::ZERO);
            let packs = self.settings.compress_when_idle && !self.is_full();
            if called || !(self.is_behind() || packs && self.compress_next()) {
                break;
            }
        }
        self.leave_in_file();
        if self.interval_is_near() && !self.signal.is_interrupted_within(Duration::ZERO) {
            self.checkpoint();
            self.mark_interval();
        }
    }

    /// Compresses all full segments now.
    pub(crate) fn compress_all(&mut self) {
        while self.compress_next() {}
    }

    fn compress_next(&mut self) -> bool {
        if self.core.is_being_read() {
            return false;
        }
        let current = self.core.state().index.last_segment();
        let compressed = self.compressor.compress_next(current);
        if let Some(before) = compressed {
            self.core.forget_segment(before.number);
            self.note_change(before);
        }
        self.core.set_packed_before(self.compressor.next());
        compressed.is_some()
    }

    /// Whether there is something to store, and room for it.
    fn is_behind(&self) -> bool {
        let state = self.core.state();
        let is_behind = self.blocks.is_some() && self.core.stored() < state.head.block && state.is_readable().is_ok();
        drop(state);
        is_behind && !self.is_full()
    }

    fn is_full(&self) -> bool {
        self.space.low(&*self.disk, 0).is_some()
    }

    fn store_some(&mut self) {
        let (stored, last) = (self.core.stored(), self.core.state().head.block);
        let numbers = self.core.some_blocks(stored + 1, last);
        self.guarded("put", |this| this.store(&numbers));
        if self.blocks.is_some() && self.bytes_since >= self.settings.checkpoint_bytes {
            self.checkpoint();
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
        if self.blocks.is_some() {
            self.archive_segments();
            self.mark_interval();
        }
    }

    /// Closes the store and opens it again, once everything is in it: what it had read into memory, most of it while the
    /// node was rebuilt, is given back. Meanwhile reads are answered from the log, as far as it has everything.
    pub(crate) fn give_memory_back(&mut self) {
        // A store that is closed on a full disk does not open again.
        if self.is_full() {
            return;
        }
        self.catch_up();
        let Some(blocks) = self.blocks.take() else { return };
        let removed = self.archiver.as_ref().is_some_and(|archiver| !archiver.whole.catalog().removed.is_empty());
        let close = |reader: Option<Arc<dyn BlockReader>>| {
            if let Some(reader) = reader {
                reader.stop();
            }
        };
        self.guarded("reopen", |this| {
            let core = this.core.clone();
            let reopen = || blocks.reopened().map_err(|error| error.problem);
            if removed {
                // The log does not have everything: readers wait.
                return core.change_store(|reader| {
                    close(reader);
                    let blocks = reopen()?;
                    let reader = blocks.reader();
                    this.blocks = Some(blocks);
                    Ok(reader)
                });
            }
            close(core.set_store(None));
            let blocks = reopen()?;
            core.set_store(Some(blocks.reader()));
            this.blocks = Some(blocks);
            Ok(())
        });
    }

    fn store(&mut self, numbers: &[u64]) -> Result<(), String> {
        let Some(blocks) = self.blocks.as_mut() else { return Ok(()) };
        crash::point("before-store");
        let loaded = self.core.load(numbers).map_err(|error| error.to_string())?;
        let frames: Vec<_> = loaded.iter().map(Loaded::bytes).collect();
        let pairs: Vec<(u64, &[u8])> = numbers.iter().copied().zip(frames.iter().map(|frame| &**frame)).collect();
        self.head_file.write_reached();
        blocks.put(&pairs).map_err(|error| error.problem)?;
        let bytes = pairs.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        self.bytes_since += bytes;
        self.core.add_stored_bytes(bytes);
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
        self.core.set_store_gone(true);
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

impl Drop for BackgroundWriter {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// The keeper's thread.
pub(crate) fn run(mut background: BackgroundWriter) {
    background.open_now();
    loop {
        let end = background.signal.wait();
        if let Some(problem) = background.signal.take_build_anew() {
            background.build_anew(&problem);
        }
        match end {
            None if background.signal.take_release_memory() => background.give_memory_back(),
            None => background.attend(),
            Some(Ending::AtOnce) => return,
            Some(Ending::InOrder) => {
                background.catch_up();
                background.checkpoint();
                return;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
