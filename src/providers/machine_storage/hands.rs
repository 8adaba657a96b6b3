//! What an agent carries jobs out with.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use bailiwick_actors::ports::Clock;

use super::Kit;
use crate::{
    agent::storage::{Done, Hands},
    api::wire::storage::{Device, Job},
    clock::SystemClock,
    providers::storage::{StorageError, helper::client::StorageHelper},
};

/// The hands of the machine in this directory; what only root can do is done by the storage helper on this socket, if one is
/// named.
pub fn hands(machine: PathBuf, helper: Option<PathBuf>) -> Arc<dyn Hands> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let helper = helper.map(|socket| StorageHelper::at(&socket));
    Arc::new(Own { storage: machine.join("storage"), clock, helper, kit: Mutex::default() })
}

/// The kit of this machine, made when it is needed first: most machines have no storage of their own.
struct Own {
    storage: PathBuf,
    clock: Arc<dyn Clock>,
    helper: Option<StorageHelper>,
    kit: Mutex<Option<Kit>>,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").field("storage", &self.storage).finish_non_exhaustive()
    }
}

impl Own {
    fn kit(&self) -> Result<Kit, StorageError> {
        let mut kit = self.kit.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kit) = &*kit {
            return Ok(kit.clone());
        }
        let new = Kit::at(&self.storage, &self.clock, self.helper.as_ref())?;
        // The agent before this one may have been killed while it wrote.
        new.clear_unfinished()?;
        Ok(kit.insert(new).clone())
    }
}

impl Hands for Own {
    fn carry_out(&self, job: Job) -> Done<'_> {
        Box::pin(async move { self.kit().map_err(StorageError::into_fault)?.carry_out(job).await })
    }

    fn devices(&self) -> Vec<Device> {
        let kit = self.kit.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Without storage of its own no machine waits for a device.
        let Some(kit) = kit else { return Vec::new() };
        kit.devices().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot look at the block devices");
            Vec::new()
        })
    }
}
