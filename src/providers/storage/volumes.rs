//! The port for volumes, over loop devices.

use std::{fmt, sync::Arc};

use bailiwick_actors::{
    ports::{
        Answer, AttachVolume, AttachmentInfo, BulkAnswer, Clock, CreateVolume, DetachVolume, ImportVolume, Listing,
        Lookup, ProvisionedVolume, VolumeImporter, VolumeProvider,
    },
    storage_rules::{Adoption, ExistingVolume, check_import},
    vocab::{EffectId, Fault, InstanceId, SizeMib},
};
use bailiwick_journal::crash;

use super::{
    AbsPath, Found, Ground, Seen, StorageError, Tag, TagKind, Turn,
    desk::Desk,
    loop_device,
    names::cut,
    record::{self, Claim, VolumeRecord},
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

/// Where files to be taken over are looked for, in the storage directory.
const IMPORTS: &str = "import";

impl LoopVolumes {
    pub fn new(ground: Arc<Ground>, clock: Arc<dyn Clock>) -> Self {
        Self { desk: Desk::new(ground, clock) }
    }
}

impl VolumeProvider for LoopVolumes {
    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        self.desk.change(
            volumes,
            |volume| (volume.id, volume.id),
            |ground, volume| Box::pin(async move { create(&ground, volume).await }),
        )
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.desk.change(ids, |id| (*id, *id), |ground, id| Box::pin(async move { destroy(&ground, id).await }))
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        self.desk.look(ids, |ground, id| Box::pin(async move { lookup(&ground, id).await }))
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        self.desk.change(
            attachments,
            |wish| (wish.id, wish.volume_effect),
            |ground, wish| Box::pin(async move { attach(&ground, wish).await }),
        )
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        self.desk.change(
            attachments,
            |wish| (wish.id, wish.volume_effect),
            |ground, wish| Box::pin(async move { detach(&ground, &wish).await }),
        )
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        self.desk.look(ids, |ground, id| Box::pin(async move { lookup_attachment(&ground, id).await }))
    }
}

impl VolumeImporter for LoopVolumes {
    /// Takes over files from the directory `import` in the storage directory, by their names there. A file that is moved
    /// there from outside has to be ours alone, and not shown by any device.
    fn import_volumes(&self, volumes: Vec<ImportVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        self.desk.change(
            volumes,
            |volume| (volume.wish.id, volume.wish.id),
            |ground, volume| Box::pin(async move { import(&ground, volume).await }),
        )
    }

    fn list_volumes(&self) -> Answer<'_, Result<Listing<ProvisionedVolume>, Fault>> {
        let (ground, as_of) = (self.desk.ground.clone(), self.desk.clock.now());
        let list = async move {
            let (mut items, mut complete) = (Vec::new(), true);
            for id in record::all::<VolumeRecord>(&ground)? {
                match record::load::<VolumeRecord>(&ground, id) {
                    Ok(Some(record)) => items.extend(record.made.map(|size| volume(id, size))),
                    Ok(None) => (),
                    Err(_) => complete = false,
                }
            }
            Ok(Listing { complete, as_of, items })
        };
        Box::pin(async move { self.desk.once(Box::pin(list)).await })
    }
}

fn tag(id: EffectId) -> Tag {
    Tag::of(TagKind::Volume, id)
}

fn volume(effect: EffectId, size: SizeMib) -> ProvisionedVolume {
    ProvisionedVolume { effect, volume_id: InstanceId(tag(effect).to_string()), size }
}

async fn create(ground: &Ground, wish: CreateVolume) -> Result<ProvisionedVolume, StorageError> {
    let tag = tag(wish.id);
    let turn = ground.turn(&tag)?;
    let known = record::load::<VolumeRecord>(ground, wish.id)?;
    let is_new = known.is_none();
    let mut record = match known {
        Some(found) if found.uid != wish.uid || found.size != wish.size || found.imported_from.is_some() => {
            return Err(StorageError::AlreadyExists { tag });
        }
        Some(found) => found,
        None => {
            if ground.tree.look(&loop_device::file(ground, &tag))? != Found::Nothing {
                return Err(StorageError::BackingFile { tag });
            }
            let new = VolumeRecord {
                effect: wish.id,
                volume: wish.volume,
                uid: wish.uid,
                size: wish.size,
                imported_from: None,
                made: None,
                attached: None,
            };
            record::store(ground, &new)?;
            crash::point("storage-volume-recorded");
            new
        }
    };
    if let Some(size) = record.made {
        return Ok(volume(wish.id, size));
    }
    let size = match loop_device::create(ground, &tag, wish.size, &turn).await {
        Ok(size) => size,
        Err(error) => {
            if is_new && error.is_refusal() {
                // Nobody has ever seen the file, and it may hold space that others need. If this fails too, looking it
                // up or destroying it does it; the first error is the one that tells.
                let _ = take_back(ground, &record, &tag).await.and_then(|()| ground.retire(turn, &tag));
            }
            return Err(error);
        }
    };
    record.made = Some(size);
    record::store(ground, &record)?;
    crash::point("storage-volume-made");
    Ok(volume(wish.id, size))
}

