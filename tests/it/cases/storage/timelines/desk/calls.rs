//! Bulk calls: what is asked, and what the provider answers.

use bailiwick::actors::{
    contract::Decider,
    filesystem, filesystem_attachment,
    ports::{AttachmentInfo, Batch, FilesystemAttachmentInfo, ProvisionedFilesystem, ProvisionedVolume},
    shell::{Call, FilesystemCall, VolumeCall},
    vocab::{Fault, InstanceId},
    volume::{self, AtCreation, VolumeFacts},
    volume_attachment,
};
use bailiwick_journal::StreamId;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Desk, tag};
use crate::cases::storage::timelines::{
    given::{self, name},
    provider::{self, Outcome},
};

impl Desk {
    /// One bulk call, and then the reports of how it went.
    pub(super) fn perform(&mut self, batch: Batch<StreamId, Call>) -> Result<(), String> {
        let keys: Vec<String> = batch.items.iter().map(|(stream, _)| tag(stream)).collect();
        let args: Vec<Value> = batch.items.iter().map(|(_, call)| self.argument(call)).collect::<Result<_, _>>()?;
        self.told.calls.push(json!({
            "at": self.at(),
            "op": provider::name(batch.operation),
            "source": batch.source.as_ref().map(ToString::to_string),
            "args": args,
        }));
        let outcomes = self.provider.outcomes(&batch, &keys)?;
        for ((_, call), outcome) in batch.items.iter().zip(outcomes) {
            self.report(call, outcome)?;
        }
        self.look(Vec::new())
    }

    /// What one item of a call looks like.
    fn argument(&self, call: &Call) -> Result<Value, String> {
        let stream = call.stream();
        let tag = tag(stream);
        let id_of = |id| Value::from(self.provider.known.get(&id).cloned().unwrap_or_default());
        Ok(match call {
            Call::Volume { call: VolumeCall::Create(create), .. } => {
                let place = self.volumes[stream].state().place.as_ref();
                json!({
                    "volume": tag,
                    "size": create.size.0,
                    "machine": place.map(|place| format!("machine-{}", place.machine)),
                    "instance": place.map(|place| place.instance.0.clone()),
                })
            }
            Call::Volume { call: VolumeCall::Destroy(id) | VolumeCall::Release(id), .. } => id_of(*id),
            Call::Volume { call: VolumeCall::Attach(attach), .. } => json!({
                "attachment": tag,
                "instance": attach.instance.0,
                "read_only": attach.read_only,
                "volume_id": attach.volume_id.0,
            }),
            Call::Volume { call: VolumeCall::Detach(_), .. } => {
                let target = self.volume_attachments[stream].state().target();
                json!({"attachment": tag, "instance": target.map(|target| target.instance.0.clone())})
            }
            Call::Filesystem { call: FilesystemCall::Create(create), .. } => json!({
                "filesystem": tag,
                "size": create.size.0,
                "backing": create.backing.as_ref().map(|backing| format!("volume-{}", backing.volume)),
            }),
            Call::Filesystem { call: FilesystemCall::Destroy(id) | FilesystemCall::Release(id), .. } => id_of(*id),
            Call::Filesystem { call: FilesystemCall::Attach(attach), .. } => json!({
                "attachment": tag,
                "instance": attach.instance.0,
                "read_only": attach.read_only,
                "filesystem_id": attach.filesystem_id.0,
                "path": attach.path.clone().unwrap_or_default(),
            }),
            Call::Filesystem { call: FilesystemCall::Detach(_), .. } => {
                let target = self.filesystem_attachments[stream].state().target();
                json!({"attachment": tag, "instance": target.map(|target| target.instance.0.clone())})
            }
            Call::Machine { .. } => return Err("machines are not made here".to_owned()),
            Call::Volume { call: VolumeCall::Import(_), .. } => return Err("nothing is taken over here".to_owned()),
            Call::ReplicaSet { .. } => return Err("there are no replica sets here".to_owned()),
        })
    }

    /// The entity is told how its item went.
    fn report(&mut self, call: &Call, outcome: Outcome) -> Result<(), String> {
        let (stream, attempt) = (call.stream().clone(), call.attempt());
        let failed = match &outcome {
            Outcome::Failed(fault) => Some(fault.clone()),
            Outcome::Ok | Outcome::OkAttached => None,
        };
        match stream.kind() {
            volume::State::KIND => {
                let report = self.volume_report(call, attempt, failed, matches!(outcome, Outcome::OkAttached))?;
                self.ask_volume(&stream, &volume::Command::Report(report), Uuid::nil())
            }
            volume_attachment::State::KIND => {
                let report = volume_attachment_report(call, attempt, failed);
                self.ask_volume_attachment(&stream, &volume_attachment::Command::Report(report), Uuid::nil())
            }
            filesystem::State::KIND => {
                let report = self.filesystem_report(call, attempt, failed);
                self.ask_filesystem(&stream, &filesystem::Command::Report(report), Uuid::nil())
            }
            _ => {
                let report = filesystem_attachment_report(call, attempt, failed);
                self.ask_filesystem_attachment(&stream, &filesystem_attachment::Command::Report(report), Uuid::nil())
            }
        }
    }

