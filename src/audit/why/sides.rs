//! The sides of an entity that people ask about, and which event is of which.

use std::fmt;

use bailiwick_actors::{
    contract::{Decider, Stored, Touches},
    filesystem_attachment, machine, member,
    ports::replica_set::{MemberId, MemberState},
    replica_set,
    supervisor::machines,
    vocab::Fact,
    volume_attachment,
};
use bailiwick_journal::{Body, StreamId};

use crate::words::spoken;

/// One side of an entity, by the word that people use: `phase`, `health`, `vote`, `effect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    word: &'static str,
    facts: &'static [Fact],
}

/// Says that a word is no side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not an aspect; use one of {}", words())]
pub struct UnknownSide {
    /// The word, cut to 40 characters.
    pub word: String,
}

/// What is called differently from the facts of the core, or is several of them.
const OTHERS: [Side; 7] = [
    Side { word: "phase", facts: &[Fact::Life, Fact::Effect, Fact::Drain, Fact::Step, Fact::Pass] },
    Side {
        word: "status",
        facts: &[
            Fact::Life,
            Fact::Effect,
            Fact::Health,
            Fact::Agent,
            Fact::Hold,
            Fact::Freeze,
            Fact::Drain,
            Fact::Seen,
        ],
    },
    // What its agent reports is how it is, also where nothing follows from that.
    Side { word: "health", facts: &[Fact::Health, Fact::Agent, Fact::Seen] },
    Side { word: "instance", facts: &[Fact::Effect] },
    Side { word: "mount", facts: &[Fact::Effect] },
    Side { word: "removal", facts: &[Fact::Life] },
    Side { word: "conditions", facts: &[Fact::Agent] },
];

/// One fact each, so that a side can name it.
const ONE: [[Fact; 1]; Fact::ALL.len()] = {
    let mut one = [[Fact::Spec]; Fact::ALL.len()];
    let mut index = 0;
    while index < Fact::ALL.len() {
        one[index] = [Fact::ALL[index]];
        index += 1;
    }
    one
};

fn all() -> impl Iterator<Item = Side> {
    let one = ONE.iter().map(|facts| Side { word: facts[0].as_str(), facts });
    OTHERS.into_iter().chain(one.filter(|one| OTHERS.iter().all(|other| other.word != one.word)))
}

fn words() -> String {
    let words: Vec<&str> = all().map(|side| side.word).collect();
    words.join(", ")
}

impl Side {
    /// The side that a word means.
    ///
    /// # Errors
    /// If it means none.
    pub fn parse(word: &str) -> Result<Self, UnknownSide> {
        let found = all().find(|side| side.word == word);
        found.ok_or_else(|| UnknownSide { word: word.chars().take(40).collect() })
    }

