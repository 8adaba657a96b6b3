//! A disk that is really full: a small tmpfs, filled by the journal itself and by somebody else.
//!
//! Intake of new work stops early, reports of running effects are still recorded, nothing acknowledged is lost, a start
//! on the full disk works or says what it lacks, and once there is space everything is taken again.
//! Mounting needs root, or a system that lets anybody have a mount namespace of their own; the campaign runs itself
//! again inside one, so that the mount goes with it. Where neither is allowed it says so and is skipped, but not in CI.

use std::{
    collections::BTreeMap,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
};

use bailiwick_journal::{
    AppendError, Appended, Draft, Head, Intake, Journal, LocalJournal, OpenError, Settings, append_blocking,
};

use crate::{
    dice::Dice,
    runner::{Failure, Place, Plan},
    stores,
    workload::{self, Acknowledged, AppendId, Shape},
};

/// What is kept free for reports, and how many of them have to fit.
const FLOOR_BYTES: u64 = 8 * 1024 * 1024;
const REPORTS: u64 = 500;

pub fn run(plan: &Plan) -> Result<String, Failure> {
    let at_start = |story| Failure { trial: 0, story };
    let first = plan.only.unwrap_or(0);
    let behind = plan.only.map_or(plan.trials, |only| only + 1);
    let mut told = Vec::new();
    for trial in first..behind {
        let place = Place::new().map_err(at_start)?;
        match alone(plan, trial, place.path()).map_err(|story| Failure { trial, story })? {
            Some(summary) => told.push(summary),
            None if std::env::var_os("BAILIWICK_CI").is_some() => {
                return Err(at_start("no tmpfs can be mounted here, and in CI it has to be".into()));
            }
            None => {
                println!(
                    "campaign {}: SKIPPED, NOTHING WAS TRIED: no tmpfs can be mounted here; run it as root",
                    plan.name
                );
                return Ok("SKIPPED".into());
            }
        }
    }
    Ok(format!("{} disks filled; the last: {}", told.len(), told.pop().unwrap_or_default()))
}

/// Runs one trial in a mount namespace; none if there can be none.
fn alone(plan: &Plan, trial: u64, place: &Path) -> Result<Option<String>, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut dice = Dice::of(&[plan.seed, trial]);
    let mib = 40 + dice.below(40);
    for flags in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let mut command = Command::new("unshare");
        command.args(flags).arg(&this).args(["--child", "full_disk"]).arg(place);
        command.args([plan.seed, trial, mib, u64::from(plan.planted)].map(|number| number.to_string()));
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let Ok(output) = output else { continue };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if said.starts_with("mounted") {
            let story = said.trim_start_matches("mounted").trim().to_owned();
            return if output.status.success() { Ok(Some(story)) } else { Err(format!("{mib} MiB: {story}")) };
        }
    }
    Ok(None)
}

/// Inside the namespace.
pub fn child(words: &[String]) -> Result<(), String> {
    let [place, numbers @ ..] = words else { return Err("no folder".into()) };
    let numbers: Vec<u64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
    let [seed, trial, mib, planted] = numbers[..] else { return Err("four numbers".into()) };
    let size = format!("size={mib}m,mode=700");
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", &size, "bailiwick"]).arg(place).stderr(Stdio::null()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return Err("no mount".into());
    }
    println!("mounted");
    let mut dice = Dice::of(&[seed, trial, 2]);
    let summary = fill(Path::new(place), &mut dice, planted == 1)?;
    println!("{summary}");
    Ok(())
}

/// One writer that knows what it was told.
struct Writer {
    life: u32,
    sequence: u32,
    versions: BTreeMap<bailiwick_journal::StreamId, bailiwick_journal::Version>,
    told: Vec<Acknowledged>,
}

impl Writer {
    fn restarted(&mut self) {
        (self.life, self.sequence, self.versions) = (self.life + 1, 0, BTreeMap::new());
    }

    /// Appends once; what is refused is handed in again the next time.
    fn append(&mut self, journal: &LocalJournal, shape: Shape, intake: Intake) -> Result<(), AppendError> {
        let append = AppendId { life: self.life, writer: 0, sequence: self.sequence, shape };
        let before = self.versions.clone();
        let drafts = append.drafts(journal, &mut self.versions);
        match append_as(journal, drafts, intake) {
            Ok(appended) => {
                self.told.push(Acknowledged { append, position: appended.entries()[0].header.position.0 });
                self.sequence += 1;
                Ok(())
            }
            Err(error) => {
                self.versions = before;
                Err(error)
            }
        }
    }

    /// Hands in new work where there was no room: refused, unless there is room again. Full segments are compressed
    /// meanwhile, the store catches up, and an opening cuts what was reserved behind the log's end.
    fn appends_where_there_is_room(&mut self, journal: &LocalJournal, place: &Path) -> Result<(), String> {
        match self.append(journal, Shape::Small, Intake::Ordinary) {
            Err(AppendError::NearlyFull(_)) => Ok(()),
            Err(error) => Err(format!("new work on a full disk: {error}")),
            Ok(()) => match free_bytes(place)? {
                left if left < FLOOR_BYTES => {
                    Err(format!("new work was taken on a nearly full disk: {left} bytes are left"))
                }
                _ => Ok(()),
            },
        }
    }

    /// Appends until it is refused for want of space; how many were taken.
    fn append_until_full(&mut self, journal: &LocalJournal, shape: Shape, intake: Intake) -> Result<u64, String> {
        for taken in 0..1_000_000 {
            match self.append(journal, shape, intake) {
                Ok(()) => (),
                Err(AppendError::NearlyFull(_)) => return Ok(taken),
                Err(error) => return Err(format!("{intake:?} after {taken}: {error}")),
            }
        }
        Err("the disk is never full".into())
    }
}

