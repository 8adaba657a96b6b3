//! The life of one thing that a provider keeps for an entity: made, there, undone, with every attempt and doubt.
//!
//! ```text
//! none ─▶ making ─▶ there ─▶ undoing ─▶ none
//!           │ └──────(not wanted any more)──▲
//!           └─▶ dropped, if nothing can have been made ─▶ none
//! ```
//!
//! Making and undoing are tried again as those of machines are: the same waits, the same bounds (`RetryRule::of_machine`).

use std::{collections::BTreeSet, fmt};

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::Reason;
use crate::{
    contract::{Attempted, Next, RetryRule, Touches},
    policy::Document,
    vocab::{Effort, Fact, Fault, Outlook, Timestamp},
};

/// What a provider keeps for an entity; `M` is what is known of it once it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept<M> {
    #[default]
    None,
    Making(Effort),
    There {
        /// The version of the event that asked for it.
        intent: Version,
        made: M,
    },
    /// What was asked for at `of` is being undone.
    Undoing {
        of: Version,
        effort: Effort,
    },
}

/// What happened to it. A part of the events of its entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event<M> {
    MakeRequested {
        at: Timestamp,
    },
    Made {
        made: M,
    },
    UndoRequested {
        at: Timestamp,
    },
    Undone,
    /// It is not wanted any more, and nothing can have been made yet.
    Dropped,
    AttemptBegan,
    RetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    GaveUp {
        fault: Fault,
        again: Option<Timestamp>,
    },
}

/// What its provider says. A part of the commands of its entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report<M> {
    Made { attempt: u32, made: M },
    MakeFailed { attempt: u32, fault: Fault },
    Undone { attempt: u32 },
    UndoFailed { attempt: u32, fault: Fault },
}

/// What it owes or waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    WakeAt(Timestamp),
    Make { intent: Version, attempt: u32 },
    Undo { of: Version, attempt: u32 },
}

impl<M> Event<M> {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        Touches::Some(match self {
            Self::MakeRequested { .. } | Self::UndoRequested { .. } => &[Fact::Effect, Fact::Request],
            _ => &[Fact::Effect],
        })
    }

    /// The sides that it goes on from: that something is made or undone rests on its having been asked for.
    pub fn follows(&self) -> Touches {
        Touches::Some(match self {
            Self::Made { .. } | Self::UndoRequested { .. } | Self::Undone => &[Fact::Request],
            _ => &[Fact::Effect],
        })
    }
}

impl<M> Report<M> {
    fn attempt(&self) -> u32 {
        match self {
            Self::Made { attempt, .. }
            | Self::MakeFailed { attempt, .. }
            | Self::Undone { attempt }
            | Self::UndoFailed { attempt, .. } => *attempt,
        }
    }
}

impl<M: Clone> Kept<M> {
    /// What has to happen so that it comes to be, or goes; none if it does already, or what is under way has to end first.
    pub fn towards(&self, is_wanted: bool, now: Timestamp) -> Option<Event<M>> {
        match (self, is_wanted) {
            (Self::None, true) => Some(Event::MakeRequested { at: now }),
            (Self::Making(effort), false) if !effort.may_have_left_something() => Some(Event::Dropped),
            (Self::Making(_) | Self::There { .. }, false) => Some(Event::UndoRequested { at: now }),
            (Self::None | Self::Undoing { .. }, false)
            | (Self::Making(_) | Self::There { .. } | Self::Undoing { .. }, true) => None,
        }
    }

    /// What follows from a report.
    pub fn hear(&self, report: &Report<M>, policy: &Document, now: Timestamp) -> (Reason, Option<Event<M>>) {
        let trying = self.effort().filter(|effort| effort.is_trying(report.attempt()));
        let (work, effort, fault) = match (self, report, trying) {
            (Self::Making(_), Report::Made { made, .. }, Some(_)) => {
                return (Reason::ProviderMade, Some(Event::Made { made: made.clone() }));
            }
            (Self::Undoing { .. }, Report::Undone { .. }, Some(_)) => {
                return (Reason::ProviderUndid, Some(Event::Undone));
            }
            (Self::Making(_), Report::MakeFailed { fault, .. }, Some(effort)) => (Attempted::Making, effort, fault),
            (Self::Undoing { .. }, Report::UndoFailed { fault, .. }, Some(effort)) => {
                (Attempted::Removing, effort, fault)
            }
            _ => return (Reason::StaleReport, None),
        };
        let fault = fault.clone();
        let (reason, event) = match RetryRule::of_machine(policy, work).after(effort, &fault, now) {
            Next::Retry { until } => (Reason::WorthRetrying, Event::RetryScheduled { until, fault }),
            Next::Ask { until } => (Reason::OutcomeUnknown, Event::RetryScheduled { until, fault }),
            Next::Exhausted { again } | Next::TooLate { again } => {
                (Reason::RetriesExhausted, Event::GaveUp { fault, again })
            }
            Next::Hopeless => (Reason::NotRetryable, Event::GaveUp { fault, again: None }),
        };
        (reason, Some(event))
    }

