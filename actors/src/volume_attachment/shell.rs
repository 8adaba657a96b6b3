//! Attachment effects as provider calls.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, Report, Spec, State, Target};
use crate::{
    ports::{AttachVolume, AttachmentInfo, DetachVolume},
    shell::{AnyCommand, Asked, Call, Kind, Urgency, VolumeCall, Work},
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
            (Effect::Attach { .. }, Some((target, spec))) => VolumeCall::Attach(Box::new(attach(id, target, spec))),
            (_, Some((target, spec))) => VolumeCall::Detach(detach(id, target, spec)),
            (_, None) => VolumeCall::Destroy(id),
        };
        let machine = spec.map(|spec| spec.machine.clone());
        Work::Call(Box::new(Call::Volume { stream: stream.clone(), provider, machine, id, attempt, call }))
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

fn attach(id: EffectId, target: &Target, spec: &Spec) -> AttachVolume {
    AttachVolume {
        id,
        machine: spec.machine.clone(),
        machine_effect: target.machine_effect,
        instance: target.instance.clone(),
        volume: spec.volume.clone(),
        volume_effect: target.volume_effect,
        volume_id: target.volume_id.clone(),
        read_only: spec.read_only,
    }
}

fn detach(id: EffectId, target: &Target, spec: &Spec) -> DetachVolume {
    DetachVolume {
        id,
        machine: spec.machine.clone(),
        machine_effect: target.machine_effect,
        volume: spec.volume.clone(),
        volume_effect: target.volume_effect,
    }
}

/// How an attach went, as a command.
pub(crate) fn attached(attempt: u32, result: Result<AttachmentInfo, Fault>) -> AnyCommand {
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
