//! The reading side of sled.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, SyncSender},
    },
    thread::JoinHandle,
};

use super::{key, parts_of, watch::Watch};
use crate::{
    blocks::{BlockReader, Pieces},
    format::frame::{self, HEADER_BYTES},
};

type Question = (Vec<u64>, SyncSender<Vec<Option<Pieces>>>);

/// Asks sled on a thread of its own: a reader may be a runtime's thread, which sled must never hold up for good.
#[derive(Debug)]
pub(super) struct SledReader {
    thread: Mutex<Option<(mpsc::Sender<Question>, JoinHandle<()>)>>,
}

impl SledReader {
    pub(super) fn start(tree: sled::Tree, watch: Arc<Watch>, turn: Arc<Mutex<()>>) -> Self {
        let (ask, questions) = mpsc::channel::<Question>();
        let answer_all = move || {
            for (numbers, answer) in questions {
                let found = watch.during(|| {
                    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                    lend(&tree, &numbers)
                });
                // The caller may be gone; that is its business.
                let _ = answer.send(found);
            }
        };
        let spawned = std::thread::Builder::new().name("journal-read".into()).spawn(answer_all);
        Self { thread: Mutex::new(spawned.ok().map(|thread| (ask, thread))) }
    }
}

impl BlockReader for SledReader {
    fn read(&self, numbers: &[u64]) -> Vec<Option<Vec<u8>>> {
        self.lend(numbers).into_iter().map(|found| found.map(Pieces::into_bytes)).collect()
    }

    fn lend(&self, numbers: &[u64]) -> Vec<Option<Pieces>> {
        let ask = {
            let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
            thread.as_ref().map(|(ask, _)| ask.clone())
        };
        let (answer, answered) = mpsc::sync_channel(1);
        let asked = ask.is_some_and(|ask| ask.send((numbers.to_vec(), answer)).is_ok());
        let found = if asked { answered.recv().ok() } else { None };
        found.unwrap_or_else(|| vec![None; numbers.len()])
    }

    fn stop(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((ask, thread)) = thread {
            drop(ask);
            // It ends with the last question; a panic inside sled has been answered with "nothing found" already.
            let _ = thread.join();
        }
    }
}

impl Drop for SledReader {
    fn drop(&mut self) {
        self.stop();
    }
}

/// These blocks, each in the parts that the tree holds. Numbers that follow one another are one walk along the leaves.
fn lend(tree: &sled::Tree, numbers: &[u64]) -> Vec<Option<Pieces>> {
    let mut found = Vec::with_capacity(numbers.len());
    for run in numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next)) {
        let before = found.len();
        if lend_run(tree, run, &mut found).is_err() {
            // Something in between cannot be read; what lies beside it may be.
            found.truncate(before);
            for number in run {
                let begun = found.len();
                if lend_run(tree, &[*number], &mut found).is_err() {
                    found.truncate(begun);
                    found.push(None);
                }
            }
        }
    }
    found
}

fn lend_run(tree: &sled::Tree, run: &[u64], to: &mut Vec<Option<Pieces>>) -> sled::Result<()> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
    let mut pairs = tree.range(key(*first, 0)..=key(*last, u16::MAX));
    let mut next = pairs.next().transpose()?;
    for number in run {
        let mut gathered = Gathered::default();
        while let Some((key, bytes)) = next.take() {
            match parts_of(&key) {
                Some((of, part)) if of == *number => gathered.take(part, bytes),
                // It is of a later one, and asked for next.
                _ => {
                    next = Some((key, bytes));
                    break;
                }
            }
            next = pairs.next().transpose()?;
        }
        to.push(gathered.whole());
    }
    Ok(())
}

/// The parts of one block, as far as they follow one another.
#[derive(Default)]
struct Gathered {
    pieces: Pieces,
    parts: u16,
    /// How long the block is by its header.
    length: usize,
    bytes: usize,
    broken: bool,
}

impl Gathered {
    fn take(&mut self, part: u16, bytes: sled::IVec) {
        if self.parts == 0 {
            match frame::peek(&bytes) {
                Ok(header) => self.length = HEADER_BYTES + header.records_bytes as usize,
                Err(_) => self.broken = true,
            }
        } else if self.bytes >= self.length {
            // What stands behind its end is not of it.
            return;
        }
        self.broken |= part != self.parts;
        self.parts = self.parts.saturating_add(1);
        self.bytes += bytes.len();
        self.pieces.push(bytes);
    }

    fn whole(self) -> Option<Pieces> {
        (!self.broken && self.parts > 0 && self.bytes >= self.length).then_some(self.pieces)
    }
}
