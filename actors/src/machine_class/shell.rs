//! A machine class has no effects, and waits for nothing.

use bailiwick_journal::StreamId;

use super::{NoEffect, State};
use crate::{
    shell::{AnyCommand, Kind, Work},
    vocab::Timestamp,
};

impl Kind for State {
    fn work(&self, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn wake(_due: Timestamp) -> Option<AnyCommand> {
        None
    }
}
