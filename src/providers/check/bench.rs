//! Where checks work: an opened provider, things with names of their own, and the way to get rid of them.

use std::{future::Future, sync::Arc, time::Duration};

use bailiwick_actors::{
    machine::Spec,
    ports::{
        Answer, AttachVolume, AttachmentInfo, BulkAnswer, Clock, CreateMachine, CreateVolume, DetachFilesystem,
        DetachVolume, Listing, Lookup, MachineInstance, MachineProvider, ProvisionedVolume, SecretData, StartedMachine,
        VolumeProvider,
    },
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, Nonce, SizeMib, Uid},
};
use uuid::Uuid;

use super::{Check, Options, Ports, Subject};

/// Why a check ends early.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    Wrong(String),
    Skipped(String),
}

pub type Judged = Result<(), Stop>;

/// Ends the check unless the condition holds.
pub fn ensure(is_so: bool, otherwise: impl FnOnce() -> String) -> Judged {
    if is_so { Ok(()) } else { Err(Stop::Wrong(otherwise())) }
}

/// Says that something is wrong.
pub fn wrong<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Wrong(what.into()))
}

/// Says that something cannot be judged.
pub fn skipped<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Skipped(why.into()))
}

pub struct Bench {
    subject: Arc<dyn Subject>,
    pub(super) ports: Option<Ports>,
    name: Name,
    call_time: Duration,
    /// Everything ever made, for the check at the end.
    ever: Vec<EffectId>,
    machines: Vec<EffectId>,
    volumes: Vec<EffectId>,
    attachments: Vec<DetachVolume>,
    pub(super) filesystems: Vec<EffectId>,
    pub(super) mounts: Vec<DetachFilesystem>,
}

impl Bench {
    pub fn open(subject: Arc<dyn Subject>, options: &Options) -> Result<Self, Fault> {
        let ports = subject.open()?;
        Ok(Self {
            subject,
            ports: Some(ports),
            name: options.name.clone(),
            call_time: options.call_time,
            ever: Vec::new(),
            machines: Vec::new(),
            volumes: Vec::new(),
            attachments: Vec::new(),
            filesystems: Vec::new(),
            mounts: Vec::new(),
        })
    }

    /// Ends the provider in order and opens it again.
    pub fn restart(&mut self) -> Judged {
        self.ports = None;
        let opened = self.subject.open();
        self.ports = Some(opened.map_err(|fault| Stop::Wrong(format!("it cannot be opened again: {fault}")))?);
        Ok(())
    }

    /// Ends it without warning; nobody opens it again, it comes back by itself.
    pub fn kill(&self) -> Judged {
        if self.subject.kill() { Ok(()) } else { skipped("it has no process to kill") }
    }

    pub fn clock(&self) -> Arc<dyn Clock> {
        self.subject.clock()
    }

    pub fn provider(&self) -> Result<Arc<dyn MachineProvider>, Stop> {
        let ports = self.ports.as_ref().ok_or_else(|| Stop::Wrong("it is not open".into()))?;
        ports.machines.clone().ok_or_else(|| Stop::Skipped("it has no machines".into()))
    }

    pub fn volume_provider(&self) -> Result<Arc<dyn VolumeProvider>, Stop> {
        let ports = self.ports.as_ref().ok_or_else(|| Stop::Wrong("it is not open".into()))?;
        ports.volumes.clone().ok_or_else(|| Stop::Skipped("it has no volumes".into()))
    }

    /// A machine that nobody has made yet. It is removed after the check.
    pub fn wish(&mut self) -> CreateMachine {
        let id = new_id();
        self.machines.push(id);
        self.ever.push(id);
        let machine = format!("check-{}", &id.to_string()[..8]).parse().expect("letters, digits and '-'");
        let spec = Arc::new(Spec::with_provider(self.name.clone()));
        CreateMachine {
            id,
            machine,
            uid: Uid(Uuid::new_v4()),
            spec,
            zone: None,
            class: None,
            secrets: SecretData::default(),
            start: None,
            config: None,
            nonce: Some(Nonce::of(Uuid::nil(), id)),
            join: None,
        }
    }

    pub fn wishes(&mut self, count: usize) -> Vec<CreateMachine> {
        (0..count).map(|_| self.wish()).collect()
    }

