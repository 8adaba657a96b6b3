//! Decisions as they are made, as server-sent events: `GET /v1/watch`.
//!
//! An event's id is the position of its entry, so a client that lost its connection goes on with `Last-Event-ID` (or `from=`) where it
//! was, without a gap and without a repeat, also after a restart of the node. Each entry is put into words once, for all who
//! watch, and what is sent at once is written once for all who want the same; who is further behind than what is kept in memory
//! reads from the journal. A watcher has two batches in memory at most: one that reads nothing is cut off, and loses nothing.

use std::{io, sync::Arc, time::Duration};

use actix_web::{HttpRequest, http::StatusCode, web, web::Bytes};
use bailiwick_actors::{document::Role, vocab::Timestamp};
use bailiwick_journal::{Entry, Filter, Position, StreamId};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::{
    access::{Need, bearer, caller},
    connection::Peer,
    described::{Media, Sent},
    errors::Failure,
    feed::{Batch, CLOSED, Told},
    query::outcome,
    routes::Routes,
    shared::Shared,
    stream::Pieces,
};
use crate::{
    handle::Handle,
    view::{Calendar, LogFilter},
    words::Line,
};

/// So many entries are put into words at once.
const TOLD_AT_ONCE: u64 = 512;
/// How long a watcher hears nothing before he is told how far the journal is: it shows that the connection lives, and where to
/// go on.
const SILENT_MAX: Duration = Duration::from_secs(5);
/// How often it is looked whether a watcher still may, in milliseconds.
const MAY_FOR_MS: u64 = 5_000;
/// How long the feed waits for more before it tells what there is: entries of one moment are told together.
const TOGETHER: Duration = Duration::from_millis(5);
/// How much longer for each who watches: to wake them takes time, and the more of them there are, the more each hears at once.
const TOGETHER_FOR_EACH: Duration = Duration::from_micros(40);

pub(super) fn routes(routes: &mut Routes<'_>) {
    routes.get("/watch", Need::Role(Role::View), "Decisions as they are made, as server-sent events", watch);
}

/// What is watched: all, or what matches each of these.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wanted {
    /// Only entries after this one; without it, those that are to come.
    from: Option<u64>,
    /// Only this object: `machine/web`.
    entity: Option<StreamId>,
    /// Only this kind.
    kind: Option<String>,
    /// Only this outcome: `done`, `nothing`, `refused`.
    outcome: Option<String>,
    /// Only with this reason: `worth-retrying`.
    reason: Option<String>,
    /// Only of this principal: `uid:0`, `schedule`.
    principal: Option<String>,
}

/// Puts entries into words as they come, while somebody watches; for as long as the server runs.
pub(super) async fn feed(shared: Shared) {
    let mut growth = shared.node.follow();
    loop {
        growth.grown().await;
        let watchers = u32::try_from(shared.feed.watchers()).unwrap_or(u32::MAX);
        tokio::time::sleep(TOGETHER.max(TOGETHER_FOR_EACH.saturating_mul(watchers))).await;
        if watchers == 0 {
            shared.feed.forget();
            continue;
        }
        let fed = shared.clone();
        if let Ok(Err(error)) = web::block(move || fill(&fed)).await {
            tracing::warn!(%error, "watchers are not told what was decided");
        }
    }
}

/// Takes in what there is.
fn fill(shared: &Shared) -> io::Result<()> {
    let head = shared.node.head().0;
    loop {
        // Whoever began to watch before that reads from the journal until he is here. What follows is kept without a gap, however
        // much came meanwhile.
        let last = shared.feed.last().unwrap_or(head.saturating_sub(TOLD_AT_ONCE));
        if last >= head {
            return Ok(());
        }
        shared.feed.keep(tell(&shared.node, last, head.min(last + TOLD_AT_ONCE))?);
    }
}

/// The entries after one and up to another, in words.
fn tell(node: &Handle, after: u64, to: u64) -> io::Result<Vec<Told>> {
    let (calendar, now) = node.look(|fleet| (fleet.calendar.clone(), fleet.time)).map_err(io::Error::other)?;
    let told = |entry: Arc<Entry>| line(&entry, &calendar, now);
    let journal = node.journal();
    let all = journal.read(Position(after + 1), Position(to), &Filter::all());
    all.map(|entry| entry.map_err(io::Error::other).and_then(told)).collect()
}

fn line(entry: &Entry, calendar: &Calendar, now: Timestamp) -> io::Result<Told> {
    let mut value = serde_json::to_value(Line::of(entry))?;
    calendar.tell(&mut value, now);
    // JSON has no line breaks of its own.
    let event = format!("id: {}\nevent: decision\ndata: {value}\n\n", entry.header.position);
    Ok(Told { header: entry.header.clone(), event })
}

