//! Why an entity is as it is: from its last decision back to the command from outside that led to it.

use std::{fmt, sync::Arc};

use bailiwick_actors::{
    contract::Stored,
    supervisor::{Order, Orders, machines, replica_sets, storage},
};
use bailiwick_journal::{Body, Entry, Filter, Journal, Position, ReadError, StreamId};
use serde::Serialize;

use crate::words::Line;

/// A chain is cut after this many steps; the story has the rest.
const STEPS_MAX: usize = 100;

/// The chain of causes of an entity's last decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    pub entity: String,
    /// Up to where the journal was looked at.
    pub at: u64,
    /// The last decision first; each following step led to the one before it.
    pub chain: Vec<Link>,
    /// How the chain ends.
    pub origin: Cause,
}

/// One step of the chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    #[serde(flatten)]
    pub line: Line,
    /// What this step led to: "ordered", if a supervisor's order joins the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_order: Option<String>,
}

/// Where a step comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Cause {
    /// Somebody outside asked.
    Outside,
    /// The outside world changed, and a supervisor saw it.
    World,
    /// A time came.
    Time,
    /// An earlier entry.
    Entry { position: u64 },
    /// The entry that is named is not before this one: the journal does not say what led to it.
    Impossible { position: u64 },
    /// The entry that is named cannot be read.
    Missing { position: u64 },
    /// There are more steps than are shown.
    More { position: u64 },
}

/// Walks the causes of the last decision about an entity, as of a position; none if it had no history by then.
///
/// # Errors
/// If the journal cannot be read.
pub fn why(journal: &dyn Journal, entity: &StreamId, at: Position) -> Result<Option<Why>, ReadError> {
    let at = at.min(journal.head().position);
    let Some(mut step) = last_decision(journal, entity, at)? else {
        return Ok(None);
    };
    let mut chain = vec![Link { line: Line::of(&step), by_order: None }];
    let origin = loop {
        let cause = cause_of(journal, &step)?;
        let Cause::Entry { position } = cause else { break cause };
        if chain.len() == STEPS_MAX {
            break Cause::More { position };
        }
        let Some(earlier) = read_one(journal, Position(position)) else {
            break Cause::Missing { position };
        };
        let order = order_of(&earlier, &step).map(|(_, words)| words);
        chain.push(Link { line: Line::of(&earlier), by_order: order });
        step = earlier;
    };
    Ok(Some(Why { entity: entity.to_string(), at: at.0, chain, origin }))
}

/// The last entry of a stream that changed something or refused something; if there is none, the last one at all.
fn last_decision(journal: &dyn Journal, stream: &StreamId, at: Position) -> Result<Option<Arc<Entry>>, ReadError> {
    let mut last = None;
    for entry in journal.read_stream_back(stream) {
        let entry = entry?;
        if entry.header.position > at {
            continue;
        }
        if entry.header.events > 0 {
            return Ok(Some(entry));
        }
        last = last.or(Some(entry));
    }
    Ok(last)
}

fn read_one(journal: &dyn Journal, position: Position) -> Option<Arc<Entry>> {
    journal.read(position, position, &Filter::all()).next()?.ok().filter(|entry| entry.header.position == position)
}

fn cause_of(journal: &dyn Journal, entry: &Entry) -> Result<Cause, ReadError> {
    let header = &entry.header;
    let cause = match looked_at(entry) {
        Looked::At(streams) => {
            let before = header.meta.view.unwrap_or(header.position).min(Position(header.position.0 - 1));
            newest_of(journal, &streams, before)?.or(header.meta.cause)
        }
        Looked::AtTheWorld => return Ok(Cause::World),
        Looked::NotAtAll => header.meta.cause,
    };
    Ok(match cause {
        None if header.meta.principal == "schedule" => Cause::Time,
        None if header.meta.principal.starts_with("supervisor/") || header.meta.principal.starts_with("agent:") => {
            Cause::World
        }
        None => Cause::Outside,
        Some(cause) if cause >= header.position || cause == Position::ZERO => Cause::Impossible { position: cause.0 },
        Some(cause) => Cause::Entry { position: cause.0 },
    })
}

/// What a supervisor looked at when it decided. Its header says where its view stood; what moved it is more exactly the
/// last change of what it looked at.
enum Looked {
    At(Vec<StreamId>),
    AtTheWorld,
    NotAtAll,
}