    /// A volume that nobody has made yet. It is removed after the check.
    pub fn volume_wish(&mut self) -> CreateVolume {
        let id = new_id();
        self.volumes.push(id);
        let volume = format!("check-{}", &id.to_string()[..8]).parse().expect("letters, digits and '-'");
        CreateVolume { id, volume, uid: Uid(Uuid::new_v4()), size: SizeMib(1), pool: None, tags: Default::default() }
    }

    /// An attachment that nobody has made yet.
    pub fn attach_wish(&mut self, machine: &MachineInstance, volume: (&Name, &ProvisionedVolume)) -> AttachVolume {
        let wish = AttachVolume {
            id: new_id(),
            machine: machine.machine.clone(),
            machine_effect: machine.effect,
            instance: machine.instance.clone(),
            volume: volume.0.clone(),
            volume_effect: volume.1.effect,
            volume_id: volume.1.volume_id.clone(),
            read_only: false,
        };
        self.attachments.push(detach_wish(&wish));
        wish
    }

    /// A machine that runs.
    pub async fn machine(&mut self) -> Result<MachineInstance, Stop> {
        let wish = self.wish();
        self.create(&wish).await
    }

    /// A volume that exists, with its name.
    pub async fn volume(&mut self) -> Result<(Name, ProvisionedVolume), Stop> {
        let wish = self.volume_wish();
        let made = self.create_volume(&wish).await?;
        Ok((wish.volume, made))
    }

    pub async fn create(&self, wish: &CreateMachine) -> Result<MachineInstance, Stop> {
        one("create", self.try_create(vec![wish.clone()]).await?)
    }

    /// A machine, with what came with it.
    pub async fn start(&self, wish: &CreateMachine) -> Result<StartedMachine, Stop> {
        let provider = self.provider()?;
        one("create", self.bulk("create", 1, provider.create(vec![wish.clone()])).await?)
    }

    /// What it knows of a machine, with what came with it.
    pub async fn found(&self, id: EffectId) -> Result<Lookup<StartedMachine>, Stop> {
        let provider = self.provider()?;
        Ok(self.known(&[id], |ids| provider.lookup(ids)).await?.remove(0))
    }

    pub async fn create_all(&self, wishes: &[CreateMachine]) -> Result<Vec<MachineInstance>, Stop> {
        every("create", self.try_create(wishes.to_vec()).await?)
    }

    pub async fn try_create(&self, wishes: Vec<CreateMachine>) -> Result<Vec<Result<MachineInstance, Fault>>, Stop> {
        let (count, provider) = (wishes.len(), self.provider()?);
        let answers = self.bulk("create", count, provider.create(wishes)).await?;
        Ok(answers.into_iter().map(|answer| answer.map(|made| made.instance)).collect())
    }

    pub async fn delete(&self, ids: &[EffectId]) -> Judged {
        every("delete", self.try_delete(ids.to_vec()).await?).map(drop)
    }

    pub async fn try_delete(&self, ids: Vec<EffectId>) -> Result<Vec<Result<(), Fault>>, Stop> {
        let (count, provider) = (ids.len(), self.provider()?);
        self.bulk("delete", count, provider.delete(ids)).await
    }

    /// What it knows; asked again as long as it cannot tell.
    pub async fn lookup(&self, ids: &[EffectId]) -> Result<Vec<Lookup<MachineInstance>>, Stop> {
        let provider = self.provider()?;
        let known = self.known(ids, |ids| provider.lookup(ids)).await?;
        Ok(known.into_iter().map(|known| known.map(|found| found.instance)).collect())
    }

    pub async fn lookup_one(&self, id: EffectId) -> Result<Lookup<MachineInstance>, Stop> {
        Ok(self.lookup(&[id]).await?.remove(0))
    }

    pub async fn must_be_absent(&self, id: EffectId) -> Judged {
        let found = self.lookup_one(id).await?;
        ensure(found == Lookup::Absent, || format!("lookup should say absent, and says {}", said(&found)))
    }

    pub async fn must_be_present(&self, made: &MachineInstance) -> Judged {
        match self.lookup_one(made.effect).await? {
            Lookup::Present(found) if is_same(&found, made) => Ok(()),
            found => wrong(format!("lookup should say {}, and says {}", made.instance, said(&found))),
        }
    }

    pub async fn list(&self) -> Result<Listing<MachineInstance>, Stop> {
        let provider = self.provider()?;
        let listing = self.timed("list", provider.list()).await?;
        listing.map_err(|fault| Stop::Wrong(format!("list answered {fault}")))
    }