fn append_as(journal: &LocalJournal, drafts: Vec<Draft>, intake: Intake) -> Result<Appended, AppendError> {
    if intake == Intake::Ordinary {
        return append_blocking(journal, drafts);
    }
    let (send, answer) = mpsc::sync_channel(1);
    journal.append(drafts, intake, Box::new(move |told| drop(send.send(told))));
    answer.recv().unwrap_or(Err(AppendError::Closed))
}

fn open(dir: &Path, settings: &Settings) -> Result<LocalJournal, OpenError> {
    LocalJournal::open(workload::config(dir, settings.clone())).map(|opened| opened.0)
}

fn verify(journal: &LocalJournal, told: &[Acknowledged]) -> Result<Head, String> {
    workload::verify(&workload::read_all(journal)?, told)?;
    Ok(journal.head())
}

fn fill(place: &Path, dice: &mut Dice, planted: bool) -> Result<String, String> {
    let dir = place.join("journal");
    // The default floor, 5 % of a real disk, would be less here than sled takes in one piece.
    let settings = Settings {
        segment_bytes: (64 << dice.below(5)) * 1024,
        space_floor_bytes: Some(FLOOR_BYTES),
        ..stores::settings()
    };
    let journal = open(&dir, &settings).map_err(|error| error.to_string())?;
    let mut writer = Writer { life: 0, sequence: 0, versions: BTreeMap::new(), told: Vec::new() };
    // Somebody else takes half of the room, the journal the rest.
    let foreign = place.join("foreign");
    hog(&foreign, free_bytes(place)? / 2)?;
    let shape = *dice.pick(&[Shape::Small, Shape::Group, Shape::Big]);
    let early = writer.append_until_full(&journal, shape, Intake::Ordinary)?;
    let left = free_bytes(place)?;
    if left < FLOOR_BYTES / 2 {
        return Err(format!("intake did not stop early: {left} bytes are left"));
    }
    // Reports go on into the room that is kept free, until there is none.
    let mut reports = 0;
    while reports < REPORTS {
        writer.append(&journal, Shape::Small, Intake::Report).map_err(|error| format!("report {reports}: {error}"))?;
        reports += 1;
    }
    writer.appends_where_there_is_room(&journal, place)?;
    // Now there is nothing left at all; first while it runs, then at a start.
    hog(&place.join("more"), u64::MAX)?;
    reports += writer.append_until_full(&journal, Shape::Big, Intake::Report)?;
    verify(&journal, &writer.told)?;
    let stopped_in_order = dice.one_in(2);
    if stopped_in_order {
        // The clean mark needs no room.
        journal.close().map_err(|error| format!("not closed on a full disk: {error}"))?;
    }
    drop(journal);
    let mut started_full = "refused for space";
    match open(&dir, &settings) {
        Ok(journal) => {
            started_full = "started";
            verify(&journal, &writer.told)?;
            writer.restarted();
            writer.appends_where_there_is_room(&journal, place)?;
        }
        Err(OpenError::Io { .. }) => (),
        Err(error) => return Err(format!("a start on the full disk: {error}")),
    }
    // Space comes back: a journal that had run on, or was started without room, takes new work.
    std::fs::remove_file(place.join("more")).map_err(|error| error.to_string())?;
    std::fs::remove_file(&foreign).map_err(|error| error.to_string())?;
    if planted {
        writer.told.push(Acknowledged { append: AppendId { life: 90, writer: 0, sequence: 0, shape }, position: 2 });
    }
    let journal = open(&dir, &settings).map_err(|error| format!("not opened once there was space: {error}"))?;
    writer.restarted();
    for _ in 0..50 {
        writer.append(&journal, shape, Intake::Ordinary).map_err(|error| format!("with space again: {error}"))?;
    }
    // And without a restart in between.
    hog(&foreign, u64::MAX)?;
    writer.append_until_full(&journal, Shape::Small, Intake::Report)?;
    std::fs::remove_file(&foreign).map_err(|error| error.to_string())?;
    for _ in 0..50 {
        writer
            .append(&journal, shape, Intake::Ordinary)
            .map_err(|error| format!("with space again, running: {error}"))?;
    }
    verify(&journal, &writer.told)?;
    journal.close().map_err(|error| error.to_string())?;
    drop(journal);
    let (journal, report) =
        LocalJournal::open(workload::config(&dir, settings)).map_err(|error| format!("the last start: {error}"))?;
    verify(&journal, &writer.told)?;
    if report.store_unavailable.is_some() {
        return Err(format!("with space again: {report}"));
    }
    Ok(format!(
        "{early} appends until intake stopped with {} KiB left, {reports} reports after that, on the full disk \
         {started_full}, {} acknowledged appends checked, 0 lost",
        left / 1024,
        writer.told.len()
    ))
}

fn free_bytes(place: &Path) -> Result<u64, String> {
    let space = rustix::fs::statvfs(place).map_err(|error| error.to_string())?;
    Ok(space.f_bavail * space.f_frsize)
}

/// Writes so many bytes, or as many as there is room for.
fn hog(path: &Path, bytes: u64) -> Result<(), String> {
    let mut file = std::fs::File::create(path).map_err(|error| error.to_string())?;
    let zeros = vec![0; 4096];
    for _ in 0..bytes / 4096 {
        if file.write_all(&zeros).is_err() {
            break;
        }
    }
    Ok(())
}
