//! What the agent of a new instance joins with.

use std::{fmt, path::PathBuf};

use crate::vocab::{EffectId, Fault, Timestamp};

/// A token for one instance. Shows nothing of its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// Names it, in the journal too.
    pub id: String,
    /// Good until then.
    pub until: Timestamp,
    /// The file that holds it, for its owner alone: a provider that cannot be told a secret is told where it is.
    pub file: PathBuf,
    text: String,
}

impl JoinToken {
    /// A token.
    pub fn new(id: String, text: String, until: Timestamp, file: PathBuf) -> Self {
        Self { id, until, file, text }
    }

    /// The whole of it, for its user.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinToken").field("id", &self.id).field("until", &self.until).finish_non_exhaustive()
    }
}

/// Draws tokens and keeps them, outside of the journal.
pub trait Enrolment: Send + Sync {
    /// The token of what is made under this id: the one that it has, if that is good for long enough; or else a new one.
    ///
    /// # Errors
    /// If it cannot be kept: then nothing may be made with it.
    fn issue(&self, effect: EffectId, now: Timestamp, lasts_ms: u64) -> Result<JoinToken, Fault>;

    /// What was made under this id is gone, and its token is good for nothing any more.
    fn forget(&self, effect: EffectId);
}
