//! Event sinks: a URL gets every decision that matches, in order, and each at least once.
//!
//! What was told is kept in a file for each sink, so a restart goes on where it was. It is written after the sink has answered:
//! a node that ends between the two tells the last ones again, and whoever is told knows them by their positions.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bailiwick_actors::vocab::{Name, Timestamp};
use bailiwick_journal::{Entry, Filter, Journal, Position, ReadError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::spans::{self, Traces};
use crate::{
    client::Hook,
    config::{EventSink, SinkFormat, Wanted},
    handle::Handle,
    view::{Calendar, LogFilter},
    words::Line,
};

/// So many are told at once.
const AT_ONCE: u64 = 100;
/// The wait after a sink was not told; it doubles up to the last one, for as long as it takes.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(60);
/// In which journal the positions are that a sink is told.
const JOURNAL: &str = "bailiwick-journal";

/// What of it is wanted.
fn filter(sink: &EventSink) -> LogFilter {
    let Wanted { entity, kind, outcome, reason, principal, .. } = sink.wanted.clone();
    LogFilter { entity, kind, outcome, reason, principal, ..LogFilter::default() }
}

/// How far a sink was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    journal: Uuid,
    position: Position,
}

impl Cursor {
    /// Where to go on. A sink that is new is told what is to come; so is one of a journal that is behind what it was told, as
    /// after a restore.
    fn read(path: &Path, journal: Uuid, head: Position) -> io::Result<Self> {
        let new = Self { journal, position: head };
        match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(new),
            Err(error) => Err(error),
            Ok(text) => {
                let kept: Self = serde_json::from_slice(&text)?;
                if kept.journal == journal && kept.position <= head {
                    return Ok(kept);
                }
                tracing::warn!(
                    told = kept.position.0,
                    head = head.0,
                    "the sink was told of another journal; it is told what is to come"
                );
                Ok(new)
            }
        }
    }

    /// Keeps it: all of it or what was there before.
    fn keep(self, path: &Path) -> io::Result<()> {
        let next = path.with_extension("new");
        let mut file = File::create(&next)?;
        file.write_all(&serde_json::to_vec(&self)?)?;
        file.sync_all()?;
        fs::rename(&next, path)
    }
}

/// Tells a sink, for as long as the node runs.
pub(super) async fn tell_sink(node: Handle, sink: EventSink, hook: Hook, dir: PathBuf) {
    let (journal, path) = (node.journal().id(), dir.join(format!("{}.json", sink.name)));
    let begin = fs::create_dir_all(&dir).and_then(|()| {
        let cursor = Cursor::read(&path, journal, node.head())?;
        // At once, so that what comes before the first answer is told after a restart, too.
        cursor.keep(&path).map(|()| cursor)
    });
    let mut cursor = match begin {
        Ok(cursor) => cursor,
        Err(error) => {
            tracing::error!(sink = %sink.name, %error, "the sink is not told anything: how far it was told cannot be kept");
            let why = format!("how far it was told cannot be kept: {error}; the next start tries again");
            node.sink_is(&sink.name, node.head(), Some((why, node.now())));
            return;
        }
    };
    let (filter, mut growth) = (filter(&sink), node.follow());
    let form = match sink.wanted.format {
        SinkFormat::Log => Form::Log,
        SinkFormat::Otlp => Form::Spans(Arc::default()),
    };
    node.sink_is(&sink.name, cursor.position, None);
    loop {
        if cursor.position >= node.head() {
            growth.grown().await;
            continue;
        }
        let (reader, wanted, as_what, from) = (node.clone(), filter.clone(), form.clone(), cursor.position);
        let batch = match actix_rt::task::spawn_blocking(move || matching(&reader, &wanted, &as_what, from)).await {
            Ok(Ok(batch)) => batch,
            Ok(Err(error)) => {
                tracing::error!(sink = %sink.name, %error, "decisions cannot be read; the sink is not told any more");
                let why = format!("decisions cannot be read: {error}; the next start tries again");
                node.sink_is(&sink.name, cursor.position, Some((why, node.now())));
                return;
            }
            Err(_) => return,
        };
        if !batch.lines.is_empty() {
            let body = form.body(journal, &batch.lines);
            told(&node, &sink.name, &hook, (cursor.position, batch.last), &body).await;
        }
        cursor.position = batch.last;
        node.sink_is(&sink.name, cursor.position, None);
        if batch.lines.is_empty() {
            continue;
        }
        let (keeps, at) = (cursor, path.clone());
        // A sync takes as long as the disk wants, and the node's thread decides.
        if let Ok(Err(error)) = actix_rt::task::spawn_blocking(move || keeps.keep(&at)).await {
            tracing::warn!(sink = %sink.name, %error, "how far the sink was told cannot be kept; after a restart it is told again");
        }
    }
}

