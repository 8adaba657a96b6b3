//! Sockets whose path is too long for an address.

use std::{
    fs::File,
    io,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};

/// The longest path that a Unix socket address holds: 108 bytes with the closing zero.
const PATH_BYTES_MAX: usize = 107;

/// The file name of the node's socket in its data directory.
const SOCKET_NAME: &str = "node.sock";

/// A path to connect or bind to. Keep it until that is done: a long path is reached through an open directory.
#[derive(Debug)]
pub struct SocketPath {
    usable: PathBuf,
    _directory: Option<File>,
}

/// The address of the node's socket in its data directory, also where the path is longer than an address can be.
///
/// # Errors
/// If the path is long and the directory cannot be opened.
pub fn socket_address(data_dir: &Path) -> io::Result<SocketPath> {
    SocketPath::of(&data_dir.join(SOCKET_NAME))
}

impl SocketPath {
    /// The address of a socket at this path.
    pub fn of(real: &Path) -> io::Result<Self> {
        if real.as_os_str().as_bytes().len() <= PATH_BYTES_MAX {
            return Ok(Self { usable: real.to_owned(), _directory: None });
        }
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the socket path names no file"));
        };
        let directory = rustix::fs::open(parent, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let directory = File::from(directory);
        let usable = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name);
        Ok(Self { usable, _directory: Some(directory) })
    }

    /// What to hand to `bind` or `connect`, in this process and while this value lives.
    pub fn path(&self) -> &Path {
        &self.usable
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_short_path_is_used_as_it_is() {
        let address = socket_address(Path::new("/data")).unwrap();
        assert_eq!(address.path(), Path::new("/data/node.sock"));
    }

    #[test]
    fn a_long_path_can_be_bound_and_connected_to() {
        let scratch = tempfile::tempdir().unwrap();
        let long = scratch.path().join("d".repeat(100)).join("e".repeat(100));
        std::fs::create_dir_all(&long).unwrap();
        assert!(UnixListener::bind(long.join(SOCKET_NAME)).is_err(), "the plain path is too long");

        let address = socket_address(&long).unwrap();
        let _listener = UnixListener::bind(address.path()).unwrap();
        assert!(long.join(SOCKET_NAME).exists());
        UnixStream::connect(socket_address(&long).unwrap().path()).unwrap();
    }

    #[test]
    fn a_long_path_without_a_directory_is_not_found() {
        let missing = Path::new("/nowhere").join("d".repeat(120));
        assert_eq!(socket_address(&missing).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
