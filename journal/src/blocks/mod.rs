//! Where entries are read from: the same blocks as in the log, in a store that is never precious.

mod memory;
mod pieces;
mod sled;

use std::{fmt, sync::Arc};

pub use memory::MemoryStore;
pub use pieces::Pieces;
pub(crate) use pieces::each_record;
pub use sled::SledStore;

use crate::disk::Stamp;

/// Says that the store did not do what it was asked. The journal then reads from its log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the block store failed to {action}: {problem}")]
pub struct StoreError {
    pub action: &'static str,
    pub problem: String,
}

/// A place that can hold a block store.
pub trait Store: Send + Sync + fmt::Debug {
    /// Opens it, making it if there is none. May panic on damage; the caller is prepared.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError>;
    /// Removes everything in it. It is not open.
    ///
    /// # Errors
    /// If something cannot be removed.
    fn wipe(&self) -> Result<(), StoreError>;
    /// Puts the copy that [`Store::copy_aside`] made in the place of this, durably: a crash at any time leaves one of both
    /// whole. Neither is open.
    ///
    /// # Errors
    /// If that is not certain.
    fn adopt_copy(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Ends what a crash inside [`Store::adopt_copy`] left undone.
    ///
    /// # Errors
    /// If that is not certain.
    fn finish_adopting(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Removes what only makes opening quicker: when that is damaged, a copy may open without it.
    ///
    /// # Errors
    /// If something cannot be removed.
    fn forget_shortcuts(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Whether there is anything in it, without opening it.
    fn exists(&self) -> bool;
    /// The same content in another place, for a store that changes when it is opened; none where that does no harm.
    /// The caller wipes it.
    ///
    /// # Errors
    /// If it cannot be copied.
    fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(None)
    }
    /// The same place, to be opened later, behind the opening of the journal; none if it has to be opened with
    /// the journal.
    fn for_later(&self) -> Option<Box<dyn Store>> {
        None
    }
    /// What would tell that one of its files was written into since, by name; none if that cannot be told. It is not
    /// open.
    fn stamps(&self) -> Option<Vec<(String, Stamp)>> {
        None
    }
    /// Whether it must not be touched from a runtime's thread.
    fn wants_own_thread(&self) -> bool {
        false
    }
}

/// An open block store. All calls come from the journal's own threads.
pub trait Blocks: Send + fmt::Debug {
    /// Puts blocks with their numbers, in order.
    ///
    /// # Errors
    /// If any of them is not stored.
    fn put(&mut self, blocks: &[(u64, &[u8])]) -> Result<(), StoreError>;
    /// Makes all that was put durable.
    ///
    /// # Errors
    /// If that is not certain.
    fn checkpoint(&mut self) -> Result<(), StoreError>;
    /// Shows every block in order of its number.
    ///
    /// # Errors
    /// If not everything can be read; then anything may be missing.
    fn survey(&self, visit: &mut dyn FnMut(u64, &[u8])) -> Result<(), StoreError>;
    /// The reading side.
    fn reader(&self) -> Arc<dyn BlockReader>;

    /// The same store, closed and opened again: what it had read into memory is given back. Its readers have ended.
    ///
    /// # Errors
    /// If it cannot be opened again.
    fn reopened(self: Box<Self>) -> Result<Box<dyn Blocks>, StoreError>;
    /// Whether [`Blocks::checkpoint`] outlives the process: then blocks missing after it are damage.
    fn is_durable(&self) -> bool;
}

/// Reads blocks from any thread.
pub trait BlockReader: Send + Sync + fmt::Debug {
    /// The blocks with these numbers, unchecked; none where the store has none or cannot read it.
    fn read(&self, numbers: &[u64]) -> Vec<Option<Vec<u8>>>;
    /// As [`BlockReader::read`], lent as far as the store can lend what it holds.
    fn lend(&self, numbers: &[u64]) -> Vec<Option<Pieces>> {
        self.read(numbers).into_iter().map(|found| found.map(Pieces::whole)).collect()
    }
    /// Gives up all hold on the store; later reads find nothing.
    fn stop(&self);
}