/// As what decisions are told.
#[derive(Clone)]
enum Form {
    Log,
    Spans(Arc<Traces>),
}

impl Form {
    fn one(
        &self,
        journal: &dyn Journal,
        entry: &Entry,
        (calendar, now): (&Calendar, Timestamp),
    ) -> Result<Value, ReadError> {
        match self {
            Self::Log => {
                let mut line = serde_json::to_value(Line::of(entry)).unwrap_or_default();
                calendar.tell(&mut line, now);
                Ok(line)
            }
            Self::Spans(traces) => traces.span(journal, entry, calendar),
        }
    }

    fn body(&self, journal: Uuid, all: &[Value]) -> Vec<u8> {
        let body = match self {
            Self::Log => serde_json::to_vec(all),
            Self::Spans(_) => serde_json::to_vec(&spans::request(journal, all)),
        };
        body.unwrap_or_default()
    }
}

/// Some decisions.
struct Batch {
    lines: Vec<Value>,
    /// The last entry that was looked at.
    last: Position,
}

/// Those among the next entries that are wanted.
fn matching(node: &Handle, wanted: &LogFilter, form: &Form, after: Position) -> Result<Batch, ReadError> {
    let (last, journal) = (node.head().min(after.plus(AT_ONCE)), node.journal());
    let (calendar, now) = node.look(|fleet| (fleet.calendar.clone(), fleet.time))?;
    let mut lines = Vec::new();
    for entry in journal.read(after.next(), last, &Filter::all()) {
        let entry = entry?;
        if wanted.wants_of(&entry.header) {
            lines.push(form.one(&*journal, &entry, (&calendar, now))?);
        }
    }
    Ok(Batch { lines, last })
}

/// Tells a sink until it has answered.
async fn told(node: &Handle, sink: &Name, hook: &Hook, (before, up_to): (Position, Position), body: &[u8]) {
    let (journal, mut again, mut since) = (node.journal().id().to_string(), AGAIN_FIRST, None);
    while let Err(error) = hook.post(body.to_vec(), (JOURNAL, &journal)).await {
        let since = *since.get_or_insert_with(|| node.now());
        node.sink_is(sink, before, Some((error.to_string(), since)));
        // Once, and then as often as it takes a minute.
        if again == AGAIN_FIRST || again == AGAIN_MAX {
            tracing::warn!(%sink, %error, up_to = up_to.0, "the sink was not told; retrying");
        }
        tokio::time::sleep(again).await;
        again = (again * 2).min(AGAIN_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_goes_on_where_it_was_and_with_what_is_to_come_in_another_journal() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (path, journal) = (scratch.path().join("ops.json"), Uuid::from_u128(7));
        let at = |journal: u128, position| Cursor { journal: Uuid::from_u128(journal), position: Position(position) };
        assert_eq!(Cursor::read(&path, journal, Position(9)).expect("new"), at(7, 9));
        at(7, 5).keep(&path).expect("kept");
        assert_eq!(Cursor::read(&path, journal, Position(9)).expect("known"), at(7, 5));
        assert_eq!(
            Cursor::read(&path, journal, Position(4)).expect("restored"),
            at(7, 4),
            "it was told more than there is"
        );
        assert_eq!(Cursor::read(&path, Uuid::from_u128(8), Position(9)).expect("another"), at(8, 9));
        fs::write(&path, "{").expect("written");
        assert!(Cursor::read(&path, journal, Position(9)).is_err(), "a broken one is not taken for none");
    }
}
