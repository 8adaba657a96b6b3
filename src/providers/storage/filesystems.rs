//! The port for filesystems, over the four ways to have one on a machine.

use std::{fmt, sync::Arc};

use bailiwick_actors::{
    ports::{
        Answer, AttachFilesystem, Backing, BulkAnswer, Clock, CreateFilesystem, DetachFilesystem,
        FilesystemAttachmentInfo, FilesystemProvider, Listing, Lookup, ProvisionedFilesystem,
    },
    vocab::{EffectId, Fault, InstanceId, SizeMib},
};
use bailiwick_journal::crash;

use super::{
    AbsPath, Ground, Ours, Seen, StorageError, Tag, TagKind, Turn,
    desk::Desk,
    directory::{self, Account},
    managed,
    record::{self, Claim, FilesystemRecord},
    rootfs, tmpfs,
};

/// One way to have filesystems on this machine. Each has a storage directory of its own.
#[derive(Clone)]
pub struct Filesystems {
    desk: Desk,
    way: Way,
    /// What plain directories have been promised.
    account: Arc<Account>,
}

/// How filesystems are had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In memory.
    Tmpfs,
    /// Bound directories of the machine's own filesystem.
    Rootfs,
    /// On volumes.
    Managed,
    /// Plain directories; all sizes together never exceed the capacity.
    Directory { capacity: SizeMib },
}

impl fmt::Debug for Filesystems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Filesystems");
        shown.field("way", &self.way).field("ground", &self.desk.ground).finish_non_exhaustive()
    }
}

/// A filesystem that takes more than it was promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverQuota {
    pub effect: EffectId,
    pub promised: SizeMib,
    pub used: SizeMib,
}

impl Filesystems {
    pub fn new(way: Way, ground: Arc<Ground>, clock: Arc<dyn Clock>) -> Self {
        Self { desk: Desk::new(ground, clock), way, account: Arc::default() }
    }

    /// The plain directories that take more than they were promised, in the order of their ids. Nobody is kept from
    /// writing; whoever watches decides what to do.
    pub async fn over_quota(&self) -> Result<Vec<OverQuota>, Fault> {
        let ground = self.desk.ground.clone();
        let look = async move {
            let mut over = Vec::new();
            for id in record::all::<FilesystemRecord>(&ground)? {
                let Some(record) = record::load::<FilesystemRecord>(&ground, id)? else { continue };
                let Some(promised) = record.made else { continue };
                let used = directory::used(&ground, &tag(id))?;
                if promised < used {
                    over.push(OverQuota { effect: id, promised, used });
                }
            }
            Ok(over)
        };
        self.desk.once(Box::pin(look)).await
    }
}

impl FilesystemProvider for Filesystems {
    fn create_filesystems(&self, filesystems: Vec<CreateFilesystem>) -> BulkAnswer<'_, ProvisionedFilesystem> {
        self.desk.change(
            filesystems,
            |wish| (wish.id, wish.backing.as_ref().map_or(wish.id, |backing| backing.volume_effect)),
            |ground, wish| {
                let (way, account) = (self.way, self.account.clone());
                Box::pin(async move { create(&ground, way, &account, wish).await })
            },
        )
    }

    fn destroy_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.desk.change(
            ids,
            |id| (*id, *id),
            |ground, id| {
                let (way, account) = (self.way, self.account.clone());
                Box::pin(async move { destroy(&ground, way, &account, id) })
            },
        )
    }

    fn lookup_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>> {
        self.desk.look(ids, |ground, id| {
            let (way, account) = (self.way, self.account.clone());
            Box::pin(async move { lookup(&ground, way, &account, id) })
        })
    }

    fn list_filesystems(&self) -> Answer<'_, Result<Listing<ProvisionedFilesystem>, Fault>> {
        let (ground, way, as_of) = (self.desk.ground.clone(), self.way, self.desk.clock.now());
        let list = async move {
            let (mut items, mut complete) = (Vec::new(), true);
            for id in record::all::<FilesystemRecord>(&ground)? {
                match record::load::<FilesystemRecord>(&ground, id) {
                    Ok(Some(record)) => items.extend(record.made.map(|size| made(way, id, size))),
                    Ok(None) => (),
                    Err(_) => complete = false,
                }
            }
            Ok(Listing { complete, as_of, items })
        };
        Box::pin(async move { self.desk.once(Box::pin(list)).await })
    }

    fn attach_filesystems(&self, attachments: Vec<AttachFilesystem>) -> BulkAnswer<'_, FilesystemAttachmentInfo> {
        self.desk.change(
            attachments,
            |wish| (wish.id, wish.filesystem_effect),
            |ground, wish| {
                let way = self.way;
                Box::pin(async move { attach(&ground, way, wish).await })
            },
        )
    }

    fn detach_filesystems(&self, attachments: Vec<DetachFilesystem>) -> BulkAnswer<'_, ()> {
        self.desk.change(
            attachments,
            |wish| (wish.id, wish.filesystem_effect),
            |ground, wish| {
                let way = self.way;
                Box::pin(async move { detach(&ground, way, &wish).await })
            },
        )
    }

    fn lookup_filesystem_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>> {
        self.desk.look(ids, |ground, id| {
            let way = self.way;
            Box::pin(async move { lookup_attachment(&ground, way, id).await })
        })
    }
}

