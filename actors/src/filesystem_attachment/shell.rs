//! Filesystem attachment effects as provider calls.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, Report, Spec, State, Target};
use crate::{
    ports::{AttachFilesystem, DetachFilesystem, FilesystemAttachmentInfo},
    shell::{AnyCommand, Asked, Call, FilesystemCall, Kind, Urgency, Work},
    vocab::{EffectId, Fault, Timestamp},
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let (id, attempt) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Attach { intent, attempt } => (EffectId::of(journal, stream, *intent), *attempt),
            Effect::Detach { of, attempt } => (EffectId::of(journal, stream, *of), *attempt),
        };
        // Both are there whenever one of the two effects is pending; without them the call names no provider and fails.
        let (target, spec) = (self.target(), self.spec.as_ref());
        let provider = target.map(|target| target.provider.clone());
        let call = match (effect, target.zip(spec)) {
            (Effect::Attach { .. }, Some((target, spec))) => FilesystemCall::Attach(Box::new(attach(id, target, spec))),
            (_, Some((target, spec))) => FilesystemCall::Detach(detach(id, target, spec)),
            (_, None) => FilesystemCall::Destroy(id),
        };
        let machine = spec.map(|spec| spec.machine.clone());
        Work::Call(Box::new(Call::Filesystem { stream: stream.clone(), provider, machine, id, attempt, call }))
    }

    fn is_report(command: &Command) -> bool {
        matches!(command, Command::Report(_))
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            Command::Remove | Command::RemoveForced | Command::Report(_) => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(due: Timestamp) -> Option<Command> {
        Some(Command::Wake { due })
    }
}

fn attach(id: EffectId, target: &Target, spec: &Spec) -> AttachFilesystem {
    AttachFilesystem {
        id,
        machine: spec.machine.clone(),
        machine_effect: target.machine_effect,
        instance: target.instance.clone(),
        filesystem: spec.filesystem.clone(),
        filesystem_effect: target.filesystem_effect,
        filesystem_id: target.filesystem_id.clone(),
        backing: target.backing.clone(),
        path: target.path.clone(),
        read_only: spec.read_only,
    }
}

fn detach(id: EffectId, target: &Target, spec: &Spec) -> DetachFilesystem {
    DetachFilesystem {
        id,
        machine: spec.machine.clone(),
        machine_effect: target.machine_effect,
        filesystem: spec.filesystem.clone(),
        filesystem_effect: target.filesystem_effect,
    }
}

/// How an attach went, as a command.
pub(crate) fn attached(attempt: u32, result: Result<FilesystemAttachmentInfo, Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(info) => Report::Attached { attempt, info },
        Err(fault) => Report::AttachFailed { attempt, fault },
    }))
}

/// How a detach went, as a command.
pub(crate) fn detached(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(()) => Report::Detached { attempt },
        Err(fault) => Report::DetachFailed { attempt, fault },
    }))
}
