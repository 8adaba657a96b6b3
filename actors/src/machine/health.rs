//! Whether a machine is well, for how long it may not be, and what happens then.
//!
//! ```text
//! unjudged ─▶ joining ─▶ well ◀─▶ suspect
//!                │        ▲          │        the time-outs are the policy's
//!                └────────┼──────────┴─▶ overdue ─▶ given up: its instance is replaced
//!                         └───────────────┘
//! ```
//!
//! A machine only says that its time is over. Whether it is given up now is the machines supervisor's decision, because it
//! depends on others: on the one budget for replacements, and on whether a whole zone fell silent at once.
//! Source of the rule for a healthy node, and of the figures: Gardener's machine controller.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Event, Instance, Node, Reason, State, Step, draining,
    rules::{self, READY},
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    policy::{Document, ReportReading, TaintReading},
    ports::Condition,
    vocab::{EffectId, Life, Timestamp},
};

/// How a machine's instance is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    /// It has no instance that runs.
    #[default]
    Unjudged,
    /// Its instance runs and was not well yet; it has until then.
    Joining {
        since: Timestamp,
        until: Timestamp,
    },
    Well {
        since: Timestamp,
    },
    /// It was well and is not now; it has until then.
    Suspect {
        cause: Cause,
        since: Timestamp,
        until: Timestamp,
    },
    /// Its time is over. A supervisor decides.
    Overdue {
        cause: Cause,
        since: Timestamp,
    },
}

/// Why a machine is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cause {
    /// It never became well.
    NeverJoined,
    /// A condition that is watched is bad.
    Unhealthy,
    /// Its agent said nothing any more.
    Silent,
}

impl Health {
    /// When its time is over, if it waits for something.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Joining { until, .. } | Self::Suspect { until, .. } => Some(*until),
            Self::Unjudged | Self::Well { .. } | Self::Overdue { .. } => None,
        }
    }

    /// When the machine entered this state; none while it is not judged.
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Unjudged => None,
            Self::Joining { since, .. }
            | Self::Well { since }
            | Self::Suspect { since, .. }
            | Self::Overdue { since, .. } => Some(*since),
        }
    }

    /// What it will be given up for, if it comes to that.
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::Joining { .. } => Some(Cause::NeverJoined),
            Self::Suspect { cause, .. } | Self::Overdue { cause, .. } => Some(*cause),
            Self::Unjudged | Self::Well { .. } => None,
        }
    }
}

impl State {
    /// Whether its node lacks what every node needs before it can be used, as a taint of it says.
    pub fn lacks_components(&self) -> bool {
        self.joined.as_ref().is_some_and(|joined| rules::has_critical_taint(&joined.node.taints))
    }

    /// Whether its node, which reports these conditions, is healthy: it says nothing else than that it is ready, and of what is
    /// watched that it is known to be well.
    fn is_healthy(&self, conditions: &BTreeMap<String, Condition>, policy: &Document) -> bool {
        let watched = self.in_force(policy).node_conditions;
        let counts = |condition: &&Condition| condition.kind == READY || watched.contains(&condition.kind);
        let may_be_bare = policy.reconciliation.readings.bare_report == ReportReading::Healthy;
        (may_be_bare || !conditions.is_empty())
            && conditions.values().filter(counts).all(|condition| condition.healthy.is_yes())
    }

    /// Whether it is kept from becoming well by what its node lacks.
    fn is_held_back_by_taint(&self, policy: &Document) -> bool {
        let has_joined = !matches!(self.health, Health::Unjudged | Health::Joining { .. });
        let counts = policy.reconciliation.readings.critical_taint == TaintReading::HoldsAll || !has_joined;
        counts && self.lacks_components()
    }
}

/// Its instance was made, or taken over: it may take so long to become well.
pub(super) fn join_awaited(state: &State, facts: &Facts<'_>) -> Event {
    let until = facts.now.after(state.in_force(facts.policy).creation_timeout_ms);
    Event::JoinAwaited { until, at: facts.now }
}

/// Its agent reports these conditions.
pub(super) fn told(state: &State, conditions: &BTreeMap<String, Condition>, facts: &Facts<'_>) -> Option<Event> {
    match (state.is_healthy(conditions, facts.policy), &state.health) {
        (true, Health::Well { .. }) => None,
        (true, _) if state.is_held_back_by_taint(facts.policy) => None,
        (true, _) => Some(Event::BecameWell { at: facts.now }),
        (false, _) => suspicion(state, Cause::Unhealthy, facts),
    }
}