    /// What follows when something is due.
    pub fn wake(&self, now: Timestamp) -> (Reason, Option<Event<M>>) {
        match self.effort().and_then(Effort::next_attempt) {
            Some(at) if at <= now => (Reason::RetryDue, Some(Event::AttemptBegan)),
            Some(_) => (Reason::NotDueYet, None),
            None => (Reason::NothingWaits, None),
        }
    }

    /// What follows when an operator asks to try again what was given up, or waits.
    pub fn retry(&self) -> (Reason, Option<Event<M>>) {
        match self.effort().map(|effort| &effort.outlook) {
            Some(Outlook::GivenUp { .. } | Outlook::Waiting { .. }) => {
                (Reason::OperatorRetries, Some(Event::AttemptBegan))
            }
            Some(Outlook::Trying) | None => (Reason::NothingToRetry, None),
        }
    }

    /// Takes an event in.
    pub fn evolve(&mut self, at: Version, event: &Event<M>) {
        match event {
            Event::MakeRequested { at: since } => *self = Self::Making(Effort::begun(at, *since)),
            Event::Made { made } => {
                if let Self::Making(effort) = self {
                    *self = Self::There { intent: effort.intent, made: made.clone() };
                }
            }
            Event::UndoRequested { at: since } => {
                if let Some(of) = self.intent() {
                    *self = Self::Undoing { of, effort: Effort::begun(at, *since) };
                }
            }
            Event::Undone | Event::Dropped => *self = Self::None,
            Event::AttemptBegan => self.change(Effort::begin),
            Event::RetryScheduled { until, fault } => self.change(|effort| effort.wait(*until, fault.clone())),
            Event::GaveUp { fault, again } => self.change(|effort| effort.give_up(fault.clone(), *again)),
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Effort)) {
        if let Self::Making(effort) | Self::Undoing { effort, .. } = self {
            change(effort);
        }
    }

    /// What it owes and waits for.
    pub fn pending(&self) -> BTreeSet<Effect> {
        let Some(effort) = self.effort() else { return BTreeSet::new() };
        let attempt = effort.attempt;
        let call = match self {
            Self::Undoing { of, .. } => Effect::Undo { of: *of, attempt },
            _ => Effect::Make { intent: effort.intent, attempt },
        };
        let call = (effort.outlook == Outlook::Trying).then_some(call);
        call.into_iter().chain(effort.wakes_at(None).map(Effect::WakeAt)).collect()
    }
}

impl<M> Kept<M> {
    /// The work in the outside world that is under way, waits, or was given up.
    pub fn effort(&self) -> Option<&Effort> {
        match self {
            Self::Making(effort) | Self::Undoing { effort, .. } => Some(effort),
            Self::None | Self::There { .. } => None,
        }
    }

    /// The version of the event that asked for what is there, or may be: its effect id follows from it.
    pub fn intent(&self) -> Option<Version> {
        match self {
            Self::None => None,
            Self::Making(effort) => Some(effort.intent),
            Self::There { intent, .. } => Some(*intent),
            Self::Undoing { of, .. } => Some(*of),
        }
    }

    /// What is known of it while it is there.
    pub fn made(&self) -> Option<&M> {
        match self {
            Self::There { made, .. } => Some(made),
            _ => None,
        }
    }
}

