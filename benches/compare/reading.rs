//! Reading back: replay, headers, rebuild, readiness after a stop, and what it all takes on the disk.

use std::{
    hash::BuildHasher,
    ops::ControlFlow,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use bailiwick::journal::{
    Body, Config, EntryView, Filter, Intake, Journal, LocalJournal, Position, Stats, VerificationProgress, decode,
};

use hashbrown::{DefaultHashBuilder, HashTable};
use smol_str::SmolStr;

use crate::{
    Fallible, Options,
    commits::median,
    load::{self, Event},
    quiet,
    table::{Good, Row, Table},
};

const NOW_MS: u64 = 1_764_000_000_000;
const ENTRIES: u64 = 1_000_000;
const ENTITIES: u64 = 100_000;
const REPLAY: &str = "full replay / bincode decode of the same events in memory";
const HEADERS: &str = "header-only pass / full replay";
const REBUILD: &str = "rebuild of 100,000 entities from 1,000,000 entries / replay";
const READY: &str = "ready after a clean stop, 1,000,000 entries / warm full replay";
const DISK: &str = "bytes on disk / encoded bytes after 1,000,000 entries";

/// Fills a journal once, and reads it in every round.
pub fn measure(options: &Options, table: &mut Table) -> Fallible<()> {
    if ![REPLAY, HEADERS, REBUILD, READY, DISK].iter().any(|name| options.wants(name)) {
        return Ok(());
    }
    let scratch = tempfile::tempdir_in(&options.dir)?;
    let dir = scratch.path().join("journal");
    let encoded = fill(&dir)?;
    let mut events = Vec::new();
    let journal = opened(&dir)?;
    each(&journal, |view| {
        view.each_event(|_, body| {
            events.push(Body { schema: body.schema, bytes: body.bytes.to_vec() });
            Ok::<_, &'static str>(())
        })
        .is_ok()
    })?;
    journal.close()?;
    drop(journal);
    let mut rounds: [Vec<f64>; 5] = Default::default();
    for _ in 0..options.rounds {
        quiet::wait(options.patience)?;
        let (journal, ready) = timed(|| opened(&dir));
        let journal = journal?;
        // The first pass brings everything into memory; the second one is measured, when the journal itself is done with
        // reading what it trusted at the opening.
        let (_, first) = timed(|| replay(&journal));
        while journal.stats().verification == VerificationProgress::Reading {
            std::thread::sleep(Duration::from_millis(20));
        }
        let (seen, warm) = timed(|| replay(&journal));
        let (decoded, memory) = timed(|| events.iter().filter(|event| decode::<Event>(event).is_ok()).count());
        if seen? != ENTRIES || decoded as u64 != ENTRIES {
            return Err("not every event was read".into());
        }
        let (headers, header_time) = timed(|| headers(&journal));
        let (entities, rebuild_time) = timed(|| rebuild(&journal));
        if headers? <= ENTRIES || entities? as u64 != ENTITIES {
            return Err("not every entity was rebuilt".into());
        }
        journal.close()?;
        for (round, time) in rounds.iter_mut().zip([warm, memory, header_time, rebuild_time, ready]) {
            round.push(time);
        }
        table.note(&format!(
            "reading: ready {ready:.3} s, first replay {first:.3} s, warm {warm:.3} s, in memory {memory:.3} s, headers \
             {header_time:.3} s, rebuild {rebuild_time:.3} s"
        ));
    }
    let quotients = |above: &[f64], below: &[f64]| median(above.iter().zip(below).map(|(a, b)| a / b).collect());
    let [warm, memory, header_times, rebuilds, ready] = &rounds;
    let per_s = |times: &[f64]| format!("{:.2} M/s", ENTRIES as f64 / median(times.to_vec()) / 1e6);
    let mut add = |name, value, target, stretch, good, sides: String| {
        if options.wants(name) {
            table.add(Row { name, value, target, stretch, good, sides });
        }
    };
    let sides = format!("{} | memory: {}", per_s(warm), per_s(memory));
    add(REPLAY, quotients(memory, warm), 0.85, 0.95, Good::AtLeast, sides);
    let sides = format!("{} | replay: {}", per_s(header_times), per_s(warm));
    add(HEADERS, quotients(warm, header_times), 3.0, 5.0, Good::AtLeast, sides);
    let sides = format!("{} | replay: {}", per_s(rebuilds), per_s(warm));
    add(REBUILD, quotients(warm, rebuilds), 0.6, 0.8, Good::AtLeast, sides);
    let sides = format!("{:.3} s | replay: {:.3} s", median(ready.clone()), median(warm.clone()));
    add(READY, quotients(ready, warm), 1.5, 0.3, Good::AtMost, sides);
    let (log, sled) = (bytes_in(&dir.join("log"))?, bytes_in(&dir.join("sled"))?);
    let value = (log + sled) as f64 / encoded as f64;
    let mib = |bytes: u64| bytes as f64 / 1_048_576.0;
    let sides = format!("log {:.0} MiB, sled {:.0} MiB | encoded: {:.0} MiB", mib(log), mib(sled), mib(encoded));
    add(DISK, value, 2.6, 2.0, Good::AtMost, sides);
    Ok(())
}

/// Appends everything with 256 entries under way, closes, and answers how many bytes the entries take encoded.
fn fill(dir: &Path) -> Fallible<u64> {
    let journal = opened(dir)?;
    let names: Vec<_> = (0..ENTITIES).map(load::stream).collect();
    let (tell, told) = mpsc::channel();
    let mut encoded = 0;
    for number in 0..ENTRIES {
        let (entity, version) = (number % ENTITIES, number / ENTITIES + 1);
        let draft = load::draft(&names[entity as usize], entity, version, NOW_MS);
        encoded += load::bytes(&draft).len() as u64;
        let tell = tell.clone();
        let done = move |answer: Result<_, _>| {
            // Whoever fills may have given up.
            let _ = tell.send(answer.is_ok());
        };
        journal.append(vec![draft], Intake::Ordinary, Box::new(done));
        if number >= 256 && !told.recv()? {
            return Err("an entry was refused".into());
        }
    }
    drop(tell);
    if !told.iter().all(|taken| taken) {
        return Err("an entry was refused".into());
    }
    // What is compressed is compressed in idle time.
    let until = Instant::now() + Duration::from_secs(60);
    let at_rest = |stats: Stats| stats.store_behind == 0 && stats.segments_to_compress == 0;
    while !at_rest(journal.stats()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    journal.close()?;
    Ok(encoded)
}

fn opened(dir: &Path) -> Fallible<Arc<LocalJournal>> {
    let (journal, _) = LocalJournal::open(Config { dir: dir.to_owned(), now_ms: NOW_MS, ..Config::default() })?;
    Ok(Arc::new(journal))
}

fn each(journal: &LocalJournal, mut take: impl FnMut(&EntryView<'_>) -> bool) -> Fallible<()> {
    let mut broken = None;
    let mut visit = |view: &EntryView<'_>| {
        if take(view) {
            return ControlFlow::Continue(());
        }
        broken = Some(view.position());
        ControlFlow::Break(())
    };
    journal.pass(Position(1), journal.head().position, &Filter::all(), &mut visit)?;
    broken.map_or(Ok(()), |position| Err(format!("entry {position} cannot be read").into()))
}

/// Every event of every entity, decoded. Both sides build events of their own, none that borrow: what is compared is what
/// the journal adds to the same decoding of the same bytes.
fn replay(journal: &LocalJournal) -> Fallible<u64> {
    let mut seen = 0;
    each(journal, |view| {
        if !view.stream().starts_with("machine/") {
            return true;
        }
        let decoded = view.each_event(|_, body| {
            std::hint::black_box(body.decode::<Event>().map_err(|_| "no event")?);
            seen += 1;
            Ok::<_, &'static str>(())
        });
        decoded.is_ok()
    })?;
    Ok(seen)
}

/// Stream, version and time of every entry.
fn headers(journal: &LocalJournal) -> Fallible<u64> {
    let mut seen = 0;
    each(journal, |view| {
        std::hint::black_box((view.stream(), view.first_version(), view.event_count(), view.time_ms()));
        seen += 1;
        true
    })?;
    Ok(seen)
}

#[derive(Debug, Default)]
struct Entity {
    version: u64,
    at_us: u64,
    attempts: u32,
    host: String,
}

/// The state of every entity, from its events. The entities stand one behind the other as they came, and are found by the
/// hash of their name: a table of numbers alone stays in the processor's cache.
pub fn rebuild(journal: &LocalJournal) -> Fallible<usize> {
    let hasher = DefaultHashBuilder::default();
    let mut places: HashTable<u32> = HashTable::new();
    let mut entities: Vec<(SmolStr, Entity)> = Vec::new();
    each(journal, |view| {
        let stream = view.stream();
        if !stream.starts_with("machine/") {
            return true;
        }
        let hash = hasher.hash_one(stream);
        let place = match places.find(hash, |place| entities[*place as usize].0 == stream) {
            Some(place) => *place as usize,
            None => {
                // The name is copied only for the first entry of all.
                entities.push((stream.into(), Entity::default()));
                let rehash = |place: &u32| hasher.hash_one(entities[*place as usize].0.as_str());
                places.insert_unique(hash, entities.len() as u32 - 1, rehash);
                entities.len() - 1
            }
        };
        let entity = &mut entities[place].1;
        let folded = view.each_event(|version, body| {
            let event: Event = body.decode().map_err(|_| "no event")?;
            entity.version = version.0;
            entity.at_us = event.at_us;
            match event.what {
                load::What::AttachPlanned { host, .. } => entity.host = host,
                load::What::RetryScheduled { attempt, .. } => entity.attempts = attempt,
                _ => (),
            }
            Ok::<_, &'static str>(())
        });
        folded.is_ok()
    })?;
    // In order, as everything that decides is.
    entities.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entities.iter().filter(|(_, entity)| entity.version > 0).count())
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let done = act();
    (done, begun.elapsed().as_secs_f64())
}

/// What the files below a folder take of the disk; of the log's last segment, what is filled ahead is left out.
fn bytes_in(dir: &Path) -> Fallible<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_in(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(bytes)
}
