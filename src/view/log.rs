//! The log: what was decided, newest first.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Filter, Header, Journal, Outcome, Position, ReadError, StreamId};

use super::{At, position_at};
use crate::words::Line;

/// Which entries are wanted. The default wants all of them, and none of them (`limit` is 0).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub entity: Option<StreamId>,
    /// Of a stream: `machine`.
    pub kind: Option<String>,
    pub outcome: Option<Outcome>,
    /// With this reason: its code.
    pub reason: Option<String>,
    /// Of this principal: `uid:0`, `schedule`, `agent:machine/web`, `provider:cloud`.
    pub principal: Option<String>,
    /// Only these.
    pub positions: Option<BTreeSet<Position>>,
    /// Only what was decided at or after this moment.
    pub since: Option<At>,
    /// Only what was decided up to this moment.
    pub until: Option<At>,
    /// At most so many.
    pub limit: usize,
}

impl LogFilter {
    /// The same, of any stream and any kind that the filter names: the others ask the journal for these alone.
    pub fn wants_of(&self, header: &Header) -> bool {
        self.entity.as_ref().is_none_or(|entity| *entity == header.stream)
            && self.kind.as_ref().is_none_or(|kind| kind == header.stream.kind())
            && self.wants(header)
    }

    /// Whether an entry is wanted, as far as its header tells.
    fn wants(&self, header: &Header) -> bool {
        let meta = &header.meta;
        self.outcome.is_none_or(|outcome| outcome == meta.outcome)
            && self.reason.as_ref().is_none_or(|reason| *reason == meta.code)
            && self.principal.as_ref().is_none_or(|principal| *principal == meta.principal)
            && self.positions.as_ref().is_none_or(|positions| positions.contains(&header.position))
    }
}

/// The entries that are wanted, newest first.
///
/// # Errors
/// If an entry cannot be read. (One that can be read and not understood is told as that.)
pub fn log(journal: &dyn Journal, filter: &LogFilter) -> Result<Vec<Line>, ReadError> {
    let last = Timestamp(journal.head().time_ms);
    let from = match filter.since.map(|at| at.resolved(last)) {
        None => Position(1),
        Some(At::Position(position)) => Position(position.max(1)),
        // The first entry that is not before the moment.
        Some(At::Time(0) | At::Ago(0)) => Position(1),
        Some(At::Time(ms) | At::Ago(ms)) => position_at(journal, Timestamp(ms - 1))?.next(),
    };
    let to = match filter.until.map(|at| at.resolved(last)) {
        None => journal.head().position,
        Some(At::Position(position)) => Position(position),
        Some(At::Time(ms) | At::Ago(ms)) => position_at(journal, Timestamp(ms))?,
    };
    let wanted =
        Filter { kinds: filter.kind.iter().cloned().collect(), streams: filter.entity.iter().cloned().collect() };
    let mut lines = Vec::new();
    if from > to || filter.limit == 0 {
        return Ok(lines);
    }
    for entry in journal.read_back(from, to, &wanted) {
        let entry = entry?;
        if filter.wants(&entry.header) {
            lines.push(Line::of(&entry));
        }
        if lines.len() == filter.limit {
            break;
        }
    }
    Ok(lines)
}
