//! Lets go of everything that a machine has mounted or attached, as the end of a real machine would.

use std::{path::Path, sync::Arc};

use bailiwick_actors::{
    ports::Clock,
    vocab::{Fault, FaultCode},
};

use super::Kit;
use crate::providers::storage::{StorageError, helper::client::StorageHelper, plugged};

/// Unmounts and detaches all that the storage of a machine holds, by its records; data stays where it is. Nothing may be
/// at work in it: the machine's agent has ended.
///
/// # Errors
/// If something is still mounted from there, or shown by a device, afterwards: then the directory must not be removed.
pub async fn release(storage: &Path, clock: &Arc<dyn Clock>, helper: Option<&StorageHelper>) -> Result<(), Fault> {
    if !storage.is_dir() {
        return Ok(());
    }
    let kit = Kit::at(storage, clock, helper).map_err(StorageError::into_fault)?;
    let mut first = None;
    for filesystems in kit.all_filesystems() {
        first = first.or(filesystems.detach_all().await.err());
    }
    first = first.or(kit.volumes.detach_all().await.err());
    match plugged::held_beneath(storage).map_err(StorageError::into_fault)? {
        None => Ok(()),
        Some(held) => Err(first.unwrap_or_else(|| Fault::new(FaultCode::FailedPrecondition, held))),
    }
}
