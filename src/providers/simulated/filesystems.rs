//! Filesystems and mounts in the simulated world.

use bailiwick_actors::{
    ports::{
        Answer, AttachFilesystem, BulkAnswer, CreateFilesystem, DetachFilesystem, FilesystemAttachmentInfo,
        FilesystemProvider, Listing, Lookup, ProvisionedFilesystem,
    },
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name},
};

use super::{Change, SimulatedProvider, WorldState, cut_off, gone};

/// A filesystem that some provider made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedFilesystem {
    pub provider: Name,
    pub asked: CreateFilesystem,
    pub seen: ProvisionedFilesystem,
}

/// A filesystem that is mounted on an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedMount {
    pub provider: Name,
    pub made: AttachFilesystem,
    pub info: FilesystemAttachmentInfo,
}

impl WorldState {
    pub(super) fn create_filesystem(&mut self, provider: Name, asked: CreateFilesystem) {
        let id = asked.id;
        if self.filesystems.contains_key(&id) {
            return;
        }
        let seen = ProvisionedFilesystem {
            effect: id,
            filesystem_id: InstanceId(format!("f-{:.8}", id.to_string())),
            size: asked.size,
        };
        let twin = self.filesystems.values().find(|other| other.asked.uid == asked.uid && other.provider == provider);
        if twin.is_some() {
            self.made_twice.push(format!("filesystem {} was made twice", asked.filesystem));
        }
        self.filesystems.insert(id, SimulatedFilesystem { provider, asked, seen });
    }

    /// Mounts, or says why not; what is mounted already under this id stays as it is.
    pub(super) fn mount(
        &mut self,
        provider: Name,
        attach: AttachFilesystem,
    ) -> Result<FilesystemAttachmentInfo, Fault> {
        if let Some(present) = self.mounts.get(&attach.id) {
            return Ok(present.info.clone());
        }
        let none =
            |what: &str, id: &InstanceId| Err(Fault::new(FaultCode::NotFound, format!("{what} {id} does not exist")));
        if !self.instances.contains_key(&attach.machine_effect) {
            return none("instance", &attach.instance);
        }
        if !self.filesystems.contains_key(&attach.filesystem_effect) {
            return none("filesystem", &attach.filesystem_id);
        }
        let is_there = |other: &&SimulatedMount| {
            (other.made.filesystem_effect, other.made.machine_effect)
                == (attach.filesystem_effect, attach.machine_effect)
        };
        if self.mounts.values().find(is_there).is_some() {
            let text = format!("filesystem {} is mounted there already", attach.filesystem_id);
            return Err(Fault::new(FaultCode::FailedPrecondition, text));
        }
        let mount_point = attach.path.clone().unwrap_or_else(|| format!("/filesystems/{}", attach.filesystem));
        let info = FilesystemAttachmentInfo { mount_point, read_only: attach.read_only };
        self.mounts.insert(attach.id, SimulatedMount { provider, made: attach, info: info.clone() });
        Ok(info)
    }
}

impl FilesystemProvider for SimulatedProvider {
    fn create_filesystems(&self, filesystems: Vec<CreateFilesystem>) -> BulkAnswer<'_, ProvisionedFilesystem> {
        let plan = |_: &WorldState, create: &CreateFilesystem| {
            Ok(Change::CreateFilesystem(self.name.clone(), Box::new(create.clone())))
        };
        let outcome = |state: &mut WorldState, create: &CreateFilesystem| match state.filesystems.get(&create.id) {
            Some(filesystem) => Ok(filesystem.seen.clone()),
            None => gone("filesystem"),
        };
        Box::pin(self.change("create-filesystem", filesystems, |create| create.id, plan, outcome))
    }

    fn destroy_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        let plan = |state: &WorldState, id: &EffectId| {
            if state.mounts.values().any(|mount| mount.made.filesystem_effect == *id) {
                return Err(Fault::new(FaultCode::FailedPrecondition, "the filesystem is mounted"));
            }
            Ok(Change::DestroyFilesystem(*id))
        };
        Box::pin(self.change("destroy-filesystem", ids, |id| *id, plan, |_, _| Ok(())))
    }

    fn lookup_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>> {
        let find = |state: &WorldState, id: &EffectId| state.filesystems.get(id).map(|found| found.seen.clone());
        Box::pin(self.ask("lookup-filesystem", ids, find))
    }

    fn list_filesystems(&self) -> Answer<'_, Result<Listing<ProvisionedFilesystem>, Fault>> {
        let now = self.clock.now();
        let state = self.world.at(now);
        let of_us = state.filesystems.values().filter(|filesystem| filesystem.provider == self.name);
        let items = of_us.map(|filesystem| filesystem.seen.clone()).collect();
        Box::pin(std::future::ready(Ok(Listing { complete: true, as_of: now, items })))
    }

    fn attach_filesystems(&self, attachments: Vec<AttachFilesystem>) -> BulkAnswer<'_, FilesystemAttachmentInfo> {
        let plan = |state: &WorldState, attach: &AttachFilesystem| match state
            .is_cut_off(&attach.machine_effect, self.clock.now())
        {
            true => cut_off("machine"),
            false => Ok(Change::Mount(self.name.clone(), Box::new(attach.clone()))),
        };
        let outcome = |state: &mut WorldState, attach: &AttachFilesystem| match state.mounts.get(&attach.id) {
            Some(mount) => Ok(mount.info.clone()),
            // It has not happened: the world says why.
            None => state.mount(self.name.clone(), attach.clone()),
        };
        Box::pin(self.change("attach-filesystem", attachments, |attach| attach.id, plan, outcome))
    }

    fn detach_filesystems(&self, attachments: Vec<DetachFilesystem>) -> BulkAnswer<'_, ()> {
        let plan = |state: &WorldState, detach: &DetachFilesystem| match state
            .is_cut_off(&detach.machine_effect, self.clock.now())
        {
            true => cut_off("machine"),
            false => Ok(Change::Unmount(detach.id)),
        };
        Box::pin(self.change("detach-filesystem", attachments, |detach| detach.id, plan, |_, _| Ok(())))
    }

    fn lookup_filesystem_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>> {
        let find = |state: &WorldState, id: &EffectId| state.mounts.get(id).map(|mount| mount.info.clone());
        Box::pin(self.ask("lookup-mount", ids, find))
    }

    fn cancel(&self, id: EffectId) {
        self.cancelled.cancel(id);
    }
}
