//! Shapes that are out of the ordinary: all entries in one stream, one stream for each entry, and ten entries in each
//! stream. `--trials` is the number of entries: a few in CI, a million in the long form. Every entry is read back by
//! every kind of read, over a stop in order and over one that was none; what it took is told.

use std::{
    ops::ControlFlow,
    path::Path,
    sync::mpsc,
    time::{Duration, Instant},
};

use bailiwick_journal::{
    AppendError, Appended, Config, Draft, EntryView, Filter, Intake, Journal, LocalJournal, NOTE_STREAM, OpenReport,
    Position, ReadOnlyJournal, Settings, StreamId, Version, check, testing,
};
use uuid::Uuid;

use crate::runner::{Failure, Place, Plan};

/// How many entries each stream gets, as far as there are so many.
const SHAPES: [(&str, u64); 3] = [("one stream", u64::MAX), ("ten each", 10), ("one each", 1)];
/// Appends that wait for their answers at one time.
const UNDER_WAY: u64 = 1_024;
/// Streams of which every entry is looked at one by one.
const LOOKED_AT: u64 = 200;

pub fn run(plan: &Plan) -> Result<String, Failure> {
    let mut told = Vec::new();
    for (number, (name, each)) in SHAPES.iter().enumerate() {
        let failure = |story| Failure { trial: number as u64, story: format!("{name}: {story}") };
        let place = Place::new().map_err(failure)?;
        let shape = Shape { entries: plan.trials, each: (*each).min(plan.trials), planted: plan.planted };
        told.push(format!("{name}: {}", shape.run(&place.path().join("journal")).map_err(failure)?));
    }
    Ok(format!("{} entries; {}", plan.trials, told.join("; ")))
}

struct Shape {
    entries: u64,
    each: u64,
    /// The reader is asked for one entry more than there is.
    planted: bool,
}

impl Shape {
    fn streams(&self) -> u64 {
        self.entries / self.each
    }

    fn stream(number: u64) -> StreamId {
        format!("machine/entity-{number:08}").parse().expect("a valid name")
    }

