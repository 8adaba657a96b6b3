//! Attachment effects as provider calls.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, Report, Spec, State, Target};
use crate::{
    ports::{AttachVolume, AttachmentInfo, BulkAnswer, DetachVolume, Lookup, Operation, VolumeProvider},
    shell::{AnyCommand, AnyWish, Asked, Call, Kind, Make, Services, Thing, Undo, Urgency, Volumes, Work},
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

/// Attachments of volumes, as providers keep them.
#[derive(Clone, Debug)]
pub struct Kept;

impl Thing for Kept {
    type Port = Volumes;
    type Made = AttachmentInfo;
    /// None if it is not known what is attached where; nobody is named then who could detach it.
    type Handle = Option<DetachVolume>;

    fn lookup(by: &dyn VolumeProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        by.lookup_attachments(ids)
    }

    fn works_on(what: &Option<DetachVolume>) -> Option<EffectId> {
        what.as_ref().map(|detach| detach.volume_effect)
    }
}

impl Make for AttachVolume {
    const OPERATION: Operation = Operation::AttachVolume;
    type Thing = Kept;

    fn make<'a>(by: &'a dyn VolumeProvider, _: &Services, wishes: Vec<Self>) -> BulkAnswer<'a, AttachmentInfo> {
        by.attach_volumes(wishes)
    }

    fn report(attempt: u32, result: Result<AttachmentInfo, Fault>) -> AnyCommand {
        AnyCommand::from(Command::Report(match result {
            Ok(info) => Report::Attached { attempt, info },
            Err(fault) => Report::AttachFailed { attempt, fault },
        }))
    }

    fn works_on(&self) -> Vec<EffectId> {
        vec![self.volume_effect]
    }
}

static DETACH: Undo<Kept> = Undo {
    operation: Operation::DetachVolume,
    undo: |by, all| by.detach_volumes(all.into_iter().flatten().collect()),
    report: |_, attempt, result| {
        AnyCommand::from(Command::Report(match result {
            Ok(()) => Report::Detached { attempt },
            Err(fault) => Report::DetachFailed { attempt, fault },
        }))
    },
};
