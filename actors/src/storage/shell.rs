//! Effects of volumes and filesystems as provider calls.

use bailiwick_journal::{StreamId, Version};
use uuid::Uuid;

use super::{Command, Effect, Provisioned, Report, State, Storage};
use crate::{
    shell::{AnyCommand, AnyWish, Asked, Call, Kind, Urgency, Work},
    vocab::{EffectId, Fault, Name, Timestamp},
};

/// How its provider is asked to make it and to undo it.
pub(crate) trait Calls: Provisioned {
    /// Who makes it.
    fn provider(state: &State<Self>) -> Option<Name>;

    /// Where the work is done.
    fn machine(state: &State<Self>) -> Option<Name>;

    fn make(state: &State<Self>, of: &ToMake<'_, Self>) -> AnyWish;

    fn destroy(id: EffectId) -> AnyWish;

    /// Its provider lets go of it, and its data stays.
    fn release(id: EffectId) -> AnyWish;
}

/// What is to be made.
pub(crate) struct ToMake<'a, K: Provisioned> {
    pub journal: Uuid,
    pub stream: &'a StreamId,
    pub id: EffectId,
    pub name: Name,
    pub spec: &'a K::Spec,
}

impl<K: Calls> Asked for Command<K> {
    type State = State<K>;
}

impl<K: Calls> Kind for State<K> {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let (id, attempt) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Create { intent, attempt } => (EffectId::of(journal, stream, *intent), *attempt),
            Effect::Destroy { of, attempt } | Effect::Release { of, attempt } => {
                (EffectId::of(journal, stream, *of), *attempt)
            }
        };
        let wish = match (effect, &self.spec, stream.name().parse()) {
            (Effect::Create { .. }, Some(spec), Ok(name)) => K::make(self, &ToMake { journal, stream, id, name, spec }),
            (Effect::Release { .. }, ..) => K::release(id),
            _ => K::destroy(id),
        };
        let (provider, machine) = (K::provider(self), K::machine(self));
        Work::Call(Box::new(Call { stream: stream.clone(), provider, machine, id, attempt, wish }))
    }

    fn made(&self) -> Option<(Version, EffectId)> {
        match &self.storage {
            Storage::Provisioned { intent, made } => Some((*intent, K::made(made).effect)),
            _ => None,
        }
    }

    fn is_report(command: &Command<K>) -> bool {
        matches!(command, Command::Report(_))
    }

    fn urgency(command: &Command<K>) -> Urgency {
        match command {
            Command::Remove
            | Command::RemoveForced
            | Command::Release
            | Command::Destroy
            | Command::ReleaseAttachment { .. }
            | Command::Report(_) => Urgency::Always,
            Command::Own(own) if K::lets_go(own) => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(due: Timestamp) -> Option<Command<K>> {
        Some(Command::Wake { due })
    }
}

/// How an attempt to make it went.
pub(crate) fn created<K: Calls>(attempt: u32, result: Result<K::Made, Fault>) -> AnyCommand {
    AnyCommand::from(Command::<K>::Report(match result {
        Ok(made) => Report::Created { attempt, made },
        Err(fault) => Report::CreateFailed { attempt, fault },
    }))
}

/// How an attempt to undo it went.
pub(crate) fn destroyed<K: Calls>(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::<K>::Report(match result {
        Ok(()) => Report::Destroyed { attempt },
        Err(fault) => Report::DestroyFailed { attempt, fault },
    }))
}
