//! The reading side of sled.

use std::{
    sync::{
        Mutex, PoisonError,
        mpsc::{self, SyncSender},
    },
    thread::JoinHandle,
};

use super::key;
use crate::{
    blocks::BlockReader,
    frame::{self, HEADER_BYTES},
};

/// The most room that is made for a block because its header says how long it is: a full group.
const ROOM_BYTES_MAX: usize = 640 * 1024;

type Question = (Vec<u64>, SyncSender<Vec<Option<Vec<u8>>>>);

/// Asks sled on a thread of its own: whoever reads may be a runtime's thread, which sled must never hold up for good.
#[derive(Debug)]
pub(super) struct SledReader {
    thread: Mutex<Option<(mpsc::Sender<Question>, JoinHandle<()>)>>,
}

impl SledReader {
    pub(super) fn start(tree: sled::Tree) -> Self {
        let (ask, questions) = mpsc::channel::<Question>();
        let answer_all = move || {
            for (numbers, answer) in questions {
                let found = numbers.iter().map(|number| read_block(&tree, *number)).collect();
                // Whoever asked may be gone; that is its business.
                let _ = answer.send(found);
            }
        };
        let spawned = std::thread::Builder::new().name("journal-read".into()).spawn(answer_all);
        Self { thread: Mutex::new(spawned.ok().map(|thread| (ask, thread))) }
    }
}

impl BlockReader for SledReader {
    fn read(&self, numbers: &[u64]) -> Vec<Option<Vec<u8>>> {
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

fn read_block(tree: &sled::Tree, number: u64) -> Option<Vec<u8>> {
    let first = tree.get(key(number, 0)).ok()??;
    let header = frame::peek(&first).ok()?;
    let length = HEADER_BYTES + header.records_bytes as usize;
    // It grows with the parts that are there, whatever length the first one promises.
    let mut bytes = Vec::with_capacity(length.min(ROOM_BYTES_MAX).max(first.len()));
    bytes.extend_from_slice(&first);
    let mut part = 1;
    while bytes.len() < length {
        bytes.extend_from_slice(&tree.get(key(number, part)).ok()??);
        part += 1;
    }
    Some(bytes)
}