async fn watch(
    shared: web::Data<Shared>,
    request: HttpRequest,
    wanted: web::Query<Wanted>,
) -> Result<Sent<Events>, Failure> {
    let wanted = wanted.into_inner();
    let bad = |message: String| Failure::new(StatusCode::BAD_REQUEST, "bad-request", message);
    let filter = LogFilter {
        outcome: wanted.outcome.as_deref().map(outcome).transpose()?,
        entity: wanted.entity,
        kind: wanted.kind,
        reason: wanted.reason,
        principal: wanted.principal,
        ..LogFilter::default()
    };
    let last = request.headers().get("last-event-id").map(|id| id.to_str().ok().and_then(|id| id.parse().ok()));
    let last = last.map(|id| id.ok_or_else(|| bad("Last-Event-ID is no position".to_owned()))).transpose()?;
    let head = shared.node.head().0;
    let from = last.or(wanted.from).unwrap_or(head);
    if from > head {
        return Err(Failure::new(StatusCode::NOT_FOUND, "not-found", format!("entry {from} does not exist"))
            .next(&format!("the last entry is {head}; if this journal was restored from a backup, watch from there")));
    }
    let busy = || {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", "too many are watching").next("retry in a moment")
    };
    let permit = shared.feed.join().ok_or_else(busy)?;
    let peer = request.conn_data::<Peer>().copied().unwrap_or(Peer::Local(None));
    let watcher = Watcher { peer, bearer: bearer(request.headers()).map(str::to_owned), filter, _permit: permit };
    let (pieces, waiting) = mpsc::channel(1);
    actix_web::rt::spawn(send(shared.get_ref().clone(), watcher, from, pieces));
    Ok(Sent::body(Pieces(waiting)))
}

/// Server-sent events.
#[derive(Debug)]
enum Events {}

impl Media for Events {
    const TYPE: &'static str = "text/event-stream";
}

/// Who watches, and what.
struct Watcher {
    peer: Peer,
    bearer: Option<String>,
    filter: LogFilter,
    _permit: OwnedSemaphorePermit,
}

/// Sends what matches until the client is gone or may not read any more, or the node stops.
async fn send(shared: Shared, watcher: Watcher, mut from: u64, pieces: mpsc::Sender<io::Result<Bytes>>) {
    let mut looked = shared.node.now();
    let mut last = shared.feed.follow();
    // At once, so that the client knows that it watches.
    let mut batch = alive(from);
    loop {
        if !batch.is_empty() && pieces.send(Ok(std::mem::take(&mut batch))).await.is_err() {
            return;
        }
        let now = shared.node.now();
        if now.since(looked) >= MAY_FOR_MS {
            // A token may have been revoked, or have expired, since.
            if caller(&shared, watcher.peer, watcher.bearer.as_deref()).is_err() {
                return;
            }
            looked = now;
        }
        if *last.borrow_and_update() == CLOSED {
            return;
        }
        let next = match next(&shared, from, &watcher.filter).await {
            Ok(next) => next,
            Err(error) => {
                drop(pieces.send(Err(error)).await);
                return;
            }
        };
        if next.to == from {
            tokio::select! {
                biased;
                () = pieces.closed() => return,
                changed = last.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(SILENT_MAX) => batch = alive(from),
            }
            continue;
        }
        (batch, from) = (next.events, next.to);
    }
}

/// What is sent when there is nothing to tell: how far the journal is.
fn alive(at: u64) -> Bytes {
    Bytes::from(format!("id: {at}\n\n"))
}

/// What is wanted of the entries after this one; it ends there if there are none yet.
async fn next(shared: &Shared, from: u64, filter: &LogFilter) -> io::Result<Batch> {
    if let Some(batch) = shared.feed.next(from, filter) {
        return Ok(batch);
    }
    let to = shared.node.head().0.min(from + TOLD_AT_ONCE);
    if from >= to {
        return Ok(Batch { events: Bytes::new(), to: from });
    }
    let (node, wanted) = (shared.node.clone(), filter.clone());
    let read = web::block(move || read(&node, from, to, &wanted)).await.map_err(io::Error::other)??;
    shared.feed.keep_batch(from, filter, &read);
    Ok(read)
}

/// What is wanted of the entries after one and up to another, as far as it is sent at once.
fn read(node: &Handle, after: u64, to: u64, filter: &LogFilter) -> io::Result<Batch> {
    let (calendar, now) = node.look(|fleet| (fleet.calendar.clone(), fleet.time)).map_err(io::Error::other)?;
    let journal = node.journal();
    let all = journal.read(Position(after + 1), Position(to), &Filter::all());
    let entries = all.map(|entry| {
        let entry = entry.map_err(io::Error::other)?;
        let is_wanted = filter.wants_of(&entry.header);
        let told = is_wanted.then(|| line(&entry, &calendar, now)).transpose()?;
        Ok((entry.header.position.0, told))
    });
    Batch::of(after, entries)
}
