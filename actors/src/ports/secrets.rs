//! Secrets, which are named everywhere and read only where they are needed.

use std::{collections::BTreeMap, fmt};

use super::Blot;
use crate::vocab::{Fault, Name};

/// What a secret holds: texts by key. Shows nothing of itself.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretData(BTreeMap<String, String>);

impl SecretData {
    /// These texts.
    pub fn new(texts: BTreeMap<String, String>) -> Self {
        Self(texts)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The texts, for their user.
    pub fn reveal(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// Puts something into the text of a key, if there is one.
    pub fn place(&mut self, key: &str, into: impl FnOnce(&str) -> String) {
        if let Some(text) = self.0.get_mut(key) {
            *text = into(text);
        }
    }

    /// Looks for what it holds in the texts of others.
    pub fn blot(&self) -> Blot {
        let mut blot = Blot::default();
        self.0.iter().for_each(|(key, value)| blot.add(key, value));
        blot
    }

    /// Takes in what another one holds.
    ///
    /// # Errors
    /// With the key that both have, and different texts for: neither may take the other's place in silence.
    pub fn join(&mut self, other: Self) -> Result<(), String> {
        for (key, text) in other.0 {
            match self.0.get(&key) {
                Some(mine) if *mine != text => return Err(key),
                _ => drop(self.0.insert(key, text)),
            }
        }
        Ok(())
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
