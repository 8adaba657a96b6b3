//! Secrets, which are named everywhere and read only where they are needed.

use std::{collections::BTreeMap, fmt};

use crate::vocab::{Fault, Name};

/// What a secret holds: texts by key. Shows nothing of itself.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretData(BTreeMap<String, String>);

impl SecretData {
    /// The shortest value that is looked for in the texts of others, in bytes.
    const TELLING_BYTES_MIN: usize = 6;

    /// These texts.
    pub fn new(texts: BTreeMap<String, String>) -> Self {
        Self(texts)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The texts, for whoever has to have them.
    pub fn reveal(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// A text of somebody else's without what it holds, should it hold any of it. Short values are in every text.
    pub fn scrub(&self, text: &str) -> String {
        let mut values: Vec<&String> = self.0.values().filter(|value| Self::TELLING_BYTES_MIN <= value.len()).collect();
        // The longest first: one may be part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.into_iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), "***"))
    }

    /// Takes in what another one holds, whose texts count where both have a key.
    pub fn overlay(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl fmt::Debug for SecretData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretData").field("keys", &self.0.len()).finish_non_exhaustive()
    }
}

/// Where secrets are.
pub trait Secrets: Send + Sync {
    /// What the secret of this name holds now.
    ///
    /// # Errors
    /// If it cannot be read. The text names the secret and where it was looked for, never what it holds.
    fn read(&self, name: &Name) -> Result<SecretData, Fault>;
}
