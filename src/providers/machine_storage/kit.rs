//! All storage of one machine, with one way to have a job done.

use std::{path::Path, sync::Arc};

use bailiwick_actors::{
    ports::{BulkAnswer, Clock, FilesystemProvider, VolumeImporter, VolumeProvider},
    vocab::{EffectId, Fault, FaultCode, Name},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    api::wire::storage::{Device, Job, Work},
    providers::storage::{
        Filesystems, Ground, LoopVolumes, StorageError, Way, helper::client::StorageHelper, make_directory, plugged,
    },
};

/// The providers that work inside of machines.
pub const PROVIDERS: [&str; 4] = ["loop", "tmpfs", "rootfs", "managed"];

/// The storage of one machine.
#[derive(Clone, Debug)]
pub struct Kit {
    ground: Arc<Ground>,
    pub(super) volumes: LoopVolumes,
    tmpfs: Filesystems,
    rootfs: Filesystems,
    /// On the same ground as the volumes, so that both take turns.
    managed: Filesystems,
}

impl Kit {
    /// The storage in a machine's directory; its own directories are made if they are not there, the machine's is not. What
    /// only root can do is done by the helper, if there is one.
    ///
    /// # Errors
    /// If they cannot be made, or others could change them.
    pub fn at(storage: &Path, clock: &Arc<dyn Clock>, helper: Option<&StorageHelper>) -> Result<Self, StorageError> {
        make_directory(storage)
            .map_err(|source| StorageError::Io { doing: "make the machine's storage directory", source })?;
        let ground = |name: &str| Ground::of_node(&storage.join(name), helper).map(Arc::new);
        let volumes = ground("volumes")?;
        Ok(Self {
            volumes: LoopVolumes::new(volumes.clone(), clock.clone()),
            tmpfs: Filesystems::new(Way::Tmpfs, ground("tmpfs")?, clock.clone()),
            rootfs: Filesystems::new(Way::Rootfs, ground("rootfs")?, clock.clone()),
            managed: Filesystems::new(Way::Managed, volumes.clone(), clock.clone()),
            ground: volumes,
        })
    }

    /// Removes the records that a killed agent had begun. Nobody else may be at work here.
    ///
    /// # Errors
    /// If a directory cannot be read or changed.
    pub fn clear_unfinished(&self) -> Result<(), StorageError> {
        self.ground.clear_unfinished()?;
        self.tmpfs.clear_unfinished()?;
        self.rootfs.clear_unfinished()
    }

    pub(super) fn all_filesystems(&self) -> [&Filesystems; 3] {
        // What lies on volumes goes before them anyway; between these there is no order.
        [&self.managed, &self.rootfs, &self.tmpfs]
    }

    fn filesystems(&self, provider: &Name) -> Result<&Filesystems, Fault> {
        match provider.as_str() {
            "tmpfs" => Ok(&self.tmpfs),
            "rootfs" => Ok(&self.rootfs),
            "managed" => Ok(&self.managed),
            other => Err(Fault::new(
                FaultCode::InvalidArgument,
                format!("there are no filesystems of {other} inside machines"),
            )),
        }
    }

    /// Carries out one job.
    ///
    /// # Errors
    /// As the port's call for it.
    pub async fn carry_out(&self, job: Job) -> Result<Value, Fault> {
        let filesystems = || self.filesystems(&job.provider);
        match job.work {
            Work::CreateVolume(wish) => one(self.volumes.create_volumes(vec![wish])).await,
            Work::ImportVolume(wish) => one(self.volumes.import_volumes(vec![wish])).await,
            Work::DestroyVolume(id) => self.destroy_volume(id).await,
            Work::LookupVolume(id) => one(self.volumes.lookup_volumes(vec![id])).await,
            Work::AttachVolume(wish) => one(self.volumes.attach_volumes(vec![wish])).await,
            Work::DetachVolume(wish) => one(self.volumes.detach_volumes(vec![wish])).await,
            Work::LookupAttachment(id) => one(self.volumes.lookup_attachments(vec![id])).await,
            Work::CreateFilesystem(wish) => one(filesystems()?.create_filesystems(vec![wish])).await,
            Work::DestroyFilesystem(id) => one(filesystems()?.destroy_filesystems(vec![id])).await,
            Work::LookupFilesystem(id) => one(filesystems()?.lookup_filesystems(vec![id])).await,
            Work::AttachFilesystem(wish) => one(filesystems()?.attach_filesystems(vec![wish])).await,
            Work::DetachFilesystem(wish) => one(filesystems()?.detach_filesystems(vec![wish])).await,
            Work::ListVolumes => told(self.volumes.list_volumes().await?),
            Work::LookupMount(id) => one(filesystems()?.lookup_filesystem_attachments(vec![id])).await,
        }
    }

    /// A filesystem that was on a volume is only data on it: what is noted about it goes with the volume.
    async fn destroy_volume(&self, id: EffectId) -> Result<Value, Fault> {
        let destroyed = one(self.volumes.destroy_volumes(vec![id])).await?;
        self.managed.forget_on(id).await?;
        Ok(destroyed)
    }

    /// The block devices that are seen now.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn devices(&self) -> Result<Vec<Device>, StorageError> {
        let seen = plugged::devices(&self.ground)?;
        Ok(seen.into_iter().map(|(device, volume)| Device { device, volume }).collect())
    }
}

/// The answer for the one item of a bulk call, as JSON.
async fn one<T: Serialize>(call: BulkAnswer<'_, T>) -> Result<Value, Fault> {
    let answer = call.await?.pop();
    let answer = answer.unwrap_or_else(|| Err(Fault::new(FaultCode::Internal, "no answer for the one thing asked")))?;
    told(answer)
}

fn told<T: Serialize>(answer: T) -> Result<Value, Fault> {
    serde_json::to_value(answer).map_err(|error| Fault::new(FaultCode::Internal, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn a_machine_that_is_gone_does_not_come_back_with_its_storage() {
        // given a machine whose directory was removed
        let scratch = tempfile::tempdir().expect("a directory");
        let machine = scratch.path().join("machine");
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        // when somebody who knew it asks for its storage
        let found = Kit::at(&machine.join("storage"), &clock, None);
        // then there is none, and nothing was made
        assert!(found.is_err());
        assert!(!machine.exists());
    }
}
