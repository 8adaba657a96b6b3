//! How tests end: with a replay of what they wrote.

use std::{ops::Deref, sync::Arc, thread};

use bailiwick_journal::Journal;

use super::{Options, replay};

/// Asserts that every decision of a journal comes out the same when it is decided again.
///
/// # Panics
/// If one does not, with all that differ; or if the journal cannot be read.
pub fn assert_replays(journal: &dyn Journal) {
    let report = match replay(journal, &Options { all: true, to: None }) {
        Ok(report) => report,
        Err(error) => panic!("the journal cannot be replayed: {error:?}"),
    };
    let told: Vec<String> = report.divergences.iter().map(ToString::to_string).collect();
    assert!(report.is_same(), "{} decisions come out differently:\n{}", told.len(), told.join("\n"));
}

/// A journal that is replayed when its test ends: the one way in which tests open a journal of entities.
#[derive(Debug)]
pub struct Audited(Arc<dyn Journal>);

impl Audited {
    /// Watches over a journal.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self(journal)
    }

    /// The journal, to be shared.
    pub fn shared(&self) -> Arc<dyn Journal> {
        self.0.clone()
    }
}

impl Deref for Audited {
    type Target = dyn Journal;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Drop for Audited {
    fn drop(&mut self) {
        // A test that fails already says more than this would.
        if !thread::panicking() {
            assert_replays(&*self.0);
        }
    }
}
