//! Before a machine is given up its provider is asked about its instance: what is gone is replaced for that, and a list that
//! is older than the trouble says nothing.
//!
//! The answer has to be younger than the end of the machine's time, and no older than that time was long: who has waited for
//! room meanwhile is asked about again. A provider that cannot answer counts as one that has the instance running there.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Found, State, View, Withholding, facts::Facts, seen::Seen};
use crate::{
    contract::Folded,
    machine::{self, Cause},
    policy::{AskReading, Document},
    ports::{InstanceStatus, Lookup, StartedMachine},
    vocab::{EffectId, Fault, FaultCode, Name, Timestamp},
};

/// A machine, and the instance about which its provider is asked.
pub type Question = (Name, EffectId);

/// What is against giving up a machine whose time was over then: its provider is to be asked about its instance first, or
/// has said that it runs.
pub(super) fn objection(
    seen: &Seen<'_>,
    facts: &Facts<'_>,
    (name, folded): (&Name, &Folded<machine::State>),
    since: Timestamp,
) -> Option<Withholding> {
    let (state, rule) = (&folded.state, facts.policy.reconciliation.readings.ask_provider);
    let provider = state.spec.as_ref()?.provider.clone();
    let found = seen.base.found.get(name).filter(|found| Some(found.effect) == state.running_effect());
    if state.running_effect().is_some_and(|effect| seen.is_gone(effect)) {
        return None;
    }
    let is_only_silent = state.health.cause() == Some(Cause::Silent);
    match (rule, found) {
        (AskReading::Never, _) => None,
        (AskReading::Decides, Some(found)) if is_only_silent && since <= found.as_of => {
            Some(Withholding::RunsThere { provider })
        }
        (_, Some(found)) if is_fresh(found, state, since, facts.now, facts.policy) => None,
        (AskReading::First | AskReading::Decides, _) => Some(Withholding::Asking { provider }),
    }
}

fn is_fresh(found: &Found, state: &machine::State, since: Timestamp, now: Timestamp, policy: &Document) -> bool {
    since <= found.as_of && now.since(found.as_of) <= state.in_force(policy).health_timeout_ms
}

/// What each provider is to be asked now: the machines of which nothing follows before it has answered.
pub fn questions(state: &State, view: &View) -> BTreeMap<Name, Vec<Question>> {
    let question = |machine: &Name| {
        let folded = view.machines.folded(machine.as_str())?;
        Some((machine.clone(), folded.state.running_effect()?))
    };
    let of = |machines: &BTreeSet<Name>| machines.iter().filter_map(question).collect();
    let all = state.questions.iter().map(|(provider, machines)| (provider.clone(), of(machines)));
    all.filter(|(_, questions): &(Name, Vec<Question>)| !questions.is_empty()).collect()
}

/// One time through all that a provider is to be asked: whom it was asked about last, by name, and whether it said anything.
///
/// Nobody waits for those before: who cannot be told about is passed over, and asked about in the next round.
#[derive(Clone, Debug, Default)]
pub struct Round {
    last: Option<Name>,
    pub has_learnt: bool,
}

impl Round {
    /// Of these, whom the next call asks about; none if the round is over.
    pub fn next(&self, questions: Vec<Question>, max: usize) -> Vec<Question> {
        let is_next = |(machine, _): &Question| self.last.as_ref().is_none_or(|last| last < machine);
        questions.into_iter().filter(is_next).take(max).collect()
    }

    /// The round goes on after these.
    #[must_use]
    pub fn after(self, asked: &[Question], has_learnt: bool) -> Self {
        let last = asked.last().map(|(machine, _)| machine.clone()).or(self.last);
        Self { last, has_learnt: self.has_learnt || has_learnt }
    }
}

/// What the answers say: what differs from what was seen, and which instances are there as before. What a provider cannot
/// tell now is not in either; what it can never tell is believed to be there.
pub fn answered(
    state: &State,
    questions: &[Question],
    answers: Vec<Result<Lookup<StartedMachine>, Fault>>,
) -> (Vec<Change>, Vec<Question>) {
    let (mut changes, mut found) = (Vec::new(), Vec::new());
    for ((machine, effect), answer) in questions.iter().cloned().zip(answers) {
        let sighting = state.sightings.get(&effect);
        match answer {
            Ok(Lookup::Absent) => changes.push(Change::Vanished { effect, machine }),
            Ok(Lookup::Present(StartedMachine { instance, .. })) if instance.status == InstanceStatus::Running => {
                found.push((machine, effect));
            }
            Ok(Lookup::Present(StartedMachine { instance, .. })) => changes.push(match sighting {
                Some(_) => Change::StatusChanged { effect, status: instance.status },
                None => Change::Appeared { instance },
            }),
            Err(fault) if fault.code == FaultCode::Unimplemented => found.push((machine, effect)),
            Ok(Lookup::Unknown) | Err(_) => (),
        }
    }
    (changes, found)
}
