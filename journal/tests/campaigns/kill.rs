//! `kill -9` at any moment: nothing acknowledged is lost, nothing has a gap, no group is torn.
//!
//! A child process appends and says each acknowledgement on a pipe, which outlives it: that is the outside truth. It is
//! killed after so many acknowledgements, after so many microseconds (while it opens, too), or at a numbered point of
//! the journal's own code. Ten lives after one another share a journal; after each, the log is read as it was left.
//! A seed repeats what is done and not when exactly the kill falls, except at numbered points with one thread.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use bailiwick_journal::{Intake, Journal, LocalJournal, ReadOnlyJournal, Snapshots, Threads, append_blocking};

use crate::{
    deadline::Deadline,
    dice::Dice,
    runner::{Failure, Place, Plan, Tally},
    workload::{self, Acknowledged, AppendId, Behind, Shape},
};

/// Lives of one journal.
const LIVES: u64 = 10;
pub const WRITERS_MAX: u16 = 8;
/// A child that says nothing for so long hangs; one that goes on talking may take its time.
const PATIENCE: Patience = Patience::Silence(Duration::from_secs(30));
/// A child whose parent is gone ends by itself.
const APPENDS_MAX: u32 = 4_000;

/// How a child works.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    pub number: u32,
    pub writers: u16,
    /// How many appends a writer has on their way at once.
    pub in_flight: u16,
    /// None: all shapes in turn.
    pub shape: Option<Shape>,
    pub inline: bool,
    pub segment_kib: u64,
    /// A writer ends by itself after so many; then the journal is closed.
    pub appends: u32,
    pub planted: bool,
}

#[derive(Clone, Copy, Debug)]
enum End {
    AfterAcknowledgements(u64),
    AfterMicroseconds(u64),
    AtPoint(u64),
}

pub fn run(plan: &Plan) -> Result<String, Failure> {
    let tally = plan.run(LIVES, |first, behind, tally| {
        let mut place = Place::new().map_err(|story| Failure { trial: first, story })?;
        let mut acknowledged = Vec::new();
        for trial in first..behind {
            let last = trial + 1 == behind;
            one_life(plan, trial, place.path(), last, &mut acknowledged, tally).map_err(|story| {
                let kept = place.keep();
                Failure { trial, story: format!("trial {trial}: {story}\n  kept: {}", kept.display()) }
            })?;
        }
        Ok(())
    })?;
    Ok(tally.to_string())
}

fn one_life(
    plan: &Plan,
    trial: u64,
    place: &Path,
    last: bool,
    acknowledged: &mut Vec<Acknowledged>,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut dice = Dice::of(&[plan.seed, trial]);
    let inline = dice.one_in(4);
    let life = Life {
        number: u32::try_from(trial).map_err(|_| "too many trials")?,
        writers: if inline || dice.one_in(3) { 1 } else { 2 + dice.below(7) as u16 }.min(WRITERS_MAX),
        in_flight: if inline || dice.one_in(2) { 1 } else { 2 + dice.below(40) as u16 },
        shape: if dice.one_in(3) { None } else { Some(*dice.pick(&Shape::ALL)) },
        inline,
        segment_kib: 16 << dice.below(5),
        appends: APPENDS_MAX,
        planted: plan.planted,
    };
    let end = match dice.below(5) {
        0 | 1 => End::AfterAcknowledgements(1 + dice.below(80)),
        2 => End::AfterMicroseconds(dice.below(30_000)),
        3 => End::AtPoint(1 + dice.below(60)),
        _ => End::AtPoint(60 + dice.below(240)),
    };
    let dir = place.join("journal");
    let heard = live(&dir, life, end).map_err(|story| format!("{life:?}, {end:?}: {story}"))?;
    tally.one("kills");
    tally.add("acknowledged appends", heard.len() as u64);
    tally.one(match end {
        End::AfterAcknowledgements(_) => "after acknowledgements",
        End::AfterMicroseconds(_) => "after microseconds",
        End::AtPoint(_) => "at points",
    });
    tally.add("index checkpoints left", u64::from(dir.join("index.checkpoint").exists()));
    tally.add("and in use", u64::from(dir.join("index.checkpoint.used").exists()));
    acknowledged.extend(heard);
    if !dir.join("FORMAT").exists() {
        // Killed before there was a journal.
        return if acknowledged.is_empty() { Ok(()) } else { Err("LOST: FORMAT is gone".into()) };
    }
    let context = |what: &str| format!("{life:?}, {end:?}: {what}");
    let journal = ReadOnlyJournal::open(&dir).map_err(|error| context(&error.to_string()))?;
    let found = workload::read_all(&journal).and_then(|entries| workload::verify(&entries, acknowledged));
    let found = found.map_err(|what| context(&what))?;
    drop(journal);
    let snapshots = workload::snapshots_are_whole(&dir, WRITERS_MAX).map_err(|what| context(&what))?;
    tally.add("snapshots read", snapshots);
    if last {
        let entries = open_fully(&dir, life, acknowledged, tally).map_err(|what| context(&what))?;
        tally.add("entries checked", entries);
        tally.add("found unacknowledged", found.unacknowledged);
    }
    Ok(())
}

