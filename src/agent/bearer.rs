//! The token that an agent reports with, as its file has it.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// A token, and the file that it is read from anew when the node does not take it: the node writes another one there when its
/// key had to be replaced.
#[derive(Clone)]
pub(super) struct Bearer {
    file: PathBuf,
    token: Arc<Mutex<String>>,
}

impl Bearer {
    pub(super) fn new(file: PathBuf, token: String) -> Self {
        Self { file, token: Arc::new(Mutex::new(token)) }
    }

    pub(super) fn token(&self) -> String {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the file again. What cannot be read changes nothing.
    pub(super) fn refresh(&self) {
        if let Ok(token) = fs::read_to_string(&self.file)
            && !token.is_empty()
        {
            *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token;
        }
    }
}

/// Shows no token.
impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bearer").field("file", &self.file).finish_non_exhaustive()
    }
}
