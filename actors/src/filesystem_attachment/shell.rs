//! Filesystem attachment effects as provider calls.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, Report, Spec, State, Target};
use crate::{
    ports::{
        AttachFilesystem, BulkAnswer, DetachFilesystem, FilesystemAttachmentInfo, FilesystemProvider, Lookup, Operation,
    },
    shell::{AnyCommand, AnyWish, Asked, Call, Filesystems, Kind, Make, Services, Thing, Undo, Urgency, Work},
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
        let wish = match (effect, target.zip(spec)) {
            (Effect::Attach { .. }, Some((target, spec))) => AnyWish::make(attach(id, target, spec)),
            (_, from) => AnyWish::undo(&DETACH, from.map(|(target, spec)| detach(id, target, spec))),
        };
        let machine = spec.map(|spec| spec.machine.clone());
        Work::Call(Box::new(Call { stream: stream.clone(), provider, machine, id, attempt, wish }))
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

/// Mounts of filesystems, as providers keep them.
#[derive(Clone, Debug)]
pub struct Kept;

impl Thing for Kept {
    type Port = Filesystems;
    type Made = FilesystemAttachmentInfo;
    /// None if it is not known what is attached where; nobody is named then who could detach it.
    type Handle = Option<DetachFilesystem>;

    fn lookup(by: &dyn FilesystemProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>> {
        by.lookup_filesystem_attachments(ids)
    }

    fn works_on(what: &Option<DetachFilesystem>) -> Option<EffectId> {
        what.as_ref().map(|detach| detach.filesystem_effect)
    }
}

impl Make for AttachFilesystem {
    const OPERATION: Operation = Operation::AttachFilesystem;
    type Thing = Kept;

    fn make<'a>(
        by: &'a dyn FilesystemProvider,
        _: &Services,
        wishes: Vec<Self>,
    ) -> BulkAnswer<'a, FilesystemAttachmentInfo> {
        by.attach_filesystems(wishes)
    }

    fn report(attempt: u32, result: Result<FilesystemAttachmentInfo, Fault>) -> AnyCommand {
        AnyCommand::from(Command::Report(match result {
            Ok(info) => Report::Attached { attempt, info },
            Err(fault) => Report::AttachFailed { attempt, fault },
        }))
    }

    fn works_on(&self) -> Vec<EffectId> {
        self.backing.iter().map(|backing| backing.volume_effect).chain([self.filesystem_effect]).collect()
    }
}

static DETACH: Undo<Kept> = Undo {
    operation: Operation::DetachFilesystem,
    undo: |by, all| by.detach_filesystems(all.into_iter().flatten().collect()),
    report: |_, attempt, result| {
        AnyCommand::from(Command::Report(match result {
            Ok(()) => Report::Detached { attempt },
            Err(fault) => Report::DetachFailed { attempt, fault },
        }))
    },
};
