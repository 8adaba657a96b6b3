//! When a simulation is over.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Position, StreamId};

use super::{Observer, Simulation};

/// What has happened to the world is noticed within this time; before it nothing is called converged.
const NOTICE_MS: u64 = 30_000;

/// A node that has not converged, waits for nothing and has written nothing for this long does nothing any more.
const STUCK_MS: u64 = 3_600_000;

/// When a simulation ends before its time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It does not.
    Never,
    /// Once everything in the script has happened and everything is as declared: the soonest that means anything.
    WhenConverged,
    /// Once nothing is due before its end and nothing has been written for this long, in milliseconds.
    WhenQuiet { for_ms: u64 },
}

/// What was seen of a node so far, as far as the end of the simulation depends on it.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// The last entry that was looked at, and when it was new.
    at: Option<(Position, u64)>,
    /// Since when everything has been as declared without a break, in milliseconds from the beginning.
    converged_since_ms: Option<u64>,
    /// The next moment that some entity waits for.
    due: Option<Timestamp>,
}

impl Ending {
    /// Looks at what has been written up to now.
    pub(super) fn look(&mut self, observer: &Observer, resigned: &BTreeSet<StreamId>, now_ms: u64) {
        if self.at.is_some_and(|(at, _)| at == observer.at()) {
            return;
        }
        self.at = Some((observer.at(), now_ms));
        let is_converged = observer.unready().iter().all(|stream| observer.waits_for(stream, resigned).is_some());
        self.converged_since_ms = is_converged.then(|| self.converged_since_ms.unwrap_or(now_ms));
        self.due = observer.next_due();
    }

    /// Since when everything has been as declared, once everything in the script has happened and could be noticed.
    pub(super) fn converged_ms(&self, setup: &Simulation, now_ms: u64) -> Option<u64> {
        let last_ms = setup.script.last().map_or(0, |planned| planned.at_ms);
        self.converged_since_ms.filter(|_| last_ms + NOTICE_MS <= now_ms).map(|since_ms| since_ms.max(last_ms))
    }

    /// For how long nothing has been written, in milliseconds.
    pub(super) fn quiet_ms(&self, now_ms: u64) -> u64 {
        self.at.map_or(0, |(_, new_ms)| now_ms.saturating_sub(new_ms))
    }

    /// Whether nothing more comes of it, once everything in the script has happened. One that has not converged is given an
    /// hour of quiet in any case.
    pub(super) fn is_over(&self, setup: &Simulation, now_ms: u64, now: Timestamp) -> bool {
        if setup.ends == Ends::Never {
            return false;
        }
        if setup.ends == Ends::WhenConverged && self.converged_ms(setup, now_ms).is_some() {
            return true;
        }
        let Some((_, new_ms)) = self.at else { return false };
        let last_ms = setup.script.iter().map(|planned| planned.at_ms + planned.what.lasts_ms()).max().unwrap_or(0);
        let quiet_ms = now_ms.saturating_sub(new_ms.max(last_ms));
        let enough_ms = match setup.ends {
            Ends::Never | Ends::WhenConverged => STUCK_MS,
            Ends::WhenQuiet { for_ms } => for_ms,
        };
        // What is due already, and has not happened, is under way.
        let is_due = self.due.is_some_and(|due| now_ms + due.since(now) < setup.until_ms);
        enough_ms <= quiet_ms && !is_due
    }
}
