//! Machine effects as provider calls.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, Report, State};
use crate::{
    ports::{CreateMachine, MachineInstance, SecretData},
    shell::{AnyCommand, Asked, Call, Kind, MachineCall, Urgency, Work},
    vocab::{EffectId, Fault, Name, Timestamp},
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let provider = self.spec.as_ref().map(|spec| spec.provider.clone());
        let (id, attempt) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Create { intent, attempt } => (self.effect_of(journal, stream, *intent), *attempt),
            Effect::Delete { of, attempt } => (self.effect_of(journal, stream, *of), *attempt),
            Effect::DeleteStray { effect, attempt } => {
                let (stream, id, attempt) = (stream.clone(), *effect, *attempt);
                let provider = self.strays.get(effect).map(|stray| stray.provider.clone());
                let call = MachineCall::DeleteStray;
                return Work::Call(Box::new(Call::Machine { stream, provider, id, attempt, call }));
            }
        };
        let call = match (effect, &self.spec, stream.name().parse::<Name>()) {
            (Effect::Create { .. }, Some(spec), Ok(machine)) => {
                let (uid, spec, zone) = (self.uid(journal, stream), spec.clone(), self.zone());
                let class = self.class().cloned().map(Box::new);
                let start = self.parameters().cloned().map(Box::new);
                let config = self.config().cloned().map(Box::new);
                // Both secrets are looked up right before the call; the nonce follows from the journal.
                let (secrets, nonce, join) = (SecretData::default(), None, None);
                let create = CreateMachine { id, machine, uid, spec, zone, class, secrets, start, config, nonce, join };
                MachineCall::Create(Box::new(create))
            }
            (Effect::Delete { of, .. }, ..) => MachineCall::Delete { is_proven: self.has_proof_of(*of) },
            _ => MachineCall::Delete { is_proven: false },
        };
        Work::Call(Box::new(Call::Machine { stream: stream.clone(), provider, id, attempt, call }))
    }

    fn is_report(command: &Command) -> bool {
        matches!(command, Command::Report(_))
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            // What agents say of themselves waits: they say it again.
            Command::Report(Report::Node { .. } | Report::Joined { .. } | Report::NodeChanged { .. }) => Urgency::Never,
            Command::Report(_)
            | Command::Hold { .. }
            | Command::Unhold
            | Command::Remove
            | Command::RemoveWith(_)
            | Command::Disown
            | Command::ReleaseAttachment { .. }
            | Command::ReleaseMount { .. }
            | Command::ReleaseContainer { .. }
            | Command::Unassign { .. }
            | Command::Disengage { .. } => Urgency::Always,
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

/// What another control plane has started, as a command.
pub(crate) fn started_by_other(seen: &MachineInstance, nonce: &str) -> AnyCommand {
    let (effect, instance, nonce) = (seen.effect, seen.instance.clone(), nonce.to_owned());
    AnyCommand::from(Command::Report(Report::StartedByOther { effect, instance, nonce }))
}

/// How a create went, as a command.
pub(crate) fn created(attempt: u32, result: Result<MachineInstance, Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(instance) => Report::Created { attempt, instance },
        Err(fault) => Report::CreateFailed { attempt, fault },
    }))
}

/// How a delete went, as a command.
pub(crate) fn deleted(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(()) => Report::Deleted { attempt },
        Err(fault) => Report::DeleteFailed { attempt, fault },
    }))
}

/// How the delete of an instance that was not the machine's own went, as a command.
pub(crate) fn stray_deleted(effect: EffectId, attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(()) => Report::StrayDeleted { effect, attempt },
        Err(fault) => Report::StrayDeleteFailed { effect, attempt, fault },
    }))
}