    /// A complete list that describes a moment after now.
    pub async fn full_list(&self) -> Result<Listing<MachineInstance>, Stop> {
        let provider = self.provider()?;
        self.full("list", || provider.list()).await
    }

    pub(super) async fn full<'p, T>(
        &self,
        what: &str,
        list: impl Fn() -> Answer<'p, Result<Listing<T>, Fault>>,
    ) -> Result<Listing<T>, Stop> {
        let asked = self.clock().now();
        for _ in 0..TRIES {
            let listing = match self.timed(what, list()).await? {
                Err(fault) if fault.code == FaultCode::Unimplemented => return skipped("it does not say what it has"),
                listing => listing.map_err(|fault| Stop::Wrong(format!("{what} answered {fault}")))?,
            };
            if listing.complete && asked <= listing.as_of {
                return Ok(listing);
            }
            pause().await;
        }
        skipped(format!("none of {TRIES} lists was complete and new"))
    }

    pub async fn create_volume(&self, wish: &CreateVolume) -> Result<ProvisionedVolume, Stop> {
        one("create-volumes", self.try_create_volumes(vec![wish.clone()]).await?)
    }

    pub async fn try_create_volumes(
        &self,
        wishes: Vec<CreateVolume>,
    ) -> Result<Vec<Result<ProvisionedVolume, Fault>>, Stop> {
        let (count, provider) = (wishes.len(), self.volume_provider()?);
        self.bulk("create-volumes", count, provider.create_volumes(wishes)).await
    }

    pub async fn destroy(&self, id: EffectId) -> Judged {
        one("destroy-volumes", self.try_destroy(vec![id]).await?)
    }

    pub async fn try_destroy(&self, ids: Vec<EffectId>) -> Result<Vec<Result<(), Fault>>, Stop> {
        let (count, provider) = (ids.len(), self.volume_provider()?);
        self.bulk("destroy-volumes", count, provider.destroy_volumes(ids)).await
    }

    pub async fn lookup_volumes(&self, ids: &[EffectId]) -> Result<Vec<Lookup<ProvisionedVolume>>, Stop> {
        let provider = self.volume_provider()?;
        self.known(ids, |ids| provider.lookup_volumes(ids)).await
    }

    pub async fn attach(&self, wish: &AttachVolume) -> Result<AttachmentInfo, Stop> {
        one("attach", self.try_attach(vec![wish.clone()]).await?)
    }

    pub async fn try_attach(&self, wishes: Vec<AttachVolume>) -> Result<Vec<Result<AttachmentInfo, Fault>>, Stop> {
        let (count, provider) = (wishes.len(), self.volume_provider()?);
        self.bulk("attach", count, provider.attach_volumes(wishes)).await
    }

    pub async fn detach(&self, wish: DetachVolume) -> Judged {
        one("detach", self.try_detach(wish).await?)
    }

    pub async fn try_detach(&self, wish: DetachVolume) -> Result<Vec<Result<(), Fault>>, Stop> {
        let provider = self.volume_provider()?;
        self.bulk("detach", 1, provider.detach_volumes(vec![wish])).await
    }

    pub async fn lookup_attachment(&self, id: EffectId) -> Result<Lookup<AttachmentInfo>, Stop> {
        let provider = self.volume_provider()?;
        Ok(self.known(&[id], |ids| provider.lookup_attachments(ids)).await?.remove(0))
    }

    pub(super) async fn known<'p, T>(
        &self,
        ids: &[EffectId],
        ask: impl Fn(Vec<EffectId>) -> BulkAnswer<'p, Lookup<T>>,
    ) -> Result<Vec<Lookup<T>>, Stop> {
        let mut known: Vec<Lookup<T>> = ids.iter().map(|_| Lookup::Unknown).collect();
        for attempt in 0..TRIES {
            let open: Vec<usize> = (0..ids.len()).filter(|at| matches!(known[*at], Lookup::Unknown)).collect();
            // Nothing is asked for as well: that has to have an answer, too.
            if open.is_empty() && 0 < attempt {
                return Ok(known);
            }
            let asked = open.iter().map(|at| ids[*at]).collect();
            let found = every("lookup", self.bulk("lookup", open.len(), ask(asked)).await?)?;
            for (at, found) in open.into_iter().zip(found) {
                known[at] = found;
            }
            if known.iter().any(|known| matches!(known, Lookup::Unknown)) {
                pause().await;
            }
        }
        wrong(format!("lookup said unknown {TRIES} times, with nothing under way"))
    }

    /// One bulk call in its time, with as many answers as questions.
    pub async fn bulk<T>(
        &self,
        what: &str,
        count: usize,
        call: BulkAnswer<'_, T>,
    ) -> Result<Vec<Result<T, Fault>>, Stop> {
        let answers = match self.timed(what, call).await? {
            Ok(answers) => answers,
            Err(fault) => return wrong(format!("{what} answered {fault}")),
        };
        ensure(answers.len() == count, || format!("{what} gave {} answers to {count} questions", answers.len()))?;
        Ok(answers)
    }

    pub async fn timed<T>(&self, what: &str, call: impl Future<Output = T>) -> Result<T, Stop> {
        let told = tokio::time::timeout(self.call_time, call).await;
        told.map_err(|_| Stop::Wrong(format!("{what} did not answer within {} s", self.call_time.as_secs())))
    }

    /// Removes what the check has made, and makes sure that it is gone.
    pub async fn clear(&mut self) -> Judged {
        let (machines, volumes) = (std::mem::take(&mut self.machines), std::mem::take(&mut self.volumes));
        for wish in std::mem::take(&mut self.attachments) {
            self.detach(wish).await.map_err(|stop| after(stop, "to detach"))?;
        }
        for wish in std::mem::take(&mut self.mounts) {
            self.unmount(wish).await.map_err(|stop| after(stop, "to unmount"))?;
        }
        if !machines.is_empty() {
            self.delete(&machines).await.map_err(|stop| after(stop, "to delete machines"))?;
        }
        for id in volumes {
            self.destroy(id).await.map_err(|stop| after(stop, "to destroy volumes"))?;
        }
        for id in std::mem::take(&mut self.filesystems) {
            self.destroy_filesystem(id).await.map_err(|stop| after(stop, "to destroy filesystems"))?;
        }
        Ok(())
    }
}

