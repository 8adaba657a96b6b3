//! The store is opened behind the opening of the journal, or built anew from the log.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::BackgroundWriter;
use crate::{
    blocks::{BlockReader, Blocks},
    checkpoint,
    core::Core,
    format::frame,
};

/// A store that is still to be opened, and what is known of it.
pub(crate) struct DeferredOpen {
    /// Where the log ended at the opening.
    pub tip: u64,
    /// It is as the last stop in order left it and has everything up to there; else what it has is to be seen.
    pub as_left: bool,
    /// Fails the journal.
    pub fail: Box<dyn Fn(String) + Send>,
}

type OpenStore = (Box<dyn Blocks>, Arc<dyn BlockReader>, Found);

/// What a store was found to have.
enum Found {
    /// Everything up to this block.
    Until(u64),
    /// Not what it should.
    Damaged(String),
    /// What the log has lost.
    Ahead(u64),
}

impl BackgroundWriter {
    /// Opens a store that was left for later; builds it anew if it does not open or has not what it should.
    pub(crate) fn open_now(&mut self) {
        let (Some(deferred), Some(place)) = (self.deferred.take(), &self.place) else { return };
        let (core, synced) = (&*self.core, self.synced);
        let open = || -> Result<OpenStore, String> {
            let blocks = place.open().map_err(|error| error.problem)?;
            let reader = blocks.reader();
            let found = if deferred.as_left {
                Found::Until(deferred.tip)
            } else {
                look_into(&*reader, core, synced, deferred.tip)
            };
            Ok((blocks, reader, found))
        };
        match catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| Err("it panicked".into())) {
            Ok((blocks, reader, Found::Until(block))) => {
                self.core.set_store(Some(reader));
                self.core.set_stored(block);
                self.core.set_looked();
                self.blocks = Some(blocks);
                // How far it is behind is counted from the opening: nothing else would bring it here.
                self.catch_up();
            }
            Ok((blocks, reader, Found::Damaged(problem))) => {
                reader.stop();
                self.blocks = Some(blocks);
                self.build_anew(&problem);
            }
            Ok((blocks, reader, Found::Ahead(block))) => {
                reader.stop();
                self.blocks = Some(blocks);
                // Without it the next opening reads everything, and repairs or refuses.
                if let Err(error) = checkpoint::remove(&*self.disk) {
                    tracing::error!(%error, "the index checkpoint cannot be removed");
                }
                (deferred.fail)(format!("the block store has block {block}, which the log has lost"));
                self.core.set_looked();
                self.let_go();
            }
            Err(problem) => self.build_anew(&problem),
        }
        self.core.await_store(false);
    }

    /// Takes nothing from the store that is there, and brings everything into a new one.
    pub(crate) fn build_anew(&mut self, problem: &str) {
        // What is in the old one is not asked for any more, least of all by the thread that fills the new one from the log: that would
        // wait for itself where the log is damaged.
        self.core.await_store(false);
        self.core.set_looked();
        tracing::warn!(problem, "rebuilding the block store from the log");
        self.let_go();
        let Some(place) = self.place.take() else { return };
        self.guarded("build anew", |this| {
            let opened = place.wipe().and_then(|()| place.open());
            let blocks = opened.map_err(|error| error.problem)?;
            this.synced = 0;
            this.core.set_store(Some(blocks.reader()));
            this.core.set_store_gone(false);
            this.core.set_store_rebuilt();
            this.blocks = Some(blocks);
            Ok(())
        });
        self.place = Some(place);
        self.catch_up();
    }
}

/// What a store has that nobody looked into since it was written: it said that it had everything up to block `synced`
/// durably, and the log went to block `tip`. What lies before is read later, slowly.
fn look_into(reader: &dyn BlockReader, core: &Core, synced: u64, tip: u64) -> Found {
    // Only what is in the log goes into the store.
    let behind = reader.read(&[tip + 1]).pop().flatten();
    if behind.is_some_and(|bytes| core.is_block(&bytes, tip + 1) && frame::hash_fits(&bytes)) {
        return Found::Ahead(tip + 1);
    }
    let mut next = synced.max(1);
    while next <= tip {
        let numbers = core.some_blocks(next, tip);
        for (number, stored) in numbers.iter().zip(reader.read(&numbers)) {
            let same = stored.is_some_and(|stored| core.read_logged(*number).is_ok_and(|logged| logged == stored));
            if !same && *number <= synced {
                return Found::Damaged(format!("block {number} is missing or damaged"));
            }
            if !same {
                return Found::Until(number - 1);
            }
        }
        next += numbers.len() as u64;
    }
    Found::Until(tip)
}
