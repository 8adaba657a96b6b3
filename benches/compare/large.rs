//! Shapes that are out of the ordinary: a million entries in one stream, and a million streams.

use std::{path::Path, sync::mpsc, time::Instant};

use bailiwick::journal::{Config, EntryView, Filter, Intake, Journal, LocalJournal, Position, Version};

use crate::{Fallible, Options, load, table::Table};

const COUNT: u64 = 1_000_000;

/// Adds no rows: says what each shape took.
pub fn measure(options: &Options, table: &mut Table) -> Fallible<()> {
    for (name, streams) in [("1,000,000 entries in one stream", 1), ("1,000,000 streams of one entry", COUNT)] {
        if options.wants(name) {
            let scratch = tempfile::tempdir_in(&options.dir)?;
            let told = shape(&scratch.path().join("journal"), streams)?;
            table.note(&format!("{name}: {told}"));
        }
    }
    Ok(())
}

fn shape(dir: &Path, streams: u64) -> Fallible<String> {
    let open = || LocalJournal::open(Config { dir: dir.to_owned(), now_ms: 1, ..Config::default() });
    let before = resident_mib()?;
    let (journal, _) = open()?;
    let begun = Instant::now();
    let (tell, told) = mpsc::channel();
    let only = load::stream(0);
    for number in 0..COUNT {
        let (stream, version) = (number % streams, number / streams + 1);
        let draft = if streams == 1 {
            load::draft(&only, 0, version, 1)
        } else {
            load::draft(&load::stream(stream), stream, version, 1)
        };
        let tell = tell.clone();
        let done = move |answer: Result<_, _>| {
            // Whoever fills may have given up.
            let _ = tell.send(answer.is_ok());
        };
        journal.append(vec![draft], Intake::Ordinary, Box::new(done));
        if number >= 1_024 && !told.recv()? {
            return Err("an entry was refused".into());
        }
    }
    drop(tell);
    if !told.iter().all(|taken| taken) {
        return Err("an entry was refused".into());
    }
    let (append, held) = (begun.elapsed().as_secs_f64(), resident_mib()? - before);
    let begun = Instant::now();
    journal.close()?;
    drop(journal);
    let close = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let (journal, _) = open()?;
    let ready = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let (last, entries) = (load::stream(streams - 1), COUNT / streams);
    let newest = journal.read_stream_back(&last).next().ok_or("a stream is empty")??;
    let tip = begun.elapsed().as_secs_f64() * 1e6;
    let begun = Instant::now();
    let read = journal.read_stream(&last, Version::ZERO).filter(Result::is_ok).count() as u64;
    let whole = begun.elapsed().as_secs_f64();
    if read != entries || newest.header.last_version() != Version(entries) {
        return Err("not every entry was read".into());
    }
    let mut seen = 0u64;
    let mut count = |_: &EntryView<'_>| {
        seen += 1;
        std::ops::ControlFlow::Continue(())
    };
    journal.pass(Position(1), journal.head().position, &Filter::all(), &mut count)?;
    if seen < COUNT {
        return Err("not every entry was passed".into());
    }
    Ok(format!(
        "appended in {append:.1} s, {held} MiB more memory, closed in {close:.1} s, ready again in {ready:.1} s, newest \
         entry of a stream in {tip:.0} us, a whole stream of {entries} in {whole:.2} s"
    ))
}

/// Resident memory at the usual size of a page.
fn resident_mib() -> Fallible<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("a short line")?.parse()?;
    Ok(pages / 256)
}
