//! Damage to one thing of a journal, stopped or killed: no loss is silent, nothing wrong is read, no panic gets out;
//! what log or block store still has is repaired without anybody's help, all else is refused with a true report.

mod deed;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use bailiwick_journal::{
    Entry, IntegrityReport, Journal, LocalJournal, NOTE_STREAM, OpenError, Position, ReadOnlyJournal, Snapshots,
    Version, check,
};
use uuid::Uuid;

use crate::{
    dice::Dice,
    runner::{Failure, Place, Plan, Tally, copy},
    stores::{self, Store},
    workload::{self, Behind},
};
use deed::{Done, Part, damage, put_back};

/// Of a hundred trials in which nothing is gone from both, so many have to open by themselves.
const REPAIRED_PERCENT_MIN: u64 = 99;

pub fn run(plan: &Plan) -> Result<String, Failure> {
    let at_start = |story| Failure { trial: 0, story };
    let place = Place::new().map_err(at_start)?;
    let stores = make_stores(place.path(), plan.seed).map_err(at_start)?;
    let foreign = place.path().join("foreign");
    stores::write(&foreign, Uuid::from_u128(0xF0E), 9, 60).map_err(at_start)?;
    let tally = plan.run(1, |trial, _, tally| {
        let mut place = Place::new().map_err(|story| Failure { trial, story })?;
        one(plan, trial, &stores, &foreign, place.path(), tally).map_err(|story| {
            let kept = place.keep();
            // What was opened is no longer as it was found: once more, for whoever looks into it.
            let (store, mut dice) = store_of(plan, trial, &stores);
            let found = kept.join("as-it-was-found");
            let _ = copy(&store.dir, &found).and_then(|()| damage(&found, store, &foreign, &mut dice));
            Failure { trial, story: format!("trial {trial}: {story}\n  kept: {}", kept.display()) }
        })
    })?;
    let (recoverable, refused) = (tally.get("recoverable"), tally.get("of them refused"));
    if refused * 100 > recoverable * (100 - REPAIRED_PERCENT_MIN) {
        let story = format!("{refused} of {recoverable} that log or block store still had were refused: {tally}");
        return Err(Failure { trial: 0, story });
    }
    Ok(format!("{tally}; 0 silent losses, 0 wrong data, 0 panics"))
}

/// Half of them stopped in order, half killed.
fn make_stores(place: &Path, seed: u64) -> Result<Vec<Store>, String> {
    (0..6)
        .map(|number| stores::make(&place.join(number.to_string()), number % 2 == 1, &mut Dice::of(&[seed, number])))
        .collect()
}

fn one(
    plan: &Plan,
    trial: u64,
    stores: &[Store],
    foreign: &Path,
    place: &Path,
    tally: &mut Tally,
) -> Result<(), String> {
    let (store, mut dice) = store_of(plan, trial, stores);
    let dir = place.join("journal");
    copy(&store.dir, &dir).map_err(|error| error.to_string())?;
    let done = if plan.planted {
        put_back(&dir, &store.yesterday, "").map_err(|error| error.to_string())?;
        // All of it from yesterday: nothing inside can tell.
        Done { what: "everything from yesterday".into(), touched: Vec::new(), recoverable: false }
    } else {
        damage(&dir, store, foreign, &mut dice).map_err(|error| error.to_string())?
    };
    let how = if store.killed { "killed" } else { "stopped" };
    tally.one(if store.killed { "killed stores" } else { "stopped stores" });
    let context = |story: String| format!("{how} store, {}: {story}", done.what);
    readers_agree(&dir, store, &done).map_err(context)?;
    let before = stores::hashes(&dir);
    let opened = catch_unwind(AssertUnwindSafe(|| LocalJournal::open(workload::config(&dir, stores::settings()))));
    tally.add("recoverable", u64::from(done.recoverable));
    match opened.map_err(|_| context("a panic reached the caller".into()))? {
        Ok((journal, report)) => {
            whole(&journal, store).map_err(|story| context(format!("{story}; it had said: {report}")))?;
            let lost = report.head.position.0 < store.entries.len() as u64;
            tally.add("gone by a checkpoint", u64::from(report.by_checkpoint));
            tally.add("gone by a checkpoint after a kill", u64::from(report.by_checkpoint && !report.clean));
            let repaired = workload::is_right_behind(&journal, Behind::WhatCanBeRepaired).map_err(context)?;
            // Once more: what is repaired behind the opening is then in use.
            whole(&journal, store)
                .map_err(|story| context(format!("{story}; once all was read; it had said: {report}")))?;
            tally.add("of them repaired behind it", u64::from(repaired));
            tally.one(match (report.repaired(), report.torn_cut.is_some() || lost) {
                (true, _) => "repaired",
                (false, true) => "torn end cut",
                (false, false) if report.clean => "untouched",
                (false, false) => "caught up",
            });
            snapshot_is_right(&dir, store).map_err(context)?;
            if trial.is_multiple_of(3) {
                goes_on(journal, &dir, store).map_err(context)?;
            }
        }
        Err(OpenError::Integrity { report, .. }) => {
            if stores::hashes(&dir) != before {
                return Err(context("a refusal has changed something".into()));
            }
            report_is_true(&report, store, &done).map_err(|story| context(format!("{story}; the report: {report}")))?;
            tally.one("refused for history");
            refused(&done, plan, tally);
        }
        Err(OpenError::Foreign { problem, .. }) => {
            if stores::hashes(&dir) != before {
                return Err(context("a refusal has changed something".into()));
            }
            if !problem.contains("FORMAT") || !done.touches(Part::Format) {
                return Err(context(format!("refused for another reason: {problem}")));
            }
            tally.one("refused for FORMAT");
            refused(&done, plan, tally);
        }
        Err(error) => return Err(context(error.to_string())),
    }
    Ok(())
}

