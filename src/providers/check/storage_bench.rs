//! How checks ask for filesystems and mounts, and for lists and releases of storage.

use std::sync::Arc;

use bailiwick_actors::{
    ports::{
        AttachFilesystem, CreateFilesystem, DetachFilesystem, FilesystemAttachmentInfo, FilesystemProvider, Listing,
        Lookup, MachineInstance, ProvisionedFilesystem, ProvisionedVolume,
    },
    vocab::{EffectId, Fault, FaultCode, Name, SizeMib, Uid},
};
use uuid::Uuid;

use super::bench::{Bench, Judged, Stop, new_id, one, skipped};

impl Bench {
    /// A complete list of volumes that describes a moment after now; skipped if the provider does not say what it has.
    pub async fn volume_list(&self) -> Result<Listing<ProvisionedVolume>, Stop> {
        let provider = self.volume_provider()?;
        self.full("list-volumes", || provider.list_volumes()).await
    }

    /// Skipped if the provider cannot let go of anything.
    pub async fn release(&self, id: EffectId) -> Judged {
        let provider = self.volume_provider()?;
        released(self.bulk("release-volumes", 1, provider.release_volumes(vec![id])).await?)
    }

    pub fn filesystem_provider(&self) -> Result<Arc<dyn FilesystemProvider>, Stop> {
        let ports = self.ports.as_ref().ok_or_else(|| Stop::Wrong("it is not open".into()))?;
        ports.filesystems.clone().ok_or_else(|| Stop::Skipped("it has no filesystems".into()))
    }

    /// A filesystem that nobody has made yet. It is removed after the check.
    pub fn filesystem_wish(&mut self) -> CreateFilesystem {
        let id = new_id();
        if self.filesystem_provider().is_ok() {
            self.filesystems.push(id);
        }
        let filesystem = format!("check-{}", &id.to_string()[..8]).parse().expect("letters, digits and '-'");
        let (uid, size) = (Uid(Uuid::new_v4()), SizeMib(1));
        CreateFilesystem { id, filesystem, uid, size, backing: None, pool: None, replaces: Vec::new() }
    }

    /// A mount that nobody has made yet, wherever the provider likes.
    pub fn mount_wish(
        &mut self,
        machine: &MachineInstance,
        filesystem: (&Name, &ProvisionedFilesystem),
    ) -> AttachFilesystem {
        let wish = AttachFilesystem {
            id: new_id(),
            machine: machine.machine.clone(),
            machine_effect: machine.effect,
            instance: machine.instance.clone(),
            filesystem: filesystem.0.clone(),
            filesystem_effect: filesystem.1.effect,
            filesystem_id: filesystem.1.filesystem_id.clone(),
            backing: None,
            path: None,
            read_only: false,
        };
        self.mounts.push(unmount_wish(&wish));
        wish
    }

    /// A filesystem that exists, with its name.
    pub async fn filesystem(&mut self) -> Result<(Name, ProvisionedFilesystem), Stop> {
        let wish = self.filesystem_wish();
        let made = self.create_filesystem(&wish).await?;
        Ok((wish.filesystem, made))
    }

    pub async fn create_filesystem(&self, wish: &CreateFilesystem) -> Result<ProvisionedFilesystem, Stop> {
        one("create-filesystems", self.try_create_filesystems(vec![wish.clone()]).await?)
    }

    pub async fn try_create_filesystems(
        &self,
        wishes: Vec<CreateFilesystem>,
    ) -> Result<Vec<Result<ProvisionedFilesystem, Fault>>, Stop> {
        let (count, provider) = (wishes.len(), self.filesystem_provider()?);
        self.bulk("create-filesystems", count, provider.create_filesystems(wishes)).await
    }

    pub async fn destroy_filesystem(&self, id: EffectId) -> Judged {
        one("destroy-filesystems", self.try_destroy_filesystem(id).await?)
    }

    pub async fn try_destroy_filesystem(&self, id: EffectId) -> Result<Vec<Result<(), Fault>>, Stop> {
        let provider = self.filesystem_provider()?;
        self.bulk("destroy-filesystems", 1, provider.destroy_filesystems(vec![id])).await
    }

    /// Skipped if the provider cannot let go of anything.
    pub async fn release_filesystem(&self, id: EffectId) -> Judged {
        let provider = self.filesystem_provider()?;
        released(self.bulk("release-filesystems", 1, provider.release_filesystems(vec![id])).await?)
    }

    pub async fn lookup_filesystems(&self, ids: &[EffectId]) -> Result<Vec<Lookup<ProvisionedFilesystem>>, Stop> {
        let provider = self.filesystem_provider()?;
        self.known(ids, |ids| provider.lookup_filesystems(ids)).await
    }

    /// A complete list that describes a moment after now; skipped if the provider does not say what it has.
    pub async fn filesystem_list(&self) -> Result<Listing<ProvisionedFilesystem>, Stop> {
        let provider = self.filesystem_provider()?;
        self.full("list-filesystems", || provider.list_filesystems()).await
    }

    pub async fn mount(&self, wish: &AttachFilesystem) -> Result<FilesystemAttachmentInfo, Stop> {
        one("attach-filesystems", self.try_mount(wish).await?)
    }

    pub async fn try_mount(
        &self,
        wish: &AttachFilesystem,
    ) -> Result<Vec<Result<FilesystemAttachmentInfo, Fault>>, Stop> {
        let provider = self.filesystem_provider()?;
        self.bulk("attach-filesystems", 1, provider.attach_filesystems(vec![wish.clone()])).await
    }

    pub async fn unmount(&self, wish: DetachFilesystem) -> Judged {
        one("detach-filesystems", self.try_unmount(wish).await?)
    }

    pub async fn try_unmount(&self, wish: DetachFilesystem) -> Result<Vec<Result<(), Fault>>, Stop> {
        let provider = self.filesystem_provider()?;
        self.bulk("detach", 1, provider.detach_filesystems(vec![wish])).await
    }

    pub async fn lookup_mount(&self, id: EffectId) -> Result<Lookup<FilesystemAttachmentInfo>, Stop> {
        let provider = self.filesystem_provider()?;
        Ok(self.known(&[id], |ids| provider.lookup_filesystem_attachments(ids)).await?.remove(0))
    }
}

pub fn unmount_wish(wish: &AttachFilesystem) -> DetachFilesystem {
    DetachFilesystem {
        id: wish.id,
        machine: wish.machine.clone(),
        machine_effect: wish.machine_effect,
        filesystem: wish.filesystem.clone(),
        filesystem_effect: wish.filesystem_effect,
    }
}

/// It was let go of; skipped if the provider cannot.
fn released(answers: Vec<Result<(), Fault>>) -> Judged {
    match answers.first() {
        Some(Err(fault)) if fault.code == FaultCode::Unimplemented => skipped("it cannot let go of anything"),
        _ => one("release", answers),
    }
}
