//! The other side of a commit: a plain file, and peers, each behind a commit thread of the same make as ours.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
    sync::mpsc,
    thread::JoinHandle,
};

use crate::Fallible;

/// One entry on its way into a store.
#[cfg_attr(not(feature = "compare"), expect(dead_code, reason = "a plain file has no keys"))]
pub struct Item {
    pub stream: u64,
    pub version: u64,
    pub bytes: Vec<u8>,
}

/// A store that makes a group of entries durable at once.
pub trait Store: Send {
    fn commit(&mut self, group: &[Item]) -> Fallible<()>;
}

/// A plain file: each group behind a checksum, then `fdatasync`.
pub struct RawFile {
    file: File,
    at: u64,
    block: Vec<u8>,
}

impl RawFile {
    pub fn create(dir: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(dir.join("raw"))?;
        Ok(Self { file, at: 0, block: Vec::new() })
    }
}

impl Store for RawFile {
    fn commit(&mut self, group: &[Item]) -> Fallible<()> {
        self.block.clear();
        self.block.extend_from_slice(&[0; 12]);
        for item in group {
            self.block.extend_from_slice(&item.bytes);
        }
        let length = (self.block.len() - 12) as u32;
        let sum = crc32c::crc32c(&self.block[12..]);
        self.block[..4].copy_from_slice(&length.to_le_bytes());
        self.block[4..8].copy_from_slice(&sum.to_le_bytes());
        self.block[8..12].copy_from_slice(&(group.len() as u32).to_le_bytes());
        self.file.write_all_at(&self.block, self.at)?;
        self.at += self.block.len() as u64;
        self.file.sync_data()?;
        Ok(())
    }
}

/// Whom a durable entry is told to.
pub enum Ack {
    Task(tokio::sync::oneshot::Sender<()>),
    Caller(mpsc::Sender<()>),
}

impl Ack {
    pub fn send(self) {
        // Whoever waited may have been told to stop.
        match self {
            Self::Task(task) => {
                let _ = task.send(());
            }
            Self::Caller(caller) => {
                let _ = caller.send(());
            }
        }
    }
}

/// A commit thread over a store: takes all that waits, commits it, answers all.
pub struct CommitThread {
    pub queue: mpsc::Sender<(Item, Ack)>,
    pub thread: JoinHandle<()>,
}

impl CommitThread {
    const GROUP_MAX: usize = 4096;

    pub fn start(mut store: Box<dyn Store>) -> Self {
        let (queue, waiting) = mpsc::channel::<(Item, Ack)>();
        let run = move || {
            while let Ok((item, ack)) = waiting.recv() {
                let (mut items, mut acks) = (vec![item], vec![ack]);
                while items.len() < Self::GROUP_MAX
                    && let Ok((item, ack)) = waiting.try_recv()
                {
                    items.push(item);
                    acks.push(ack);
                }
                store.commit(&items).expect("the store takes the group");
                acks.into_iter().for_each(Ack::send);
            }
        };
        Self { queue, thread: std::thread::spawn(run) }
    }
}