/// Opens for writing, with sled: nothing was repaired, sled has all of it, and afterwards it is clean.
fn open_fully(dir: &Path, life: Life, acknowledged: &[Acknowledged], tally: &mut Tally) -> Result<u64, String> {
    let settings = workload::settings(Threads::Own, life.segment_kib * 1024);
    for clean in [false, true] {
        let opened = LocalJournal::open(workload::config(dir, settings.clone()));
        let (journal, report) = opened.map_err(|error| error.to_string())?;
        if report.repaired() || report.store_unavailable.is_some() || (clean && !report.clean) {
            return Err(format!("a kill damages nothing: {report}"));
        }
        let found = workload::verify(&workload::read_all(&journal)?, acknowledged)?;
        workload::is_right_behind(&journal, Behind::NothingToRepair)?;
        tally.add("gone by a checkpoint", u64::from(report.by_checkpoint));
        tally.add("gone by a checkpoint after a kill", u64::from(report.by_checkpoint && !report.clean));
        let stats = journal.stats();
        if stats.store_misses > 0 || stats.degraded.is_some() {
            return Err(format!("sled did not answer: {stats:?}"));
        }
        journal.close().map_err(|error| error.to_string())?;
        if clean {
            return Ok(found.entries);
        }
    }
    Ok(0)
}

/// Starts a child, ends it, and answers what it had acknowledged.
fn live(dir: &Path, life: Life, end: End) -> Result<Vec<Acknowledged>, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args(["--child", "kill"]).arg(dir).args(life.words());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    workload::tell_child(&mut command);
    if let End::AtPoint(point) = end {
        command.env("BAILIWICK_CRASH_AT", point.to_string());
    }
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("no child: {error}"))?;
    let lines = lines_of(&mut child)?;
    let mut heard = Vec::new();
    let outcome = match end {
        End::AfterAcknowledgements(enough) => listen(&lines, &mut heard, enough, PATIENCE),
        End::AfterMicroseconds(micros) => {
            let left = Duration::from_micros(micros).saturating_sub(begun.elapsed());
            listen(&lines, &mut heard, u64::MAX, Patience::Until(Deadline::within(left)))
        }
        End::AtPoint(_) => listen(&lines, &mut heard, u64::MAX, PATIENCE),
    };
    let hung = matches!(outcome, Ok(Heard::Silence)) && !matches!(end, End::AfterMicroseconds(_));
    child.kill().map_err(|error| format!("the child cannot be killed: {error}"))?;
    let rest = listen(&lines, &mut heard, u64::MAX, PATIENCE);
    child.wait().map_err(|error| error.to_string())?;
    outcome?;
    rest?;
    if hung {
        return Err(format!("the child hangs; it had acknowledged {}", heard.len()));
    }
    Ok(heard)
}

/// Lets a child append until it was told `enough`, kills it, and answers what it was told.
pub fn killed(dir: &Path, number: u32, segment_kib: u64, enough: u64) -> Result<Vec<Acknowledged>, String> {
    let appends = APPENDS_MAX;
    let life =
        Life { number, writers: 3, in_flight: 4, shape: None, inline: false, segment_kib, appends, planted: false };
    live(dir, life, End::AfterAcknowledgements(enough))
}

pub fn lines_of(child: &mut Child) -> Result<Receiver<String>, String> {
    let pipe = child.stdout.take().ok_or("the child has no output")?;
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        loop {
            let mut line = String::new();
            // A line without its end was cut by the kill; it acknowledges nothing.
            let read = pipe.read_line(&mut line).unwrap_or(0);
            if read == 0 || send.send(line).is_err() {
                return;
            }
        }
    });
    Ok(lines)
}

pub enum Heard {
    Enough,
    Silence,
    TheEnd,
}

/// How long somebody listens.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// Until nothing was said for so long.
    Silence(Duration),
    /// Until then, whatever is said.
    Until(Deadline),
}

impl Patience {
    fn left(self) -> Duration {
        match self {
            Self::Silence(longest) => longest,
            Self::Until(deadline) => deadline.left(),
        }
    }
}

/// Notes acknowledgements until there are enough, patience ends, or the child has ended.
pub fn listen(
    lines: &Receiver<String>,
    heard: &mut Vec<Acknowledged>,
    enough: u64,
    patience: Patience,
) -> Result<Heard, String> {
    let mut count = 0;
    while count < enough {
        match lines.recv_timeout(patience.left()) {
            Ok(line) => match Acknowledged::parse(&line) {
                Some(told) => {
                    heard.push(told);
                    count += 1;
                }
                None if line.ends_with('\n') => return Err(format!("the child says: {}", line.trim_end())),
                None => (),
            },
            Err(RecvTimeoutError::Timeout) => return Ok(Heard::Silence),
            Err(RecvTimeoutError::Disconnected) => return Ok(Heard::TheEnd),
        }
    }
    Ok(Heard::Enough)
}

