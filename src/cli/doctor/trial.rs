//! Storage tried for real: the node's own code makes a volume, mounts it, and takes it away again, in a directory of its own.

use std::sync::Arc;

use bailiwick_actors::vocab::{EffectId, SizeMib};
use uuid::Uuid;

use super::Finding;
use crate::{
    cli::{exit::CliError, scratch::Scratch, session, up::Signals},
    providers::storage::{
        AbsPath, Ground, Ours, StorageError, SystemRunner, Tag, TagKind, Turn, loop_device,
        managed::{self, Beneath},
        tmpfs,
    },
};

/// Large enough for a filesystem.
const SIZE: SizeMib = SizeMib(8);

/// What is tried under this name works, or why it does not.
pub(super) fn finding(check: &'static str) -> Result<Finding, CliError> {
    session::block_on(async {
        // A signal is no reason to leave a device or a mount behind: it counts for nothing until all is undone.
        let _signals = Signals::new()?;
        Ok(match tried(check).await {
            Ok(done) => Finding::ok(check, done),
            Err(error) => Finding::problem(
                check,
                format!("tried here, and it failed: {}", chain(&error)),
                "give the node's container or unit what is missing, or declare no storage of that kind for this machine",
            ),
        })
    })?
}

async fn tried(check: &str) -> Result<&'static str, StorageError> {
    let scratch = Scratch::make().map_err(|source| StorageError::Io { doing: "make a directory", source })?;
    let ground = Ground::of_this_machine(scratch.path(), &[], Arc::new(SystemRunner::default()))?;
    let place = ground.storage_dir.join("mounted");
    match check {
        "tmpfs" => in_memory(&ground, &place).await.map(|()| "mounted one, and unmounted it"),
        "loop-volumes" => on_loop_device(&ground, None).await.map(|()| "attached a loop device, and detached it"),
        _ => on_loop_device(&ground, Some(&place)).await.map(|()| "made an ext4 on a loop device, and mounted it"),
    }
}

async fn in_memory(ground: &Ground, place: &AbsPath) -> Result<(), StorageError> {
    let tag = Tag::of(TagKind::Filesystem, EffectId(Uuid::new_v4()));
    let turn = ground.turn(&tag)?;
    tmpfs::create(ground, &tag, SIZE)?;
    let mounted = tmpfs::attach(ground, &tag, Some(place), false, &turn).await;
    let undone = ground.unmount(place, &Ours::Memory(tag), &turn).await;
    mounted.and(undone)
}

async fn on_loop_device(ground: &Ground, place: Option<&AbsPath>) -> Result<(), StorageError> {
    let tag = Tag::of(TagKind::Volume, EffectId(Uuid::new_v4()));
    let turn = ground.turn(&tag)?;
    loop_device::create(ground, &tag, SIZE, &turn).await?;
    let used = used(ground, &tag, place, &turn).await;
    let undone = loop_device::detach(ground, &tag, &turn).await;
    used.and(undone)
}

async fn used(ground: &Ground, tag: &Tag, place: Option<&AbsPath>, turn: &Turn) -> Result<(), StorageError> {
    let attached = loop_device::attach(ground, tag, false, turn).await?;
    let Some(place) = place else { return Ok(()) };
    let beneath = Beneath { name: attached.device, size: SIZE, hardware_id: None };
    let filesystem = Tag::of(TagKind::Filesystem, EffectId(Uuid::new_v4()));
    managed::create(ground, &filesystem, (tag, Some(&beneath)), turn).await?;
    let mounted = managed::attach(ground, &filesystem, Some(&beneath), Some(place), false, turn).await;
    let undone = ground.unmount(place, &managed::ours(ground, &filesystem, &beneath.name)?, turn).await;
    mounted.and(undone)
}

/// An error with all its causes, in one line.
fn chain(error: &StorageError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |told, cause| format!("{told}: {cause}"))
}
