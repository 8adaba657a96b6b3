//! A large file beside a node that works.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

/// So much waits for the disk at most.
const WAITING_BYTES_MAX: usize = 256 * 1024;

/// A file that reaches the disk as it grows. If all of it did at the end, a node that commits on the same disk would wait for
/// it.
#[derive(Debug)]
pub(super) struct SteadyFile {
    file: File,
    /// Bytes since the last sync.
    waiting: usize,
}

impl SteadyFile {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, waiting: 0 })
    }

    /// The rest, and that there is such a file.
    pub(super) fn sync_all(&self) -> io::Result<()> {
        on_disk(self.file.sync_all())
    }
}

/// What is no file on a disk, such as `/dev/null` or a pipe, has nothing to sync.
fn on_disk(synced: io::Result<()>) -> io::Result<()> {
    synced.or_else(|error| if error.kind() == io::ErrorKind::InvalidInput { Ok(()) } else { Err(error) })
}

impl Write for SteadyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.waiting += written;
        if self.waiting >= WAITING_BYTES_MAX {
            self.waiting = 0;
            on_disk(self.file.sync_data())?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_on_a_disk_is_written_as_well() {
        let mut file = SteadyFile::create(Path::new("/dev/null")).expect("it opens");
        file.write_all(&vec![0; 2 * WAITING_BYTES_MAX]).expect("it takes everything");
        file.sync_all().expect("there is nothing to sync");
    }

    #[test]
    fn what_is_written_stands_in_the_file_in_order() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        let mut file = SteadyFile::create(&path).expect("a file");
        let all: Vec<u8> = (0..3 * WAITING_BYTES_MAX + 5).map(|at| (at % 251) as u8).collect();
        all.chunks(100_000).for_each(|bytes| file.write_all(bytes).expect("written"));
        assert!(file.waiting < WAITING_BYTES_MAX);
        file.sync_all().expect("synced");
        assert_eq!(std::fs::read(&path).expect("a file"), all);
    }
}