fn tag(id: EffectId) -> Tag {
    Tag::of(TagKind::Filesystem, id)
}

fn made(way: Way, effect: EffectId, size: SizeMib) -> ProvisionedFilesystem {
    let tag = tag(effect);
    let id = match way {
        Way::Rootfs | Way::Directory { .. } => tag.key().to_owned(),
        Way::Tmpfs | Way::Managed => tag.to_string(),
    };
    ProvisionedFilesystem { effect, filesystem_id: InstanceId(id), size }
}

fn beneath(backing: Option<&Backing>) -> Result<Option<managed::Beneath>, StorageError> {
    let Some(backing) = backing else { return Ok(None) };
    Ok(Some(managed::Beneath {
        name: backing.device.name.parse()?,
        size: backing.device.size,
        hardware_id: backing.device.hardware_id.clone(),
    }))
}

async fn create(
    ground: &Ground,
    way: Way,
    account: &Account,
    wish: CreateFilesystem,
) -> Result<ProvisionedFilesystem, StorageError> {
    let tag = tag(wish.id);
    let turn = ground.turn(&tag)?;
    // Two filesystems must not be made on one volume at the same time, whoever makes them.
    let volume = wish.backing.as_ref().map(|backing| Tag::of(TagKind::Volume, backing.volume_effect));
    let volume = volume.map(|volume| ground.turn(&volume).map(|turn| (volume, turn))).transpose()?;
    let known = record::load::<FilesystemRecord>(ground, wish.id)?;
    let is_new = known.is_none();
    let mut record = match known {
        Some(found) if found.uid != wish.uid || found.size != wish.size => {
            return Err(StorageError::AlreadyExists { tag });
        }
        Some(found) => found,
        None => match begin(ground, way, account, &wish) {
            Ok(begun) => begun,
            Err(error) => {
                ground.retire(turn, &tag)?;
                return Err(error);
            }
        },
    };
    if let Some(size) = record.made {
        return Ok(made(way, wish.id, size));
    }
    let size = make(ground, way, &tag, &wish, &turn).await;
    if let Some((volume, turn)) = volume {
        ground.retire(turn, &volume)?;
    }
    let size = match size {
        Ok(size) => size,
        Err(error) => {
            // What is noted about a formatting stays; anything else that was begun just now goes. If that fails too,
            // looking it up or destroying it does it; the first error is the one that tells.
            if is_new && error.is_refusal() && !managed::is_noted(ground, &tag)? {
                let gone = remove(ground, way, &tag).and_then(|()| record::forget::<FilesystemRecord>(ground, wish.id));
                if gone.and_then(|()| ground.retire(turn, &tag)).is_ok() {
                    account.give_back(wish.id);
                }
            }
            return Err(error);
        }
    };
    record.made = Some(size);
    record.backing = wish.backing;
    record::store(ground, &record)?;
    crash::point("storage-filesystem-made");
    Ok(made(way, wish.id, size))
}

