//! Machine effects as provider calls.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, Report, State, juju};
use crate::{
    ports::{BulkAnswer, CreateMachine, MachineInstance, MachineProvider, Operation, SecretData, StartedMachine},
    shell::{AnyCommand, AnyWish, Asked, Call, Instances, Kind, Make, Services, Undo, Urgency, Work, foreign},
    vocab::{Fault, Name, Timestamp},
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let provider = self.spec.as_ref().map(|spec| spec.provider.clone());
        let (id, attempt, provider) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Create { intent, attempt } => (self.effect_of(journal, stream, *intent), *attempt, provider),
            Effect::Delete { of, attempt } => (self.effect_of(journal, stream, *of), *attempt, provider),
            Effect::DeleteStray { effect, attempt } => {
                (*effect, *attempt, self.strays.get(effect).map(|stray| stray.provider.clone()))
            }
        };
        let wish = match (effect, &self.spec, stream.name().parse::<Name>()) {
            (Effect::Create { .. }, Some(spec), Ok(machine)) => {
                let (uid, spec, zone) = (self.uid(journal, stream), spec.clone(), self.zone());
                let class = self.class().cloned().map(Box::new);
                let start = self.parameters().cloned().map(Box::new);
                let config = self.config().cloned().map(Box::new);
                // Both secrets are looked up right before the call; the nonce follows from the journal.
                let (secrets, nonce, join) = (SecretData::default(), None, None);
                AnyWish::make(CreateMachine {
                    id,
                    machine,
                    uid,
                    spec,
                    zone,
                    class,
                    secrets,
                    start,
                    config,
                    nonce,
                    join,
                })
            }
            (Effect::DeleteStray { .. }, ..) => AnyWish::delete(&DELETE_STRAY, id, false),
            (Effect::Delete { of, .. }, ..) => AnyWish::delete(&DELETE, id, self.has_proof_of(*of)),
            _ => AnyWish::delete(&DELETE, id, false),
        };
        Work::Call(Box::new(Call { stream: stream.clone(), provider, machine: None, id, attempt, wish }))
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
            | Command::Disengage { .. }
            | Command::Client(juju::Command::EnsureDead { .. } | juju::Command::Remove) => Urgency::Always,
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

impl Make for CreateMachine {
    const OPERATION: Operation = Operation::CreateMachine;
    type Thing = Instances;

    fn make<'a>(by: &'a dyn MachineProvider, services: &Services, wishes: Vec<Self>) -> BulkAnswer<'a, StartedMachine> {
        services.create_machines(by, wishes)
    }

    fn report(attempt: u32, result: Result<StartedMachine, Fault>) -> AnyCommand {
        AnyCommand::from(Command::Report(match result {
            Ok(StartedMachine { instance, network, storage }) if network.is_empty() && storage.is_empty() => {
                Report::Created { attempt, instance }
            }
            Ok(StartedMachine { instance, network, storage }) => {
                Report::CreatedWith { attempt, instance, network, storage: Box::new(storage) }
            }
            Err(fault) => Report::CreateFailed { attempt, fault },
        }))
    }

    fn foreign(made: &StartedMachine, journal: Uuid) -> Option<AnyCommand> {
        foreign(&made.instance, journal)
    }
}

/// The end of a machine's own instance.
static DELETE: Undo<Instances> = Undo {
    operation: Operation::DeleteMachine,
    undo: |by, ids| by.delete(ids),
    report: |_, attempt, result| {
        AnyCommand::from(Command::Report(match result {
            Ok(()) => Report::Deleted { attempt },
            Err(fault) => Report::DeleteFailed { attempt, fault },
        }))
    },
};

/// The end of an instance that bears the machine's name and is not its own. It is named in its report: a machine may have
/// more than one.
static DELETE_STRAY: Undo<Instances> = Undo {
    operation: Operation::DeleteStray,
    undo: |by, ids| by.delete(ids),
    report: |effect, attempt, result| {
        AnyCommand::from(Command::Report(match result {
            Ok(()) => Report::StrayDeleted { effect, attempt },
            Err(fault) => Report::StrayDeleteFailed { effect, attempt, fault },
        }))
    },
};