/// As a clause that may stand after the entity's name.
impl<M> fmt::Display for Event<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakeRequested { .. } => f.write_str("asked its provider to create it"),
            Self::Made { .. } => f.write_str("its provider created it"),
            Self::UndoRequested { .. } => f.write_str("asked its provider to delete it"),
            Self::Undone => f.write_str("its provider deleted it"),
            Self::Dropped => f.write_str("gave up creating it, and nothing was created"),
            Self::AttemptBegan => f.write_str("next attempt started"),
            Self::RetryScheduled { until, fault } => write!(f, "attempt failed ({fault}); next attempt at {until}"),
            Self::GaveUp { fault, again: None } => write!(f, "gave up ({fault})"),
            Self::GaveUp { fault, again: Some(again) } => write!(f, "gave up ({fault}); tried again at {again}"),
        }
    }
}

/// As what was reported.
impl<M> fmt::Display for Report<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Made { .. } => f.write_str("provider created it"),
            Self::MakeFailed { fault, .. } => write!(f, "provider could not create it: {fault}"),
            Self::Undone { .. } => f.write_str("provider deleted it"),
            Self::UndoFailed { fault, .. } => write!(f, "provider could not delete it: {fault}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::FaultCode;

    /// A thing as it is after these, each at the version after the one before, from 1.
    fn after(events: &[Event<u32>]) -> Kept<u32> {
        let mut kept = Kept::default();
        events.iter().zip(1..).for_each(|(event, at)| kept.evolve(Version(at), event));
        kept
    }

    fn make() -> Event<u32> {
        Event::MakeRequested { at: Timestamp(0) }
    }

    fn undo() -> Event<u32> {
        Event::UndoRequested { at: Timestamp(0) }
    }

    fn fails(code: FaultCode) -> Report<u32> {
        Report::MakeFailed { attempt: 1, fault: Fault::new(code, "no") }
    }

    #[test]
    fn it_is_made_when_wanted_and_undone_when_not_and_nothing_happens_twice() {
        let now = Timestamp(5);
        let nothing = after(&[]);
        assert_eq!(nothing.towards(true, now), Some(Event::MakeRequested { at: now }));
        assert_eq!(nothing.towards(false, now), None);
        let there = after(&[make(), Event::Made { made: 7 }]);
        assert_eq!((there.towards(true, now), there.made()), (None, Some(&7)));
        assert_eq!(there.towards(false, now), Some(Event::UndoRequested { at: now }));
        let undoing = after(&[make(), Event::Made { made: 7 }, undo()]);
        assert_eq!((undoing.towards(true, now), undoing.towards(false, now)), (None, None));
        assert_eq!(undoing.pending(), [Effect::Undo { of: Version(1), attempt: 1 }].into());
    }

    #[test]
    fn what_may_have_been_made_is_undone_and_what_cannot_have_been_is_dropped() {
        let now = Timestamp(5);
        assert_eq!(after(&[make()]).towards(false, now), Some(Event::UndoRequested { at: now }));
        let refused = Fault::new(FaultCode::InvalidArgument, "no");
        let given_up = after(&[make(), Event::GaveUp { fault: refused, again: None }]);
        assert_eq!(given_up.towards(false, now), Some(Event::Dropped));
    }

    #[test]
    fn only_the_attempt_that_is_under_way_is_heard() {
        let (policy, now) = (Document::default(), Timestamp(5));
        let making = after(&[make()]);
        let made = |attempt| Report::Made { attempt, made: 7 };
        assert_eq!(making.hear(&made(1), &policy, now), (Reason::ProviderMade, Some(Event::Made { made: 7 })));
        assert_eq!(making.hear(&made(2), &policy, now), (Reason::StaleReport, None));
        assert_eq!(making.hear(&Report::Undone { attempt: 1 }, &policy, now), (Reason::StaleReport, None));
        let (reason, event) = making.hear(&fails(FaultCode::Unknown), &policy, now);
        let Some(Event::RetryScheduled { until, .. }) = event.clone() else { panic!("{event:?}") };
        assert!(reason == Reason::OutcomeUnknown && until > now);
        let waiting = after(&[make(), event.expect("it is there")]);
        assert_eq!(waiting.pending(), [Effect::WakeAt(until)].into());
        assert_eq!(waiting.wake(now), (Reason::NotDueYet, None));
        assert_eq!(waiting.wake(until), (Reason::RetryDue, Some(Event::AttemptBegan)));
        assert_eq!(waiting.retry().0, Reason::OperatorRetries);
        assert_eq!(making.retry().0, Reason::NothingToRetry);
    }
}