fn store_of<'a>(plan: &Plan, trial: u64, stores: &'a [Store]) -> (&'a Store, Dice) {
    let mut dice = Dice::of(&[plan.seed, trial]);
    (dice.pick(stores), dice)
}

fn refused(done: &Done, plan: &Plan, tally: &mut Tally) {
    tally.add("of them refused", u64::from(done.recoverable));
    if done.recoverable {
        println!("campaign {}: recoverable and refused: {}", plan.name, done.what);
    }
}

/// Every entry as it was; of a killed store at least those that were acknowledged; and then the opening's own note.
fn whole(journal: &dyn Journal, store: &Store) -> Result<(), String> {
    let found = workload::read_all(journal)?;
    let common = found.iter().zip(&store.entries).take_while(|(found, entry)| found == entry).count();
    if common < store.acknowledged {
        return Err(format!(
            "SILENT LOSS: {common} entries are as they were, {} were acknowledged",
            store.acknowledged
        ));
    }
    match found.get(common..) {
        Some([note, more @ ..]) if more.len() < 2 && behind_are_notes(note, more) => Ok(()),
        behind => Err(format!("WRONG DATA behind entry {common}: {behind:?}")),
    }
}

fn behind_are_notes(note: &Arc<Entry>, more: &[Arc<Entry>]) -> bool {
    let code =
        |entry: &Arc<Entry>, code: &str| entry.header.stream.as_str() == NOTE_STREAM && entry.header.meta.code == code;
    code(note, "writer-opened") && more.iter().all(|more| code(more, "history-repaired"))
}

fn snapshot_is_right(dir: &Path, store: &Store) -> Result<(), String> {
    match Snapshots::in_dir(dir).load(&store.snapshot.stream, Version(u64::MAX)) {
        Some(found) if found != store.snapshot => Err("WRONG DATA in a snapshot".into()),
        _ => Ok(()),
    }
}

/// What was repaired once is a journal like any other.
fn goes_on(journal: LocalJournal, dir: &Path, store: &Store) -> Result<(), String> {
    stores::append(&journal, 77, 3)?;
    journal.close().map_err(|error| error.to_string())?;
    drop(journal);
    let opened = LocalJournal::open(workload::config(dir, stores::settings()));
    let (journal, report) = opened.map_err(|error| format!("not opened again: {error}"))?;
    if !report.clean {
        return Err(format!("not clean after a stop in order: {report}"));
    }
    let found = workload::read_all(&journal)?;
    let same = found.iter().zip(&store.entries).take_while(|(found, entry)| found == entry).count();
    if same < store.acknowledged { Err(format!("LOST at the second opening: {same}")) } else { Ok(()) }
}

/// Whoever reads the log of a stopped node sees all of it, or an error; and `check` says the same.
fn readers_agree(dir: &Path, store: &Store, done: &Done) -> Result<(), String> {
    let read =
        catch_unwind(AssertUnwindSafe(|| ReadOnlyJournal::open(dir))).map_err(|_| "a panic reached the reader")?;
    let checked = catch_unwind(AssertUnwindSafe(|| check(dir))).map_err(|_| "check panicked")?;
    match (read, checked) {
        (Ok(journal), Ok(report)) => {
            if !report.is_whole() {
                return Err(format!("read, and check says: {report}"));
            }
            let found: Vec<Arc<Entry>> = workload::read_all(&journal)?;
            let same = found.iter().zip(&store.entries).take_while(|(found, entry)| found == entry).count();
            if same < store.acknowledged || same < found.len() {
                return Err(format!("SILENT LOSS for a reader: {same} of {} entries", store.acknowledged));
            }
            Ok(())
        }
        (Err(OpenError::Integrity { .. }), Ok(report)) if !report.is_whole() => Ok(()),
        (Err(OpenError::Foreign { .. }), Err(OpenError::Foreign { .. })) if done.touches(Part::Format) => Ok(()),
        (read, checked) => Err(format!("read {read:?}, checked {checked:?}")),
    }
}

/// The report names what was damaged, and what it says is missing is missing.
fn report_is_true(report: &IntegrityReport, store: &Store, done: &Done) -> Result<(), String> {
    let fits = |file: &str| {
        done.touched.iter().any(|(part, name)| match part {
            // What is missing of the log is told by others: `log (against head)`; and beside a damaged file of it,
            // others do not follow any more. A FORMAT of another journal makes the whole log a stranger.
            Part::Log | Part::Format => file.starts_with("log"),
            Part::Sled => file == "sled",
            Part::Head | Part::Snapshot | Part::Lock => file == name,
        })
    };
    if !report.problems.iter().any(|problem| fits(&problem.file)) {
        return Err("it does not name what was damaged".into());
    }
    if let Some((first, last)) = report.missing_positions {
        let end = Position(store.entries.len() as u64);
        if first == Position::ZERO || first > last || last > end {
            return Err(format!("missing entries {first} to {last} of {end}"));
        }
        for missing in &report.missing {
            let of_stream = |entry: &&Arc<Entry>| entry.header.stream == missing.stream;
            let newest = store.entries.iter().filter(of_stream).map(|entry| entry.header.last_version()).max();
            if newest.is_none_or(|newest| missing.last > newest) {
                return Err(format!("{missing} was never there"));
            }
        }
    }
    Ok(())
}
