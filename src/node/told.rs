//! Tells the node's log of decisions: each at level info, with its position, so that it can be found in the journal again.
//!
//! Off unless somebody asks for that level (`--log-level info`, or `bailiwick::decisions=info` alone).

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Entry, Filter, Position};
use tracing::Level;

use crate::{handle::Handle, text::harmless, words::Line};

/// What these lines are known by to filters.
const TARGET: &str = "bailiwick::decisions";
/// So many entries are read at once.
const AT_ONCE: u64 = 256;

/// Tells of decisions as they are recorded, for as long as the node runs.
pub(super) async fn tell_decisions(node: Handle) {
    let (mut growth, mut last) = (node.follow(), node.head());
    loop {
        growth.grown().await;
        while tracing::enabled!(target: TARGET, Level::INFO) && last < node.head() {
            let (reader, from) = (node.clone(), last);
            // Beside the node's thread, which decides.
            match actix_rt::task::spawn_blocking(move || tell(&reader, from)).await {
                Ok(told) => last = told,
                Err(_) => return,
            }
        }
        last = node.head();
    }
}

/// Tells of some entries after one; the answer is the last of them.
fn tell(node: &Handle, after: Position) -> Position {
    let last = node.head().min(after.plus(AT_ONCE));
    for entry in node.journal().read(after.next(), last, &Filter::all()) {
        match entry {
            Ok(entry) => tell_one(&entry),
            Err(error) => tracing::warn!(%error, after = after.0, "decisions cannot be read and are not told"),
        }
    }
    last
}

fn tell_one(entry: &Entry) {
    let Line { position, stream, asked, outcome, code, because, principal, cause, .. } = Line::of(entry);
    let time = Timestamp(entry.header.meta.time_ms);
    // What providers and agents say is not to reach a terminal as it is.
    let (asked, because) = (harmless(&asked), harmless(&because));
    // The entry that led to this one is the thread that holds them together.
    tracing::info!(
        target: TARGET,
        position, %time, %stream, outcome, %code, %principal, cause,
        "{stream}: {asked}: {outcome}, because {because}"
    );
}
