//! What a decision was made with.

use std::fmt;

use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};

/// A document that a decision was made with, in its revision then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cited {
    pub document: StreamId,
    pub revision: u64,
}

impl fmt::Display for Cited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} revision {}", self.document, self.revision)
    }
}
