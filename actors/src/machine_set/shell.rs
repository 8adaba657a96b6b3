//! Machine set effects as work.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, State};
use crate::{
    shell::{Asked, Kind, Urgency, Work},
    vocab::Timestamp,
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
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

    fn wake(due: Timestamp) -> Option<Command> {
        Some(Command::Wake { due })
    }
}