impl Life {
    /// The command line of the child.
    pub fn words(self) -> Vec<String> {
        let shape = self.shape.map_or(9, |shape| shape as u64);
        let (inline, planted) = (u64::from(self.inline), u64::from(self.planted));
        let appends = self.appends.into();
        [
            self.number.into(),
            self.writers.into(),
            self.in_flight.into(),
            shape,
            inline,
            self.segment_kib,
            appends,
            planted,
        ]
        .map(|number: u64| number.to_string())
        .to_vec()
    }

    fn parse(words: &[String]) -> Option<Self> {
        let numbers: Vec<u64> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [number, writers, in_flight, shape, inline, segment_kib, appends, planted] = numbers[..] else {
            return None;
        };
        Some(Self {
            number: number as u32,
            writers: writers as u16,
            in_flight: in_flight as u16,
            shape: Shape::ALL.get(shape as usize).copied(),
            inline: inline > 0,
            segment_kib,
            appends: appends as u32,
            planted: planted > 0,
        })
    }

    fn append(self, writer: u16, sequence: u32) -> AppendId {
        let mut dice = Dice::of(&[u64::from(self.number), u64::from(writer), u64::from(sequence)]);
        let mixed = if dice.one_in(8) { *dice.pick(&Shape::ALL) } else { *dice.pick(&Shape::ALL[..2]) };
        AppendId { life: self.number, writer, sequence, shape: self.shape.unwrap_or(mixed) }
    }
}

/// The process that is killed.
pub fn child(words: &[String]) -> Result<(), String> {
    let (dir, rest) = words.split_first().ok_or("no folder")?;
    let life = Life::parse(rest).ok_or("no life")?;
    let threads = if life.inline { Threads::Inline } else { Threads::Own };
    let settings = workload::settings(threads, life.segment_kib * 1024);
    let opened = LocalJournal::open(workload::config(Path::new(dir), settings));
    let (journal, report) = opened.map_err(|error| error.to_string())?;
    let may_repair = std::env::var_os("BAILIWICK_CAMPAIGN_MAY_REPAIR").is_some();
    if (report.repaired() && !may_repair) || report.store_unavailable.is_some() {
        return Err(format!("a kill damages nothing: {report}"));
    }
    let journal = Arc::new(journal);
    let writers: Vec<_> = (0..life.writers)
        .map(|writer| {
            let journal = journal.clone();
            let snapshots = Snapshots::in_dir(Path::new(dir));
            std::thread::spawn(move || {
                if life.in_flight > 1 {
                    pipelined(&journal, life, writer)
                } else {
                    in_turn(&journal, &snapshots, life, writer)
                }
            })
        })
        .collect();
    writers.into_iter().try_for_each(|writer| writer.join().map_err(|_| "a writer panicked")?)?;
    journal.close().map_err(|error| error.to_string())
}

pub fn say(told: Acknowledged) -> Result<(), String> {
    std::io::stdout().lock().write_all(told.line().as_bytes()).map_err(|_| "nobody listens".into())
}

fn in_turn(journal: &LocalJournal, snapshots: &Snapshots, life: Life, writer: u16) -> Result<(), String> {
    let mut versions = BTreeMap::new();
    for sequence in 0..life.appends {
        let append = life.append(writer, sequence);
        if life.planted && sequence == 3 {
            // Acknowledged, and never written.
            say(Acknowledged { append, position: 1 })?;
            continue;
        }
        let drafts = append.drafts(journal, &mut versions);
        let appended = append_blocking(journal, drafts).map_err(|error| error.to_string())?;
        say(Acknowledged { append, position: appended.entries()[0].header.position.0 })?;
        if sequence % 8 == 5 {
            snapshots.save(&append.snapshot()).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Hands in the next append before the one before is answered: versions are reckoned ahead.
fn pipelined(journal: &LocalJournal, life: Life, writer: u16) -> Result<(), String> {
    let mut versions = BTreeMap::new();
    let free = Arc::new((Mutex::new((life.in_flight, None::<String>)), Condvar::new()));
    for sequence in 0..life.appends {
        {
            let mut state = free.0.lock().unwrap_or_else(PoisonError::into_inner);
            while state.0 == 0 && state.1.is_none() {
                state = free.1.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if let Some(problem) = state.1.take() {
                return Err(problem);
            }
            state.0 -= 1;
        }
        let append = life.append(writer, sequence);
        let drafts = append.drafts(journal, &mut versions);
        let free = free.clone();
        let done = Box::new(move |answer: Result<bailiwick_journal::Appended, bailiwick_journal::AppendError>| {
            let said = answer
                .map_err(|error| error.to_string())
                .and_then(|appended| say(Acknowledged { append, position: appended.entries()[0].header.position.0 }));
            let mut state = free.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.0 += 1;
            state.1 = state.1.take().or(said.err());
            drop(state);
            free.1.notify_one();
        });
        journal.append(drafts, Intake::Ordinary, done);
    }
    let mut state = free.0.lock().unwrap_or_else(PoisonError::into_inner);
    while state.0 < life.in_flight && state.1.is_none() {
        state = free.1.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.1.take().map_or(Ok(()), Err)
}
