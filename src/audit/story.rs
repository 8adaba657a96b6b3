//! The story: one line per entry.

use bailiwick_journal::{Filter, Journal, Position, ReadError};

use crate::words::Line;

/// The entries between two positions in plain words, oldest first, told as the iterator is moved.
///
/// ```text
/// 7  2026-01-31T12:00:00.000Z  machine/0  provider created instance i-1, because the provider reported success (executor)
/// ```
pub fn story<'j>(
    journal: &'j dyn Journal,
    from: Position,
    to: Position,
    filter: &Filter,
) -> impl Iterator<Item = Result<Line, ReadError>> + 'j {
    journal.read(from, to, filter).map(|entry| entry.map(|entry| Line::of(&entry)))
}