/// Its agent says something else of its node, which may be what it was kept waiting for.
pub(super) fn node_changed(state: &State, facts: &Facts<'_>) -> Option<Event> {
    match &state.node {
        Node::Reporting { conditions, .. } => told(state, conditions, facts),
        Node::Silent | Node::Stale { .. } => None,
    }
}

/// Who was well is suspect from now on; who was not keeps his time.
pub(super) fn suspicion(state: &State, cause: Cause, facts: &Facts<'_>) -> Option<Event> {
    let (Health::Well { .. }, Life::Alive, None) = (&state.health, state.life, &state.drain) else {
        return None;
    };
    let until = facts.now.after(state.in_force(facts.policy).health_timeout_ms);
    Some(Event::BecameSuspect { cause, at: facts.now, until })
}

/// When the time of a machine that is to stay, and is not well, is over.
pub(super) fn until(state: &State) -> Option<Timestamp> {
    state.health.until().filter(|_| state.life == Life::Alive && state.drain.is_none())
}

/// Its time is over.
pub(super) fn overdue(state: &State, now: Timestamp) -> Option<Event> {
    let until = until(state)?;
    let cause = state.health.cause()?;
    (until <= now).then_some(Event::BecameOverdue { cause, until, at: now })
}

/// What it would be given up for now; or what follows, if it is not to be.
pub(super) fn judged(state: &State, effect: EffectId, facts: &Facts<'_>) -> Result<Cause, Decision<State>> {
    let is_current = state.running_effect() == Some(effect) && !state.is_aside();
    let (Health::Overdue { cause, .. }, true, Life::Alive) = (&state.health, is_current, state.life) else {
        return Err(Decision::nothing(Reason::Recovered));
    };
    if state.protected {
        return Err(Decision::nothing(Reason::GivenUpProtected));
    }
    if let Some(hold) = &state.hold {
        let is_noted = hold.withheld.contains(&Step::GiveUp);
        let note = (!is_noted).then_some(Event::Withheld { step: Step::GiveUp, at: facts.now });
        return Err(Decision::because(Reason::OnHold, note));
    }
    if state.drain.is_some() {
        return Err(Decision::nothing(Reason::AlreadyGoing));
    }
    Ok(*cause)
}

/// A supervisor, or an operator, gives it up: its instance is replaced.
pub(super) fn give_up(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    let cause = match judged(state, effect, facts) {
        Ok(cause) => cause,
        Err(decision) => return Ok(decision),
    };
    let next = draining::begin(state, facts).unwrap_or(Event::DeleteRequested { at: facts.now });
    Ok(Decision::because(Reason::GivenUp, [Event::GivenUp { cause, at: facts.now }, next]))
}

/// Its zone is back, and it may be so in a moment, too: it gets another look's time.
pub(super) fn reprieve(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    let is_current = state.running_effect() == Some(effect);
    let (Health::Overdue { cause, .. }, true, true) = (&state.health, is_current, is_overdue(state)) else {
        return Ok(Decision::nothing(Reason::Recovered));
    };
    let until = facts.now.after(facts.policy.reconciliation.health_recheck_ms);
    let event = Event::BecameSuspect { cause: *cause, at: facts.now, until };
    Ok(Decision::because(Reason::ZoneIsBack, [event]))
}

/// Its provider is back: what was found while nobody could be asked is found anew. A suspicion of another time is not meant.
pub(super) fn judge_anew(state: &State, effect: EffectId, since: Timestamp, facts: &Facts<'_>) -> Verdict {
    let is_current = state.running_effect() == Some(effect) && state.health.since() == Some(since);
    let (Some(cause), true, true) = (state.health.cause(), is_current, is_doubted(state)) else {
        return Ok(Decision::nothing(Reason::Recovered));
    };
    let until = facts.now.after(state.in_force(facts.policy).health_timeout_ms);
    let event = Event::BecameSuspect { cause, at: facts.now, until };
    Ok(Decision::because(Reason::ProviderIsBack, [event]))
}

/// Whether its instance runs, and it is not well and was, or its time is over.
pub fn is_doubted(state: &State) -> bool {
    let is_doubted = matches!(state.health, Health::Suspect { .. } | Health::Overdue { .. });
    is_doubted
        && matches!(state.instance, Instance::Running { .. })
        && state.life == Life::Alive
        && state.drain.is_none()
        && state.aside.is_none()
}

/// Whether its instance runs and its time is over.
pub fn is_overdue(state: &State) -> bool {
    let is_over = matches!((&state.instance, &state.health), (Instance::Running { .. }, Health::Overdue { .. }));
    is_over && state.life == Life::Alive && state.drain.is_none() && state.aside.is_none()
}
