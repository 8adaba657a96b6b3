//! What one entry rests on.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_actors::{
    contract::Stored,
    supervisor::{
        Orders, machine_sets,
        machines::{self, PROVIDER},
        replica_sets, storage,
    },
    vocab::sort_by_key,
};
use bailiwick_journal::{Body, Cite, Entry, EntryKind, Filter, Journal, Position, ReadError, Version};

use super::Source;

use crate::custom_kind;

/// An entry with those of its events that something rests on.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub entry: Arc<Entry>,
    /// None: the whole entry.
    pub event: Option<Version>,
}

/// What an entry rests on.
#[derive(Debug, Default)]
pub(super) struct Causes {
    pub found: Vec<Found>,
    /// What it names that is not there, or not before it.
    pub unfounded: Vec<String>,
    /// The entry of the supervisor that ordered it.
    pub ordered_by: Option<Position>,
}

/// What made somebody decide this.
pub(super) fn source(entry: &Entry) -> Source {
    let meta = &entry.header.meta;
    let of_supervisor = entry.header.stream.kind() == "supervisor";
    match meta.principal.as_str() {
        "schedule" => Source::DueTime,
        "executor" => Source::Observation,
        "node" => Source::Node,
        agent if agent.starts_with("agent:") => Source::Observation,
        provider if provider.starts_with(PROVIDER) => Source::Observation,
        supervisor if supervisor.starts_with("supervisor/") => match (of_supervisor, meta.cause) {
            (true, _) if is_look(entry) => Source::Conclusion,
            // What a supervisor tells an entity that no order of its own asks for is what it has seen.
            (true, _) | (false, None) => Source::Observation,
            (false, Some(_)) => Source::Order,
        },
        _ if meta.kind == EntryKind::Note => Source::Node,
        _ => Source::Wish,
    }
}

/// Whether a supervisor looked at what had changed, rather than at the world.
fn is_look(entry: &Entry) -> bool {
    match entry.header.stream.name() {
        machines::View::NAME => matches!(machines::Command::load(&entry.command), Ok(machines::Command::Look { .. })),
        storage::View::NAME => matches!(storage::Command::load(&entry.command), Ok(storage::Command::Look { .. })),
        _ => true,
    }
}

/// What an entry rests on, the nearest first: what is of elsewhere before what is its own. Where some of its events are meant,
/// that is what those rest on: what a supervisor told others in the same step has its own causes.
pub(super) fn causes(
    journal: &dyn Journal,
    entry: &Entry,
    events: Option<&BTreeSet<Version>>,
) -> Result<Causes, ReadError> {
    let header = &entry.header;
    let mut causes = Causes::default();
    for cite in header.meta.cites.iter().chain(&of_orders(entry, events)) {
        match cited(journal, cite)? {
            Some(found) if found.header.position < header.position => {
                causes.found.push(Found { entry: found, event: Some(cite.version) });
            }
            Some(found) => {
                causes.unfounded.push(format!("it cites {cite}, which entry {} holds", found.header.position));
            }
            None => causes.unfounded.push(format!("it cites {cite}, which the journal does not hold")),
        }
    }
    if let Some(position) = header.meta.cause {
        follow_cause(journal, entry, position, &mut causes);
    }
    sort_by_key(&mut causes.found, |found| {
        let theirs = &found.entry.header;
        (theirs.stream == header.stream, std::cmp::Reverse(theirs.position))
    });
    causes.found.dedup_by(|a, b| a.entry.header.position == b.entry.header.position && a.event == b.event);
    Ok(causes)
}

/// What the orders rest on that a supervisor issues: it cites that order by order.
fn of_orders(entry: &Entry, events: Option<&BTreeSet<Version>>) -> Vec<Cite> {
    let stream = &entry.header.stream;
    if stream.kind() != "supervisor" {
        return Vec::new();
    }
    let meant = entry.versioned_events().filter(|(at, _)| events.is_none_or(|events| events.contains(at)));
    let issued = meant.filter_map(|(_, event)| issued(stream.name(), event));
    // What it was told in the same step is the step itself.
    let is_earlier = |cite: &Cite| cite.stream != *stream || cite.version < entry.header.first_version;
    issued.flatten().filter(is_earlier).collect()
}

/// What is named as the cause: what a provider answers to, or the entry that orders.
fn follow_cause(journal: &dyn Journal, entry: &Entry, position: Position, causes: &mut Causes) {
    if position >= entry.header.position || position == Position::ZERO {
        causes.unfounded.push(format!("it names entry {position} as its cause, which is not before it"));
        return;
    }
    let Some(earlier) = read_one(journal, position) else {
        causes.unfounded.push(format!("it names entry {position} as its cause, which cannot be read"));
        return;
    };
    if earlier.header.stream.kind() == "supervisor" {
        causes.ordered_by = Some(position);
        match order(&earlier, entry) {
            // What the order rests on is cited: nothing else that the supervisor looked at led here.
            Some((_, cites)) if !cites.is_empty() => (),
            Some((at, _)) => causes.found.push(Found { entry: earlier, event: Some(at) }),
            None => causes.found.push(Found { entry: earlier, event: None }),
        }
    } else if !causes.found.iter().any(|found| found.entry.header.position == position) {
        causes.found.push(Found { entry: earlier, event: None });
    }
}

/// The entry that holds an event.
fn cited(journal: &dyn Journal, cite: &Cite) -> Result<Option<Arc<Entry>>, ReadError> {
    for entry in journal.read_stream(&cite.stream, cite.version) {
        let entry = entry?;
        let header = &entry.header;
        if header.events > 0 && header.last_version() >= cite.version {
            return Ok((header.first_version <= cite.version).then_some(entry));
        }
    }
    Ok(None)
}

/// The entry at a position.
pub(super) fn read_one(journal: &dyn Journal, position: Position) -> Option<Arc<Entry>> {
    journal.read(position, position, &Filter::all()).next()?.ok().filter(|entry| entry.header.position == position)
}

/// The order in a supervisor's entry that another one answers: which event it is, and what it rests on.
fn order(supervisors: &Entry, entry: &Entry) -> Option<(Version, Vec<Cite>)> {
    let supervisor = &supervisors.header.stream;
    let ordered = |at: &Version| Orders::command_id(supervisor, *at) == entry.header.meta.command_id;
    let (at, body) = supervisors.versioned_events().find(|(at, _)| ordered(at))?;
    Some((at, issued(supervisor.name(), body)?))
}

/// What the order that an event issues rests on.
fn issued(supervisor: &str, event: &Body) -> Option<Vec<Cite>> {
    match supervisor {
        machines::View::NAME => match machines::Event::load(event).ok()? {
            machines::Event::Issued { cites, .. } => Some(cites),
            _ => None,
        },
        storage::View::NAME => match storage::Event::load(event).ok()? {
            storage::Event::Issued { cites, .. } => Some(cites),
            _ => None,
        },
        replica_sets::View::NAME => {
            let replica_sets::Event::Issued { cites, .. } = replica_sets::Event::load(event).ok()?;
            Some(cites)
        }
        machine_sets::View::NAME => {
            let machine_sets::Event::Issued { cites, .. } = machine_sets::Event::load(event).ok()?;
            Some(cites)
        }
        custom => (custom_kind::of_supervisor(custom)?.issued)(event),
    }
}
