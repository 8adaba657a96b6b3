//! The directory of one local machine: what lies where, and what can be concluded from it.
//!
//! ```text
//! <machines>/<effect id>/     0700, appears whole (written beside, then renamed)
//!   machine.json              the tag: whose machine this is
//!   join-token                0600, what the agent joins with; gone when it has joined
//!   token                     0600, the agent's bearer token, from then on
//!   node.json                 what the agent says of itself and the machine: version, hardware, labels, annotations, taints
//!   lock                      the agent holds an exclusive lock on it for as long as it runs
//!   process.json              the agent's pid and start time; written once, so its presence says "has been started"
//!   workloads.json            the process groups that the agent started
//!   volumes/<name>            one link per attached volume
//!   work/<name>/              working directory of a workload
//!   storage/                  volumes and filesystems inside of the machine, if it has any
//!   logs/<name>.log[.1]       its output;  agent.log[.1]: the agent's own
//! ```

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use bailiwick_actors::{
    machine::{InstanceConfig, rules::template::NodeTemplate},
    vocab::{EffectId, Name, Nonce, Uid},
};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::{files, process::ProcessMark};
use crate::api::wire::agent::Workload;

/// A machine's directory; whether it is there is another question.
#[derive(Clone, Debug)]
pub struct MachineDir {
    path: PathBuf,
    effect: EffectId,
}

/// `machine.json`: whose machine a directory is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineTag {
    pub effect: EffectId,
    pub machine: Name,
    pub uid: Uid,
    /// What was declared when it was made; the node's answers tell what is wanted now.
    pub workloads: Vec<Workload>,
    /// What it proves with whose it is; machines of earlier releases have none.
    #[serde(default)]
    pub nonce: Option<Nonce>,
    /// Where programs in it reach the control plane, beside the node's own socket.
    #[serde(default)]
    pub api_addresses: Vec<String>,
    /// How they do.
    #[serde(default)]
    pub config: Option<InstanceConfig>,
    /// What it is there for.
    #[serde(default)]
    pub jobs: Vec<String>,
    /// What was declared for its `node.json` when it was made.
    #[serde(default)]
    pub node: NodeTemplate,
}

/// What a directory tells about its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// There is no such directory.
    Absent,
    /// The directory is there and no agent has ever run in it.
    NeverStarted,
    /// Something holds the lock and has not (yet) proven to be this machine's agent.
    Unproven,
    /// This process is the machine's agent.
    Running(ProcessMark),
    /// An agent has run here and does not any more; none will ever again.
    Ended(ProcessMark),
}

/// The lock of a directory, held until dropped.
#[derive(Debug)]
pub struct HeldLock {
    file: File,
}

impl HeldLock {
    /// The lock file, open.
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

impl MachineDir {
    /// The directory at `path`, belonging to `effect`.
    pub fn new(path: PathBuf, effect: EffectId) -> Self {
        Self { path, effect }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn effect(&self) -> EffectId {
        self.effect
    }

    /// Where everything of the node lies: `<data-dir>/local/machines/<effect id>` is a machine's place in it.
    pub fn data_dir(&self) -> &Path {
        self.path.ancestors().nth(3).unwrap_or(&self.path)
    }

    pub fn tag(&self) -> PathBuf {
        self.path.join("machine.json")
    }

    pub fn token(&self) -> PathBuf {
        self.path.join("token")
    }

    pub fn join_token(&self) -> PathBuf {
        self.path.join("join-token")
    }

    pub fn node(&self) -> PathBuf {
        self.path.join("node.json")
    }

    pub fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    pub fn process(&self) -> PathBuf {
        self.path.join("process.json")
    }

    pub fn workloads(&self) -> PathBuf {
        self.path.join("workloads.json")
    }

    pub fn volumes(&self) -> PathBuf {
        self.path.join("volumes")
    }

    pub fn volume(&self, volume: &Name) -> PathBuf {
        self.volumes().join(volume.as_str())
    }

    pub fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Where the machine has storage of its own.
    pub fn storage(&self) -> PathBuf {
        self.path.join("storage")
    }

    pub fn agent_log(&self) -> PathBuf {
        self.path.join("agent.log")
    }

    /// Whose machine it is; none if the directory has no tag.
    ///
    /// # Errors
    /// `InvalidData` if the tag is unreadable or belongs to another effect.
    pub fn read_tag(&self) -> io::Result<Option<MachineTag>> {
        let Some(tag) = files::read_json::<MachineTag>(&self.tag())? else { return Ok(None) };
        if tag.effect != self.effect {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the tag names another effect"));
        }
        Ok(Some(tag))
    }

    /// What the directory tells about its machine.
    ///
    /// The order matters: `process.json` is written under the lock, so a free lock after the file was seen means that its
    /// process has ended, and a file that was not seen says nothing about a lock that is held.
    pub fn presence(&self) -> io::Result<Presence> {
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.is_dir() => (),
            Ok(_) => return Err(io::Error::from(io::ErrorKind::NotADirectory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Presence::Absent),
            Err(error) => return Err(error),
        }
        let mark = files::read_json::<ProcessMark>(&self.process())?;
        let held = self.is_locked()?;
        Ok(match mark {
            None if held => Presence::Unproven,
            None => Presence::NeverStarted,
            Some(mark) if !held => Presence::Ended(mark),
            Some(mark) if mark.is_alive() && mark.has_argument(&self.effect.to_string()) => Presence::Running(mark),
            Some(_) => Presence::Unproven,
        })
    }

    /// Takes the lock; none if another holds it or if there is none in this directory (any more).
    pub fn try_lock(&self) -> io::Result<Option<HeldLock>> {
        let Some(file) = self.open_lock()? else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The directory may have been renamed or removed since the file was opened: then this lock protects nothing.
        let (locked, named) = (file.metadata()?, fs::symlink_metadata(self.lock()));
        match named {
            Ok(named) if named.ino() == locked.ino() && named.dev() == locked.dev() => Ok(Some(HeldLock { file })),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether anybody holds the lock. Looks by sharing it for an instant; an agent that starts in that instant tries again.
    fn is_locked(&self) -> io::Result<bool> {
        let Some(file) = self.open_lock()? else { return Ok(false) };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn open_lock(&self) -> io::Result<Option<File>> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(self.lock()) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
