//! How a volume's provider is asked to attach and to detach it.

use super::{Spec, Target, Volumes};
use crate::{
    attachment::shell::{Calls, attached, detached},
    ports::{AttachVolume, AttachmentInfo, BulkAnswer, DetachVolume, Lookup, Operation, VolumeProvider},
    shell::{self, AnyCommand, AnyWish, Make, Services, Thing, Undo},
    vocab::{EffectId, Fault},
};

impl Calls for Volumes {
    fn attach(id: EffectId, target: &Target, spec: &Spec) -> AnyWish {
        AnyWish::make(AttachVolume {
            id,
            machine: spec.machine.clone(),
            machine_effect: target.machine_effect,
            instance: target.instance.clone(),
            volume: spec.volume.clone(),
            volume_effect: target.volume_effect,
            volume_id: target.volume_id.clone(),
            read_only: spec.read_only,
        })
    }

    fn detach(id: EffectId, from: Option<(&Target, &Spec)>) -> AnyWish {
        let detach = from.map(|(target, spec)| DetachVolume {
            id,
            machine: spec.machine.clone(),
            machine_effect: target.machine_effect,
            volume: spec.volume.clone(),
            volume_effect: target.volume_effect,
        });
        AnyWish::undo(&DETACH, detach)
    }
}

/// Attachments of volumes, as providers keep them.
#[derive(Clone, Debug)]
pub struct Kept;

impl Thing for Kept {
    type Port = shell::Volumes;
    type Made = AttachmentInfo;
    /// None if it is not known what is attached where.
    type Handle = Option<DetachVolume>;

    fn lookup(by: &dyn VolumeProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        by.lookup_attachments(ids)
    }

    fn works_on(what: &Option<DetachVolume>) -> Option<EffectId> {
        what.as_ref().map(|detach| detach.volume_effect)
    }
}

impl Make for AttachVolume {
    const OPERATION: Operation = Operation::AttachVolume;
    type Thing = Kept;

    fn make<'a>(by: &'a dyn VolumeProvider, _: &Services, wishes: Vec<Self>) -> BulkAnswer<'a, AttachmentInfo> {
        by.attach_volumes(wishes)
    }

    fn report(attempt: u32, result: Result<AttachmentInfo, Fault>) -> AnyCommand {
        attached::<Volumes>(attempt, result)
    }

    fn works_on(&self) -> Vec<EffectId> {
        vec![self.volume_effect]
    }
}

static DETACH: Undo<Kept> = Undo {
    operation: Operation::DetachVolume,
    undo: |by, all| by.detach_volumes(all.into_iter().flatten().collect()),
    report: |_, attempt, result| detached::<Volumes>(attempt, result),
};
