//! Where the time comes from.

use crate::vocab::Timestamp;

/// The one source of time. It never goes back, not even when the wall clock does.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}
