//! What a program adds to a built-in table, for the rest of its life.

use std::{
    fmt,
    sync::{PoisonError, RwLock},
};

/// Entries that were added, in that order. They are code, so they hold for the whole process and are never taken out again.
pub struct Added<T: 'static>(RwLock<Vec<&'static T>>);

impl<T> fmt::Debug for Added<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} added", self.all().len())
    }
}

impl<T> Added<T> {
    /// Nothing is added yet.
    #[allow(clippy::new_without_default, reason = "a static needs a constant")]
    pub const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Adds one.
    pub fn add(&self, entry: &'static T) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// All of them.
    pub fn all(&self) -> Vec<&'static T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first that is the one.
    pub fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<&'static T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().copied().find(|entry| is_it(entry))
    }
}
