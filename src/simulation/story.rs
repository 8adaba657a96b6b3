//! A journal as a story: one line per decision, in the words of the log.

use std::fmt;

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Entry, EntryKind, Filter, Journal, Position};
use serde::Serialize;

use crate::words::Line;

/// One decision, or something that no entry tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryLine {
    /// Since the simulation began, by the node's clock.
    pub at_ms: u64,
    pub position: Option<u64>,
    pub stream: Option<String>,
    /// What was done, or that nothing was.
    pub what: String,
    /// Why; none for what happens from outside.
    pub because: Option<String>,
    pub who: Option<String>,
    /// The entry that led to it.
    pub cause: Option<u64>,
}

impl StoryLine {
    /// Something that happened from outside.
    pub(super) fn aside(at_ms: u64, what: String) -> Self {
        Self { at_ms, position: None, stream: None, what, because: None, who: None, cause: None }
    }
}

impl fmt::Display for StoryLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&clock(self.at_ms))?;
        let (Some(position), Some(stream)) = (self.position, &self.stream) else {
            return write!(f, "     --- {}", self.what);
        };
        write!(f, " {position:>5} {stream:<28} {}", self.what)?;
        if let Some(because) = &self.because {
            write!(f, ", because {because}")?;
        }
        if let Some(who) = &self.who {
            write!(f, " ({who}")?;
            if let Some(cause) = self.cause {
                write!(f, ", after {cause}")?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// Tells a whole journal, with the asides that stand after so many entries.
///
/// # Panics
/// If the journal cannot be read: a simulated disk is always there.
pub fn tell(journal: &dyn Journal, epoch: Timestamp, asides: Vec<(u64, StoryLine)>) -> Vec<StoryLine> {
    let mut asides = asides.into_iter().peekable();
    let mut lines = Vec::new();
    for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
        let entry = entry.expect("a simulated disk can be read");
        while let Some((_, aside)) = asides.next_if(|(entries, _)| *entries < entry.header.position.0) {
            lines.push(aside);
        }
        lines.push(line(&entry, epoch));
    }
    lines.extend(asides.map(|(_, aside)| aside));
    lines
}

fn line(entry: &Entry, epoch: Timestamp) -> StoryLine {
    let line = Line::of(entry);
    let is_decision = entry.header.meta.kind == EntryKind::Decision;
    StoryLine {
        at_ms: Timestamp(line.time_ms).since(epoch),
        position: Some(line.position),
        what: since_the_start(&line.what(), epoch),
        because: is_decision.then(|| since_the_start(&line.because, epoch)),
        stream: Some(line.stream),
        who: Some(line.principal),
        cause: line.cause,
    }
}

/// `hh:mm:ss.mmm` since the simulation began.
fn clock(ms: u64) -> String {
    format!("{:02}:{:02}:{:02}.{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000)
}

/// A text with its moments told as those of the story are.
fn since_the_start(text: &str, epoch: Timestamp) -> String {
    let word = |word: &str| {
        let moment = word.trim_end_matches([',', ';', ')', ':']);
        let is_moment = moment.len() == "2026-01-01T00:00:00.000Z".len() && moment.ends_with('Z');
        let at = is_moment.then(|| moment.parse::<jiff::Timestamp>().ok()).flatten()?.as_millisecond();
        let ms = Timestamp(u64::try_from(at).ok()?).since(epoch);
        Some(format!("{}{}", clock(ms), &word[moment.len()..]))
    };
    let words = text.split(' ').map(|text| word(text).unwrap_or_else(|| text.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}
