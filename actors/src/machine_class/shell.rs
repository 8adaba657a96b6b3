//! A machine class has no effects, and waits for nothing.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, State};
use crate::{
    contract::NoEffect,
    shell::{AnyCommand, Kind, Urgency, Work},
    vocab::Timestamp,
};

impl Kind for State {
    const OWES: bool = false;

    fn command_of(any: AnyCommand) -> Option<Command> {
        match any {
            AnyCommand::MachineClass(command) => Some(command),
            _ => None,
        }
    }

    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            Command::Remove | Command::Release { .. } => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(_due: Timestamp) -> Option<AnyCommand> {
        None
    }
}
