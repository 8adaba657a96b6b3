//! Which position a moment means.

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Filter, Journal, Position, ReadError};

use super::Calendar;

/// A moment of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// After this entry.
    Position(u64),
    /// At this time, in milliseconds; what happened in that very millisecond included.
    Time(u64),
    /// So many milliseconds before the node's time; before the last entry, where nobody says what time it is.
    Ago(u64),
}

impl At {
    /// The same moment, where a time of day is meant.
    #[must_use]
    pub fn by(self, calendar: &Calendar) -> Self {
        match self {
            Self::Time(ms) => Self::Time(calendar.recorded(Timestamp(ms)).0),
            at => at,
        }
    }

    /// The same moment, once it is known what time it is: a period is counted by the clock that times are shown by.
    #[must_use]
    pub fn known(self, now: Timestamp, calendar: &Calendar) -> Self {
        self.resolved(calendar.shown(now)).by(calendar)
    }

    /// The same moment, once it is known what time it is.
    #[must_use]
    pub fn resolved(self, now: Timestamp) -> Self {
        match self {
            Self::Ago(ms) => Self::Time(now.0.saturating_sub(ms)),
            at => at,
        }
    }
}

/// The last entry at or before a time; [`Position::ZERO`] if the journal begins later.
///
/// Times never go back along a journal, so the place is found in steps that halve the rest: a few reads of one header each.
///
/// # Errors
/// If a header cannot be read.
pub fn position_at(journal: &dyn Journal, time: Timestamp) -> Result<Position, ReadError> {
    let head = journal.head();
    if head.time_ms <= time.0 {
        return Ok(head.position);
    }
    // The entry at `low` is not later than the time (or there is none), the one at `high` is later.
    let (mut low, mut high) = (0, head.position.0);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if time_of(journal, Position(middle))? <= time.0 { low = middle } else { high = middle }
    }
    Ok(Position(low))
}

/// The position that a moment means; none if the journal does not reach so far.
///
/// # Errors
/// As [`position_at`].
pub fn position_of(journal: &dyn Journal, at: Option<At>) -> Result<Option<Position>, ReadError> {
    let head = journal.head().position;
    match at.map(|at| at.resolved(Timestamp(journal.head().time_ms))) {
        None => Ok(Some(head)),
        Some(At::Position(position)) => Ok((position <= head.0).then_some(Position(position))),
        Some(At::Time(ms) | At::Ago(ms)) => position_at(journal, Timestamp(ms)).map(Some),
    }
}

/// When an entry was recorded, in milliseconds since 1970.
///
/// # Errors
/// If there is none, or its header cannot be read.
pub fn time_of(journal: &dyn Journal, position: Position) -> Result<u64, ReadError> {
    match journal.read_headers(position, position, &Filter::all()).next() {
        Some(header) => Ok(header?.meta.time_ms),
        None => Err(ReadError::Damaged { position, problem: "entry not found".into() }),
    }
}
