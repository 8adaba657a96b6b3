//! What is true of a replica set now.

use std::collections::BTreeSet;

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Endpoints, Spec, rhythm::Retries};
use crate::{
    ports::replica_set::{MemberId, Observation, Stamp, Step},
    vocab::{Fault, Life, Timestamp, Uid},
};

/// A replica set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<Spec>,
    /// What was seen of it last.
    pub seen: Option<Observation>,
    /// The version of the event that told so: a plan names what it was made on by it.
    pub seen_at: Version,
    /// Members that vote, or may vote by now: nobody else may conclude that one of them is of no account.
    pub flags: BTreeSet<MemberId>,
    /// Of these, those that a step was to give a vote of which nobody knows what came: it may still happen.
    pub doubtful: BTreeSet<MemberId>,
    pub phase: Phase,
    /// The version of the event that began the phase: reports about an earlier one are stale.
    pub phase_at: Version,
    /// Steps in a row that failed.
    pub step_retries: Retries,
    /// Looks in a row that failed.
    pub look_retries: Retries,
    /// When it was first tried to begin the set.
    pub initiating_since: Option<Timestamp>,
    /// Where its servers are to be found, as it was published last.
    pub published: Option<Endpoints>,
    /// It is not removed, nor is what is there of it, before that ends.
    pub protected: bool,
    /// How many servers a declaration asked for last: `spec` has more once somebody asked for more.
    pub servers_declared: Option<u32>,
}

/// What is being done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Nothing, and nothing will be.
    #[default]
    Idle,
    /// It is to be read what there is.
    Looking,
    /// It was read; a step may follow.
    Settled,
    /// A step is on its way.
    Stepping { step: Step, base: Stamp },
    /// Something failed; at `until` it is read again what there is.
    Waiting { until: Timestamp, fault: Fault, step: Option<Step> },
}

impl State {
    /// The set's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// How many members voted when it was looked at last.
    pub fn voters(&self) -> usize {
        self.seen.iter().flat_map(|seen| &seen.configuration.members).filter(|member| member.is_voter()).count()
    }

    /// What a declaration means for a set that lives: one that says the number of servers that the last one said takes
    /// back nothing that was asked for since.
    pub fn meant_by(&self, declared: &Spec) -> Spec {
        let mut meant = declared.clone();
        if let Some(present) = &self.spec
            && self.servers_declared == Some(declared.servers)
        {
            meant.servers = present.servers;
        }
        meant
    }

    /// Whether what is there was read and nothing is under way.
    pub fn is_settled(&self) -> bool {
        self.life == Life::Alive && self.phase == Phase::Settled
    }

    /// Whether fewer members vote than were declared, or one of them was not healthy, or said nothing, when it was looked at
    /// last.
    pub fn is_degraded(&self) -> bool {
        let Some(seen) = &self.seen else { return false };
        let wanted = self.spec.as_ref().map_or(0, |spec| spec.servers);
        if usize::try_from(wanted).is_ok_and(|wanted| self.voters() < wanted) {
            return true;
        }
        let mut voters = seen.configuration.members.iter().filter(|member| member.is_voter());
        voters.any(|member| seen.status(member.id).is_none_or(|status| !status.healthy))
    }

    /// One word for people: `settled`, `degraded`, `looking`, `changing`, `waiting`.
    pub fn status(&self) -> &'static str {
        match (&self.phase, self.life) {
            (_, Life::Undeclared) => "undeclared",
            (_, Life::Removed) => "removed",
            (Phase::Settled, _) if self.seen.is_none() => "not-begun",
            (Phase::Settled, _) if self.is_degraded() => "degraded",
            (Phase::Settled, _) => "settled",
            (Phase::Looking, _) => "looking",
            (Phase::Stepping { .. }, _) => "changing",
            (Phase::Waiting { .. }, _) => "waiting",
            (Phase::Idle, _) => "idle",
        }
    }
}