    fn draft(&self, number: u64) -> Draft {
        let (stream, version) = (number % self.streams(), number / self.streams());
        let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, &number.to_le_bytes());
        testing::draft_with_id(Self::stream(stream).as_str(), version, 1_000, &[number], id)
    }

    fn run(&self, dir: &Path) -> Result<String, String> {
        let before = resident_mib();
        let (journal, _) = open(dir)?;
        let (appended, append) = timed(|| self.append(&journal));
        appended?;
        let held = resident_mib().saturating_sub(before);
        let (closed, close) = timed(|| journal.close());
        closed.map_err(|error| error.to_string())?;
        drop(journal);
        let (opened, ready) = timed(|| open(dir));
        let (journal, report) = opened?;
        if !report.clean {
            return Err(format!("not clean after a stop in order: {report}"));
        }
        let (read, first) = timed(|| self.all_is_read(&journal));
        read?;
        let (read, warm) = timed(|| self.all_is_read(&journal));
        read?;
        let (one, one_by_one) = timed(|| self.streams_are_read(&journal));
        one?;
        self.is_remembered(&journal)?;
        // An end without a mark: as after a crash.
        drop(journal);
        let (opened, unclean) = timed(|| open(dir));
        let (journal, report) = opened?;
        if report.clean {
            return Err(format!("clean without a stop in order: {report}"));
        }
        self.all_is_read(&journal)?;
        self.is_remembered(&journal)?;
        journal.close().map_err(|error| error.to_string())?;
        drop(journal);
        let stopped = ReadOnlyJournal::open(dir).map_err(|error| error.to_string())?;
        self.all_is_read(&stopped)?;
        drop(stopped);
        let report = check(dir).map_err(|error| error.to_string())?;
        if !report.is_whole() || report.streams as u64 != self.streams() + 1 {
            return Err(format!("check says: {report}"));
        }
        let seconds = |time: Duration| time.as_secs_f64();
        Ok(format!(
            "appended in {:.1} s, {held} MiB more memory, closed in {:.2} s, ready in {:.3} s, read in {:.3} s, again in \
             {:.3} s, {} streams one by one in {:.2} s, ready without a mark in {:.2} s",
            seconds(append),
            seconds(close),
            seconds(ready),
            seconds(first),
            seconds(warm),
            self.streams().min(LOOKED_AT),
            seconds(one_by_one),
            seconds(unclean)
        ))
    }

    fn append(&self, journal: &LocalJournal) -> Result<(), String> {
        let (tell, told) = mpsc::channel::<Result<(), AppendError>>();
        let heard = |answer: Result<Result<(), AppendError>, mpsc::RecvError>| match answer {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err("an append was not answered".into()),
        };
        for number in 0..self.entries {
            let tell = tell.clone();
            let done = move |answer: Result<Appended, AppendError>| {
                // Whoever fills may have given up.
                let _ = tell.send(answer.map(drop));
            };
            journal.append(vec![self.draft(number)], Intake::Ordinary, Box::new(done));
            if number >= UNDER_WAY {
                heard(told.recv())?;
            }
        }
        drop(tell);
        told.iter().try_for_each(|answer| heard(Ok(answer)))
    }

    /// In one pass: every position, every stream's versions in order, the events of our own entries.
    fn all_is_read(&self, journal: &dyn Journal) -> Result<(), String> {
        let mut next = Position(1);
        let mut ours = 0;
        let mut wrong = None;
        let mut look = |view: &EntryView<'_>| {
            let notes = view.stream() == NOTE_STREAM;
            let right = view.position() == next
                && (notes || view.first_version() == Version(ours / self.streams() + 1) && view.event_count() == 1);
            next = next.next();
            ours += u64::from(!notes);
            if right {
                return ControlFlow::Continue(());
            }
            wrong = Some(view.position());
            ControlFlow::Break(())
        };
        let head = journal.head().position;
        journal.pass(Position(1), head, &Filter::all(), &mut look).map_err(|error| error.to_string())?;
        let expected = self.entries + u64::from(self.planted);
        match wrong {
            None if ours == expected && next == head.next() => Ok(()),
            None => Err(format!("{ours} entries of {expected} were read, up to {next}")),
            Some(position) => Err(format!("entry {position} is not what was appended")),
        }
    }

    /// Some streams, entry by entry, forwards and back.
    fn streams_are_read(&self, journal: &dyn Journal) -> Result<(), String> {
        for at in 0..self.streams().min(LOOKED_AT) {
            let number = at * (self.streams() / self.streams().min(LOOKED_AT));
            let stream = Self::stream(number);
            let mut versions = 0;
            for entry in journal.read_stream(&stream, Version::ZERO) {
                let header = entry.map_err(|error| error.to_string())?.header.clone();
                versions += 1;
                if header.stream != stream || header.first_version != Version(versions) {
                    return Err(format!("{stream} at version {versions}: {header:?}"));
                }
            }
            let newest = journal.read_stream_back(&stream).next().and_then(Result::ok);
            let newest = newest.map(|entry| entry.header.last_version());
            if versions != self.each || newest != Some(Version(self.each)) || journal.version(&stream).0 != self.each {
                return Err(format!("{stream} has {versions} versions, the newest is {newest:?}"));
            }
        }
        Ok(())
    }

    /// A command is not taken twice.
    fn is_remembered(&self, journal: &dyn Journal) -> Result<(), String> {
        let number = self.entries / 2;
        let answered = journal.answered(&self.draft(number).meta.command_id);
        // The opening's own note came first.
        match answered {
            Some(answered) if answered.position.0 == number + 2 => Ok(()),
            other => Err(format!("command {number} is answered by {other:?}")),
        }
    }
}

fn open(dir: &Path) -> Result<(LocalJournal, OpenReport), String> {
    let config =
        Config { dir: dir.to_owned(), now_ms: 1_000, id: Some(Uuid::from_u128(7)), settings: Settings::default() };
    LocalJournal::open(config).map_err(|error| error.to_string())
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let done = act();
    (done, begun.elapsed())
}

/// Resident memory at the usual size of a page; 0 where nobody says.
fn resident_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) / 256
}
