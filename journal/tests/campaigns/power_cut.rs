//! A power cut at any point: what was synced is there, of the rest each page of 4 KiB may be, of the changes of names a
//! beginning. The journal opens, holds all that was acknowledged, and nothing else but what was handed in.
//!
//! Two ways. `power_cut` records the calls of a real process on real files, sled's too, with the shim, cuts the
//! recording anywhere, and opens what such a disk would hold; some cuts are the disk of the next process, so that
//! recovery is cut as well. `power_cut_simulated` runs the journal on the simulated disk and lets it die inside an
//! operation.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bailiwick_journal::{
    LocalJournal, Threads,
    blocks::{MemoryStore, Store},
    disk::{Disk, DiskFile, Fault, FaultyDisk, SimulatedDisk},
};

use crate::{
    dice::Dice,
    kill::{self, Life},
    runner::{Failure, Place, Plan, Tally},
    shim::{self, Base, Recording},
    stores,
    workload::{self, Acknowledged, Behind, Shape},
};

/// Cuts of one chain of recordings, and of one recording.
const CHAIN: u64 = 50;
const CUTS: u64 = 17;

pub fn run(plan: &Plan) -> Result<String, Failure> {
    let at_start = |story| Failure { trial: 0, story };
    let built = Place::new().map_err(at_start)?;
    let library = shim::build(built.path()).map_err(at_start)?;
    let tally = plan.run(CHAIN, |first, behind, tally| {
        let mut place = Place::new().map_err(|story| Failure { trial: first, story })?;
        chain(plan, first, behind, &library, place.path(), tally).map_err(|(trial, story)| {
            let kept = place.keep();
            Failure { trial, story: format!("trial {trial}: {story}\n  kept: {}", kept.display()) }
        })
    })?;
    Ok(format!("{tally}; 0 lost, 0 refused starts"))
}

/// Recordings on top of one another, each cut many times.
fn chain(
    plan: &Plan,
    first: u64,
    behind: u64,
    library: &Path,
    place: &Path,
    tally: &mut Tally,
) -> Result<(), (u64, String)> {
    let mut base = Base::default();
    let mut told_before: Vec<Acknowledged> = Vec::new();
    let mut trial = first;
    while trial < behind {
        let last = behind.min(trial + CUTS);
        let recording = record(plan, trial, &base, library, place).map_err(|story| (trial, story))?;
        tally.one("recordings");
        tally.add("calls recorded", recording.events.len() as u64);
        let mut next = None;
        for trial in trial..last {
            let mut dice = Dice::of(&[plan.seed, trial, 1]);
            let cut = dice.index(recording.events.len() + 1);
            let (disk, told) = recording.replay(&base, cut).map_err(|story| (trial, story))?;
            let left = Base::of(&disk.after_power_cut(dice.next()));
            let told: Vec<Acknowledged> = told_before.iter().copied().chain(told).collect();
            let context = |story| {
                // What was opened is no longer as the cut left it.
                let _ = left.put(&place.join("as-it-was-cut"));
                (trial, format!("cut after call {cut} of {}: {story}", recording.events.len()))
            };
            opens(&left, &told, place, tally, trial).map_err(context)?;
            next = Some((left, told));
        }
        (base, told_before) = next.unwrap_or_default();
        trial = last;
    }
    Ok(())
}

/// Lets a process work on a copy of `base` and records it.
fn record(plan: &Plan, trial: u64, base: &Base, library: &Path, place: &Path) -> Result<Recording, String> {
    let mut dice = Dice::of(&[plan.seed, trial, 2]);
    let inline = dice.one_in(2);
    let life = Life {
        number: u32::try_from(trial).map_err(|_| "too many trials")?,
        writers: if inline { 1 } else { 1 + dice.below(4) as u16 },
        in_flight: if inline { 1 } else { 1 + dice.below(8) as u16 },
        shape: if dice.one_in(2) { None } else { Some(*dice.pick(&Shape::ALL)) },
        inline,
        segment_kib: 4 << dice.below(6),
        appends: 8 + dice.below(24) as u32,
        planted: false,
    };
    let place = place.canonicalize().map_err(|error| error.to_string())?;
    let (dir, log) = (place.join("recorded"), place.join("recording"));
    let _ = std::fs::remove_dir_all(&dir);
    base.put(&dir).and_then(|()| stores::times_as_remembered(&dir)).map_err(|error| error.to_string())?;
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args(["--child", "kill"]).arg(&dir).args(life.words());
    // After a cut, something may have to be repaired.
    command.env("BAILIWICK_CAMPAIGN_MAY_REPAIR", "1");
    workload::tell_child(&mut command);
    command.env("LD_PRELOAD", library).env("BAILIWICK_SHIM_ROOT", &dir).env("BAILIWICK_SHIM_LOG", &log);
    if plan.planted {
        command.env("BAILIWICK_SHIM_LIE", workload::precious_folder());
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{life:?}: the recorded process failed: {}", String::from_utf8_lossy(&output.stdout)));
    }
    let recording = Recording::read(&log, &dir)?;
    shim::agrees(&recording, base, &dir)?;
    Ok(recording)
}