async fn make(
    ground: &Ground,
    way: Way,
    tag: &Tag,
    wish: &CreateFilesystem,
    turn: &Turn,
) -> Result<SizeMib, StorageError> {
    match way {
        // Noted by an attempt that did not come further.
        Way::Tmpfs => match tmpfs::size(ground, tag) {
            Err(StorageError::InfoMissing { .. }) => tmpfs::create(ground, tag, wish.size),
            noted => noted,
        },
        Way::Rootfs => rootfs::create(ground, tag, wish.size, turn).await,
        Way::Directory { .. } => directory::create(ground, tag, wish.size),
        Way::Managed => {
            let beneath = beneath(wish.backing.as_ref())?;
            if let Some(have) = beneath.as_ref().map(|beneath| beneath.size).filter(|have| *have < wish.size) {
                return Err(StorageError::NotBigEnough { have, want: wish.size });
            }
            Ok(managed::create(ground, tag, beneath.as_ref(), turn).await?.size)
        }
    }
}

/// Writes down what is going to be made; what has a capacity is promised here.
fn begin(
    ground: &Ground,
    way: Way,
    account: &Account,
    wish: &CreateFilesystem,
) -> Result<FilesystemRecord, StorageError> {
    if let Way::Directory { capacity } = way {
        account.promise(ground, wish.id, wish.size, capacity)?;
    }
    let record = FilesystemRecord {
        effect: wish.id,
        filesystem: wish.filesystem.clone(),
        uid: wish.uid,
        size: wish.size,
        backing: wish.backing.clone(),
        made: None,
        attached: None,
    };
    record::store(ground, &record)?;
    crash::point("storage-filesystem-recorded");
    Ok(record)
}

fn destroy(ground: &Ground, way: Way, account: &Account, id: EffectId) -> Result<(), StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    if let Some(mut record) = record::load::<FilesystemRecord>(ground, id)? {
        if record.attached.is_some() {
            return Err(StorageError::StillAttached { tag });
        }
        // What a crash left of the making; if somebody is at the volume, that one tidies up.
        let volume = record.backing.as_ref().map(|backing| Tag::of(TagKind::Volume, backing.volume_effect));
        if let Some((volume, Ok(turn))) = volume.map(|volume| (volume.clone(), ground.turn(&volume))) {
            ground.retire(turn, &volume)?;
        }
        // From here on it is not there any more, whatever is left of it.
        record.made = None;
        record::store(ground, &record)?;
        crash::point("storage-filesystem-given-up");
        remove(ground, way, &tag)?;
        crash::point("storage-filesystem-removed");
        record::forget::<FilesystemRecord>(ground, id)?;
        crash::point("storage-filesystem-forgotten");
    }
    account.give_back(id);
    ground.retire(turn, &tag)
}

/// Removes what a filesystem is made of: the data only where that is the provider's nature.
fn remove(ground: &Ground, way: Way, tag: &Tag) -> Result<(), StorageError> {
    match way {
        Way::Tmpfs => tmpfs::destroy(ground, tag),
        Way::Managed => managed::destroy(ground, tag),
        Way::Directory { .. } => directory::destroy(ground, tag),
        Way::Rootfs => {
            rootfs::destroy(ground, tag)?;
            let directory = rootfs::directory(ground, tag);
            // Data is kept; an empty directory is none.
            if ground.tree.look(&directory)? == super::Found::Directory && ground.tree.is_empty(&directory)? {
                ground.tree.remove_empty_directory(&directory)?;
            }
            Ok(())
        }
    }
}

fn lookup(
    ground: &Ground,
    way: Way,
    account: &Account,
    id: EffectId,
) -> Result<Lookup<ProvisionedFilesystem>, StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<FilesystemRecord>(ground, id)? else {
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    match (record.made, way) {
        (Some(size), _) => Ok(Lookup::Present(made(way, id, size))),
        // What is noted about a formatting says what to think of the device: it stays until it is made or destroyed.
        (None, Way::Managed) => Ok(Lookup::Absent),
        (None, Way::Tmpfs | Way::Rootfs | Way::Directory { .. }) => {
            remove(ground, way, &tag)?;
            crash::point("storage-filesystem-taken-back");
            record::forget::<FilesystemRecord>(ground, id)?;
            account.give_back(id);
            ground.retire(turn, &tag)?;
            Ok(Lookup::Absent)
        }
    }
}

