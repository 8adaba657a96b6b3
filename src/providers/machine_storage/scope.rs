//! The ports' side: every item of a bulk call is a job for the agent of one machine.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::{
        Answer, AttachFilesystem, AttachVolume, AttachmentInfo, BulkAnswer, Clock, CreateFilesystem, CreateVolume,
        DetachFilesystem, DetachVolume, FilesystemAttachmentInfo, FilesystemProvider, ImportVolume, Listing, Lookup,
        MachineScope, ProvisionedFilesystem, ProvisionedVolume, VolumeImporter, VolumeProvider,
    },
    vocab::{EffectId, Fault, FaultCode, Name},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::sleep;

use super::{Desk, Kit};
use crate::{
    api::wire::storage::{Job, Work},
    providers::storage::{StorageError, helper::client::StorageHelper},
};

/// Where a machine is, as far as its storage is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// Its agent runs, or may be about to.
    Running,
    /// Its agent has ended for good; this is the directory of its storage.
    Ended { storage: PathBuf },
    /// There is no such machine, and so nothing of it.
    Nowhere,
}

/// Finds out where a machine is. Blocks.
pub type Locate = Arc<dyn Fn(&Name) -> Result<Whereabouts, Fault> + Send + Sync>;

/// One provider inside of machines.
#[derive(Clone)]
pub struct Inside {
    pub provider: Name,
    pub desk: Arc<Desk>,
    pub locate: Locate,
    pub clock: Arc<dyn Clock>,
    /// Does what only root can do.
    pub helper: Option<StorageHelper>,
}

/// The storage of one provider in one machine.
#[derive(Clone)]
struct One {
    inside: Inside,
    machine: Name,
}

impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inside").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// How often it is looked whether the machine that is waited for is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

impl MachineScope for Inside {
    fn volumes(&self, machine: &Name) -> Option<Arc<dyn VolumeProvider>> {
        let one = One { inside: self.clone(), machine: machine.clone() };
        (self.provider.as_str() == "loop").then(|| Arc::new(one) as Arc<dyn VolumeProvider>)
    }

    fn filesystems(&self, machine: &Name) -> Option<Arc<dyn FilesystemProvider>> {
        let one = One { inside: self.clone(), machine: machine.clone() };
        (self.provider.as_str() != "loop").then(|| Arc::new(one) as Arc<dyn FilesystemProvider>)
    }
}

/// What a machine that is not there any more answers.
enum WithoutMachine {
    /// It is gone with the machine.
    Gone(Value),
    /// It cannot be had without one.
    Refused,
}

impl WithoutMachine {
    fn of(work: &Work) -> Self {
        match work {
            Work::CreateVolume(_)
            | Work::ImportVolume(_)
            | Work::AttachVolume(_)
            | Work::CreateFilesystem(_)
            | Work::AttachFilesystem(_)
            // What is missing because its machine is says nothing that is not known.
            | Work::ListVolumes => Self::Refused,
            Work::DestroyVolume(_) | Work::DetachVolume(_) | Work::DestroyFilesystem(_) | Work::DetachFilesystem(_) => {
                Self::Gone(Value::Null)
            }
            Work::LookupVolume(_) | Work::LookupAttachment(_) | Work::LookupFilesystem(_) | Work::LookupMount(_) => {
                Self::Gone(serde_json::to_value(Lookup::<()>::Absent).unwrap_or_default())
            }
        }
    }
}

impl One {
    /// Has every item done by itself.
    fn all<I, T>(&self, items: Vec<I>, work: fn(I) -> Work) -> BulkAnswer<'static, T>
    where
        I: Send + 'static,
        T: DeserializeOwned + Send + 'static,
    {
        // Those that are not waited for any more end, and are taken from the desk.
        let begin = |item| EndsWithOwner(tokio::spawn(self.clone().carry_out(work(item))));
        let jobs: Vec<EndsWithOwner<_>> = items.into_iter().map(begin).collect();
        Box::pin(async move {
            let mut answers = Vec::with_capacity(jobs.len());
            for mut job in jobs {
                let lost = |_| Err(Fault::new(FaultCode::Aborted, "the node stopped waiting for the machine's agent"));
                let answer: Result<Value, Fault> = (&mut job.0).await.unwrap_or_else(lost);
                answers.push(answer.and_then(read));
            }
            Ok(answers)
        })
    }