fn opens(left: &Base, told: &[Acknowledged], place: &Path, tally: &mut Tally, trial: u64) -> Result<(), String> {
    let dir = place.join("cut");
    let _ = std::fs::remove_dir_all(&dir);
    left.put(&dir).and_then(|()| stores::times_as_remembered(&dir)).map_err(|error| error.to_string())?;
    let settings = workload::settings(Threads::Own, 64 * 1024);
    let opened = LocalJournal::open(workload::config(&dir, settings.clone()));
    let (journal, report) = opened.map_err(|error| format!("REFUSED: {error}"))?;
    let entries = workload::read_all(&journal)?;
    let found = workload::verify(&entries, told).map_err(|story| format!("{story}; it had said: {report}"))?;
    tally.one("cuts");
    tally.add("snapshots read", workload::snapshots_are_whole(&dir, kill::WRITERS_MAX)?);
    tally.add("acknowledged appends checked", told.len() as u64);
    tally.add("entries read", found.entries);
    tally.add("torn ends cut", u64::from(report.torn_cut.is_some()));
    tally.add("sleds built anew", u64::from(report.store_rebuilt.is_some()));
    if report.damaged_log.is_some() {
        return Err(format!("a segment was lost that had been durable: {report}"));
    }
    tally.add("heads written anew", u64::from(report.head_rewritten));
    tally.add("caught up", u64::from(report.caught_up_blocks > 0));
    if let Some(problem) = report.store_unavailable {
        return Err(format!("no block store: {problem}"));
    }
    tally.add("gone by a checkpoint", u64::from(report.by_checkpoint));
    // What the store said to be durable is there.
    workload::is_right_behind(&journal, Behind::NothingToRepair)?;
    // Once more: what was opened or made behind the opening is then in use.
    workload::verify(&workload::read_all(&journal)?, told)?;
    // Every so often, whether it goes on as a journal like any other.
    if trial.is_multiple_of(5) {
        stores::append(&journal, u32::MAX, 3)?;
        journal.close().map_err(|error| error.to_string())?;
        drop(journal);
        let opened = LocalJournal::open(workload::config(&dir, settings));
        let (journal, report) = opened.map_err(|error| format!("REFUSED at the second opening: {error}"))?;
        workload::verify(&workload::read_all(&journal)?, told)?;
        if !report.clean {
            return Err(format!("not clean after a stop in order: {report}"));
        }
    }
    Ok(())
}

/// Cuts of one simulated disk.
const ROUNDS: u64 = 5;

pub fn run_simulated(plan: &Plan) -> Result<String, Failure> {
    let tally = plan.run(ROUNDS, |first, behind, tally| {
        let mut dice = Dice::of(&[plan.seed, first]);
        let mut disk = SimulatedDisk::new();
        // Half of them with a store that is believed: all that was put into it is there after the cut.
        let durable = dice.one_in(2);
        let mut store = if durable { MemoryStore::durable() } else { MemoryStore::new() };
        let mut told = Vec::new();
        for trial in first..behind {
            let failed = |story| Failure { trial, story: format!("trial {trial}: {story}") };
            let cut = one_simulated(plan, trial, &disk, &store, &mut told, &mut dice).map_err(failed)?;
            let left = if durable { store.copy() } else { MemoryStore::new() };
            check_simulated(&cut.after_kill(), &left, &told, &mut dice, tally).map_err(failed)?;
            // Of one that is not, a beginning is left, or nothing.
            store = match (durable, dice.one_in(2)) {
                (true, _) => store.copy(),
                (false, true) => MemoryStore::new(),
                (false, false) => beginning(&store, &mut dice),
            };
            disk = cut;
        }
        Ok(())
    })?;
    Ok(format!("{tally}; 0 lost, 0 refused starts"))
}

