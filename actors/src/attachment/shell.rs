//! Effects of attachments as provider calls.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Attached, Command, Effect, Report, State};
use crate::{
    shell::{AnyCommand, AnyWish, Asked, Call, Kind, Urgency, Work},
    vocab::{EffectId, Fault, Timestamp},
};

/// How its provider is asked to attach and to detach it.
pub(crate) trait Calls: Attached {
    fn attach(id: EffectId, target: &Self::Target, spec: &Self::Spec) -> AnyWish;

    /// Of nothing if it is not known what is attached where: nobody is named then who could detach it.
    fn detach(id: EffectId, from: Option<(&Self::Target, &Self::Spec)>) -> AnyWish;
}

impl<A: Calls> Asked for Command<A> {
    type State = State<A>;
}

impl<A: Calls> Kind for State<A> {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let (id, attempt) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Attach { intent, attempt } => (EffectId::of(journal, stream, *intent), *attempt),
            Effect::Detach { of, attempt } => (EffectId::of(journal, stream, *of), *attempt),
        };
        // Both are there whenever one of the two effects is pending; without them the call names no provider and fails.
        let (target, spec) = (self.target(), self.spec.as_ref());
        let provider = target.map(|target| A::provider(target).clone());
        let wish = match (effect, target.zip(spec)) {
            (Effect::Attach { .. }, Some((target, spec))) => A::attach(id, target, spec),
            (_, from) => A::detach(id, from),
        };
        let machine = spec.map(|spec| A::machine(spec).clone());
        Work::Call(Box::new(Call { stream: stream.clone(), provider, machine, id, attempt, wish }))
    }

    fn is_report(command: &Command<A>) -> bool {
        matches!(command, Command::Report(_))
    }

    fn urgency(command: &Command<A>) -> Urgency {
        match command {
            Command::Remove | Command::RemoveForced | Command::Report(_) => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(due: Timestamp) -> Option<Command<A>> {
        Some(Command::Wake { due })
    }
}

/// How an attempt to attach it went.
pub(crate) fn attached<A: Calls>(attempt: u32, result: Result<A::Info, Fault>) -> AnyCommand {
    AnyCommand::from(Command::<A>::Report(match result {
        Ok(info) => Report::Attached { attempt, info },
        Err(fault) => Report::AttachFailed { attempt, fault },
    }))
}

/// How an attempt to detach it went.
pub(crate) fn detached<A: Calls>(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::<A>::Report(match result {
        Ok(()) => Report::Detached { attempt },
        Err(fault) => Report::DetachFailed { attempt, fault },
    }))
}
