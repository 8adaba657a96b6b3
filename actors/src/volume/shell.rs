//! Volume effects as provider calls.

use bailiwick_journal::StreamId;

use super::{Command, Effect, Report, State};
use crate::{
    ports::{CreateVolume, ProvisionedVolume},
    shell::{AnyCommand, Call, Kind, VolumeCall, Work},
    vocab::{EffectId, Fault, FaultCode, Name, Timestamp},
};

impl Kind for State {
    fn work(&self, stream: &StreamId, effect: &Effect) -> Work {
        let provider = self.spec.as_ref().map(|spec| spec.provider.clone());
        let (id, attempt) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Create { intent, attempt } => (EffectId::of(stream, *intent), *attempt),
            Effect::Destroy { of, attempt } | Effect::Release { of, attempt } => (EffectId::of(stream, *of), *attempt),
        };
        let call = match (effect, &self.spec, stream.name().parse::<Name>()) {
            (Effect::Create { .. }, Some(spec), Ok(volume)) => {
                VolumeCall::Create(CreateVolume { id, volume, uid: self.uid(stream), size: spec.size })
            }
            (Effect::Release { .. }, ..) => VolumeCall::Release(id),
            _ => VolumeCall::Destroy(id),
        };
        Work::Call(Box::new(Call::Volume { stream: stream.clone(), provider, id, attempt, call }))
    }

    fn wake(due: Timestamp) -> Option<AnyCommand> {
        Some(AnyCommand::Volume(Command::Wake { due }))
    }
}

/// How a create went, as a command.
pub(crate) fn created(attempt: u32, result: Result<ProvisionedVolume, Fault>) -> AnyCommand {
    AnyCommand::Volume(Command::Report(match result {
        Ok(volume) => Report::Created { attempt, volume },
        Err(fault) => Report::CreateFailed { attempt, fault },
    }))
}

/// How a destroy went, as a command. What is not there any more is destroyed.
pub(crate) fn destroyed(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::Volume(Command::Report(match result {
        Ok(()) => Report::Destroyed { attempt },
        Err(fault) if fault.code == FaultCode::NotFound => Report::Destroyed { attempt },
        Err(fault) => Report::DestroyFailed { attempt, fault },
    }))
}
