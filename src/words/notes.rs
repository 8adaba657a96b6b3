//! Notes in words: what the node writes down about itself and about requests.

use bailiwick_actors::{
    contract::Stored,
    shell::{DENIALS, DenialNote, Denied, REQUESTS, RequestNote},
};
use bailiwick_journal::{Entry, JournalNote, WriterOpened};

use super::{count, period};

/// What a note says; its code in words where this version does not know it.
pub(super) fn noted(entry: &Entry) -> String {
    let told = match entry.header.stream.as_str() {
        REQUESTS => RequestNote::load(&entry.command).ok().map(|RequestNote { recorded }| requested(recorded as usize)),
        DENIALS => DenialNote::load(&entry.command).ok().map(|note| denied(&note)),
        _ => entry.events.first().and_then(|note| JournalNote::decode(note).ok()).map(|note| note_in_words(&note)),
    };
    told.unwrap_or_else(|| entry.header.meta.code.replace('-', " "))
}

fn requested(recorded: usize) -> String {
    format!("answered a request with {}", count(recorded, "command"))
}

/// `denied POST /v1/apply to account:ada (forbidden), 17 times; and 3 others`
fn denied(note: &DenialNote) -> String {
    let one = |denied: &Denied| {
        let times = if denied.count > 1 { format!(", {} times", denied.count) } else { String::new() };
        format!("denied {} to {} ({}){times}", denied.what, denied.who, denied.why)
    };
    let mut told: Vec<String> = note.denied.iter().map(one).collect();
    if note.others > 0 {
        let others = usize::try_from(note.others).unwrap_or(usize::MAX);
        told.push(format!("and {}", count(others, "other request")));
    }
    told.join("; ")
}

fn note_in_words(note: &JournalNote) -> String {
    match note {
        JournalNote::WriterOpened(opened) => opened_in_words(opened),
        JournalNote::HistoryRepaired { log_filled_blocks, store_rebuilt } => {
            format!("repaired the journal: {}", repairs(*log_filled_blocks, *store_rebuilt).join(", "))
        }
        JournalNote::ImportedAsNew { from, position, .. } => {
            format!("imported as a new journal from entries 1 to {position} of journal {from}")
        }
        JournalNote::ClockCorrected { back_ms, .. } => {
            format!("corrected the clock: recorded times are {} ahead of it", period(*back_ms))
        }
    }
}

fn opened_in_words(opened: &WriterOpened) -> String {
    let how = match (opened.epoch, opened.clean) {
        // Nobody has opened it before.
        (1, _) => "created the journal",
        (_, true) => "opened the journal after a clean stop",
        (_, false) => "opened the journal after an unclean stop",
    };
    let mut found = repairs(opened.log_filled_blocks, opened.store_rebuilt);
    let rewritten = [
        (opened.torn_cut, "cut off a torn write"),
        (opened.head_rewritten, "rewrote the head file"),
        (opened.format_rewritten, "rewrote the FORMAT file"),
    ];
    found.extend(rewritten.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned()));
    let found = if found.is_empty() { String::new() } else { format!(": {}", found.join(", ")) };
    let start = if opened.epoch == 1 { String::new() } else { format!(" (start {})", opened.epoch) };
    format!("{how}{start}{found}")
}

fn repairs(log_filled_blocks: u64, store_rebuilt: bool) -> Vec<String> {
    let blocks = usize::try_from(log_filled_blocks).unwrap_or(usize::MAX);
    let filled = (blocks > 0).then(|| format!("restored {} of the log from sled", count(blocks, "block")));
    filled.into_iter().chain(store_rebuilt.then(|| "rebuilt sled from the log".to_owned())).collect()
}