/// Where a filesystem is mounted if nobody says where.
fn default_path(ground: &Ground, way: Way, tag: &Tag) -> AbsPath {
    match way {
        Way::Directory { .. } => rootfs::directory(ground, tag),
        Way::Tmpfs | Way::Rootfs | Way::Managed => ground.storage_dir.join("mounts").join(&tag.to_string()),
    }
}

async fn attach(ground: &Ground, way: Way, wish: AttachFilesystem) -> Result<FilesystemAttachmentInfo, StorageError> {
    let tag = tag(wish.filesystem_effect);
    let turn = ground.turn(&tag)?;
    let record = record::load::<FilesystemRecord>(ground, wish.filesystem_effect)?;
    let Some(mut record) = record.filter(|record| record.made.is_some()) else {
        ground.retire(turn, &tag)?;
        return Err(StorageError::InfoMissing { tag });
    };
    let path = match wish.path.as_deref().filter(|path| !path.is_empty()) {
        Some(path) => path.parse::<AbsPath>()?,
        None => default_path(ground, way, &tag),
    };
    let backing = wish.backing.or_else(|| record.backing.clone());
    let beneath = beneath(backing.as_ref().filter(|_| way == Way::Managed))?;
    let claim = Claim {
        attachment: wish.id,
        machine: wish.machine,
        machine_effect: wish.machine_effect,
        path: Some(path.as_str().to_owned()),
        device: beneath.as_ref().map(|beneath| beneath.name.to_string()),
        read_only: wish.read_only,
    };
    let is_this = |held: &Claim| {
        (held.attachment, &held.path, held.read_only) == (claim.attachment, &claim.path, claim.read_only)
    };
    if record.attached.as_ref().is_some_and(|held| !is_this(held)) {
        return Err(StorageError::StillAttached { tag });
    }
    let is_new = record.attached.is_none();
    if record.attached.as_ref() != Some(&claim) {
        record::point(ground, TagKind::Filesystem, wish.id, wish.filesystem_effect)?;
        crash::point("storage-attachment-recorded");
        record.attached = Some(claim);
        record::store(ground, &record)?;
        crash::point("storage-filesystem-claimed");
    }
    let wanted = Some(&path);
    let attached = match way {
        Way::Tmpfs => tmpfs::attach(ground, &tag, wanted, wish.read_only, &turn).await,
        Way::Rootfs => rootfs::attach(ground, &tag, wanted, wish.read_only, &turn).await,
        Way::Managed => managed::attach(ground, &tag, beneath.as_ref(), wanted, wish.read_only, &turn).await,
        Way::Directory { .. } => directory::attach(ground, &tag, wanted, wish.read_only).map(drop),
    };
    if let Err(error) = attached {
        if is_new && error.is_refusal() {
            // Others may have it then. If this fails too, looking it up does it; the first error is the one that tells.
            let _ = withdraw(ground, way, record, &tag, &turn).await;
        }
        return Err(error);
    }
    crash::point("storage-filesystem-attached");
    Ok(FilesystemAttachmentInfo { mount_point: path.as_str().to_owned(), read_only: wish.read_only })
}

async fn detach(ground: &Ground, way: Way, wish: &DetachFilesystem) -> Result<(), StorageError> {
    let tag = tag(wish.filesystem_effect);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<FilesystemRecord>(ground, wish.filesystem_effect)? else {
        record::unpoint(ground, TagKind::Filesystem, wish.id)?;
        return ground.retire(turn, &tag);
    };
    if record.attached.as_ref().is_some_and(|claim| claim.attachment == wish.id) {
        return release(ground, way, record, &tag, &turn).await;
    }
    record::unpoint(ground, TagKind::Filesystem, wish.id)
}

/// How the mount of a claim is known.
fn ours(ground: &Ground, way: Way, tag: &Tag, claim: &Claim) -> Result<Option<Ours>, StorageError> {
    Ok(match way {
        Way::Tmpfs => Some(Ours::Memory(tag.clone())),
        Way::Rootfs => Some(Ours::Directory(rootfs::directory(ground, tag))),
        Way::Managed => match &claim.device {
            Some(name) => Some(managed::ours(ground, tag, &name.parse()?)?),
            None => None,
        },
        Way::Directory { .. } => None,
    })
}