async fn destroy(ground: &Ground, id: EffectId) -> Result<(), StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    if let Some(mut record) = record::load::<VolumeRecord>(ground, id)? {
        if record.attached.is_some() {
            return Err(StorageError::StillAttached { tag });
        }
        if loop_device::find(ground, &tag)?.is_some() {
            return Err(StorageError::StillAttached { tag });
        }
        // From here on it is not there any more, whatever is left of it; and an imported one has no other place to go to.
        (record.made, record.imported_from) = (None, None);
        record::store(ground, &record)?;
        crash::point("storage-volume-given-up");
    }
    loop_device::destroy(ground, &tag.to_string()).await?;
    crash::point("storage-volume-removed");
    record::forget::<VolumeRecord>(ground, id)?;
    crash::point("storage-volume-forgotten");
    ground.retire(turn, &tag)
}

async fn lookup(ground: &Ground, id: EffectId) -> Result<Lookup<ProvisionedVolume>, StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<VolumeRecord>(ground, id)? else {
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    let Some(size) = record.made else {
        take_back(ground, &record, &tag).await?;
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    let wanted = size.bytes().ok_or(StorageError::BadSize { size })?;
    match ground.tree.look(&loop_device::file(ground, &tag))? {
        Found::File { bytes, .. } if wanted <= bytes => Ok(Lookup::Present(volume(id, size))),
        _ => Err(StorageError::BackingFile { tag }),
    }
}

/// Undoes what was begun: a file that we made goes, one that was to be taken over gets its old place back.
async fn take_back(ground: &Ground, record: &VolumeRecord, tag: &Tag) -> Result<(), StorageError> {
    match &record.imported_from {
        Some(name) => {
            let (from, to) = (loop_device::file(ground, tag), import_place(ground, name)?);
            if ground.tree.look(&from)? != Found::Nothing {
                ground.tree.rename(&from, &to)?;
            }
        }
        None => loop_device::destroy(ground, &tag.to_string()).await?,
    }
    crash::point("storage-volume-taken-back");
    record::forget::<VolumeRecord>(ground, record.effect)
}

async fn attach(ground: &Ground, wish: AttachVolume) -> Result<AttachmentInfo, StorageError> {
    let tag = tag(wish.volume_effect);
    let turn = ground.turn(&tag)?;
    let record = record::load::<VolumeRecord>(ground, wish.volume_effect)?.filter(|record| record.made.is_some());
    let Some(mut record) = record else {
        ground.retire(turn, &tag)?;
        return Err(StorageError::InfoMissing { tag });
    };
    let claim = Claim {
        attachment: wish.id,
        machine: wish.machine,
        machine_effect: wish.machine_effect,
        path: None,
        device: None,
        read_only: wish.read_only,
    };
    let is_new = record.attached.is_none();
    match &record.attached {
        Some(held) if *held != claim => return Err(StorageError::StillAttached { tag }),
        Some(_) => (),
        None => {
            record::point(ground, TagKind::Volume, wish.id, wish.volume_effect)?;
            crash::point("storage-attachment-recorded");
            record.attached = Some(claim);
            record::store(ground, &record)?;
            crash::point("storage-volume-claimed");
        }
    }
    let attached = match loop_device::attach(ground, &tag, wish.read_only, &turn).await {
        Ok(attached) => attached,
        Err(error) => {
            if is_new && error.is_refusal() {
                // Others may have it then. If this fails too, looking it up does it; the first error is the one that tells.
                let _ = release(ground, record, &tag, &turn).await;
            }
            return Err(error);
        }
    };
    Ok(AttachmentInfo { path: attached.device.path().as_str().to_owned(), read_only: attached.read_only })
}

async fn detach(ground: &Ground, wish: &DetachVolume) -> Result<(), StorageError> {
    let tag = tag(wish.volume_effect);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<VolumeRecord>(ground, wish.volume_effect)? else {
        record::unpoint(ground, TagKind::Volume, wish.id)?;
        return ground.retire(turn, &tag);
    };
    if record.attached.as_ref().is_some_and(|claim| claim.attachment == wish.id) {
        return release(ground, record, &tag, &turn).await;
    }
    record::unpoint(ground, TagKind::Volume, wish.id)
}

/// Undoes all steps of an attachment, the last one first.
async fn release(ground: &Ground, mut record: VolumeRecord, tag: &Tag, turn: &Turn) -> Result<(), StorageError> {
    loop_device::detach(ground, tag, turn).await?;
    crash::point("storage-volume-detached");
    let Some(claim) = record.attached.take() else { return Ok(()) };
    record::store(ground, &record)?;
    crash::point("storage-volume-unclaimed");
    record::unpoint(ground, TagKind::Volume, claim.attachment)
}

async fn lookup_attachment(ground: &Ground, id: EffectId) -> Result<Lookup<AttachmentInfo>, StorageError> {
    let Some(of) = record::pointed(ground, TagKind::Volume, id)? else { return Ok(Lookup::Absent) };
    let tag = tag(of);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<VolumeRecord>(ground, of)? else {
        record::unpoint(ground, TagKind::Volume, id)?;
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    if record.attached.as_ref().is_none_or(|claim| claim.attachment != id) {
        record::unpoint(ground, TagKind::Volume, id)?;
        return Ok(Lookup::Absent);
    }
    if let Some(attached) = loop_device::find(ground, &tag)? {
        let path = attached.device.path().as_str().to_owned();
        return Ok(Lookup::Present(AttachmentInfo { path, read_only: attached.read_only }));
    }
    release(ground, record, &tag, &turn).await?;
    Ok(Lookup::Absent)
}

/// The place of a file that is to be taken over; its name was checked, and is checked again.
fn import_place(ground: &Ground, name: &str) -> Result<AbsPath, StorageError> {
    format!("{}/{IMPORTS}/{name}", ground.storage_dir).parse()
}

async fn import(ground: &Ground, wish: ImportVolume) -> Result<ProvisionedVolume, StorageError> {
    let (id, name) = (wish.wish.id, &wish.wish.volume_id);
    let tag = tag(id);
    let _turn = ground.turn(&tag)?;
    let begun = record::load::<VolumeRecord>(ground, id)?;
    let is_this = |record: &VolumeRecord| record.uid == wish.uid && record.imported_from.as_ref() == Some(&name.0);
    if begun.as_ref().is_some_and(|record| !is_this(record)) {
        return Err(StorageError::AlreadyExists { tag });
    }
    if let Some(size) = begun.as_ref().and_then(|record| record.made) {
        return Ok(volume(id, size));
    }
    let file = loop_device::file(ground, &tag);
    let has_moved = begun.is_some() && ground.tree.look(&file)? != Found::Nothing;
    // The rule refuses names that could lead elsewhere before any path is made of them.
    let place = if has_moved { file.clone() } else { import_place_checked(ground, &wish)? };
    let existing = describe(ground, &wish, &place, has_moved)?;
    let refused = |refusal| StorageError::ImportRefused { volume_id: cut(&name.0), refusal };
    let (Adoption::Tag { size } | Adoption::Done { size }) = check_import(&wish.wish, &existing).map_err(refused)?;
    let mut record = VolumeRecord {
        effect: id,
        volume: wish.volume,
        uid: wish.uid,
        size: wish.wish.size_min,
        imported_from: Some(name.0.clone()),
        made: None,
        attached: None,
    };
    if begun.is_none() {
        record::store(ground, &record)?;
        crash::point("storage-import-recorded");
    }
    if !has_moved {
        ground.tree.rename(&place, &file)?;
        crash::point("storage-import-moved");
    }
    record.made = Some(size);
    record::store(ground, &record)?;
    crash::point("storage-import-made");
    Ok(volume(id, size))
}

fn import_place_checked(ground: &Ground, wish: &ImportVolume) -> Result<AbsPath, StorageError> {
    // As if nothing were known of it but its name: that is refused first.
    let unknown = ExistingVolume {
        volume_id: wish.wish.volume_id.clone(),
        size: SizeMib(u64::MAX),
        tagged: None,
        foreign_owner: None,
        in_use_by: None,
    };
    let volume_id = cut(&wish.wish.volume_id.0);
    check_import(&wish.wish, &unknown).map_err(|refusal| StorageError::ImportRefused { volume_id, refusal })?;
    import_place(ground, &wish.wish.volume_id.0)
}

/// What is to be taken over, as the rule wants to know it.
fn describe(
    ground: &Ground,
    wish: &ImportVolume,
    place: &AbsPath,
    has_moved: bool,
) -> Result<ExistingVolume, StorageError> {
    let not_a_volume = || StorageError::BackingFile { tag: tag(wish.wish.id) };
    let Found::File { bytes, is_ours } = ground.tree.look(place)? else { return Err(not_a_volume()) };
    let mut in_use_by = None;
    for device in ground.sight.loop_devices()? {
        if matches!(ground.sight.loop_file(&device)?, Seen::It(found) if found.path == place.as_str()) {
            in_use_by = Some(device.to_string());
        }
    }
    Ok(ExistingVolume {
        volume_id: wish.wish.volume_id.clone(),
        size: SizeMib(bytes >> 20),
        tagged: has_moved.then_some(wish.wish.id),
        foreign_owner: (!is_ours).then(|| "another user, or under another name too".to_owned()),
        in_use_by,
    })
}