    /// Its word.
    pub fn as_str(self) -> &'static str {
        self.word
    }

    /// Whether an event of that stream is of this side. What cannot be read is of none.
    pub(super) fn has(self, stream: &StreamId, event: &Body) -> bool {
        match touched(stream, event) {
            // Where an entity begins, it has a wish and a life, and nothing else yet.
            Some(Touches::All) => self.facts.iter().any(|fact| matches!(fact, Fact::Life | Fact::Spec)),
            Some(Touches::Some(facts)) => {
                let seen_votes = self.facts == [Fact::Vote] && stream.kind() == replica_set::State::KIND;
                facts.iter().any(|fact| self.facts.contains(fact) || (seen_votes && *fact == Fact::Seen))
            }
            None => false,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

/// Which sides an event changes; none if it cannot be read or is of no entity.
fn touched(stream: &StreamId, event: &Body) -> Option<Touches> {
    if stream.kind() == machines::State::KIND { None } else { (spoken(stream)?.touches)(event).ok() }
}

/// What an event is to somebody who asks about a whole entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Matter,
    /// It is not well; no matter any more once it has recovered.
    Ailment,
    Recovery,
    /// Its agent reports something that is not healthy, or has fallen silent; no matter any more once it has reported again.
    Unwell,
    /// Its agent reports that all is healthy.
    Well,
    /// An attachment was there, or is there again, or still: no matter if it was looked at and had not changed.
    Attached,
    /// It is looked whether it is still attached.
    Check,
    Routine,
}

impl Told {
    pub(super) fn of(stream: &StreamId, event: &Body) -> Self {
        let special = match stream.kind() {
            machine::State::KIND => match machine::Event::load(event) {
                Ok(machine::Event::BecameSuspect { .. } | machine::Event::BecameOverdue { .. }) => Some(Self::Ailment),
                Ok(machine::Event::BecameWell { .. }) => Some(Self::Recovery),
                Ok(machine::Event::NodeReported { conditions, .. }) => {
                    let is_well = conditions.iter().all(|condition| condition.healthy.is_yes());
                    Some(if is_well { Self::Well } else { Self::Unwell })
                }
                Ok(machine::Event::NodeWentStale { .. }) => Some(Self::Unwell),
                _ => None,
            },
            volume_attachment::State::KIND => match volume_attachment::Event::load(event) {
                Ok(volume_attachment::Event::Attached { .. }) => Some(Self::Attached),
                Ok(volume_attachment::Event::ReattachRequested { .. }) => Some(Self::Check),
                _ => None,
            },
            filesystem_attachment::State::KIND => match filesystem_attachment::Event::load(event) {
                Ok(filesystem_attachment::Event::Attached { .. }) => Some(Self::Attached),
                Ok(filesystem_attachment::Event::ReattachRequested { .. }) => Some(Self::Check),
                _ => None,
            },
            _ => None,
        };
        let otherwise = if is_routine(stream, event) { Self::Routine } else { Self::Matter };
        special.unwrap_or(otherwise)
    }
}

/// Who leads a replica set, and who is not well in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Led {
    pub primary: Option<MemberId>,
    pub unhealthy: Vec<MemberId>,
}

impl Led {
    /// By what an engine reported, if that is what an event of this stream says.
    pub(super) fn by(stream: &StreamId, event: &Body) -> Option<Self> {
        if stream.kind() != replica_set::State::KIND {
            return None;
        }
        let Ok(replica_set::Event::Seen { observation }) = replica_set::Event::load(event) else { return None };
        let statuses = || observation.statuses.iter();
        let leads = statuses().find(|status| status.healthy && status.state == MemberState::Primary);
        let unhealthy = statuses().filter(|status| !status.healthy).map(|status| status.id).collect();
        Some(Self { primary: leads.map(|status| status.id), unhealthy })
    }

    pub(super) fn is_in_trouble(&self) -> bool {
        self.primary.is_none() || !self.unhealthy.is_empty()
    }
}

/// Whether an event is something that goes on all the time and is not asked for when a whole entity is asked about: that an
/// agent is heard, that an engine was looked at, what hangs on something, that it is well.
fn is_routine(stream: &StreamId, event: &Body) -> bool {
    match stream.kind() {
        machine::State::KIND => {
            use machine::Event;
            match Event::load(event) {
                Ok(Event::BecameWell { .. } | Event::JoinAwaited { .. } | Event::Progressed { .. }) => true,
                Ok(event) => is_only(event.touches(), &[Fact::Agent, Fact::Dependents, Fact::Start]),
                Err(_) => false,
            }
        }
        replica_set::State::KIND => {
            use replica_set::Event;
            match Event::load(event) {
                Ok(Event::LookBegun | Event::SeenSame | Event::Published { .. }) => true,
                Ok(Event::Seen { .. } | Event::SeenNotBegun) => true,
                Ok(_) | Err(_) => false,
            }
        }
        member::State::KIND => matches!(
            member::Event::load(event),
            Ok(member::Event::Followed { .. } | member::Event::Said { .. } | member::Event::TaskEnded)
        ),
        _ => touched(stream, event).is_some_and(|touches| is_only(touches, &[Fact::Dependents])),
    }
}

fn is_only(touches: Touches, facts: &[Fact]) -> bool {
    match touches {
        Touches::All => false,
        Touches::Some(touched) => touched.iter().all(|fact| facts.contains(fact)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_of_the_core_can_be_asked_about_and_other_words_are_refused_with_a_list() {
        for fact in Fact::ALL {
            assert_eq!(Side::parse(fact.as_str()).map(Side::as_str), Ok(fact.as_str()));
        }
        let refused = Side::parse("weather").unwrap_err().to_string();
        assert!(
            refused.contains("\"weather\"") && refused.contains("phase") && refused.contains("health"),
            "{refused}"
        );
    }
}