fn looked_at(entry: &Entry) -> Looked {
    match entry.header.stream.as_str() {
        "supervisor/machines" => match machines::Command::load(&entry.command) {
            Ok(machines::Command::Look { machines }) => {
                let stream = |name: &bailiwick_actors::vocab::Name| StreamId::new("machine", name.as_str()).ok();
                Looked::At(machines.iter().filter_map(stream).collect())
            }
            Ok(_) => Looked::AtTheWorld,
            Err(_) => Looked::NotAtAll,
        },
        "supervisor/storage" => match storage::Command::load(&entry.command) {
            Ok(storage::Command::Look { about }) => Looked::At(about),
            Ok(
                storage::Command::Begin { .. }
                | storage::Command::Observe { .. }
                | storage::Command::ObserveVolumes { .. },
            ) => Looked::AtTheWorld,
            Err(_) => Looked::NotAtAll,
        },
        "supervisor/replica-sets" => match replica_sets::Command::load(&entry.command) {
            Ok(replica_sets::Command::Look { about }) => Looked::At(about),
            Err(_) => Looked::NotAtAll,
        },
        _ => Looked::NotAtAll,
    }
}

/// The newest entry of these streams that changed something, at or before a position.
fn newest_of(journal: &dyn Journal, streams: &[StreamId], before: Position) -> Result<Option<Position>, ReadError> {
    let mut newest = None;
    for stream in streams {
        for entry in journal.read_stream_back(stream) {
            let entry = entry?;
            let position = entry.header.position;
            if position <= before && entry.header.events > 0 {
                newest = newest.max(Some(position));
                break;
            }
        }
    }
    Ok(newest)
}

/// The order in `earlier` that `entry` answers, if it answers one: which event it is, and in words.
fn order_of(earlier: &Entry, entry: &Entry) -> Option<(bailiwick_journal::Version, String)> {
    let supervisor = &earlier.header.stream;
    if supervisor.kind() != "supervisor" {
        return None;
    }
    for (at, body) in earlier.versioned_events() {
        if Orders::command_id(supervisor, at) != entry.header.meta.command_id {
            continue;
        }
        return issued(supervisor.name(), body).map(|order| (at, crate::words::ordered(&order)));
    }
    None
}

/// The order that an event of a supervisor issues.
fn issued(supervisor: &str, event: &Body) -> Option<Order> {
    match supervisor {
        machines::View::NAME => match machines::Event::load(event) {
            Ok(machines::Event::Issued { order, .. }) => Some(order),
            _ => None,
        },
        storage::View::NAME => match storage::Event::load(event) {
            Ok(storage::Event::Issued { order, .. }) => Some(order),
            _ => None,
        },
        replica_sets::View::NAME => match replica_sets::Event::load(event) {
            Ok(replica_sets::Event::Issued { order, .. }) => Some(order),
            Err(_) => None,
        },
        _ => None,
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, link) in self.chain.iter().enumerate() {
            let Line { position, time, stream, principal, asked, happened, .. } = &link.line;
            let indent = "  ".repeat(depth.min(20));
            let led = if depth == 0 { "" } else { "led to by " };
            writeln!(f, "{indent}{led}{stream} at {position}, {time}")?;
            writeln!(f, "{indent}  {principal} asked it to {asked}")?;
            writeln!(f, "{indent}  {}", link.line.answer())?;
            match &link.by_order {
                // Of all that a supervisor ordered in one step, only this is part of the chain.
                Some(order) => writeln!(f, "{indent}  so {order}")?,
                None if happened.is_empty() => (),
                None => writeln!(f, "{indent}  so {}", happened.join("; "))?,
            }
        }
        let indent = "  ".repeat(self.chain.len().min(20));
        let principal = self.chain.last().map_or("somebody", |link| &link.line.principal);
        match self.origin {
            Cause::Outside => writeln!(f, "{indent}{principal} asked for it from outside"),
            Cause::World => writeln!(f, "{indent}that is what {principal} saw of the world outside"),
            Cause::Time => writeln!(f, "{indent}its time had come"),
            Cause::Entry { position } => writeln!(f, "{indent}entry {position} led to it"),
            Cause::Impossible { position } => {
                writeln!(f, "{indent}the journal names entry {position} as its cause, which is not before it")
            }
            Cause::Missing { position } => {
                writeln!(f, "{indent}entry {position} led to it, which cannot be read")
            }
            Cause::More { position } => writeln!(f, "{indent}and so on from entry {position}"),
        }
    }
}
