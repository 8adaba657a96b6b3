//! The journal of a running node: exported, checked and counted while the node works.
//!
//! Each runs on a thread of its own and rests as often as it works, so that commands hardly notice.

use std::{
    io::{self, Write},
    thread,
    time::Duration,
};

use actix_web::{
    http::StatusCode,
    web::{self, Bytes},
};
use bailiwick_actors::document::Role;
use bailiwick_journal::{Journal, OpenError};
use rustix::process::setpriority_process;
use tokio::sync::{mpsc, oneshot};

use super::{
    access::Need,
    described::{Media, Sent},
    errors::Failure,
    routes::Routes,
    shared::Shared,
    stream::Pieces,
    wire::{
        journal::{Checked, Counted, HeadParameters, SignedHead},
        problem::Problem,
    },
};
use crate::words::readable;

/// So much is sent at once: a few milliseconds' work, so that other work soon gets the processor.
const CHUNK_BYTES: usize = 32 * 1024;
/// Chunks that wait for a slow reader; then the export waits too.
const CHUNKS_WAITING: usize = 4;
/// The rest after a chunk, or after some blocks: about as long as they take to write, or to read.
const REST: Duration = Duration::from_millis(3);
/// How much less urgent it is than the rest of the node, from 0 to 19.
const NICE: i32 = 10;

pub(super) fn routes(routes: &mut Routes<'_>) {
    // Each of them reads all that there is.
    let operate = Need::Role(Role::Operate);
    routes
        .get("/journal/export", operate, "The whole journal, one JSON object per line", export)
        .get("/journal/check", operate, "Whether the journal is whole", check)
        .get(
            "/journal/head",
            Need::Role(Role::View),
            "Where the journal's chain stands, or stood after a block, signed",
            head,
        )
        .get("/journal/stat", operate, "How much there is in the journal, by kind and stream", stat);
}

/// All of it up to what is durable now, line by line. If it fails on its way, the connection breaks off: a whole export
/// ends with the line that counts it.
async fn export(shared: web::Data<Shared>) -> Result<Sent<JsonLines>, Failure> {
    let journal = shared.node.local_journal();
    let (chunks, waiting) = mpsc::channel(CHUNKS_WAITING);
    let run = move || {
        let mut pipe = Pipe { chunks: chunks.clone(), chunk: Vec::with_capacity(CHUNK_BYTES) };
        if let Err(error) = journal.export_told(&mut pipe, &readable) {
            let problem = io::Error::other(error);
            tracing::warn!(%problem, "an export of the journal ended early");
            drop(chunks.blocking_send(Err(problem)));
        }
    };
    on_its_own_thread("journal-export", run)?;
    Ok(Sent::body(Pieces(waiting)))
}

/// One JSON object per line.
#[derive(Debug)]
enum JsonLines {}

impl Media for JsonLines {
    const TYPE: &'static str = "application/x-ndjson";
}

async fn check(shared: web::Data<Shared>) -> Result<web::Json<Checked>, Failure> {
    let journal = shared.node.local_journal();
    let report = answered("journal-check", move || journal.check(rest)).await?;
    Ok(web::Json(Checked::of(&report, true)))
}

async fn head(shared: web::Data<Shared>, wanted: web::Query<HeadParameters>) -> Result<web::Json<SignedHead>, Failure> {
    let journal = shared.node.local_journal();
    let (signer, id) = (shared.signer.clone(), journal.id());
    let block = wanted.block.unwrap_or(journal.head().block);
    let found = web::block(move || journal.head_after(block)).await;
    match found.map_err(|_| stopping())?? {
        Some(head) => Ok(web::Json(signer.sign(id, &head))),
        None => Err(Failure::new(StatusCode::NOT_FOUND, "not-found", format!("the journal has no block {block}"))),
    }
}

async fn stat(shared: web::Data<Shared>) -> Result<web::Json<Counted>, Failure> {
    let journal = shared.node.local_journal();
    let stat = answered("journal-stat", move || journal.stat(rest)).await?;
    Ok(web::Json(Counted::from(&stat)))
}

fn rest() {
    thread::sleep(REST);
}

async fn answered<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, Failure> {
    let (tell, told) = oneshot::channel();
    on_its_own_thread(name, move || drop(tell.send(run())))?;
    let unreadable = |error: OpenError| {
        Failure::from(Problem {
            code: "disk".into(),
            message: error.to_string(),
            next_step: Some("check the disk of the data directory".into()),
            ..Problem::default()
        })
    };
    told.await.map_err(|_| stopping())?.map_err(unreadable)
}

/// The thread ended before it answered: so does the node.
fn stopping() -> Failure {
    Failure::from(Problem { code: "stopping".into(), ..Problem::default() })
}

/// Runs something that can wait, and gives way to decisions.
///
/// # Errors
/// If there is no thread for it.
pub(super) fn on_its_own_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let gently = move || {
        // Of this thread alone: decisions come first. Without it the work is done all the same.
        if let Err(error) = setpriority_process(None, NICE) {
            tracing::debug!(%error, "reading the journal at normal priority");
        }
        run();
    };
    let spawned = thread::Builder::new().name(name.into()).spawn(gently);
    let no_thread = |error: io::Error| {
        Failure::from(Problem {
            code: "memory-limit".into(),
            message: format!("cannot start a thread: {error}"),
            next_step: Some("check the limits of the node's process".into()),
            ..Problem::default()
        })
    };
    spawned.map(drop).map_err(no_thread)
}

/// The writing end: chunks on their way to the connection.
struct Pipe {
    chunks: mpsc::Sender<io::Result<Bytes>>,
    chunk: Vec<u8>,
}

impl Pipe {
    fn send(&mut self) -> io::Result<()> {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES));
        self.chunks.blocking_send(Ok(chunk.into())).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(())
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES {
            self.send()?;
            rest();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() { Ok(()) } else { self.send() }
    }
}
