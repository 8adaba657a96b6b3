//! A provider in any language: one process that lives as long as the node, and speaks lines of JSON.
//!
//! The node starts the provider's program, writes requests to its standard input and reads answers from its standard
//! output: one JSON object per line, UTF-8, at most 1 MiB. `examples/provider.py` is a whole provider in little more than
//! 100 lines, `examples/storage_provider.py` one with filesystems, and `bailiwick provider check PROGRAM` tells what is wrong
//! with another.
//!
//! # The protocol, version 1
//!
//! **The first line** comes from the node and asks which version is spoken. Everything that is made belongs below
//! `state_dir`, or is named by something there; the directory is the provider's own and outlives it.
//!
//! ```text
//! → {"id":1,"op":"hello","versions":[1],"name":"lab","state_dir":"/…","line_bytes_max":1048576,"owner":"1f0c…"}
//! ← {"id":1,"ok":{"version":1,"provider":"sample 1.0","machines":true,"volumes":true,
//!    "filesystems":false,"cancel":false,"progress":false}}
//! ```
//!
//! **A request** has an id that never comes again, an operation, and mostly items. Its answer names the same id and holds
//! one result per item, in the order of the items: `ok` with what was asked for, or `fault` with one of the codes of
//! [`FaultCode`] and a text for people. A fault in place of the results is one for all of them. Answers may come in any
//! order. An operation that a provider does not know is answered with the fault `unimplemented`, and fields that it does
//! not know are passed over.
//!
//! ```text
//! → {"id":7,"op":"create-machines","items":[{"effect":"6e0c…","machine":"web","uid":"11d4…","labels":{},
//!    "workloads":[{"name":"app","command":["nginx"],"env":{}}]}]}
//! ← {"id":7,"ok":[{"ok":{"effect":"6e0c…","instance":"i-17","machine":"web","status":"running","facts":{"zone":"a"}}}]}
//! ← {"id":7,"ok":[{"fault":{"code":"resource-exhausted","text":"the quota is used up"}}]}
//! ← {"id":7,"fault":{"code":"unavailable","text":"the cloud does not answer"}}
//! ```
//!
//! | operation | items | `ok` of each |
//! |---|---|---|
//! | `create-machines` | `effect` `machine` `uid` `labels` `workloads` `jobs` `nonce`, and if said: `zone` `tags` `annotations` `taints` `constraints` `placement` `base` `parent` `class` `class_content` (`revision` `provider_spec` `node_template`: the copy that is this machine's own) `secrets` (what the secrets of its class hold; not for logs) `credentials` (`token_id` `token_file` `until_ms`: what an agent of ours would join with, by reference) `start` (what documents say; with what the model says of it: `image_stream` `image_signing_key` `ca_certificate` `verify_tls`) `volumes` (what is to come with it and go with it: `volume` `size_mib` `pool` `attributes`? `read_only` of each) | a machine: `effect` `instance` `machine` `status` (`running`, `stopped`) `facts`, and if there are any: `network` `volumes` |
//! | `delete-machines` | effect ids | `null` |
//! | `lookup-machines` | effect ids | `{"present": machine}`, `"absent"` or `"unknown"` |
//! | `create-volumes` | `effect` `volume` `uid` `size_mib` `pool`? `attributes`? `tags`? | a volume: `effect` `volume_id` `size_mib` |
//! | `destroy-volumes` | effect ids | `null` |
//! | `release-volumes` | effect ids | `null`: the provider lets go of them and keeps their data |
//! | `lookup-volumes` | effect ids | `{"present": volume}`, `"absent"` or `"unknown"` |
//! | `attach-volumes` | `effect` `machine` `machine_effect` `instance` `volume` `volume_effect` `volume_id` `read_only` | an attachment: `path` `read_only` |
//! | `detach-volumes` | `effect` `machine` `machine_effect` `volume` `volume_effect` | `null` |
//! | `lookup-attachments` | effect ids | `{"present": attachment}`, `"absent"` or `"unknown"` |
//! | `create-filesystems` | `effect` `filesystem` `uid` `size_mib` `pool`? `attributes`? | a filesystem: `effect` `filesystem_id` `size_mib` |
//! | `destroy-filesystems`, `release-filesystems` | effect ids | `null` |
//! | `lookup-filesystems` | effect ids | `{"present": filesystem}`, `"absent"` or `"unknown"` |
//! | `attach-filesystems` | `effect` `machine` `machine_effect` `instance` `filesystem` `filesystem_effect` `filesystem_id` `read_only`, and if said: `path` | a mount: `mount_point` `read_only` |
//! | `detach-filesystems` | `effect` `machine` `machine_effect` `filesystem` `filesystem_effect` | `null` |
//! | `lookup-filesystem-attachments` | effect ids | `{"present": mount}`, `"absent"` or `"unknown"` |
//!
//! **`network`** is how a machine's network is configured: of each device `name`, and if known `kind` (`ethernet`) `parent` `mac`
//! `mtu` `provider_id` and `addresses`, each with `address` and if known `subnet` (`10.0.1.0/24`) `config` (`dhcp`, `static`)
//! `provider_subnet`. **`volumes`** are those that came with it: of each `volume` `volume_id` `size_mib`, and if known
//! `hardware_id` `device_name` (`sdb`) `device_link` (`/dev/disk/by-id/…`) `bus_address` `read_only`. What lists say of both is
//! passed over. There are at most 64 devices of a machine, addresses of a device, and volumes.
//!
//! **`list-machines`** has no items. Its answer says whether everything is in it and how old it is in milliseconds. What
//! does not fit a line comes in pages: an answer with `next` is asked for more, with the same text as `after`.
//!
//! ```text
//! → {"id":8,"op":"list-machines"}
//! ← {"id":8,"ok":{"complete":true,"age_ms":0,"items":[…],"next":"6e0c…"}}
//! → {"id":9,"op":"list-machines","after":"6e0c…"}
//! ```
//!
//! A provider that can let go of storage and keep its data says `"release":true` with its hello, one that cannot `false`:
//! then a release is refused before anything is done. One that says neither is asked, and may answer `unimplemented`.
//!
//! `list-volumes` and `list-filesystems` are the same for these. A volume that two complete lists in a row lack is said to be
//! lost; a provider that answers `unimplemented` to a list or a release is not asked again.
//!
//! A provider that has zones names them on the first page: `"zones":["a","b"]`. A machine that the node spreads is then
//! asked for with `"zone":"b"`, and has to be made there; `resource-exhausted` and `unavailable` let the node try another
//! zone at once.
//!
//! There is no agent of ours inside such a machine, so the list speaks for it: what is listed as running reports, with the
//! conditions that its item has, if any: `"conditions":[{"kind":"DiskPressure","healthy":true,"text":""}]`.
//!
//! **Without an answer**: a provider that says `progress` may write how far a call is, as often as once a second, and one
//! that says `cancel` is told what is not wanted any more; it may end that call early with the fault `canceled`.
//!
//! ```text
//! ← {"progress":{"id":7,"effect":"6e0c…","text":"booting","percent":40}}
//! → {"cancel":{"effect":"6e0c…"}}
//! ```
//!
//! # What a provider promises
//!
//! - **The effect id is the key to everything.** The same id again gives the same thing; it is stored with what is made (as
//!   a tag, a label, a directory's name), so that it is found again after a crash of the provider, the node or both.
//! - The nonce that a machine was started with is kept with it, and told with it ever after as the fact `nonce`. What reports
//!   another one than this control plane gives under that id was started by somebody else, and is not taken over. (A provider
//!   that cannot keep it tells none.)
//! - The `owner` of the first line, the id of the node's journal, is kept with everything that is made, and told with it ever
//!   after, in answers, lookups and lists. Of several nodes on one account each takes only what is its own: what has another
//!   owner is neither taken over, nor deleted, nor missed. (A provider that cannot keep it tells none.)
//! - What is not there is deleted, destroyed and detached with success.
//! - `not-found` as the answer to a delete, destroy, release or detach means that nothing is there under this id. It is not
//!   taken for a success: the node asks by id (`lookup-…`), and only `absent` settles it. While the lookup finds it, or
//!   cannot tell, the node asks for it to be deleted again.
//! - What was deleted or destroyed is in no list any more. A machine or a volume that was, and that two lists show all the
//!   same, is deleted again; a machine only where the policy's harvest mode stops the instances of dead machines.
//! - A fault that says it can never work (`invalid-argument`, `out-of-range`, `unimplemented`, `permission-denied`) is
//!   believed when it has come several times in a row; a delete, destroy, release or detach is tried again whatever it says.
//! - `absent` means that it is not there *and no earlier call will still make it*. Who cannot tell says `unknown`.
//! - A list that may lack something says `"complete": false`.
//! - What it starts keeps none of its standard streams, and lives in a session of its own (`setsid`): the process and its
//!   process group end with the node, machines do not.
//! - At the end of its standard input it finishes and exits with 0.
//! - Nothing secret stands in answers, texts or on the standard error, which goes into the node's log. Where something does
//!   all the same, it is blotted out, see below.
//!
//! The node never has two calls for one effect id under way at the same time.
//!
//! # What happens when it misbehaves
//!
//! A process that ends, writes what is no answer, answers twice or something that was not asked, writes a line beyond the
//! bound, floods, or is silent for 150 s while it owes an answer (15 min for one call), is ended and started anew, after a pause that doubles
//! from 100 ms to 30 s. Calls that were under way end with `aborted`, which says that nobody knows whether they happened:
//! the node asks by id. Calls that come meanwhile are `unavailable`: they have not happened. An answer that does not
//! fit what was asked (another effect id, another number of items, a volume that is too small) is a fault of that
//! call or item alone.
//!
//! The process is ended in order: end of its standard input, 5 s later SIGTERM to its process group, 2 s later SIGKILL. What
//! a killed node left running is ended before the process is started anew. Its environment is `PATH`, `HOME`, `LANG`,
//! `TMPDIR` and what the configuration names.
//!
//! # What it must not tell on
//!
//! The values of the variables that the configuration names, what the secrets of classes hold, the passwords and keys that
//! engines are asked with, the node's key and the tokens that agents join with are known to the node (`KnownSecrets`).
//! They are blotted out (`***`) of every text of every answer and of what is written to the standard error, before
//! anything else is done with it: as they are, escaped as in JSON, a URL or XML, in base64 or hexadecimal digits, line by
//! line, and text by text where the value is JSON. What names or decides something is not taken without a part of it: an
//! answer whose id, path, mount point, zone, nonce or size is or holds a secret is a fault of that item, `unknown`, and the log names the secret. So no
//! value is to be used as (part of) such a name.
//!
//! What has fewer than six bytes cannot be told from other text. A class's secret with such a value is refused before
//! anything is made, and a provider that is to be given such a variable is not started; settings that are no secrets
//! are given on the command line (`[env, REGION=eu, python3, provider.py]`). What a value is taken apart into by the provider
//! itself, or encodes in another way, is not found; nor is a value that was changed while no node ran.
//!
//! [`FaultCode`]: bailiwick_actors::vocab::FaultCode

