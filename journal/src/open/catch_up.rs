//! The block store at opening: what is in it, and how it is brought up to the log.

use std::panic::{AssertUnwindSafe, catch_unwind};

use uuid::Uuid;

use crate::{
    Position,
    blocks::{Blocks, Store, StoreError},
    core::{Core, Loaded},
    disk::crash,
    format::frame,
    log::commit_log::Tip,
};

/// What the block store has.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub blocks: Option<Box<dyn Blocks>>,
    /// Blocks 1 to this one are there, as in the log.
    pub contiguous: u64,
    /// The newest sound block.
    pub newest: u64,
    /// The same, with its chain value.
    pub end: Option<Tip>,
    /// A sound block that is not the log's.
    pub differs: Option<u64>,
    pub trouble: Option<String>,
    /// The chain value of every sound block, until it was compared.
    hashes: Vec<(u64, [u8; 32])>,
}

impl Survey {
    /// Looks for blocks that are not the log's; `hashes` are its chain values from block 1 on.
    pub(crate) fn compare(&mut self, hashes: &[[u8; 32]]) {
        let in_log = |number: u64| number.checked_sub(1).and_then(|at| hashes.get(usize::try_from(at).ok()?));
        let differs = |(number, hash): &(u64, [u8; 32])| in_log(*number).is_some_and(|other| other != hash);
        let first = std::mem::take(&mut self.hashes).into_iter().find(differs).map(|found| found.0);
        self.differs = [self.differs, first].into_iter().flatten().min();
    }
}

/// Runs what touches the store where a panic of it reaches nobody, and for a store with threads of its own on another
/// thread than the caller's, which may be a runtime's.
pub(super) fn isolated<T: Send + FromTrouble>(store: &dyn Store, act: impl FnOnce() -> T + Send) -> T {
    on_its_own_thread(store, || Ok(act())).unwrap_or_else(|problem| T::from_trouble(&problem))
}

/// As [`isolated`], for whatever can say what went wrong.
pub(crate) fn on_its_own_thread<T: Send>(
    store: &dyn Store,
    act: impl FnOnce() -> Result<T, String> + Send,
) -> Result<T, String> {
    let guarded = || catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err("it panicked".into()));
    if !store.wants_own_thread() {
        return guarded();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("journal-open".into()).spawn_scoped(scope, guarded);
        thread.map_or_else(
            |_| Err("no thread could be started".into()),
            |thread| thread.join().unwrap_or_else(|_| Err("it panicked".into())),
        )
    })
}

pub(super) trait FromTrouble {
    fn from_trouble(problem: &str) -> Self;
}

impl FromTrouble for Survey {
    fn from_trouble(problem: &str) -> Self {
        Self { trouble: Some(problem.to_owned()), ..Self::default() }
    }
}

/// Opens a copy of a store, without its shortcuts if it does not open with them.
pub(crate) fn open_copy(copy: &dyn Store) -> Result<Box<dyn Blocks>, String> {
    let open = || on_its_own_thread(copy, || copy.open().map_err(|error| error.problem));
    open().or_else(|problem| {
        tracing::warn!(%problem, "a copy of the block store is opened without its snapshots");
        copy.forget_shortcuts().map_err(|error| error.problem)?;
        open()
    })
}

/// Opens the store and looks at every block; [`Survey::compare`] holds it against the log.
pub(super) fn survey(store: &dyn Store, journal: Uuid) -> Survey {
    match store.open() {
        Ok(blocks) => survey_blocks(blocks, journal),
        Err(error) => Survey::from_trouble(&error.problem),
    }
}

/// As [`survey_blocks`], where a panic reaches nobody.
pub(crate) fn survey_of(store: &dyn Store, blocks: Box<dyn Blocks>, journal: Uuid) -> Survey {
    isolated(store, || survey_blocks(blocks, journal))
}

/// As [`survey`], of a store that is open.
pub(super) fn survey_blocks(blocks: Box<dyn Blocks>, journal: Uuid) -> Survey {
    let mut survey = Survey::default();
    let listed = blocks.survey(&mut |number, bytes| {
        let sound = frame::check(bytes)
            .ok()
            .filter(|(header, records)| header.block == number && bytes.len() == frame::HEADER_BYTES + records.len());
        let Some((header, _)) = sound else {
            survey.trouble.get_or_insert(format!("block {number} is damaged"));
            return;
        };
        // It says nothing about this journal, so it is no evidence against the log: the store is made anew.
        if header.journal != journal {
            survey.trouble.get_or_insert(format!("block {number} belongs to another journal"));
            return;
        }
        survey.hashes.push((number, header.hash));
        if survey.newest < number {
            survey.newest = number;
            let last = Position(header.first.0.saturating_add(u64::from(header.count)).saturating_sub(1));
            survey.end = Some(Tip { block: number, position: last, hash: header.hash });
        }
        if number == survey.contiguous + 1 {
            survey.contiguous = number;
        } else {
            survey.trouble.get_or_insert(format!("blocks before {number} are missing"));
        }
    });
    if let Err(StoreError { problem, .. }) = listed {
        survey.trouble.get_or_insert(problem);
    }
    survey.blocks = Some(blocks);
    survey
}

/// What became of the store.
#[derive(Default)]
pub(super) struct Filled {
    pub blocks: Option<Box<dyn Blocks>>,
    pub caught_up: u64,
    pub rebuilt: Option<String>,
    pub unavailable: Option<String>,
    pub synced: bool,
}

impl FromTrouble for Filled {
    fn from_trouble(problem: &str) -> Self {
        Self { unavailable: Some(problem.to_owned()), ..Self::default() }
    }
}

/// Brings the store up to the log: what it lacks, or, if it is damaged, everything anew.
pub(super) fn fill_store(store: &dyn Store, core: &Core, survey: Survey, tip: u64) -> Filled {
    let mut filled = Filled { blocks: survey.blocks, ..Filled::default() };
    let mut next = survey.contiguous + 1;
    if let Some(trouble) = survey.trouble {
        drop(filled.blocks.take());
        match store.wipe().and_then(|()| store.open()) {
            Ok(blocks) => filled.blocks = Some(blocks),
            Err(error) => return Filled::from_trouble(&error.problem),
        }
        next = 1;
        filled.rebuilt = Some(trouble);
    }
    let Some(blocks) = filled.blocks.as_mut() else { return Filled::from_trouble("it was not opened") };
    if let Err(problem) = put_blocks(&mut **blocks, core, next, tip) {
        return Filled::from_trouble(&problem);
    }
    match filled.rebuilt {
        None => filled.caught_up = tip + 1 - next.min(tip + 1),
        // What was repaired once is made durable at once.
        Some(_) => filled.synced = blocks.is_durable() && blocks.checkpoint().is_ok(),
    }
    filled
}

fn put_blocks(blocks: &mut dyn Blocks, core: &Core, first: u64, last: u64) -> Result<(), String> {
    let mut next = first;
    while next <= last {
        let numbers = core.some_blocks(next, last);
        let loaded = core.load(&numbers).map_err(|error| error.to_string())?;
        let frames: Vec<_> = loaded.iter().map(Loaded::bytes).collect();
        let pairs: Vec<(u64, &[u8])> = numbers.iter().copied().zip(frames.iter().map(|frame| &**frame)).collect();
        blocks.put(&pairs).map_err(|error| error.problem)?;
        next += numbers.len() as u64;
        crash::point("store-catching-up");
    }
    Ok(())
}