fn one_simulated(
    plan: &Plan,
    trial: u64,
    disk: &SimulatedDisk,
    store: &MemoryStore,
    told: &mut Vec<Acknowledged>,
    dice: &mut Dice,
) -> Result<SimulatedDisk, String> {
    let fault = *dice.pick(&[Fault::Error, Fault::ShortWrite]);
    let real: Arc<dyn Disk> = if plan.planted { Arc::new(Lying(disk.clone())) } else { Arc::new(disk.clone()) };
    let faulty = FaultyDisk::new(real, 1 + dice.below(160), fault);
    let settings = workload::settings(Threads::Inline, 4096 + dice.below(32 * 1024));
    let opened = LocalJournal::open_with(Arc::new(faulty), store, workload::ID, 1_000, settings);
    if let Ok((journal, _)) = opened {
        let life = u32::try_from(trial).map_err(|_| "too many trials")?;
        // It dies somewhere in here.
        let _ = stores::append_and_tell(&journal, life, 40, |acknowledged| told.push(acknowledged));
    }
    Ok(disk.after_power_cut(dice.next()))
}

fn check_simulated(
    disk: &SimulatedDisk,
    store: &dyn Store,
    told: &[Acknowledged],
    dice: &mut Dice,
    tally: &mut Tally,
) -> Result<(), String> {
    let settings = workload::settings(Threads::Inline, 4096 + dice.below(32 * 1024));
    let opened = LocalJournal::open_with(Arc::new(disk.clone()), store, workload::ID, 1_000, settings);
    let (journal, report) = opened.map_err(|error| format!("REFUSED: {error}"))?;
    let found = workload::verify(&workload::read_all(&journal)?, told)?;
    tally.one("cuts");
    tally.add("acknowledged appends checked", told.len() as u64);
    tally.add("entries read", found.entries);
    tally.add("torn ends cut", u64::from(report.torn_cut.is_some()));
    tally.add("heads written anew", u64::from(report.head_rewritten));
    tally.add("gone by a checkpoint", u64::from(report.by_checkpoint));
    stores::append(&journal, u32::MAX, 2)?;
    workload::is_right_behind(&journal, Behind::NothingToRepair)?;
    workload::verify(&workload::read_all(&journal)?, told).map(drop)
}

fn beginning(store: &MemoryStore, dice: &mut Dice) -> MemoryStore {
    let copy = store.copy();
    copy.damage(|blocks| {
        let keep = dice.below(blocks.len() as u64 + 1);
        blocks.retain(|number, _| *number <= keep);
    });
    copy
}

/// A disk that forgets the syncs of the log, once a segment is made.
#[derive(Debug)]
pub struct Lying(pub SimulatedDisk);

#[derive(Debug)]
struct LyingFile {
    real: Box<dyn DiskFile>,
    syncs: AtomicU64,
    lies: bool,
}

fn lying(name: &str, real: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
    Box::new(LyingFile { real, syncs: AtomicU64::new(0), lies: name.starts_with("log/") })
}

impl Disk for Lying {
    fn list(&self, dir: &str) -> std::io::Result<Vec<String>> {
        self.0.list(dir)
    }
    fn create(&self, name: &str) -> std::io::Result<Box<dyn DiskFile>> {
        self.0.create(name).map(|file| lying(name, file))
    }
    fn open(&self, name: &str, access: bailiwick_journal::disk::Access) -> std::io::Result<Box<dyn DiskFile>> {
        self.0.open(name, access).map(|file| lying(name, file))
    }
    fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> std::io::Result<()> {
        self.0.remove(name)
    }
    fn sync_dir(&self, dir: &str) -> std::io::Result<()> {
        self.0.sync_dir(dir)
    }
    fn space(&self) -> std::io::Result<bailiwick_journal::disk::Space> {
        self.0.space()
    }
    fn lock(
        &self,
        how: bailiwick_journal::disk::LockMode,
    ) -> Result<bailiwick_journal::disk::Lock, bailiwick_journal::disk::LockError> {
        self.0.lock(how)
    }
    fn path(&self) -> std::path::PathBuf {
        self.0.path()
    }
}

impl DiskFile for LyingFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.real.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        self.real.write_at(bytes, offset)
    }
    fn allocate(&self, from: u64, to: u64) -> std::io::Result<()> {
        self.real.allocate(from, to)
    }
    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.real.set_len(len)
    }
    fn size(&self) -> std::io::Result<u64> {
        self.real.size()
    }
    fn sync(&self) -> std::io::Result<()> {
        let first = self.syncs.fetch_add(1, Ordering::Relaxed) == 0;
        if first || !self.lies { self.real.sync() } else { Ok(()) }
    }
}
