//! Trying until it works: the attempts of one piece of work in the outside world.

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::{Fault, Timestamp};

/// How the attempts at one intent stand.
///
/// The intent is the version of the event that opened it; every attempt shares it, so the provider can tell a second
/// attempt from a second wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// The version of the event that opened the intent.
    pub intent: Version,
    /// The present or next attempt, from 1.
    pub attempt: u32,
    /// How many attempts belong to series that were given up: a later try has all attempts anew.
    pub spent: u32,
    /// When the first attempt began.
    pub since: Timestamp,
    pub outlook: Outlook,
    /// Whether an attempt that is over may have left something behind all the same.
    pub in_doubt: bool,
    /// The fault that the last attempts of this series ended in, and how many of them did in a row.
    pub alike: Option<(Fault, u32)>,
    /// How many of the last attempts in a row ended in a fault of that code, whatever its text.
    pub of_one_code: u32,
    /// When its deadline passed: from then on it is said to be blocked.
    pub overdue: Option<Timestamp>,
}

/// How long something may take to be undone before it is said to be blocked: with the waits of the default policy that is
/// five attempts. It is tried on afterwards as before.
const UNDOING_MS: u64 = 15 * 60_000;

/// What comes next in an effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outlook {
    /// A provider call is owed or under way.
    Trying,
    /// The last attempt failed; the next one begins at `until`.
    Waiting { until: Timestamp, fault: Fault },
    /// No attempt is left, or the fault was one that trying does not mend. An operator decides, or a new series of attempts
    /// begins by itself at `again`.
    GivenUp { fault: Fault, again: Option<Timestamp> },
}

impl Effort {
    /// The first attempt at an intent.
    pub fn begun(intent: Version, since: Timestamp) -> Self {
        Self {
            intent,
            attempt: 1,
            spent: 0,
            since,
            outlook: Outlook::Trying,
            in_doubt: false,
            alike: None,
            of_one_code: 0,
            overdue: None,
        }
    }

    /// Whether a report about `attempt` concerns the attempt that is under way.
    pub fn is_trying(&self, attempt: u32) -> bool {
        self.outlook == Outlook::Trying && self.attempt == attempt
    }

    /// Which attempt of its series the present or next one is, from 1.
    pub fn in_series(&self) -> u32 {
        self.attempt.saturating_sub(self.spent)
    }

    /// Until when it may take, if it undoes something; none once that was said, or nothing is tried any more.
    pub fn deadline(&self) -> Option<Timestamp> {
        let is_over = self.overdue.is_some() || matches!(self.outlook, Outlook::GivenUp { .. });
        (!is_over).then(|| self.since.after(UNDOING_MS))
    }

    /// When something is due: the next attempt, or before that the deadline of what undoes something.
    pub fn wakes_at(&self, deadline: Option<Timestamp>) -> Option<Timestamp> {
        match &self.outlook {
            Outlook::Waiting { until, .. } => Some(deadline.map_or(*until, |deadline| deadline.min(*until))),
            Outlook::Trying => deadline,
            Outlook::GivenUp { again, .. } => *again,
        }
    }

    /// When the next attempt begins by itself: the next one of a series, or the first one after a series was given up.
    pub fn next_attempt(&self) -> Option<Timestamp> {
        match &self.outlook {
            Outlook::Trying => None,
            Outlook::Waiting { until, .. } => Some(*until),
            Outlook::GivenUp { again, .. } => *again,
        }
    }

    /// The fault that the effort waits on or ended with.
    pub fn fault(&self) -> Option<&Fault> {
        match &self.outlook {
            Outlook::Trying => None,
            Outlook::Waiting { fault, .. } | Outlook::GivenUp { fault, .. } => Some(fault),
        }
    }

    /// Takes in that an attempt begins: the one that was waited for, or one more after all were given up.
    pub fn begin(&mut self) {
        if matches!(self.outlook, Outlook::GivenUp { .. }) {
            self.spent = self.attempt;
            self.alike = None;
            self.of_one_code = 0;
            // A report about the last attempt may still be on its way; it must not be taken for one about this attempt.
            self.attempt = self.attempt.saturating_add(1);
        }
        self.outlook = Outlook::Trying;
    }

    /// Takes in that the attempt failed and the next one begins at `until`.
    pub fn wait(&mut self, until: Timestamp, fault: Fault) {
        self.attempt = self.attempt.saturating_add(1);
        self.in_doubt |= !fault.code.leaves_nothing();
        self.of_one_code = self.of_one_code_with(&fault);
        self.alike = Some((fault.clone(), self.alike_with(&fault)));
        self.outlook = Outlook::Waiting { until, fault };
    }

    /// Takes in that the attempt failed where it was made and another begins elsewhere, at once or later, which uses up none
    /// of the series.
    pub fn elsewhere(&mut self, fault: &Fault, until: Option<Timestamp>) {
        self.attempt = self.attempt.saturating_add(1);
        self.spent = self.spent.saturating_add(1);
        self.in_doubt |= !fault.code.leaves_nothing();
        self.outlook = match until {
            None => Outlook::Trying,
            Some(until) => Outlook::Waiting { until, fault: fault.clone() },
        };
    }

    /// Takes in that the attempt failed and was the last one of its series.
    pub fn give_up(&mut self, fault: Fault, again: Option<Timestamp>) {
        self.in_doubt |= !fault.code.leaves_nothing();
        self.outlook = Outlook::GivenUp { fault, again };
    }

    /// How many attempts in a row ended in this fault, with one more that just did.
    pub fn alike_with(&self, fault: &Fault) -> u32 {
        let before = self.alike.as_ref().filter(|(last, _)| last == fault);
        before.map_or(1, |(_, times)| times.saturating_add(1))
    }

    /// How many attempts in a row ended in a fault of this code, with one more that just did. The text may name the request
    /// or the time, so it says nothing.
    pub fn of_one_code_with(&self, fault: &Fault) -> u32 {
        let is_of_it = self.alike.as_ref().is_some_and(|(last, _)| last.code == fault.code);
        if is_of_it { self.of_one_code.saturating_add(1) } else { 1 }
    }

    /// Whether something may be there: an attempt is under way, or one ended without saying that it left nothing. Only
    /// when this is false can an intent be dropped without undoing it.
    pub fn may_have_left_something(&self) -> bool {
        self.in_doubt || self.outlook == Outlook::Trying
    }
}
