//! What an entity was, from its beginning on.

use bailiwick_actors::contract::{Decider, Stored};
use bailiwick_journal::{Entry, Journal, StreamId, Version};

use super::Shown;
use crate::{
    view::{Fleet, FleetError, portrait::History},
    words::Line,
};

/// Every status that an entity had, and the last entry about it.
pub(super) type Past = (Vec<History>, Option<Line>);

/// Walks the stream and notes every change of status; the last entry too.
pub(super) fn past<D: Shown>(journal: &dyn Journal, fleet: &Fleet, stream: &StreamId) -> Result<Past, FleetError> {
    let mut state = D::default();
    let mut history: Vec<History> = Vec::new();
    let mut last = None;
    for entry in journal.read_stream(stream, Version::ZERO) {
        let entry = entry?;
        if entry.header.position > fleet.position {
            break;
        }
        step(&mut state, &entry)?;
        let status = state.status_then();
        if entry.header.events > 0 && history.last().is_none_or(|known| known.status != status) {
            let Line { time, time_ms, position, because, .. } = Line::of(&entry);
            history.push(History { status, since: time, since_ms: time_ms, position, because });
        }
        last = Some(entry);
    }
    history.reverse();
    Ok((history, last.map(|entry| Line::of(&entry))))
}

fn step<D: Decider>(state: &mut D, entry: &Entry) -> Result<(), FleetError> {
    for (at, body) in entry.versioned_events() {
        let event = D::Event::load(body).map_err(|source| FleetError::Stored {
            position: entry.header.position,
            stream: entry.header.stream.clone(),
            source,
        })?;
        state.evolve(at, &event);
    }
    Ok(())
}
