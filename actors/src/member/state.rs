//! What is true of a member now.

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Part, Picture, Sighting, Task};
use crate::{
    ports::replica_set::{MemberId, StepReason},
    vocab::{Life, Uid},
};

/// A member of a replica set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// The version of its set's stream that it has heard of last.
    pub as_of: Version,
    /// Where its server is to be reached by other members; none without a seat.
    pub seat: Option<String>,
    /// As the configuration and the servers have it; none while it is in no configuration.
    pub seen: Option<Sighting>,
    /// The id that it has, or had last: where a configuration is not committed, it may have it still.
    pub last_id: Option<MemberId>,
    /// What the step that is on its way does with it.
    pub task: Option<Task>,
    /// Whether it votes, or may by now.
    pub flagged: bool,
    /// Why the last step that concerned it was taken.
    pub because: Option<StepReason>,
}

impl State {
    /// The member's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// One word for people: `declared`, `joining`, `learner`, `voter`, `leaving`, `removed`.
    pub fn status(&self) -> &'static str {
        let part = self.task.map(|task| task.part);
        match (self.life, &self.seen, part) {
            (Life::Undeclared, ..) => "undeclared",
            (Life::Removed, ..) => "removed",
            (_, None, Some(Part::Begin | Part::Join)) => "joining",
            (_, None, _) => "declared",
            (_, Some(_), Some(Part::Demote | Part::Remove)) => "leaving",
            (_, Some(seen), _) if seen.votes => "voter",
            (_, Some(_), _) => "learner",
        }
    }

    /// Whether a picture says anything that it does not know.
    pub fn differs_from(&self, picture: &Picture) -> bool {
        self.life != Life::Alive
            || self.seat != picture.seat
            || self.seen != picture.seen
            || self.task != picture.task
            || self.flagged != picture.flagged
    }
}
