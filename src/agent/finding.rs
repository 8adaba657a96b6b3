//! What a check inside a machine found.

use std::fmt;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// None: it is not told at all.
    pub healthy: Option<bool>,
    /// For people; the same as long as nothing of note changes.
    pub text: String,
}

impl Finding {
    pub fn healthy(text: &str) -> Self {
        Self { healthy: Some(true), text: text.to_owned() }
    }

    pub fn unhealthy(text: impl fmt::Display) -> Self {
        Self { healthy: Some(false), text: text.to_string().chars().take(200).collect() }
    }

    #[cfg(test)]
    pub fn is_healthy(&self) -> bool {
        self.healthy == Some(true)
    }

    /// Nothing that anybody should be told.
    pub fn untold() -> Self {
        Self { healthy: None, text: String::new() }
    }
}
