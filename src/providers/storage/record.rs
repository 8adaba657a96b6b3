//! What is written down about the things we made, one small file each in the storage directory.
//!
//! A record is there before the thing is, and goes after it: whatever a crash leaves can be found, finished or taken back.

use bailiwick_actors::{
    ports::Backing,
    storage_rules::PoolName,
    vocab::{EffectId, Name, SizeMib, Uid},
};
use rustix::fs::Mode;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{AbsPath, Ground, StorageError, Tag, TagKind};

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VolumeRecord {
    pub effect: EffectId,
    pub volume: Name,
    pub uid: Uid,
    pub size: SizeMib,
    /// The name that its file had before it was taken over.
    pub imported_from: Option<String>,
    /// Its real size; none while it is being made.
    pub made: Option<SizeMib>,
    pub attached: Option<Claim>,
}

/// A filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FilesystemRecord {
    pub effect: EffectId,
    pub filesystem: Name,
    pub uid: Uid,
    pub size: SizeMib,
    pub backing: Option<Backing>,
    /// The pool that it is promised from; none if it comes from none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolName>,
    /// Its real size; none while it is being made.
    pub made: Option<SizeMib>,
    pub attached: Option<Claim>,
}

/// Who has a thing attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Claim {
    pub attachment: EffectId,
    pub machine: Name,
    pub machine_effect: EffectId,
    /// Where a filesystem is mounted.
    pub path: Option<String>,
    /// The device beneath a filesystem at that time.
    pub device: Option<String>,
    pub read_only: bool,
}

/// Leads from an attachment's id to the thing that is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointer {
    of: EffectId,
}

/// A thing that has a record.
pub trait Recorded: Serialize + DeserializeOwned {
    const KIND: TagKind;
    fn effect(&self) -> EffectId;
}

impl Recorded for VolumeRecord {
    const KIND: TagKind = TagKind::Volume;
    fn effect(&self) -> EffectId {
        self.effect
    }
}

impl Recorded for FilesystemRecord {
    const KIND: TagKind = TagKind::Filesystem;
    fn effect(&self) -> EffectId {
        self.effect
    }
}

const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

fn record_path(ground: &Ground, tag: &Tag) -> AbsPath {
    ground.storage_dir.join(&format!("{tag}.json"))
}

fn pointer_path(ground: &Ground, kind: TagKind, attachment: EffectId) -> AbsPath {
    let what = match kind {
        TagKind::Volume => "volume",
        TagKind::Filesystem => "filesystem",
    };
    ground.storage_dir.join(&format!("{what}-attachment-{attachment}.json"))
}

fn read_json<T: DeserializeOwned>(ground: &Ground, path: AbsPath) -> Result<Option<T>, StorageError> {
    let Some(content) = ground.tree.read(&path)? else { return Ok(None) };
    serde_json::from_slice(&content).map(Some).map_err(|_| StorageError::BadRecord { path })
}

fn write_json<T: Serialize>(ground: &Ground, path: &AbsPath, value: &T) -> Result<(), StorageError> {
    let content = serde_json::to_vec_pretty(value)
        .map_err(|error| StorageError::Io { doing: "write a record", source: error.into() })?;
    ground.tree.write(path, &content, PRIVATE)
}

/// The record of what was made under this id; one that is about something else is damage.
pub fn load<T: Recorded>(ground: &Ground, id: EffectId) -> Result<Option<T>, StorageError> {
    let path = record_path(ground, &Tag::of(T::KIND, id));
    match read_json::<T>(ground, path.clone())? {
        Some(record) if record.effect() != id => Err(StorageError::BadRecord { path }),
        record => Ok(record),
    }
}

pub fn store<T: Recorded>(ground: &Ground, record: &T) -> Result<(), StorageError> {
    write_json(ground, &record_path(ground, &Tag::of(T::KIND, record.effect())), record)
}

pub fn forget<T: Recorded>(ground: &Ground, id: EffectId) -> Result<(), StorageError> {
    ground.tree.remove_file(&record_path(ground, &Tag::of(T::KIND, id))).map(drop)
}

/// The ids of all things that have a record, in order.
pub fn all<T: Recorded>(ground: &Ground) -> Result<Vec<EffectId>, StorageError> {
    let names = ground.tree.names(&ground.storage_dir)?;
    let tags = names.iter().filter_map(|name| Tag::parse(T::KIND, name.strip_suffix(".json")?));
    let mut ids: Vec<EffectId> = tags.filter_map(|tag| tag.key().parse().ok()).collect();
    ids.sort();
    Ok(ids)
}

/// Writes down what an attachment is about.
pub fn point(ground: &Ground, kind: TagKind, attachment: EffectId, of: EffectId) -> Result<(), StorageError> {
    write_json(ground, &pointer_path(ground, kind, attachment), &Pointer { of })
}

/// What an attachment is about.
pub fn pointed(ground: &Ground, kind: TagKind, attachment: EffectId) -> Result<Option<EffectId>, StorageError> {
    let pointer: Option<Pointer> = read_json(ground, pointer_path(ground, kind, attachment))?;
    Ok(pointer.map(|pointer| pointer.of))
}

pub fn unpoint(ground: &Ground, kind: TagKind, attachment: EffectId) -> Result<(), StorageError> {
    ground.tree.remove_file(&pointer_path(ground, kind, attachment)).map(drop)
}
