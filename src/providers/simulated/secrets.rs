//! Secrets of a simulation: there as long as the script says so.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use bailiwick_actors::{
    ports::{SecretData, Secrets},
    vocab::{Fault, FaultCode, Name},
};

/// The secrets that are there now.
#[derive(Debug, Default)]
pub struct SimulatedSecrets(Mutex<BTreeMap<Name, SecretData>>);

impl SimulatedSecrets {
    /// From now on the secret holds this; nothing means that it is gone.
    pub fn set(&self, name: &Name, holds: Option<SecretData>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match holds {
            Some(holds) => drop(all.insert(name.clone(), holds)),
            None => drop(all.remove(name)),
        }
    }
}

impl Secrets for SimulatedSecrets {
    fn read(&self, name: &Name) -> Result<SecretData, Fault> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || Fault::new(FaultCode::FailedPrecondition, format!("secret {name} does not exist"));
        all.get(name).cloned().ok_or_else(gone)
    }
}
