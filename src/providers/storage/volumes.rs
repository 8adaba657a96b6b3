//! The port for volumes, over loop devices.

mod attaching;
mod importing;
mod making;

use std::{fmt, sync::Arc};

use bailiwick_actors::{
    ports::{
        Answer, AttachVolume, AttachmentInfo, BulkAnswer, Clock, CreateVolume, DetachVolume, ImportVolume, Listing,
        Lookup, ProvisionedVolume, VolumeImporter, VolumeProvider,
    },
    vocab::{EffectId, Fault, InstanceId, SizeMib},
};

use super::{
    Ground, Tag, TagKind,
    desk::Desk,
    record::{self, VolumeRecord},
};

/// Volumes that are files in the storage directory, attached to this machine as loop devices.
#[derive(Clone)]
pub struct LoopVolumes {
    desk: Desk,
}

impl fmt::Debug for LoopVolumes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopVolumes").field("ground", &self.desk.ground).finish_non_exhaustive()
    }
}

impl LoopVolumes {
    pub fn new(ground: Arc<Ground>, clock: Arc<dyn Clock>) -> Self {
        Self { desk: Desk::new(ground, clock) }
    }
}

impl VolumeProvider for LoopVolumes {
    fn can_release(&self) -> Option<bool> {
        Some(false)
    }

    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        self.desk.change(
            volumes,
            |volume| (volume.id, volume.id),
            |ground, volume| Box::pin(async move { making::create(&ground, volume).await }),
        )
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.desk.change(ids, |id| (*id, *id), |ground, id| Box::pin(async move { making::destroy(&ground, id).await }))
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        self.desk.look(ids, |ground, id| Box::pin(async move { making::lookup(&ground, id).await }))
    }

    fn list_volumes(&self) -> Answer<'_, Result<Listing<ProvisionedVolume>, Fault>> {
        let (ground, as_of) = (self.desk.ground.clone(), self.desk.clock.now());
        let list = async move {
            let (mut items, mut complete) = (Vec::new(), true);
            for id in record::all::<VolumeRecord>(&ground)? {
                match record::load::<VolumeRecord>(&ground, id) {
                    Ok(Some(VolumeRecord { made: Some(size), .. })) => match making::is_there(&ground, id, size) {
                        Ok(true) => items.push(volume(id, size)),
                        // Its record says that it was made, and what was made is gone: it is not shown.
                        Ok(false) => (),
                        Err(_) => complete = false,
                    },
                    Ok(_) => (),
                    Err(_) => complete = false,
                }
            }
            Ok(Listing { complete, as_of, items })
        };
        Box::pin(async move { self.desk.once(Box::pin(list)).await })
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        self.desk.change(
            attachments,
            |wish| (wish.id, wish.volume_effect),
            |ground, wish| Box::pin(async move { attaching::attach(&ground, wish).await }),
        )
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        self.desk.change(
            attachments,
            |wish| (wish.id, wish.volume_effect),
            |ground, wish| Box::pin(async move { attaching::detach(&ground, &wish).await }),
        )
    }

    fn importer(&self) -> Option<&dyn VolumeImporter> {
        Some(self)
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        self.desk.look(ids, |ground, id| Box::pin(async move { attaching::lookup_attachment(&ground, id).await }))
    }
}

impl LoopVolumes {
    /// Takes all loop devices away that the records say are there. The files stay.
    ///
    /// # Errors
    /// The first that was met; the others are detached all the same.
    pub async fn detach_all(&self) -> Result<(), Fault> {
        let ground = self.desk.ground.clone();
        let read = async move {
            let mut held = Vec::new();
            for id in record::all::<VolumeRecord>(&ground)? {
                let Some(record) = record::load::<VolumeRecord>(&ground, id)? else { continue };
                let Some(claim) = record.attached else { continue };
                held.push(DetachVolume {
                    id: claim.attachment,
                    machine: claim.machine,
                    machine_effect: claim.machine_effect,
                    volume: record.volume,
                    volume_effect: id,
                });
            }
            Ok(held)
        };
        let held = self.desk.once(Box::pin(read)).await?;
        self.detach_volumes(held).await?.into_iter().collect()
    }
}

impl VolumeImporter for LoopVolumes {
    /// Takes over files from the directory `import` in the storage directory, by their names there. A file that is moved
    /// there from outside has to be ours alone, and not shown by any device.
    fn import_volumes(&self, volumes: Vec<ImportVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        self.desk.change(
            volumes,
            |volume| (volume.wish.id, volume.wish.id),
            |ground, volume| Box::pin(async move { importing::import(&ground, volume).await }),
        )
    }
}

fn tag(id: EffectId) -> Tag {
    Tag::of(TagKind::Volume, id)
}

fn volume(effect: EffectId, size: SizeMib) -> ProvisionedVolume {
    ProvisionedVolume { effect, volume_id: InstanceId(tag(effect).to_string()), size }
}
