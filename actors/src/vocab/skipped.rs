//! What a forced removal does not wait for.

use serde::{Deserialize, Serialize};

use super::{EffectId, Name};

/// One thing that a forced removal of storage did not wait for, and that may stay behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkippedStorage {
    /// It may still be attached to, or mounted on, this machine.
    Attachment { machine: Name },
    /// This filesystem may still be on it.
    Filesystem { filesystem: Name },
    /// Nobody has confirmed that what was made under this id is undone: it may be an orphan from now on.
    Undoing { effect: EffectId },
}
