//! Machines that are processes, volumes that are files.
//!
//! A local machine is a `bailiwick agent` process with a directory and a process group of its own; a local volume is a
//! sparse file of its size; an attachment is a claim on the volume and a link in the machine's directory. Everything is
//! found again by what lies on disk, so a new provider on the same root (after a restart of the node) knows all of it.
//!
//! ```text
//! <root>/machines/<effect id>/       one machine, see `agent::directory`
//! <root>/volumes/<effect id>/        volume.json  disk.img  attached.json (the claim)  probe (the agent's write probe)
//! <root>/attachments/<effect id>.json   which volume an attachment is about
//! .new-<effect id>, .trash-<effect id>  beside them: being made, being removed; swept by the next call that sees them
//! ```
//!
//! **Half-made things.** A crash can leave a machine that was never started or a claim without its link. Creating again
//! under the same id finishes the work; looking it up takes the half-made thing back and answers "absent", and then that
//! is true: an agent that was just being started finds its directory gone and ends.
//!
//! **Machines that ended** (their agent was killed, the host was restarted) stay listed as stopped and are not started
//! again; creating under the same id is refused with `failed-precondition`. Whoever wants the machine back deletes it and
//! creates one under a new id. Deleting also ends what a killed agent left running.
//!
//! **Read-only attachments** are told to the workload (`BAILIWICK_VOLUME_<NAME>_READ_ONLY=1`) and kept by the agent, which
//! opens the image for reading only and writes no probe. They are not enforced: machine and volume belong to the same
//! user, and a workload that insists can open the image for writing.
//!
//! **Exclusive attachments** last until they are detached or the machine's directory is gone; then the claim is stale and
//! the next attachment takes its place. A machine that has merely stopped still holds its volumes.

mod attachments;
mod bulk;
mod claims;
mod end;
mod home;
mod machines;
mod spawn;
mod volumes;

use std::{
    ffi::OsString,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_actors::{
    ports::{
        Answer, AttachVolume, AttachmentInfo, BulkAnswer, Clock, CreateMachine, CreateVolume, DetachVolume, Listing,
        Lookup, MachineInstance, MachineProvider, ProvisionedVolume, StartedMachine, VolumeProvider,
    },
    vocab::{EffectId, Fault, Name},
};

use self::{bulk::Lanes, home::Home};
use super::{
    cancelled::Cancelled, fault, keys::Keys, machine_storage::Whereabouts, storage::helper::client::StorageHelper,
};
use crate::agent::{WorkloadUser, directory::MachineDir};

/// What a local provider has to know.
#[derive(Clone)]
pub struct LocalConfig {
    /// Where everything lies: `<data-dir>/local`. Made if it is not there.
    pub root: PathBuf,
    /// The node's socket, where agents report.
    pub socket: PathBuf,
    /// The program that is the agent, with its first arguments; `--dir`, `--socket` and `--effect` are added. In the node
    /// that is its own program and `agent`; a program that embeds the node says what it has instead.
    pub agent_command: Vec<OsString>,
    /// The key that agents' tokens follow from ([`crate::agent::agent_token`]).
    pub node_key: [u8; 32],
    /// The user that workloads run as; the node's own if none is named.
    pub workload_user: Option<WorkloadUser>,
    /// Does what only root can do with storage inside of machines; the node and its agents themselves if there is none.
    pub storage_helper: Option<StorageHelper>,
}

impl fmt::Debug for LocalConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalConfig")
            .field("root", &self.root)
            .field("socket", &self.socket)
            .field("agent_command", &self.agent_command)
            .finish_non_exhaustive()
    }
}

/// Makes machines of processes and volumes of files.
///
/// Calls need a tokio runtime; everything that can block runs on its blocking threads.
#[derive(Debug)]
pub struct LocalProvider {
    inner: Arc<Inner>,
    lanes: Lanes,
}

struct Inner {
    config: LocalConfig,
    home: Home,
    keys: Keys,
    cancelled: Cancelled,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("config", &self.config).finish_non_exhaustive()
    }
}

impl LocalProvider {
    /// A provider on this root; its directories are made if they are not there. One provider per root at a time: the
    /// node's own lock on the data directory sees to that.
    ///
    /// # Errors
    /// If the directories cannot be made, or their path is not UTF-8.
    pub fn new(config: LocalConfig, clock: Arc<dyn Clock>) -> io::Result<Self> {
        Home::make(&config.root)?;
        // Agents run in another directory, so every path they get is absolute; and it is the same path every time,
        // because a machine's processes are known by it.
        let root = config.root.canonicalize()?;
        if root.to_str().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path of the local machines is not UTF-8"));
        }
        let config = LocalConfig { root, socket: std::path::absolute(&config.socket)?, ..config };
        let home = Home::at(&config.root);
        let inner = Arc::new(Inner { config, home, keys: Keys::default(), cancelled: Cancelled::default(), clock });
        Ok(Self { inner, lanes: Lanes::default() })
    }
}

impl LocalProvider {
    /// Where the machine of this name is. Blocks.
    ///
    /// # Errors
    /// If the directories cannot be read.
    pub fn locate(&self, machine: &Name) -> Result<Whereabouts, Fault> {
        machines::locate(&self.inner, machine)
    }
}

/// The directories of the machines of this name below a local provider's root: of one that runs, and of those that have
/// ended. Blocks.
///
/// # Errors
/// If a directory cannot be read.
pub fn directories_of(root: &Path, machine: &Name) -> io::Result<Vec<MachineDir>> {
    match machines::directories(&Home::at(root), machine) {
        // No machine was ever made here.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => found,
    }
}

impl MachineProvider for LocalProvider {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        self.change(
            &self.lanes.slow,
            machines,
            |machine| (machine.id, None),
            |inner, wish| machines::create(inner, wish).map(StartedMachine::from),
        )
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.change(&self.lanes.slow, ids, |id| (*id, None), machines::delete)
    }

    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<StartedMachine>> {
        self.look(ids, |inner, id| Ok(machines::lookup(inner, id)?.map(StartedMachine::from)))
    }

    fn cancel(&self, id: EffectId) {
        self.inner.cancelled.cancel(id);
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        self.once(machines::list)
    }
}

impl VolumeProvider for LocalProvider {
    fn can_release(&self) -> Option<bool> {
        Some(false)
    }

    fn cancel(&self, id: EffectId) {
        self.inner.cancelled.cancel(id);
    }

    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        self.change(&self.lanes.quick, volumes, |volume| (volume.id, None), volumes::create)
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.change(&self.lanes.quick, ids, |id| (*id, None), volumes::destroy)
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        self.look(ids, volumes::lookup)
    }

    fn list_volumes(&self) -> Answer<'_, Result<Listing<ProvisionedVolume>, Fault>> {
        self.once(volumes::list)
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        self.change(&self.lanes.quick, attachments, |wish| (wish.id, Some(wish.volume_effect)), attachments::attach)
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        self.change(&self.lanes.quick, attachments, |wish| (wish.id, Some(wish.volume_effect)), attachments::detach)
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        self.look(ids, attachments::lookup)
    }
}
