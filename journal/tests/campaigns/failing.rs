//! One operation fails, each in turn: with an error, soon or late, because the disk is full, or after half of a write. Nobody
//! panics, nobody hangs, and afterwards the journal is a beginning of what was handed in that holds all that was acknowledged.
//!
//! `fail_at_n` lets calls of a real process fail, through the shim, on every file, sled's too; `fail_at_n_simulated`
//! lets operations of the simulated disk fail, in a life from making to a second stop and in a repair.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, mpsc},
    time::Duration,
};

use bailiwick_journal::{
    AppendError, LocalJournal, OpenError, Threads, append_blocking,
    blocks::MemoryStore,
    disk::{Disk, Fault, FaultyDisk, SimulatedDisk},
};

use crate::{
    dice::Dice,
    kill,
    power_cut::Lying,
    runner::{Failure, Place, Plan, Tally},
    shim, stores,
    workload::{self, Acknowledged, AppendId, Shape},
};

const HANG: Duration = Duration::from_secs(10);
/// What the shim is told, and how it is called here.
const FAULTS: [(&str, &str); 5] =
    [("e", "error"), ("f", "full"), ("s", "short write and error"), ("p", "part of a write"), ("l", "late error")];

/// Numbers of operations are trials: number n lets operation n / 5 + 1 fail with fault n % 5.
pub fn run(plan: &Plan) -> Result<String, Failure> {
    let at_start = |story| Failure { trial: 0, story };
    let built = Place::new().map_err(at_start)?;
    let library = shim::build(built.path()).map_err(at_start)?;
    let (told, operations) = in_process(plan, 0, 0, &library, &Place::new().map_err(at_start)?).map_err(at_start)?;
    if told.is_empty() || operations < 50 {
        let story = format!("without a fault there were {operations} operations and {} appends", told.len());
        return Err(at_start(story));
    }
    // Threads and chance let one life have a few more operations than another.
    let all = (operations + operations / 10) * FAULTS.len() as u64;
    let plan = Plan { trials: plan.trials.min(all), ..plan.clone() };
    // A shorter run takes operations from all over the life, and its seed says which.
    let every = all / plan.trials.max(1);
    let tally = plan.run(1, |trial, _, tally| {
        let mut dice = Dice::of(&[plan.seed, trial]);
        let number = trial * every + dice.below(every);
        let (fail_at, fault) = (number / FAULTS.len() as u64 + 1, (number % FAULTS.len() as u64) as usize);
        let mut place = Place::new().map_err(|story| Failure { trial, story })?;
        one(&plan, fail_at, fault, &library, &place, tally).map_err(|story| {
            let story = format!("operation {fail_at} fails ({}): {story}", FAULTS[fault].1);
            Failure { trial, story: format!("{story}\n  kept: {}", place.keep().display()) }
        })
    })?;
    Ok(format!("of {operations} operations with {} faults: {tally}; 0 lost, 0 panics, 0 hangs", FAULTS.len()))
}

fn one(
    plan: &Plan,
    fail_at: u64,
    fault: usize,
    library: &Path,
    place: &Place,
    tally: &mut Tally,
) -> Result<(), String> {
    let (told, operations) = in_process(plan, fail_at, fault, library, place)?;
    tally.one("lives");
    tally.add("past the end", u64::from(operations < fail_at));
    let dir = place.path().join("journal");
    for round in 0..2 {
        let opened = LocalJournal::open(workload::config(&dir, stores::settings()));
        let (journal, report) = opened.map_err(|error| format!("not opened afterwards: {error}"))?;
        let found = workload::verify(&workload::read_all(&journal)?, &told)?;
        if round == 0 {
            tally.add("acknowledged appends checked", told.len() as u64);
            tally.add("found unacknowledged", found.unacknowledged);
            tally.add("opened with repairs", u64::from(report.repaired()));
            stores::append(&journal, 99, 3)?;
            journal.close().map_err(|error| error.to_string())?;
        } else if !report.clean {
            return Err(format!("not clean after a stop in order: {report}"));
        }
    }
    Ok(())
}

/// Runs a child with the shim; answers what it had acknowledged, and how many operations there were.
fn in_process(
    plan: &Plan,
    fail_at: u64,
    fault: usize,
    library: &Path,
    place: &Place,
) -> Result<(Vec<Acknowledged>, u64), String> {
    let root = place.path().canonicalize().map_err(|error| error.to_string())?;
    let (dir, count) = (root.join("journal"), root.join("count"));
    let mut told = Vec::new();
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args(["--child", "failing"]).arg(&dir).arg(u64::from(plan.planted).to_string());
    command.env("LD_PRELOAD", library).env("BAILIWICK_SHIM_ROOT", &dir).env("BAILIWICK_SHIM_COUNT", &count);
    command.env("BAILIWICK_SHIM_FAIL_AT", fail_at.to_string()).env("BAILIWICK_SHIM_FAULT", FAULTS[fault].0);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("no child: {error}"))?;
    let lines = kill::lines_of(&mut child)?;
    let heard = kill::listen(&lines, &mut told, u64::MAX, kill::Patience::Silence(HANG));
    if matches!(heard, Ok(kill::Heard::Silence)) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("it hangs; it had acknowledged {}", told.len()));
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    heard?;
    if status.code() != Some(0) {
        return Err(format!("it ended with {status}"));
    }
    let operations = std::fs::read_to_string(&count).ok().and_then(|text| text.trim().parse().ok());
    Ok((told, operations.ok_or("the shim did not count")?))
}

