//! Filesystem effects as provider calls.

use bailiwick_journal::{StreamId, Version};
use uuid::Uuid;

use super::{Command, Effect, Report, State, Storage};
use crate::{
    ports::{CreateFilesystem, ProvisionedFilesystem},
    shell::{AnyCommand, Asked, Call, FilesystemCall, Kind, Urgency, Work},
    vocab::{EffectId, Fault, Name, Timestamp},
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let (id, attempt) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Create { intent, attempt } => (EffectId::of(journal, stream, *intent), *attempt),
            Effect::Destroy { of, attempt } | Effect::Release { of, attempt } => {
                (EffectId::of(journal, stream, *of), *attempt)
            }
        };
        let (backing, over) = match &self.storage {
            Storage::Creating { backing, over, .. } => (backing.clone(), over.iter()),
            Storage::None | Storage::Provisioned { .. } | Storage::Destroying { .. } => Default::default(),
        };
        let call = match (effect, &self.spec, stream.name().parse::<Name>()) {
            (Effect::Create { .. }, Some(spec), Ok(filesystem)) => {
                let (uid, size, pool) = (self.uid(journal, stream), spec.size, self.pool.clone());
                let of_others = over.map(|of| EffectId::of(journal, &of.stream, of.version));
                let own = self.destroyed.iter().map(|of| EffectId::of(journal, stream, *of));
                let replaces = own.chain(of_others).collect();
                FilesystemCall::Create(Box::new(CreateFilesystem {
                    id,
                    filesystem,
                    uid,
                    size,
                    backing,
                    pool,
                    replaces,
                }))
            }
            (Effect::Release { .. }, ..) => FilesystemCall::Release(id),
            _ => FilesystemCall::Destroy(id),
        };
        let provider = self.source();
        let machine = self.machine().cloned();
        Work::Call(Box::new(Call::Filesystem { stream: stream.clone(), provider, machine, id, attempt, call }))
    }

    fn made(&self) -> Option<(Version, EffectId)> {
        match &self.storage {
            Storage::Provisioned { intent, filesystem } => Some((*intent, filesystem.effect)),
            _ => None,
        }
    }

    fn is_report(command: &Command) -> bool {
        matches!(command, Command::Report(_))
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            Command::Remove
            | Command::RemoveForced
            | Command::Release
            | Command::Destroy
            | Command::ReleaseAttachment { .. }
            | Command::Report(_) => Urgency::Always,
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

/// How a create went, as a command.
pub(crate) fn created(attempt: u32, result: Result<ProvisionedFilesystem, Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(filesystem) => Report::Created { attempt, filesystem },
        Err(fault) => Report::CreateFailed { attempt, fault },
    }))
}

/// How a destroy or release went, as a command.
pub(crate) fn destroyed(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(()) => Report::Destroyed { attempt },
        Err(fault) => Report::DestroyFailed { attempt, fault },
    }))
}
