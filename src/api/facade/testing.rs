//! What tests do to the facade of a node in their own process: act as somebody who cannot log in, and let a minute pass.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;

use super::common::Facade;

static PASSES: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
static FACADES: Mutex<BTreeMap<Uuid, Arc<Facade>>> = Mutex::new(BTreeMap::new());

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Credentials with which a client logs in as what this tag names, to any node of this process.
pub fn pass(tag: &str) -> String {
    let credentials = Uuid::new_v4().to_string();
    lock(&PASSES).insert(credentials.clone(), tag.to_owned());
    credentials
}

/// A minute passes for those who watch the node of this journal.
pub fn minute(journal: Uuid) {
    if let Some(facade) = lock(&FACADES).get(&journal) {
        facade.changes.minute();
    }
}

pub(super) fn begin(journal: Uuid, facade: Arc<Facade>) {
    lock(&FACADES).insert(journal, facade);
}

/// The tag that these credentials stand for.
pub(super) fn tag(credentials: &str) -> Option<String> {
    lock(&PASSES).get(credentials).cloned()
}
