//! What followed from a decision.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::Stored,
    shell::{REQUESTS, RequestNote},
};
use bailiwick_journal::{Cite, Entry, Filter, Header, Journal, Position, ReadError};

use super::{About, Direction, STEPS_MAX, Why, cited::read_one, walk};

/// All that rests on a decision, itself first, up to a position; none if there was no such decision by then.
///
/// # Errors
/// If the journal cannot be read.
pub fn following(journal: &dyn Journal, about: &About, at: Position) -> Result<Option<Why>, ReadError> {
    let at = at.min(journal.head().position);
    let Some(start) = walk::start(journal, about, at)? else { return Ok(None) };
    let first = &start.entry.header;
    let entity = first.stream.to_string();
    let mut known = Known { first: first.position, positions: [first.position].into(), events: BTreeSet::new() };
    let from = first.position.next();
    match &start.events {
        Some(events) => known.events.extend(events.iter().map(|event| Cite::new(first.stream.clone(), *event))),
        None => known.takes_in(first),
    }
    // What somebody asked for in one go is recorded right behind its note.
    let requested = first.position.0 + asked_in(&start.entry);
    let first = first.position;
    let mut steps = vec![walk::alone(journal, start.entry)?];
    let mut further = Vec::new();
    for header in journal.read_headers(from, at, &Filter::all()) {
        let header = header?;
        let is_requested = header.position.0 <= requested;
        if !is_requested && !known.may_lead_to(&header) {
            continue;
        }
        let Some(entry) = read_one(journal, header.position) else { continue };
        let mut step = walk::alone(journal, entry)?;
        step.causes.retain(|cause| known.positions.contains(&Position(*cause)));
        if is_requested {
            step.causes.push(first.0);
        }
        if step.causes.is_empty() && step.ordered_by != Some(known.first.0) {
            continue;
        }
        known.takes_in(&header);
        if steps.len() < STEPS_MAX {
            steps.push(step);
        } else {
            further.push(header.position.0);
        }
    }
    let side = match about {
        About::Entity { side, .. } => side.map(super::Side::as_str),
        About::Entry(_) => None,
    };
    Ok(Some(Why { entity, side, at: at.0, direction: Direction::Consequences, steps, further }))
}

/// How many entries are the commands of the request that an entry notes.
fn asked_in(entry: &Entry) -> u64 {
    if entry.header.stream.as_str() != REQUESTS {
        return 0;
    }
    RequestNote::load(&entry.command).map_or(0, |note| u64::from(note.recorded))
}

/// The entries that rest on one immediately.
///
/// # Errors
/// If the journal cannot be read.
pub fn consequences(journal: &dyn Journal, position: Position) -> Result<BTreeSet<Position>, ReadError> {
    let Some(entry) = read_one(journal, position) else { return Ok(BTreeSet::new()) };
    let mut known = Known { first: position, positions: [position].into(), events: BTreeSet::new() };
    known.takes_in(&entry.header);
    let mut found = BTreeSet::new();
    for header in journal.read_headers(position.next(), journal.head().position, &Filter::all()) {
        let header = header?;
        // A supervisor cites order by order.
        let issues = header.stream.kind() == "supervisor" && header.events > 0;
        if !issues && !known.may_lead_to(&header) {
            continue;
        }
        let Some(entry) = read_one(journal, header.position) else { continue };
        let step = walk::alone(journal, entry)?;
        if step.causes.contains(&position.0) || step.ordered_by == Some(position.0) {
            found.insert(header.position);
        }
    }
    Ok(found)
}

/// The entries that one rests on immediately, and the one that ordered it.
///
/// # Errors
/// If the journal cannot be read.
pub fn causes(journal: &dyn Journal, position: Position) -> Result<BTreeSet<Position>, ReadError> {
    let Some(entry) = read_one(journal, position) else { return Ok(BTreeSet::new()) };
    let step = walk::alone(journal, entry)?;
    Ok(step.causes.into_iter().chain(step.ordered_by).map(Position).collect())
}

/// What has followed so far.
struct Known {
    first: Position,
    positions: BTreeSet<Position>,
    events: BTreeSet<Cite>,
}

impl Known {
    fn takes_in(&mut self, header: &Header) {
        self.positions.insert(header.position);
        let events = (0..u64::from(header.events)).map(|index| header.first_version.plus(index));
        self.events.extend(events.map(|version| Cite::new(header.stream.clone(), version)));
    }

    /// Whether an entry names anything of it: most do not, and are not read.
    fn may_lead_to(&self, header: &Header) -> bool {
        header.meta.cause.is_some_and(|cause| self.positions.contains(&cause))
            || header.meta.cites.iter().any(|cite| self.events.contains(cite))
    }
}
