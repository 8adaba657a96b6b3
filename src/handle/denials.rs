//! What was denied before anything was decided.

use bailiwick_actors::{contract::StoredError, shell::DenialNote};
use bailiwick_journal::{AppendError, append_blocking};
use uuid::Uuid;

use super::Handle;

/// Why denials are not in the journal.
#[derive(Debug, thiserror::Error)]
pub enum NotNoted {
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error(transparent)]
    Stored(#[from] StoredError),
}

impl Handle {
    /// Notes what was denied. Returns once that is durable.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn note_denials(&self, note: &DenialNote) -> Result<(), NotNoted> {
        let draft = note.draft(Uuid::new_v4(), self.now())?;
        append_blocking(&*self.shared.journal, vec![draft])?;
        Ok(())
    }
}
