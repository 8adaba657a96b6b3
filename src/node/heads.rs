//! The node's own record of where its journal stood: a signed head every so many entries and at each stop, in a file and in
//! the node's log. A copy that is kept elsewhere proves later what was there.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::FileExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bailiwick_journal::{Journal, LocalJournal};
use rustix::fs::{Mode, OFlags, openat};

use crate::signing::{HEADS, SIGNING_KEY, Signer};

/// A head is signed when there are so many more entries than at the last one.
const EVERY: u64 = 10_000;
/// No line is longer.
const LINE_BYTES_MAX: u64 = 4 * 1024;
/// How often is looked.
const LOOK: Duration = Duration::from_secs(1);

/// Notes signed heads.
#[derive(Debug)]
pub(super) struct Heads {
    pub signer: Arc<Signer>,
    /// The data directory: held open, so that nothing is written into what is put in its place.
    dir: File,
    /// The last entry under the last head of this run; none before the first.
    last: Mutex<Option<u64>>,
}

impl Heads {
    /// Of the node in this data directory, whose key is made if there is none.
    ///
    /// # Errors
    /// If the key cannot be read or made.
    pub(super) fn in_dir(data_dir: &Path) -> io::Result<Self> {
        let signer = Arc::new(Signer::of(&data_dir.join(SIGNING_KEY))?);
        Ok(Self { signer, dir: File::open(data_dir)?, last: Mutex::default() })
    }

    /// Notes where the journal stands now, unless that is noted already. A failure is told in the log: no decision depends on it.
    pub(super) fn note(&self, journal: &LocalJournal) {
        let head = journal.head();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if head.block == 0 || *last == Some(head.position.0) {
            return;
        }
        let signed = self.signer.sign(journal.id(), &head);
        match serde_json::to_string(&signed).map_err(io::Error::from).and_then(|line| self.append(&line).map(|()| line))
        {
            Ok(line) => tracing::info!(head = line, "signed where the journal stands"),
            Err(error) => tracing::warn!(%error, "a signed head was not noted in {HEADS}"),
        }
        *last = Some(head.position.0);
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.dir, HEADS, flags, Mode::RUSR | Mode::WUSR)?);
        cut_torn_end(&file)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }

    /// Notes one at once, and whenever enough was added, for as long as the node runs.
    pub(super) async fn keep(self: Arc<Self>, journal: Arc<LocalJournal>) {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            looks.tick().await;
            let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.is_some_and(|last| journal.head().position.0 < last + EVERY) {
                continue;
            }
            let (heads, journal) = (self.clone(), journal.clone());
            // If it cannot be run, the next look or the stop does it.
            drop(tokio::task::spawn_blocking(move || heads.note(&journal)).await);
        }
    }
}

/// A line that a power cut has left unfinished goes.
fn cut_torn_end(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let begin = length.saturating_sub(LINE_BYTES_MAX);
    let mut end = vec![0; usize::try_from(length - begin).map_err(io::Error::other)?];
    file.read_exact_at(&mut end, begin)?;
    match end.iter().rposition(|byte| *byte == b'\n') {
        Some(at) if at + 1 == end.len() => Ok(()),
        Some(at) => file.set_len(begin + at as u64 + 1),
        None => file.set_len(begin),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};

    use super::*;

    #[test]
    fn an_unfinished_line_is_cut_and_whole_ones_stay() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("heads");
        for (before, after) in [("", ""), ("a\n", "a\n"), ("a\nb\n", "a\nb\n"), ("a\nhalf", "a\n"), ("half", "")] {
            fs::write(&path, before).unwrap();
            cut_torn_end(&OpenOptions::new().read(true).append(true).open(&path).unwrap()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after, "{before:?}");
        }
    }
}
