//! How a filesystem's provider is asked to mount and to unmount it.

use super::{Filesystems, Spec, Target};
use crate::{
    attachment::shell::{Calls, attached, detached},
    ports::{
        AttachFilesystem, BulkAnswer, DetachFilesystem, FilesystemAttachmentInfo, FilesystemProvider, Lookup, Operation,
    },
    shell::{self, AnyCommand, AnyWish, Make, Services, Thing, Undo},
    vocab::{EffectId, Fault},
};

impl Calls for Filesystems {
    fn attach(id: EffectId, target: &Target, spec: &Spec) -> AnyWish {
        AnyWish::make(AttachFilesystem {
            id,
            machine: spec.machine.clone(),
            machine_effect: target.machine_effect,
            instance: target.instance.clone(),
            filesystem: spec.filesystem.clone(),
            filesystem_effect: target.filesystem_effect,
            filesystem_id: target.filesystem_id.clone(),
            backing: target.backing.clone(),
            path: target.path.clone(),
            read_only: spec.read_only,
        })
    }

    fn detach(id: EffectId, from: Option<(&Target, &Spec)>) -> AnyWish {
        let detach = from.map(|(target, spec)| DetachFilesystem {
            id,
            machine: spec.machine.clone(),
            machine_effect: target.machine_effect,
            filesystem: spec.filesystem.clone(),
            filesystem_effect: target.filesystem_effect,
        });
        AnyWish::undo(&DETACH, detach)
    }
}

/// Mounts of filesystems, as providers keep them.
#[derive(Clone, Debug)]
pub struct Kept;

impl Thing for Kept {
    type Port = shell::Filesystems;
    type Made = FilesystemAttachmentInfo;
    /// None if it is not known what is mounted where.
    type Handle = Option<DetachFilesystem>;

    fn lookup(by: &dyn FilesystemProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>> {
        by.lookup_filesystem_attachments(ids)
    }

    fn works_on(what: &Option<DetachFilesystem>) -> Option<EffectId> {
        what.as_ref().map(|detach| detach.filesystem_effect)
    }
}

impl Make for AttachFilesystem {
    const OPERATION: Operation = Operation::AttachFilesystem;
    type Thing = Kept;

    fn make<'a>(
        by: &'a dyn FilesystemProvider,
        _: &Services,
        wishes: Vec<Self>,
    ) -> BulkAnswer<'a, FilesystemAttachmentInfo> {
        by.attach_filesystems(wishes)
    }

    fn report(attempt: u32, result: Result<FilesystemAttachmentInfo, Fault>) -> AnyCommand {
        attached::<Filesystems>(attempt, result)
    }

    fn works_on(&self) -> Vec<EffectId> {
        self.backing.iter().map(|backing| backing.volume_effect).chain([self.filesystem_effect]).collect()
    }
}

static DETACH: Undo<Kept> = Undo {
    operation: Operation::DetachFilesystem,
    undo: |by, all| by.detach_filesystems(all.into_iter().flatten().collect()),
    report: |_, attempt, result| detached::<Filesystems>(attempt, result),
};
