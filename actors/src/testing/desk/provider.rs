//! The provider at the desk: it does what it is asked at once, or answers as the test has said; and it keeps what it has and
//! who asked for what.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bailiwick_journal::StreamId;

use crate::{
    ports::{Listing, MachineInstance, Operation},
    vocab::{EffectId, Fault, Timestamp, Zone},
};

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// Whether something is there, by its id.
    Lookup,
    /// Everything that there is.
    List,
    Operation(Operation),
}

/// One call, as it reached the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub at: Timestamp,
    /// For whom; none for a list.
    pub stream: Option<StreamId>,
    pub asked: Asked,
    /// Under which id; none for a list.
    pub effect: Option<EffectId>,
    pub attempt: u32,
    /// Where it is to be made, if somebody has chosen.
    pub zone: Option<Zone>,
}

/// What a provider answers to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done, as it was asked for.
    Done,
    /// This is the instance: a create has made it, or a lookup has found it.
    Instance(Box<MachineInstance>),
    /// A lookup finds nothing.
    Absent,
    Fails(Fault),
    /// The call is under way until another answer is given for it.
    Late,
}

/// What the provider has, and what it will answer.
#[derive(Debug, Default)]
pub struct Provider {
    /// Its instances.
    pub instances: BTreeMap<EffectId, MachineInstance>,
    /// Its zones; none where it has none.
    pub zones: BTreeSet<Zone>,
    /// Whether it cannot read some of what it has, so that its list is not complete.
    pub is_partly_unreadable: bool,
    /// Why it cannot say what it has.
    pub list_fails: Option<Fault>,
    /// Of when its lists are, if they arrive late.
    pub lists_as_of: Option<Timestamp>,
    /// What it fails with whenever it is asked so, if no other answer was said.
    pub refuses: BTreeMap<Asked, Fault>,
    /// Every call, in order.
    pub calls: Vec<Call>,
    answers: BTreeMap<(StreamId, Asked), VecDeque<Answer>>,
    under_way: BTreeSet<(StreamId, EffectId, u32)>,
}

impl Provider {
    /// Its next answer to a call of this kind for this entity, after those that were said before.
    pub fn answers(&mut self, stream: StreamId, asked: Asked, answer: Answer) {
        self.answers.entry((stream, asked)).or_default().push_back(answer);
    }

    /// Everything that it has, as of now, or of an earlier time.
    pub fn listing(&self, now: Timestamp) -> Listing<MachineInstance> {
        let as_of = self.lists_as_of.unwrap_or(now);
        Listing { complete: !self.is_partly_unreadable, as_of, items: self.instances.values().cloned().collect() }
    }

    /// Takes note of a call, unless it is under way already. What comes of it: none as long as it is under way.
    pub(super) fn ask(&mut self, call: Call) -> Option<Answer> {
        let (Some(stream), Some(effect)) = (call.stream.clone(), call.effect) else {
            self.calls.push(call);
            return Some(Answer::Done);
        };
        let (key, asked) = ((stream.clone(), effect, call.attempt), call.asked);
        let is_new = !self.under_way.contains(&key);
        if is_new {
            self.calls.push(call);
        }
        let said = self.answers.get_mut(&(stream, asked)).and_then(VecDeque::pop_front);
        match said {
            None if is_new => Some(self.refuses.get(&asked).cloned().map_or(Answer::Done, Answer::Fails)),
            None => None,
            Some(Answer::Late) => {
                self.under_way.insert(key);
                None
            }
            Some(answer) => {
                self.under_way.remove(&key);
                Some(answer)
            }
        }
    }

    /// Whether such a call is under way.
    pub(super) fn is_asked(&self, stream: &StreamId, effect: EffectId, attempt: u32) -> bool {
        self.under_way.contains(&(stream.clone(), effect, attempt))
    }

    /// Whether it has, or says that it has, something under this id.
    pub(super) fn lookup(&mut self, call: Call) -> Result<Option<MachineInstance>, Fault> {
        let there = call.effect.and_then(|effect| self.instances.get(&effect)).cloned();
        match self.ask(call) {
            Some(Answer::Instance(instance)) => Ok(Some(*instance)),
            Some(Answer::Absent) => Ok(None),
            Some(Answer::Fails(fault)) => Err(fault),
            Some(Answer::Done | Answer::Late) | None => Ok(there),
        }
    }
}
