//! Writers that each wait until their entry is durable, on either side.

use std::{
    path::Path,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use bailiwick::journal::{Config, Draft, Intake, Journal, LocalJournal, StreamId};
use tokio::sync::oneshot;

use crate::{
    Fallible, load,
    quiet::Ticks,
    stores::{Ack, CommitThread, Item, Store},
};

/// Streams that each writer goes round.
const STREAMS_EACH: u64 = 16;
/// The time of all entries, in milliseconds.
const NOW_MS: u64 = 1_764_000_000_000;

/// Where entries go.
#[derive(Clone)]
pub enum Target {
    Journal(Arc<LocalJournal>),
    Other(mpsc::Sender<(Item, Ack)>),
}

impl Target {
    fn put(&self, draft: Draft, stream: u64, ack: Ack) {
        match self {
            Self::Journal(journal) => {
                let done = move |answer: Result<_, _>| {
                    answer.expect("the journal takes the entry");
                    ack.send();
                };
                journal.append(vec![draft], Intake::Ordinary, Box::new(done));
            }
            Self::Other(queue) => {
                let item = Item { stream, version: draft.expected.0 + 1, bytes: load::bytes(&draft) };
                drop(queue.send((item, ack)));
            }
        }
    }
}

/// How many write at once.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// So many tasks, each with one entry under way.
    Writers(u64),
    /// One caller with so many entries under way.
    OneCaller(usize),
}

/// What one run found.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub per_s: f64,
    pub p50: Duration,
    pub p99: Duration,
    /// Processor time of the whole process for each entry, in microseconds.
    pub cpu_us: f64,
    /// The part of all processors that other processes took.
    pub others: f64,
}

/// Runs writers against a journal in a new folder.
pub fn against_journal(dir: &Path, shape: Shape, time: Duration) -> Fallible<Run> {
    let (journal, _) = LocalJournal::open(Config { dir: dir.to_owned(), now_ms: NOW_MS, ..Config::default() })?;
    let journal = Arc::new(journal);
    let run = run(&Target::Journal(journal.clone()), shape, time)?;
    // What waits for sled is dropped with the journal; it would only disturb the next measurement.
    drop(journal);
    Ok(run)
}

/// Runs writers against a store under a commit thread.
pub fn against(store: Box<dyn Store>, shape: Shape, time: Duration) -> Fallible<Run> {
    let CommitThread { queue, thread } = CommitThread::start(store);
    let run = run(&Target::Other(queue), shape, time);
    thread.join().map_err(|_| "the commit thread broke")?;
    run
}

/// Runs writers for so long.
pub fn run(target: &Target, shape: Shape, time: Duration) -> Fallible<Run> {
    let before = Ticks::now()?;
    let mut run = match shape {
        Shape::Writers(writers) => tasks(target, writers, time),
        Shape::OneCaller(outstanding) => one_caller(target, outstanding, time),
    }?;
    let after = Ticks::now()?;
    run.cpu_us = after.own_s_since(before) * 1e6 / (run.per_s * time.as_secs_f64());
    run.others = after.others_since(before);
    Ok(run)
}

/// Goes round some streams, one version after the other.
pub struct Round {
    streams: Vec<(StreamId, u64)>,
    count: u64,
}

impl Round {
    pub fn of(first: u64, step: u64, count: u64) -> Self {
        let numbers = (0..count).map(|index| first + index * step);
        Self { streams: numbers.map(|number| (load::stream(number), number)).collect(), count: 0 }
    }

    pub fn next(&mut self) -> (Draft, u64) {
        let streams = self.streams.len() as u64;
        let (name, number) = &self.streams[(self.count % streams) as usize];
        let version = self.count / streams + 1;
        self.count += 1;
        (load::draft(name, *number, version, NOW_MS), *number)
    }
}

fn tasks(target: &Target, writers: u64, time: Duration) -> Fallible<Run> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let begun = Instant::now();
    let until = begun + time;
    let latencies = runtime.block_on(async {
        let mut tasks = Vec::new();
        for writer in 0..writers {
            let target = target.clone();
            tasks.push(tokio::spawn(async move {
                let mut round = Round::of(writer, writers, STREAMS_EACH);
                let mut latencies = Vec::new();
                while Instant::now() < until {
                    let (draft, stream) = round.next();
                    let (tell, told) = oneshot::channel();
                    let asked = Instant::now();
                    target.put(draft, stream, Ack::Task(tell));
                    if told.await.is_err() {
                        break;
                    }
                    latencies.push(asked.elapsed());
                }
                latencies
            }));
        }
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await?);
        }
        Ok::<_, tokio::task::JoinError>(all)
    })?;
    Ok(summary(latencies, begun.elapsed()))
}

fn one_caller(target: &Target, outstanding: usize, time: Duration) -> Fallible<Run> {
    let mut round = Round::of(0, 1, 1_024);
    let (tell, told) = mpsc::channel();
    let begun = Instant::now();
    let (mut under_way, mut done) = (0, 0u64);
    let mut asked = std::collections::VecDeque::new();
    let mut latencies = Vec::new();
    while begun.elapsed() < time || under_way > 0 {
        while under_way < outstanding && begun.elapsed() < time {
            let (draft, stream) = round.next();
            asked.push_back(Instant::now());
            target.put(draft, stream, Ack::Caller(tell.clone()));
            under_way += 1;
        }
        // Answers come in the order of the questions.
        told.recv()?;
        let more = told.try_iter().count() + 1;
        under_way -= more;
        done += more as u64;
        latencies.extend(asked.drain(..more).map(|asked| asked.elapsed()));
    }
    debug_assert_eq!(done, latencies.len() as u64);
    Ok(summary(latencies, begun.elapsed()))
}

pub fn summary(mut latencies: Vec<Duration>, took: Duration) -> Run {
    latencies.sort_unstable();
    let at = |part: f64| latencies.get(((latencies.len().max(1) - 1) as f64 * part) as usize).copied();
    Run {
        per_s: latencies.len() as f64 / took.as_secs_f64(),
        p50: at(0.5).unwrap_or_default(),
        p99: at(0.99).unwrap_or_default(),
        cpu_us: f64::NAN,
        others: 0.0,
    }
}
