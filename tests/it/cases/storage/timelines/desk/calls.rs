//! Bulk calls: what is asked, and what the provider answers.

use bailiwick::actors::{
    contract::Decider,
    filesystem, filesystem_attachment,
    ports::{
        AttachFilesystem, AttachVolume, AttachmentInfo, Batch, CreateFilesystem, CreateVolume,
        FilesystemAttachmentInfo, Operation, ProvisionedFilesystem, ProvisionedVolume,
    },
    shell::Call,
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
        let (stream, wish) = (&call.stream, &call.wish);
        let tag = tag(stream);
        let detached = |instance: Option<&InstanceId>| json!({"attachment": tag, "instance": instance.map(|id| &id.0)});
        if let Some(create) = wish.making::<CreateVolume>() {
            let place = self.volumes[stream].state().own.place.as_ref();
            return Ok(json!({
                "volume": tag,
                "size": create.size.0,
                "machine": place.map(|place| format!("machine-{}", place.machine)),
                "instance": place.map(|place| place.instance.0.clone()),
            }));
        }
        if let Some(attach) = wish.making::<AttachVolume>() {
            return Ok(json!({
                "attachment": tag,
                "instance": attach.instance.0,
                "read_only": attach.read_only,
                "volume_id": attach.volume_id.0,
            }));
        }
        if let Some(create) = wish.making::<CreateFilesystem>() {
            return Ok(json!({
                "filesystem": tag,
                "size": create.size.0,
                "backing": create.backing.as_ref().map(|backing| format!("volume-{}", backing.volume)),
            }));
        }
        if let Some(attach) = wish.making::<AttachFilesystem>() {
            return Ok(json!({
                "attachment": tag,
                "instance": attach.instance.0,
                "read_only": attach.read_only,
                "filesystem_id": attach.filesystem_id.0,
                "path": attach.path.clone().unwrap_or_default(),
            }));
        }
        Ok(match wish.operation() {
            Operation::DestroyVolume
            | Operation::ReleaseVolume
            | Operation::DestroyFilesystem
            | Operation::ReleaseFilesystem => {
                Value::from(self.provider.known.get(&call.id).cloned().unwrap_or_default())
            }
            Operation::DetachVolume => {
                detached(self.volume_attachments[stream].state().target().map(|target| &target.instance))
            }
            Operation::DetachFilesystem => {
                detached(self.filesystem_attachments[stream].state().target().map(|target| &target.instance))
            }
            other => return Err(format!("{other:?} is not done here")),
        })
    }

    /// The entity is told how its item went.
    fn report(&mut self, call: &Call, outcome: Outcome) -> Result<(), String> {
        let (stream, attempt) = (call.stream.clone(), call.attempt);
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
        let Some(create) = call.wish.making::<CreateVolume>() else {
            return Ok(match failed {
                Some(fault) => Report::DestroyFailed { attempt, fault },
                None => Report::Destroyed { attempt },
            });
        };
        if let Some(fault) = failed {
            return Ok(Report::CreateFailed { attempt, fault });
        }
        let number = call.stream.name();
        let record: Option<given::Volume> = self.store.get("volumes", &tag(&call.stream))?;
        let attach = record.as_ref().and_then(|record| record.attach.as_ref()).filter(|_| attached);
        let at_creation = attach.map(|attach| {
            let info = AttachmentInfo { path: format!("/dev/sda{number}"), read_only: attach.read_only };
            Ok::<_, String>(AtCreation { machine: name(&attach.machine)?, info })
        });
        let at_creation = at_creation.transpose()?;
        let persistent = record.as_ref().is_some_and(|record| record.persistent);
        let volume_id = format!("id-{number}");
        self.provider.known.insert(create.id, volume_id.clone());
        Ok(Report::Own(volume::OwnReport::Made {
            attempt,
            volume: ProvisionedVolume { effect: create.id, volume_id: InstanceId(volume_id), size: create.size },
            facts: VolumeFacts { hardware_id: Some(format!("serial-{number}")), persistent },
            attached: at_creation,
        }))
    }

    fn filesystem_report(&mut self, call: &Call, attempt: u32, failed: Option<Fault>) -> filesystem::Report {
        use filesystem::Report;
        let Some(create) = call.wish.making::<CreateFilesystem>() else {
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
            None => (format!("id-{}", call.stream.name()), create.size),
        };
        self.provider.known.insert(create.id, id.clone());
        let filesystem = ProvisionedFilesystem { effect: create.id, filesystem_id: InstanceId(id), size };
        Report::Created { attempt, made: filesystem }
    }
}

fn volume_attachment_report(call: &Call, attempt: u32, failed: Option<Fault>) -> volume_attachment::Report {
    use volume_attachment::Report;
    match (call.wish.making::<AttachVolume>(), failed) {
        (Some(_), Some(fault)) => Report::AttachFailed { attempt, fault },
        (Some(attach), None) => {
            let info = AttachmentInfo { path: format!("/dev/sda{}", attach.volume), read_only: attach.read_only };
            Report::Attached { attempt, info }
        }
        (_, Some(fault)) => Report::DetachFailed { attempt, fault },
        (_, None) => Report::Detached { attempt },
    }
}

fn filesystem_attachment_report(call: &Call, attempt: u32, failed: Option<Fault>) -> filesystem_attachment::Report {
    use filesystem_attachment::Report;
    match (call.wish.making::<AttachFilesystem>(), failed) {
        (Some(_), Some(fault)) => Report::AttachFailed { attempt, fault },
        (Some(attach), None) => {
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
