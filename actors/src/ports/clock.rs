//! Where the time comes from.

use crate::vocab::Timestamp;

/// The one source of time. It never goes back, not even when the wall clock does.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// What the host's clock shows, whatever it showed before: somebody may have set it forward or back.
    fn wall(&self) -> Timestamp {
        self.now()
    }

    /// The time is never before this moment from now on, and goes on from there: the last entry of the journal was written
    /// then.
    fn go_on_from(&self, _moment: Timestamp) {}
}
