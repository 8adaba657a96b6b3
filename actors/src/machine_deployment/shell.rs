//! Machine deployment effects as work.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, State};
use crate::{
    shell::{AnyCommand, Kind, Work},
    vocab::Timestamp,
};

impl Kind for State {
    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &Effect) -> Work {
        let Effect::WakeAt(due) = effect;
        Work::WakeAt(*due)
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(due: Timestamp) -> Option<AnyCommand> {
        Some(AnyCommand::MachineDeployment(Command::Wake { due }))
    }
}