/// The process that meets the fault: it makes a journal, appends, stops, and does so again. An error is an answer.
pub fn child(words: &[String]) -> Result<(), String> {
    let [dir, planted] = words else { return Err("no folder".into()) };
    for life in 0..2 {
        let opened = LocalJournal::open(workload::config(Path::new(dir), stores::settings()));
        let journal = match opened {
            Ok((journal, _)) => journal,
            Err(OpenError::Io { .. }) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        if planted == "1" {
            let append = AppendId { life: 50, writer: 0, sequence: 0, shape: Shape::Small };
            kill::say(Acknowledged { append, position: 2 })?;
        }
        work(&journal, life, 14, kill::say)?;
        // A stop that cannot be marked is said, and that is all.
        let _ = journal.close();
    }
    Ok(())
}

/// Appends until the journal takes nothing more. What found the disk full is handed in again.
fn work(
    journal: &LocalJournal,
    life: u32,
    count: u32,
    mut tell: impl FnMut(Acknowledged) -> Result<(), String>,
) -> Result<(), String> {
    let mut versions = BTreeMap::new();
    let mut refusals = 0;
    let mut sequence = 0;
    while sequence < count {
        let shape = if sequence % 8 == 6 { Shape::Big } else { Shape::ALL[sequence as usize % 2] };
        let append = AppendId { life, writer: 0, sequence, shape };
        let before = versions.clone();
        match append_blocking(journal, append.drafts(journal, &mut versions)) {
            Ok(appended) => {
                tell(Acknowledged { append, position: appended.entries()[0].header.position.0 })?;
                sequence += 1;
            }
            Err(AppendError::NearlyFull(_)) if refusals < 5 => {
                refusals += 1;
                versions = before;
            }
            Err(AppendError::Unknown { .. }) => {
                let later = append_blocking(journal, append.drafts(journal, &mut versions));
                return match later {
                    Err(AppendError::Unknown { .. }) => Ok(()),
                    later => Err(format!("a failed log takes something: {later:?}")),
                };
            }
            Err(error) => return Err(format!("{append}: {error}")),
        }
    }
    Ok(())
}

/// Every operation of a simulated disk, three faults, and two stories.
pub fn run_simulated(plan: &Plan) -> Result<String, Failure> {
    let at_start = |story| Failure { trial: 0, story };
    let mut counts = Vec::new();
    for repair in [false, true] {
        counts.push(one_simulated(plan, repair, 0, Fault::Error, &mut Tally::default()).map_err(at_start)?);
    }
    let (fresh, repair) = (counts[0], counts[1]);
    let plan = Plan { trials: (fresh + repair + 2) * 3, ..plan.clone() };
    let tally = plan.run(1, |trial, _, tally| {
        let fault = [Fault::Error, Fault::Full, Fault::ShortWrite][(trial % 3) as usize];
        let number = trial / 3;
        let (repairs, fail_at) = if number <= fresh { (false, number + 1) } else { (true, number - fresh) };
        let (send, done) = mpsc::channel();
        let for_thread = plan.clone();
        std::thread::spawn(move || {
            let mut own = Tally::default();
            let outcome = one_simulated(&for_thread, repairs, fail_at, fault, &mut own);
            let _ = send.send((outcome, own));
        });
        let outcome = done.recv_timeout(HANG).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => "it hangs".to_owned(),
            mpsc::RecvTimeoutError::Disconnected => "it panicked".to_owned(),
        });
        let outcome = outcome.and_then(|(outcome, own)| outcome.map(|_| tally.take_in(own)));
        outcome.map_err(|story| {
            let what = if repairs { "a repair" } else { "a life" };
            Failure { trial, story: format!("operation {fail_at} of {what} fails ({fault:?}): {story}") }
        })
    })?;
    Ok(format!(
        "all of {fresh} operations of a life and {repair} of a repair with 3 faults: {tally}; 0 lost, 0 panics, 0 hangs"
    ))
}

fn one_simulated(plan: &Plan, repairs: bool, fail_at: u64, fault: Fault, tally: &mut Tally) -> Result<u64, String> {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let mut told = Vec::new();
    let settings = || workload::settings(Threads::Inline, 8 * 1024);
    let open = |disk: Arc<dyn Disk>, store: &MemoryStore| {
        LocalJournal::open_with(disk, store, workload::ID, 1_000, settings()).map(|opened| opened.0)
    };
    if repairs {
        let journal = open(Arc::new(disk.clone()), &store).map_err(|error| error.to_string())?;
        work(&journal, 0, 24, |acknowledged| {
            told.push(acknowledged);
            Ok(())
        })?;
        drop(journal);
        disk.damage("log/0000000002.log", |bytes| bytes[900] ^= 1);
    }
    let real: Arc<dyn Disk> = if plan.planted { Arc::new(Lying(disk.clone())) } else { Arc::new(disk.clone()) };
    let faulty = FaultyDisk::new(real, fail_at, fault);
    for life in 1..=2 {
        match open(Arc::new(faulty.clone()), &store) {
            Ok(journal) => {
                work(&journal, life, 12, |acknowledged| {
                    told.push(acknowledged);
                    Ok(())
                })?;
                let _ = journal.close();
            }
            Err(OpenError::Io { .. }) => (),
            Err(error) => return Err(format!("REFUSED: {error}")),
        }
    }
    for (left, how) in [(disk.after_kill(), "a kill"), (disk.after_power_cut(fail_at), "a power cut")] {
        let opened = open(Arc::new(left), &store.copy());
        let journal = opened.map_err(|error| format!("not opened after {how}: {error}"))?;
        let found =
            workload::verify(&workload::read_all(&journal)?, &told).map_err(|story| format!("{how}: {story}"))?;
        stores::append(&journal, 99, 2)?;
        tally.one("openings");
        tally.add("acknowledged appends checked", told.len() as u64);
        tally.add("found unacknowledged", found.unacknowledged);
    }
    Ok(faulty.operations())
}