    fn volume_report(
        &mut self,
        call: &Call,
        attempt: u32,
        failed: Option<Fault>,
        attached: bool,
    ) -> Result<volume::Report, String> {
        use volume::Report;
        let Call::Volume { call: VolumeCall::Create(create), stream, .. } = call else {
            return Ok(match failed {
                Some(fault) => Report::DestroyFailed { attempt, fault },
                None => Report::Destroyed { attempt },
            });
        };
        if let Some(fault) = failed {
            return Ok(Report::CreateFailed { attempt, fault });
        }
        let number = stream.name();
        let record: Option<given::Volume> = self.store.get("volumes", &tag(stream))?;
        let attach = record.as_ref().and_then(|record| record.attach.as_ref()).filter(|_| attached);
        let at_creation = attach.map(|attach| {
            let info = AttachmentInfo { path: format!("/dev/sda{number}"), read_only: attach.read_only };
            Ok::<_, String>(AtCreation { machine: name(&attach.machine)?, info })
        });
        let at_creation = at_creation.transpose()?;
        let persistent = record.as_ref().is_some_and(|record| record.persistent);
        let volume_id = format!("id-{number}");
        self.provider.known.insert(create.id, volume_id.clone());
        Ok(Report::Made {
            attempt,
            volume: ProvisionedVolume { effect: create.id, volume_id: InstanceId(volume_id), size: create.size },
            facts: VolumeFacts { hardware_id: Some(format!("serial-{number}")), persistent },
            attached: at_creation,
        })
    }

    fn filesystem_report(&mut self, call: &Call, attempt: u32, failed: Option<Fault>) -> filesystem::Report {
        use filesystem::Report;
        let Call::Filesystem { call: FilesystemCall::Create(create), stream, .. } = call else {
            return match failed {
                Some(fault) => Report::DestroyFailed { attempt, fault },
                None => Report::Destroyed { attempt },
            };
        };
        if let Some(fault) = failed {
            return Report::CreateFailed { attempt, fault };
        }
        let (id, size) = match &create.backing {
            Some(backing) => (backing.device.name.clone(), backing.device.size),
            None => (format!("id-{}", stream.name()), create.size),
        };
        self.provider.known.insert(create.id, id.clone());
        let filesystem = ProvisionedFilesystem { effect: create.id, filesystem_id: InstanceId(id), size };
        Report::Created { attempt, filesystem }
    }
}

fn volume_attachment_report(call: &Call, attempt: u32, failed: Option<Fault>) -> volume_attachment::Report {
    use volume_attachment::Report;
    match (call, failed) {
        (Call::Volume { call: VolumeCall::Attach(_), .. }, Some(fault)) => Report::AttachFailed { attempt, fault },
        (Call::Volume { call: VolumeCall::Attach(attach), .. }, None) => {
            let info = AttachmentInfo { path: format!("/dev/sda{}", attach.volume), read_only: attach.read_only };
            Report::Attached { attempt, info }
        }
        (_, Some(fault)) => Report::DetachFailed { attempt, fault },
        (_, None) => Report::Detached { attempt },
    }
}

fn filesystem_attachment_report(call: &Call, attempt: u32, failed: Option<Fault>) -> filesystem_attachment::Report {
    use filesystem_attachment::Report;
    match (call, failed) {
        (Call::Filesystem { call: FilesystemCall::Attach(_), .. }, Some(fault)) => {
            Report::AttachFailed { attempt, fault }
        }
        (Call::Filesystem { call: FilesystemCall::Attach(attach), .. }, None) => {
            let mount_point = match &attach.backing {
                Some(backing) => format!("/mnt/{}", backing.device.name),
                None => format!("/srv/{}", attach.filesystem_id),
            };
            Report::Attached { attempt, info: FilesystemAttachmentInfo { mount_point, read_only: attach.read_only } }
        }
        (_, Some(fault)) => Report::DetachFailed { attempt, fault },
        (_, None) => Report::Detached { attempt },
    }
}
