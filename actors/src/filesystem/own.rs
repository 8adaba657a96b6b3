//! What only filesystems can be asked, undergo, and are.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, Version};
use serde::{Deserialize, Serialize};

use crate::ports::Backing;

/// What is true of filesystems only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// Under which intents those of this name were made on a volume, or may have been, that went with their data: what is
    /// left of them there is nobody's, and makes room for the next one.
    pub destroyed: BTreeSet<Version>,
    /// It was made: what was on its volume before, it was made over.
    pub was_made: bool,
}

/// What a filesystem is made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// None if its provider makes filesystems of its own.
    pub backing: Option<Backing>,
    /// The intents of earlier filesystems that were destroyed with their data: their remains on the volume may be overwritten.
    pub over: BTreeSet<Cite>,
}

/// What only a filesystem can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnCommand {
    /// Everything that it needs is there: make it on this.
    Create(Base),
}

/// Nothing is reported of filesystems only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnReport {}

/// What happens to a filesystem only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnEvent {
    /// The device beneath it is called otherwise now; the intent stays.
    BackingChanged { backing: Option<Backing> },
}
