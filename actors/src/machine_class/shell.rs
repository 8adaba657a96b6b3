//! A machine class has no effects, and waits for nothing.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::State;
use crate::{
    contract::NoEffect,
    shell::{AnyCommand, Kind, Work},
    vocab::Timestamp,
};

impl Kind for State {
    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(_due: Timestamp) -> Option<AnyCommand> {
        None
    }
}
