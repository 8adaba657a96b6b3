//! Machine set effects as work.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, State};
use crate::{
    shell::{AnyCommand, Kind, Urgency, Work},
    vocab::Timestamp,
};

impl Kind for State {
    fn command_of(any: AnyCommand) -> Option<Command> {
        match any {
            AnyCommand::MachineSet(command) => Some(command),
            _ => None,
        }
    }

    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &Effect) -> Work {
        let Effect::WakeAt(due) = effect;
        Work::WakeAt(*due)
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            Command::Remove | Command::RemoveOwned => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(due: Timestamp) -> Option<AnyCommand> {
        Some(AnyCommand::MachineSet(Command::Wake { due }))
    }
}
