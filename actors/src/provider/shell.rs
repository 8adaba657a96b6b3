//! What follows for the calls to a provider.

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Command, Effect, State};
use crate::{
    contract::Entity,
    shell::{Asked, Kind, Services, Urgency, Work},
    vocab::{Name, Timestamp},
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &Effect) -> Work {
        let Effect::WakeAt(due) = effect;
        Work::WakeAt(*due)
    }

    fn wake(due: Timestamp) -> Option<Command> {
        Some(Command::Wake { due })
    }

    /// An operator stops things also while the disk is nearly full.
    fn urgency(_command: &Command) -> Urgency {
        Urgency::Always
    }

    fn stepped(entity: &Entity<Self>, services: &Services) {
        if let Ok(provider) = entity.stream().name().parse::<Name>() {
            services.holds.set(provider, entity.state().hold.is_some());
        }
    }
}