    async fn carry_out(self, work: Work) -> Result<Value, Fault> {
        let Inside { desk, provider, .. } = &self.inside;
        loop {
            if !desk.is_linked(&self.machine) {
                match self.locate().await? {
                    Whereabouts::Running => (),
                    Whereabouts::Ended { storage } => return self.instead_of_agent(storage, work).await,
                    Whereabouts::Nowhere => {
                        return match WithoutMachine::of(&work) {
                            WithoutMachine::Gone(answer) => Ok(answer),
                            WithoutMachine::Refused => Err(self.unavailable("is missing now")),
                        };
                    }
                }
            }
            let mut ticket = desk.put(&self.machine, provider.clone(), work.clone());
            loop {
                tokio::select! {
                    biased;
                    answer = &mut ticket.answer => {
                        let lost = |_| Err(Fault::new(FaultCode::Unknown, "the job was canceled"));
                        return answer.unwrap_or_else(lost);
                    }
                    () = sleep(LOOK_AGAIN) => {
                        let is_running = desk.is_linked(&self.machine) || self.locate().await? == Whereabouts::Running;
                        if !is_running {
                            break;
                        }
                    }
                }
            }
        }
    }

    async fn locate(&self) -> Result<Whereabouts, Fault> {
        let (locate, machine) = (self.inside.locate.clone(), self.machine.clone());
        let located = tokio::task::spawn_blocking(move || locate(&machine)).await;
        located.unwrap_or_else(|_| Err(Fault::new(FaultCode::Aborted, "could not look for the machine")))
    }

    /// The agent has ended and none will start: what a machine loses when it ends is let go of here.
    async fn instead_of_agent(&self, storage: PathBuf, work: Work) -> Result<Value, Fault> {
        if matches!(WithoutMachine::of(&work), WithoutMachine::Refused) {
            return Err(self.unavailable("has ended"));
        }
        let kit =
            Kit::at(&storage, &self.inside.clock, self.inside.helper.as_ref()).map_err(StorageError::into_fault)?;
        kit.carry_out(Job { id: uuid::Uuid::new_v4(), provider: self.inside.provider.clone(), work }).await
    }

    fn unavailable(&self, why: &str) -> Fault {
        Fault::new(FaultCode::Unavailable, format!("machine {} {why}", self.machine))
    }
}

/// A task that ends when nobody waits for it any more.
struct EndsWithOwner<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for EndsWithOwner<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn read<T: DeserializeOwned>(answer: Value) -> Result<T, Fault> {
    serde_json::from_value(answer)
        .map_err(|_| Fault::new(FaultCode::Internal, "the machine's agent answered something unexpected"))
}

impl VolumeProvider for One {
    fn can_release(&self) -> Option<bool> {
        Some(false)
    }

    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        self.all(volumes, Work::CreateVolume)
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.all(ids, Work::DestroyVolume)
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        self.all(ids, Work::LookupVolume)
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        self.all(attachments, Work::AttachVolume)
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        self.all(attachments, Work::DetachVolume)
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        self.all(ids, Work::LookupAttachment)
    }

    fn list_volumes(&self) -> Answer<'_, Result<Listing<ProvisionedVolume>, Fault>> {
        let listed = self.clone().carry_out(Work::ListVolumes);
        Box::pin(async move { listed.await.and_then(read) })
    }

    fn importer(&self) -> Option<&dyn VolumeImporter> {
        Some(self)
    }
}

impl VolumeImporter for One {
    fn import_volumes(&self, volumes: Vec<ImportVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        self.all(volumes, Work::ImportVolume)
    }
}

impl FilesystemProvider for One {
    fn can_release(&self) -> Option<bool> {
        Some(false)
    }

    fn create_filesystems(&self, filesystems: Vec<CreateFilesystem>) -> BulkAnswer<'_, ProvisionedFilesystem> {
        self.all(filesystems, Work::CreateFilesystem)
    }

    fn destroy_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.all(ids, Work::DestroyFilesystem)
    }

    fn lookup_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>> {
        self.all(ids, Work::LookupFilesystem)
    }

    fn list_filesystems(&self) -> Answer<'_, Result<Listing<ProvisionedFilesystem>, Fault>> {
        Box::pin(std::future::ready(Err(nobody_lists())))
    }

    fn attach_filesystems(&self, attachments: Vec<AttachFilesystem>) -> BulkAnswer<'_, FilesystemAttachmentInfo> {
        self.all(attachments, Work::AttachFilesystem)
    }

    fn detach_filesystems(&self, attachments: Vec<DetachFilesystem>) -> BulkAnswer<'_, ()> {
        self.all(attachments, Work::DetachFilesystem)
    }

    fn lookup_filesystem_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>> {
        self.all(ids, Work::LookupMount)
    }
}

/// Nobody asks for lists of filesystems: each is found by its id, and goes with its machine.
fn nobody_lists() -> Fault {
    Fault::new(FaultCode::Unimplemented, "filesystems inside machines are not listed")
}
