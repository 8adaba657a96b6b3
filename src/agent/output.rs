//! Output that cannot fill the disk.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, PipeReader, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use tracing::warn;

/// A log file and the one before it hold at most this much each, in bytes.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024;

/// A log file that starts anew when it is full; the full one is kept as `<name>.1`.
#[derive(Debug)]
pub struct RotatingLog {
    path: PathBuf,
    bytes_max: u64,
    open: Option<(File, u64)>,
}

impl RotatingLog {
    /// A log at this path; the file is opened with the first output.
    pub fn new(path: PathBuf, bytes_max: u64) -> Self {
        Self { path, bytes_max, open: None }
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        let (mut file, length) = match self.open.take() {
            Some((file, length)) if length + piece.len() as u64 <= self.bytes_max => (file, length),
            Some(_) => {
                fs::rename(&self.path, previous(&self.path))?;
                (open_append(&self.path)?, 0)
            }
            None => {
                let file = open_append(&self.path)?;
                let length = file.metadata()?.len();
                (file, length)
            }
        };
        file.write_all(piece)?;
        self.open = Some((file, length + piece.len() as u64));
        Ok(())
    }
}

/// Copies a pipe into a log until all writers have closed it, on a thread of its own.
///
/// Reading goes on when writing fails: a full disk must not stop the workload.
pub fn drain(mut pipe: PipeReader, log: Arc<Mutex<RotatingLog>>) -> io::Result<()> {
    let copy = move || {
        let mut piece = vec![0; 16 * 1024];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => {
                    // An error here leaves the file closed; the next piece tries to open it again.
                    let _ = log.lock().unwrap_or_else(PoisonError::into_inner).write(&piece[..read]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(_) => return,
            }
        }
    };
    thread::Builder::new().name("workload-output".to_owned()).stack_size(128 * 1024).spawn(copy).map(drop)
}

/// Keeps a file bounded that somebody else holds open for appending: moves its content aside and cuts it.
///
/// What is written in between is lost; it is a log.
pub fn cut_when_full(path: &Path, bytes_max: u64) {
    let cut = || -> io::Result<()> {
        match fs::metadata(path) {
            Ok(found) if found.len() > bytes_max => (),
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        fs::copy(path, previous(path))?;
        OpenOptions::new().write(true).open(path)?.set_len(0)
    };
    if let Err(error) = cut() {
        warn!(path = %path.display(), %error, "cannot keep a log bounded");
    }
}

/// Opens a log for appending; only its owner may read it.
pub fn open_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

fn previous(path: &Path) -> PathBuf {
    let mut previous = path.as_os_str().to_owned();
    previous.push(".1");
    PathBuf::from(previous)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_starts_anew_and_keeps_one_before() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a.log");
        let mut log = RotatingLog::new(path.clone(), 10);
        for piece in ["one ", "two ", "three ", "four "] {
            log.write(piece.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(previous(&path)).unwrap(), "three ");
        assert_eq!(fs::read_to_string(&path).unwrap(), "four ");
        RotatingLog::new(path.clone(), 10).write(b"five ").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "four five ");
    }

    #[test]
    fn a_file_held_open_is_cut() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("agent.log");
        let mut held = open_append(&path).unwrap();
        held.write_all(b"0123456789").unwrap();
        cut_when_full(&path, 10);
        assert_eq!(fs::read_to_string(&path).unwrap(), "0123456789");
        held.write_all(b"x").unwrap();
        cut_when_full(&path, 10);
        held.write_all(b"y").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "y");
    }
}
