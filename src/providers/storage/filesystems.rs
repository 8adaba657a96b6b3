//! The port for filesystems, over the four ways to have one on a machine.

mod attaching;
mod making;

use std::{fmt, sync::Arc};

use super::{
    Ground, StorageError, Tag, TagKind,
    desk::Desk,
    directory::{self, Account},
    managed,
    record::{self, FilesystemRecord},
};
use bailiwick_actors::{
    ports::{
        Answer, AttachFilesystem, Backing, BulkAnswer, Clock, CreateFilesystem, DetachFilesystem,
        FilesystemAttachmentInfo, FilesystemProvider, Listing, Lookup, ProvisionedFilesystem,
    },
    storage_rules::ProviderType,
    vocab::{EffectId, Fault, InstanceId, Name, SizeMib},
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

impl Way {
    /// What pools call it; none for what lives on volumes, which are what comes from pools.
    pub(super) fn provider_type(self) -> Option<ProviderType> {
        match self {
            Self::Tmpfs => Some(ProviderType::Tmpfs),
            Self::Rootfs => Some(ProviderType::Rootfs),
            Self::Directory { .. } => Some(ProviderType::Directory),
            Self::Managed => None,
        }
    }
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
    pub filesystem: Name,
    pub promised: SizeMib,
    pub used: SizeMib,
}

impl Filesystems {
    pub fn new(way: Way, ground: Arc<Ground>, clock: Arc<dyn Clock>) -> Self {
        Self { desk: Desk::new(ground, clock), way, account: Arc::default() }
    }

    /// Removes the records that were begun by somebody who was killed. Nobody may be at work here.
    ///
    /// # Errors
    /// If the storage directory cannot be read or changed.
    pub fn clear_unfinished(&self) -> Result<(), StorageError> {
        self.desk.ground.clear_unfinished()
    }

    /// The plain directories that take more than they were promised, in the order of their ids.
    pub async fn over_quota(&self) -> Result<Vec<OverQuota>, Fault> {
        let ground = self.desk.ground.clone();
        let look = async move {
            let mut over = Vec::new();
            for id in record::all::<FilesystemRecord>(&ground)? {
                let Some(record) = record::load::<FilesystemRecord>(&ground, id)? else { continue };
                let Some(promised) = record.made else { continue };
                let used = directory::used(&ground, &tag(id))?;
                if promised < used {
                    over.push(OverQuota { effect: id, filesystem: record.filesystem, promised, used });
                }
            }
            Ok(over)
        };
        self.desk.once(Box::pin(look)).await
    }
}

impl Filesystems {
    /// Unmounts everything that the records say is mounted.
    ///
    /// # Errors
    /// The first that was met; the others are unmounted all the same.
    pub async fn detach_all(&self) -> Result<(), Fault> {
        let ground = self.desk.ground.clone();
        let read = async move {
            let mut held = Vec::new();
            for id in record::all::<FilesystemRecord>(&ground)? {
                let Some(record) = record::load::<FilesystemRecord>(&ground, id)? else { continue };
                let Some(claim) = record.attached else { continue };
                held.push(DetachFilesystem {
                    id: claim.attachment,
                    machine: claim.machine,
                    machine_effect: claim.machine_effect,
                    filesystem: record.filesystem,
                    filesystem_effect: id,
                });
            }
            Ok(held)
        };
        let held = self.desk.once(Box::pin(read)).await?;
        self.detach_filesystems(held).await?.into_iter().collect()
    }

    /// Forgets what was made on a volume that is gone, with all its data.
    ///
    /// # Errors
    /// If a record cannot be read or removed.
    pub async fn forget_on(&self, volume: EffectId) -> Result<(), Fault> {
        let ground = self.desk.ground.clone();
        let read = async move {
            let mut on_it = Vec::new();
            for id in record::all::<FilesystemRecord>(&ground)? {
                let record = record::load::<FilesystemRecord>(&ground, id)?;
                let backing = record.and_then(|record| record.backing);
                if backing.is_some_and(|backing| backing.volume_effect == volume) {
                    on_it.push(id);
                }
            }
            Ok(on_it)
        };
        let on_it = self.desk.once(Box::pin(read)).await?;
        self.destroy_filesystems(on_it).await?.into_iter().collect::<Result<(), Fault>>()?;
        let ground = self.desk.ground.clone();
        let forget = async move { managed::forget_destroyed(&ground, &Tag::of(TagKind::Volume, volume)) };
        self.desk.once(Box::pin(forget)).await
    }
}

impl FilesystemProvider for Filesystems {
    fn can_release(&self) -> Option<bool> {
        Some(false)
    }

    fn create_filesystems(&self, filesystems: Vec<CreateFilesystem>) -> BulkAnswer<'_, ProvisionedFilesystem> {
        self.desk.change(
            filesystems,
            |wish| (wish.id, wish.backing.as_ref().map_or(wish.id, |backing| backing.volume_effect)),
            |ground, wish| {
                let (way, account) = (self.way, self.account.clone());
                Box::pin(async move { making::create(&ground, way, &account, wish).await })
            },
        )
    }

    fn destroy_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.desk.change(
            ids,
            |id| (*id, *id),
            |ground, id| {
                let (way, account) = (self.way, self.account.clone());
                Box::pin(async move { making::destroy(&ground, way, &account, id) })
            },
        )
    }

    fn lookup_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>> {
        self.desk.look(ids, |ground, id| {
            let (way, account) = (self.way, self.account.clone());
            Box::pin(async move { making::lookup(&ground, way, &account, id) })
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
                Box::pin(async move { attaching::attach(&ground, way, wish).await })
            },
        )
    }

    fn detach_filesystems(&self, attachments: Vec<DetachFilesystem>) -> BulkAnswer<'_, ()> {
        self.desk.change(
            attachments,
            |wish| (wish.id, wish.filesystem_effect),
            |ground, wish| {
                let way = self.way;
                Box::pin(async move { attaching::detach(&ground, way, &wish).await })
            },
        )
    }

    fn lookup_filesystem_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>> {
        self.desk.look(ids, |ground, id| {
            let way = self.way;
            Box::pin(async move { attaching::lookup_attachment(&ground, way, id).await })
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