/// Undoes all steps of an attachment, the last one first.
async fn release(
    ground: &Ground,
    way: Way,
    record: FilesystemRecord,
    tag: &Tag,
    turn: &Turn,
) -> Result<(), StorageError> {
    let Some(claim) = record.attached.clone() else { return Ok(()) };
    if let Some(path) = claim.path.as_deref().map(str::parse::<AbsPath>).transpose()? {
        match ours(ground, way, tag, &claim)? {
            _ if path == rootfs::directory(ground, tag) => (),
            Some(ours) => ground.unmount(&path, &ours, turn).await?,
            None => directory::detach(ground, tag, &path)?,
        }
        crash::point("storage-filesystem-unmounted");
    }
    unclaim(ground, way, record, tag)
}

/// Takes a claim back from which nothing came: what is at its path now is not ours, and is not even looked for in the boot
/// table.
async fn withdraw(
    ground: &Ground,
    way: Way,
    record: FilesystemRecord,
    tag: &Tag,
    turn: &Turn,
) -> Result<(), StorageError> {
    let Some(claim) = record.attached.clone() else { return Ok(()) };
    let path = claim.path.as_deref().map(str::parse::<AbsPath>).transpose()?;
    if let (Some(path), Some(ours)) = (&path, ours(ground, way, tag, &claim)?)
        && matches!(ground.is_mounted(path, &ours), Ok(Seen::It(_) | Seen::CannotTell))
    {
        return release(ground, way, record, tag, turn).await;
    }
    unclaim(ground, way, record, tag)
}

/// Nothing is mounted any more; the claim goes, and a mount point that was only ours.
fn unclaim(ground: &Ground, way: Way, mut record: FilesystemRecord, tag: &Tag) -> Result<(), StorageError> {
    let Some(claim) = record.attached.take() else { return Ok(()) };
    let path = default_path(ground, way, tag);
    let is_default = claim.path.as_deref() == Some(path.as_str()) && !matches!(way, Way::Directory { .. });
    if is_default && ground.tree.look(&path)? == super::Found::Directory && ground.tree.is_empty(&path)? {
        ground.tree.remove_empty_directory(&path)?;
    }
    record::store(ground, &record)?;
    crash::point("storage-filesystem-unclaimed");
    record::unpoint(ground, TagKind::Filesystem, claim.attachment)
}

async fn lookup_attachment(
    ground: &Ground,
    way: Way,
    id: EffectId,
) -> Result<Lookup<FilesystemAttachmentInfo>, StorageError> {
    let Some(of) = record::pointed(ground, TagKind::Filesystem, id)? else { return Ok(Lookup::Absent) };
    let tag = tag(of);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<FilesystemRecord>(ground, of)? else {
        record::unpoint(ground, TagKind::Filesystem, id)?;
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    let Some(claim) = record.attached.clone().filter(|claim| claim.attachment == id) else {
        record::unpoint(ground, TagKind::Filesystem, id)?;
        return Ok(Lookup::Absent);
    };
    let path: AbsPath = claim.path.as_deref().unwrap_or_default().parse()?;
    let seen = match ours(ground, way, &tag, &claim)? {
        Some(ours) => ground.is_mounted(&path, &ours)?,
        None => Seen::Nothing,
    };
    // A directory may serve without being bound.
    let is_there = match (seen, way) {
        (Seen::It(_), _) => true,
        (Seen::CannotTell, _) => return Ok(Lookup::Unknown),
        (Seen::Nothing, Way::Directory { .. }) => directory::is_attached(ground, &tag, &path)?,
        (Seen::Nothing, Way::Rootfs) => {
            path == rootfs::directory(ground, &tag) || rootfs::claimed(ground, &tag)?.as_ref() == Some(&path)
        }
        (Seen::Nothing, Way::Tmpfs | Way::Managed) => false,
    };
    if is_there {
        let info = FilesystemAttachmentInfo { mount_point: path.as_str().to_owned(), read_only: claim.read_only };
        return Ok(Lookup::Present(info));
    }
    release(ground, way, record, &tag, &turn).await?;
    Ok(Lookup::Absent)
}