mod busy;
mod calls;
mod config;
mod filesystems;
mod host;
mod lines;
mod owner;
mod process;
mod session;
mod shared;
mod stderr;
mod table;
mod trouble;
mod trust;
pub mod wire;

use std::{
    collections::BTreeSet,
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use bailiwick_actors::{
    ports::{
        Answer, AttachVolume, AttachmentInfo, BulkAnswer, Capabilities, Clock, CreateMachine, CreateVolume,
        DetachVolume, Listing, Lookup, MachineInstance, MachineProvider, Progress, ProvisionedVolume, StartedMachine,
        TELLING_BYTES_MIN, VolumeProvider,
    },
    supervisor::machines::AgentReport,
    vocab::{EffectId, Fault, Name, Zone},
};
use tokio::sync::mpsc;
use uuid::Uuid;

pub use config::{BadCommand, ExecConfig, ExecLimits, command_words};
pub(super) use lines::{Lines, Read};
pub(super) use process::command;
use shared::{Order, Shared};
use wire::Operation;

use crate::providers::known::KnownSecrets;

/// Machines, volumes and filesystems of a process that speaks JSON lines.
///
/// The process is started at once, on a thread of the provider's own; calls work on any runtime. Dropping the provider ends
/// the process in order, which takes at most the grace times of its [`ExecLimits`].
pub struct ExecProvider {
    name: Name,
    owner: Option<Uuid>,
    limits: ExecLimits,
    known: KnownSecrets,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    orders: Option<mpsc::Sender<Order>>,
    reports: mpsc::Sender<Vec<AgentReport>>,
    to_report: Mutex<Option<mpsc::Receiver<Vec<AgentReport>>>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for ExecProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecProvider").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ExecProvider {
    /// Starts a provider's process. Whether it can be started at all is told by the first call, for it may come later.
    ///
    /// # Errors
    /// If its directory cannot be made, a thread cannot be started, or a variable that it is given could not be kept secret.
    pub fn start(config: ExecConfig, clock: Arc<dyn Clock>) -> io::Result<Self> {
        Self::start_knowing(config, clock, KnownSecrets::default())
    }

    /// The same, with more secrets that are not to be told on: what it says is looked through for them, too. Those that it is
    /// given are added.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_knowing(config: ExecConfig, clock: Arc<dyn Clock>, known: KnownSecrets) -> io::Result<Self> {
        know_variables(&config.env, &known)?;
        config.make_directories()?;
        let (name, limits, owner) = (config.name.clone(), config.limits, config.owner);
        let shared = Arc::new(Shared::default());
        let (orders, inbox) = mpsc::channel(limits.calls_max);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (of_thread, to_know) = (shared.clone(), known.clone());
        let thread = thread::Builder::new()
            .name(format!("exec-{name}"))
            .spawn(move || runtime.block_on(host::run(config, of_thread, to_know, inbox)))?;
        // Few: what is not fetched is made anew with the next list.
        let (reports, to_report) = mpsc::channel(4);
        let to_report = Mutex::new(Some(to_report));
        Ok(Self {
            owner,
            reports,
            to_report,
            name,
            limits,
            known,
            shared,
            clock,
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    /// The process that serves now; none while it is being started anew.
    pub fn pid(&self) -> Option<u32> {
        self.shared.pid()
    }

    /// What the lists say of running machines, list by list; can be taken once. There is no agent of ours in such a
    /// machine, so a node takes this for the agents' reports.
    pub fn take_reports(&self) -> Option<mpsc::Receiver<Vec<AgentReport>>> {
        self.to_report.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Ends the process in order and waits for that. Calls are `unavailable` from now on.
    pub fn stop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(provider = %self.name, "the thread of a provider panicked");
        }
    }

    fn order_cancel(&self, id: EffectId) {
        // Promises nothing: where the inbox is full, the call ends when it ends.
        if let Some(orders) = &self.orders {
            let _ = orders.try_send(Order::Cancel(id));
        }
    }
}

/// Takes in the values of the variables that a process is given.
fn know_variables(names: &[String], known: &KnownSecrets) -> io::Result<()> {
    for name in names {
        let Some(value) = std::env::var_os(name) else { continue };
        if (1..TELLING_BYTES_MIN).contains(&value.len()) {
            let text = format!(
                "variable {name}, which the provider is given, has a value of {} bytes, and one shorter than \
                 {TELLING_BYTES_MIN} cannot be recognised and hidden in texts: make it longer, or if it is not secret, \
                 leave it out of `env` and begin the command with [env, {name}=VALUE, …]",
                value.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        known.add(&format!("variable {name}"), &value.to_string_lossy());
    }
    Ok(())
}

/// Items that are nothing but their ids.
fn each(ids: Vec<EffectId>) -> Vec<(EffectId, String)> {
    ids.into_iter().map(|id| (id, wire::json(&id))).collect()
}

impl Drop for ExecProvider {
    fn drop(&mut self) {
        self.stop();
    }
}

impl MachineProvider for ExecProvider {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        for wish in &machines {
            let of = wish.class.as_ref().map_or_else(|| "its machine".into(), |copy| format!("class {}", copy.class));
            self.known.add_secret(&format!("the secrets of {of}"), &wish.secrets);
        }
        Box::pin(async move {
            let wishes = machines.iter().map(|wish| (wish.id, wire::json(&wire::NewMachine::from(wish)))).collect();
            self.bulk(Operation::CreateMachines, wishes, |at, told| trust::machine(&machines[at], told)).await
        })
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(self.undo(Operation::DeleteMachines, each(ids)))
    }

    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<StartedMachine>> {
        Box::pin(self.look(Operation::LookupMachines, ids, trust::found_machine))
    }

    fn cancel(&self, id: EffectId) {
        self.order_cancel(id);
    }

    fn capabilities(&self) -> Answer<'_, Result<Capabilities, Fault>> {
        Box::pin(async move {
            let hello = self.hello().await?;
            Ok(Capabilities { cancel: hello.cancel, progress: hello.progress })
        })
    }

    fn progress(&self, id: EffectId) -> Option<Progress> {
        self.shared.progress(id)
    }

    fn zones(&self) -> BTreeSet<Zone> {
        self.shared.zones()
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        Box::pin(self.list_all())
    }
}

impl VolumeProvider for ExecProvider {
    fn can_release(&self) -> Option<bool> {
        self.shared.can_release()
    }

    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        Box::pin(async move {
            let wishes = volumes.iter().map(|wish| (wish.id, wire::json(&wire::NewVolume::from(wish)))).collect();
            self.bulk(Operation::CreateVolumes, wishes, |at, told| trust::volume(&volumes[at], told)).await
        })
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(self.undo(Operation::DestroyVolumes, each(ids)))
    }

    fn release_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(self.undo(Operation::ReleaseVolumes, each(ids)))
    }

    fn list_volumes(&self) -> Answer<'_, Result<Listing<ProvisionedVolume>, Fault>> {
        Box::pin(async move {
            let (listing, _) = self.pages(Operation::ListVolumes, trust::listed_volume).await?;
            Ok(trust::without_twins(listing, |volume| volume.effect))
        })
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        Box::pin(self.look(Operation::LookupVolumes, ids, trust::found_volume))
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        Box::pin(async move {
            let wishes = attachments.iter().map(|wish| (wish.id, wire::json(&wire::NewAttachment::from(wish))));
            let wishes = wishes.collect();
            self.bulk(Operation::AttachVolumes, wishes, |at, told| trust::attachment(&attachments[at], told)).await
        })
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        let wishes = attachments.iter().map(|wish| (wish.id, wire::json(&wire::OldAttachment::from(wish)))).collect();
        Box::pin(self.undo(Operation::DetachVolumes, wishes))
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        Box::pin(self.look(Operation::LookupAttachments, ids, trust::found_attachment))
    }

    fn cancel(&self, id: EffectId) {
        self.order_cancel(id);
    }

    fn progress(&self, id: EffectId) -> Option<Progress> {
        self.shared.progress(id)
    }
}
