//! A member in the shell: it owes nothing and waits for nothing.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, State};
use crate::{
    contract::NoEffect,
    shell::{Asked, Kind, Urgency, Work},
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    const OWES: bool = false;

    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            Command::Forget { .. } => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }
}