/// So often is asked again what cannot be told.
const TRIES: usize = 200;

/// Between two questions to somebody who cannot tell.
pub async fn pause() {
    tokio::time::sleep(Duration::from_millis(25)).await;
}

fn after(stop: Stop, what: &str) -> Stop {
    match stop {
        Stop::Wrong(why) => Stop::Wrong(format!("afterwards, {what}: {why}")),
        // What it does not have cannot be left over.
        Stop::Skipped(why) => Stop::Skipped(why),
    }
}

pub(super) fn one<T>(what: &str, answers: Vec<Result<T, Fault>>) -> Result<T, Stop> {
    let mut answers = every(what, answers)?;
    match answers.pop() {
        Some(answer) => Ok(answer),
        None => wrong(format!("{what} gave no answer")),
    }
}

/// All answers, if all are good.
pub fn every<T>(what: &str, answers: Vec<Result<T, Fault>>) -> Result<Vec<T>, Stop> {
    let answers: Result<Vec<T>, Fault> = answers.into_iter().collect();
    answers.map_err(|fault| Stop::Wrong(format!("{what} answered {fault}")))
}

pub fn new_id() -> EffectId {
    EffectId(Uuid::new_v4())
}

pub fn detach_wish(wish: &AttachVolume) -> DetachVolume {
    DetachVolume {
        id: wish.id,
        machine: wish.machine.clone(),
        machine_effect: wish.machine_effect,
        volume: wish.volume.clone(),
        volume_effect: wish.volume_effect,
    }
}

/// Whether two answers speak of the same instance; facts and status may change.
pub fn is_same(one: &MachineInstance, other: &MachineInstance) -> bool {
    let key = |seen: &MachineInstance| (seen.effect, seen.instance.clone(), seen.machine.clone());
    key(one) == key(other)
}

pub fn said(found: &Lookup<MachineInstance>) -> String {
    match found {
        Lookup::Present(MachineInstance { instance: InstanceId(id), .. }) => format!("present ({id})"),
        Lookup::Absent => "absent".into(),
        Lookup::Unknown => "unknown".into(),
    }
}

/// The last check: a complete list has nothing of what all others have made.
pub const NOTHING_LEFT: Check = Check {
    id: "listing/nothing-left",
    what: "after all checks a complete list has nothing that they made",
    run: |bench| {
        Box::pin(async move {
            let ever = bench.ever.clone();
            let listing = bench.full_list().await?;
            let left = listing.items.iter().filter(|item| ever.contains(&item.effect)).count();
            ensure(left == 0, || format!("{left} machines are left over"))
        })
    },
};
