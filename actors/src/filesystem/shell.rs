//! Filesystem effects as provider calls.

use bailiwick_journal::{StreamId, Version};
use uuid::Uuid;

use super::{Command, Effect, Report, State, Storage};
use crate::{
    ports::{BulkAnswer, CreateFilesystem, FilesystemProvider, Lookup, Operation, ProvisionedFilesystem},
    shell::{AnyCommand, AnyWish, Asked, Call, Filesystems, Kind, Make, Services, Thing, Undo, Urgency, Work},
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
        let wish = match (effect, &self.spec, stream.name().parse::<Name>()) {
            (Effect::Create { .. }, Some(spec), Ok(filesystem)) => {
                let (uid, size, pool) = (self.uid(journal, stream), spec.size, self.pool.clone());
                let of_others = over.map(|of| EffectId::of(journal, &of.stream, of.version));
                let own = self.destroyed.iter().map(|of| EffectId::of(journal, stream, *of));
                let replaces = own.chain(of_others).collect();
                AnyWish::make(CreateFilesystem { id, filesystem, uid, size, backing, pool, replaces })
            }
            (Effect::Release { .. }, ..) => AnyWish::undo(&RELEASE, id),
            _ => AnyWish::undo(&DESTROY, id),
        };
        let (provider, machine) = (self.source(), self.machine().cloned());
        Work::Call(Box::new(Call { stream: stream.clone(), provider, machine, id, attempt, wish }))
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

/// Filesystems, as providers keep them.
#[derive(Clone, Debug)]
pub struct Kept;

impl Thing for Kept {
    type Port = Filesystems;
    type Made = ProvisionedFilesystem;
    type Handle = EffectId;

    fn lookup(by: &dyn FilesystemProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>> {
        by.lookup_filesystems(ids)
    }
}

impl Make for CreateFilesystem {
    const OPERATION: Operation = Operation::CreateFilesystem;
    type Thing = Kept;

    fn make<'a>(
        by: &'a dyn FilesystemProvider,
        _: &Services,
        wishes: Vec<Self>,
    ) -> BulkAnswer<'a, ProvisionedFilesystem> {
        by.create_filesystems(wishes)
    }

    fn report(attempt: u32, result: Result<ProvisionedFilesystem, Fault>) -> AnyCommand {
        AnyCommand::from(Command::Report(match result {
            Ok(filesystem) => Report::Created { attempt, filesystem },
            Err(fault) => Report::CreateFailed { attempt, fault },
        }))
    }

    fn works_on(&self) -> Vec<EffectId> {
        self.backing.iter().map(|backing| backing.volume_effect).collect()
    }
}

/// The end of a filesystem and of its data.
static DESTROY: Undo<Kept> = Undo {
    operation: Operation::DestroyFilesystem,
    undo: |by, ids| by.destroy_filesystems(ids),
    report: |_, attempt, result| destroyed(attempt, result),
};

/// The end of a filesystem here; its data stays.
static RELEASE: Undo<Kept> = Undo {
    operation: Operation::ReleaseFilesystem,
    undo: |by, ids| by.release_filesystems(ids),
    report: |_, attempt, result| destroyed(attempt, result),
};

fn destroyed(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(()) => Report::Destroyed { attempt },
        Err(fault) => Report::DestroyFailed { attempt, fault },
    }))
}
