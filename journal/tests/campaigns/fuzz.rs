//! Hostile inputs to every decoder and to the importer: no panic, no allocation of more than 1 MiB over the input, and
//! every single-bit flip of a block refused. Allocations are counted per thread by a counting global allocator.

use std::{
    io::BufReader,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use bailiwick_journal::{
    LocalJournal, OpenError, ReadOnlyJournal, Threads,
    blocks::MemoryStore,
    check_on,
    disk::{Access, Disk, DiskFile, Lock, LockError, LockMode, SimulatedDisk, Space},
    import_on,
    testing::hostile::Decoder,
};

use crate::{
    deadline::Deadline,
    dice::Dice,
    hostile::{self, Corpus},
    runner::{Failure, Place, Plan, Tally},
    stores, workload,
};

/// All that is held at one time, over the input. serde takes 1 MiB in one piece for a sequence that says it is longer;
/// beside that, a door may copy its input once, and an error has a box.
const OVER_INPUT_MAX: u64 = 1024 * 1024;
const BESIDE: u64 = 4096;
/// Inputs of one job.
const STEP: u64 = 10_000;
/// Every so many inputs, one batch goes through a real sled.
const SLED_EVERY: u64 = 50_000;
const SLED_VALUES: usize = 64;

pub fn run(plan: &Plan) -> Result<String, Failure> {
    let at_start = |story| Failure { trial: 0, story };
    let corpus = Corpus::make(plan.seed).map_err(at_start)?;
    // More bits in a longer run.
    let bits = flipped_bits_are_refused(&corpus, plan.trials).map_err(at_start)?;
    let tally = plan.run(STEP, |first, behind, tally| {
        for trial in plan.only.unwrap_or(first)..behind {
            one(plan, trial, &corpus, tally).map_err(|(story, input)| {
                let kept = keep(&input);
                Failure { trial, story: format!("input {trial}: {story}\n  kept: {}", kept.display()) }
            })?;
        }
        Ok(())
    })?;
    Ok(format!("{tally}; {bits} single-bit flips of blocks, all refused; 0 panics, 0 allocations over input + 1 MiB"))
}

fn keep(input: &[u8]) -> PathBuf {
    let kept = Place::new().map(|mut place| place.keep()).unwrap_or_default().join("input");
    let _ = std::fs::write(&kept, input);
    kept
}

fn flipped_bits_are_refused(corpus: &Corpus, trials: u64) -> Result<u64, String> {
    let bytes_max = (trials / 50).clamp(2_000, 150_000) as usize;
    let mut tried = 0;
    let mut frames: Vec<&Vec<u8>> = corpus.frames.iter().collect();
    frames.sort_by_key(|frame| frame.len());
    for frame in frames {
        if !Decoder::Frame.accepts(frame) {
            return Err("a block of the corpus is not taken".into());
        }
        for bit in 0..frame.len() * 8 {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if Decoder::Frame.accepts(&flipped) {
                return Err(format!("bit {bit} of a block of {} bytes was flipped and it was taken", frame.len()));
            }
            tried += 1;
        }
        if tried > 8 * bytes_max as u64 {
            break;
        }
    }
    Ok(tried)
}

/// What a trial may hand back beside its story: the input.
type Broken = (String, Vec<u8>);

fn one(plan: &Plan, trial: u64, corpus: &Corpus, tally: &mut Tally) -> Result<(), Broken> {
    let mut dice = Dice::of(&[plan.seed, trial]);
    if trial % SLED_EVERY == SLED_EVERY - 1 {
        in_sled(corpus, &mut dice, tally).map_err(|story| (story, Vec::new()))?;
    }
    let decoder = match dice.below(1_000) {
        0..=379 => Decoder::Frame,
        380..=579 => Decoder::Records,
        580..=669 => Decoder::Head,
        670..=749 => Decoder::Mark,
        750..=799 => Decoder::Format,
        800..=859 => Decoder::Snapshot,
        860..=899 => Decoder::Body,
        900..=934 => Decoder::Checkpoint,
        935..=959 => Decoder::Catalog,
        960..=989 => return import(corpus, &mut dice, tally),
        990..=997 => return read(corpus, &mut dice, tally),
        _ => return open(corpus, &mut dice, tally),
    };
    let (bytes, resealed) = hostile::bytes_for(corpus, decoder, &mut dice);
    let planted = plan.planted;
    let taken = guarded(&bytes, || {
        // A decoder that believes a length.
        let believed = if planted && bytes.len() > 100 { vec![0u8; 3 << 20] } else { Vec::new() };
        decoder.accepts(&bytes) && believed.len() < usize::MAX
    })?;
    let original = || corpus.of(decoder).iter().any(|valid| bytes.starts_with(valid));
    if taken && !resealed && decoder == Decoder::Frame && !original() {
        return Err(("a block was changed and is taken".into(), bytes));
    }
    tally.one(match decoder {
        Decoder::Frame => "blocks",
        Decoder::Records => "runs of entries",
        Decoder::Head => "head slots",
        Decoder::Mark => "segment marks",
        Decoder::Format => "FORMAT files",
        Decoder::Snapshot => "snapshots",
        Decoder::Body => "bodies",
        Decoder::Checkpoint => "index checkpoints",
        Decoder::Catalog => "logs that begin later",
    });
    tally.add("taken all the same", u64::from(taken));
    Ok(())
}

/// Runs it where a panic is caught and every allocation counted.
fn guarded<T>(input: &[u8], act: impl FnOnce() -> T) -> Result<T, Broken> {
    let mut outcome = None;
    let allocated = allocation_counter::measure(|| outcome = catch_unwind(AssertUnwindSafe(act)).ok());
    let Some(outcome) = outcome else { return Err(("a panic".into(), input.to_vec())) };
    if allocated.bytes_max > 2 * input.len() as u64 + OVER_INPUT_MAX + BESIDE {
        let story = format!("{} bytes were allocated for an input of {}", allocated.bytes_max, input.len());
        return Err((story, input.to_vec()));
    }
    Ok(outcome)
}

fn import(corpus: &Corpus, dice: &mut Dice, tally: &mut Tally) -> Result<(), Broken> {
    let input = hostile::export(corpus, dice);
    let disk: Arc<dyn Disk> = Arc::new(Nowhere(SimulatedDisk::new()));
    let result = guarded(&input, || import_on(&mut BufReader::new(input.as_slice()), disk))?;
    tally.one("exports");
    tally.add("taken all the same", u64::from(result.is_ok()));
    Ok(())
}

/// A whole log, for those who only read.
fn read(corpus: &Corpus, dice: &mut Dice, tally: &mut Tally) -> Result<(), Broken> {
    let files = hostile::journal(corpus, dice);
    let all: Vec<u8> = files.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let disk = hostile::disk_of(&files).map_err(|story| (story, Vec::new()))?;
    let read = guarded(&all, || {
        let read = ReadOnlyJournal::open_on(Arc::new(disk.clone()));
        read.as_ref().map_or(Ok(0), |journal| workload::read_all(journal).map(|entries| entries.len()))
    })?;
    read.map_err(|story| (story, all.clone()))?;
    guarded(&all, || drop(check_on(Arc::new(disk.clone()))))?;
    tally.one("logs");
    Ok(())
}

/// A whole journal with hostile blocks in its store as well, for a writer.
fn open(corpus: &Corpus, dice: &mut Dice, tally: &mut Tally) -> Result<(), Broken> {
    let files = hostile::journal(corpus, dice);
    let mut all: Vec<u8> = files.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let disk = hostile::disk_of(&files).map_err(|story| (story, Vec::new()))?;
    let store = MemoryStore::durable();
    store.damage(|blocks| {
        for number in 1..=dice.below(12) {
            let (bytes, _) = hostile::bytes_for(corpus, Decoder::Frame, dice);
            all.extend_from_slice(&bytes);
            blocks.insert(number, bytes);
        }
    });
    let settings = workload::settings(Threads::Inline, 4096);
    let opened = guarded(&all, || {
        LocalJournal::open_with(Arc::new(disk), &store, workload::ID, 1_000, settings).map(|opened| {
            let read = workload::read_all(&opened.0).map(drop);
            read.and_then(|()| stores::append(&opened.0, 9, 1))
        })
    })?;
    match opened {
        Ok(worked) => worked.map_err(|story| (story, all))?,
        Err(OpenError::Integrity { .. } | OpenError::Foreign { .. }) => (),
        Err(error) => return Err((error.to_string(), all)),
    }
    tally.one("journals with a store");
    Ok(())
}

/// A child that another campaign is just starting may hold sled's lock for a moment.
fn opened_patiently(config: &sled::Config) -> sled::Result<sled::Db> {
    let deadline = Deadline::within(Duration::from_secs(20));
    loop {
        match config.open() {
            Err(sled::Error::Io(error)) if error.to_string().contains("lock") && !deadline.is_over() => {
                std::thread::yield_now();
            }
            opened => return opened,
        }
    }
}

/// Hostile keys and values in a real sled, beside a sound log: the log decides.
fn in_sled(corpus: &Corpus, dice: &mut Dice, tally: &mut Tally) -> Result<(), String> {
    let place = Place::new()?;
    let dir = place.path().join("journal");
    stores::write(&dir, workload::ID, 0, 20)?;
    let problem = |error: sled::Error| error.to_string();
    {
        let config = sled::Config::new().path(dir.join("sled")).segment_size(2 * 1024 * 1024).flush_every_ms(None);
        let database = opened_patiently(&config).map_err(problem)?;
        let tree = database.open_tree("blocks").map_err(problem)?;
        for _ in 0..SLED_VALUES {
            let mut key = dice.below(30).to_be_bytes().to_vec();
            key.extend_from_slice(&(dice.below(3) as u16).to_be_bytes());
            if dice.one_in(8) {
                key = dice.bytes(1 + dice.clone().index(20));
            }
            let (mut value, _) = hostile::bytes_for(corpus, Decoder::Frame, dice);
            value.truncate(32 * 1024);
            tree.insert(key, value).map_err(problem)?;
        }
        database.flush().map_err(problem)?;
    }
    let opened =
        catch_unwind(|| LocalJournal::open(workload::config(&dir, stores::settings()))).map_err(|_| "a panic")?;
    match opened {
        Ok((journal, _)) => {
            let entries = workload::read_all(&journal)?;
            workload::verify(&entries, &[])?;
            if entries.len() < 21 {
                return Err(format!("only {} entries", entries.len()));
            }
        }
        // A block that is sound and is not the log's.
        Err(OpenError::Integrity { .. }) => (),
        Err(error) => return Err(error.to_string()),
    }
    tally.add("values in a real sled", SLED_VALUES as u64);
    Ok(())
}

/// A disk that takes everything and keeps nothing: what an import allocates is then its own.
#[derive(Debug)]
struct Nowhere(SimulatedDisk);

#[derive(Debug)]
struct NoFile;

impl Disk for Nowhere {
    fn list(&self, _: &str) -> std::io::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn create(&self, _: &str) -> std::io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(NoFile))
    }
    fn open(&self, _: &str, _: Access) -> std::io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(NoFile))
    }
    fn rename(&self, _: &str, _: &str) -> std::io::Result<()> {
        Ok(())
    }
    fn remove(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
    fn sync_dir(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
    fn space(&self) -> std::io::Result<Space> {
        self.0.space()
    }
    fn lock(&self, how: LockMode) -> Result<Lock, LockError> {
        self.0.lock(how)
    }
    fn path(&self) -> PathBuf {
        self.0.path()
    }
}

impl DiskFile for NoFile {
    fn read_at(&self, _: &mut [u8], _: u64) -> std::io::Result<usize> {
        Ok(0)
    }
    fn write_at(&self, _: &[u8], _: u64) -> std::io::Result<()> {
        Ok(())
    }
    fn allocate(&self, _: u64, _: u64) -> std::io::Result<()> {
        Ok(())
    }
    fn set_len(&self, _: u64) -> std::io::Result<()> {
        Ok(())
    }
    fn size(&self) -> std::io::Result<u64> {
        Ok(0)
    }
    fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }
}
