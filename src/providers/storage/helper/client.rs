//! Asking the storage helper.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    time::Duration,
};

use bailiwick_actors::vocab::FaultCode;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with,
    sockopt::{Timeout, set_socket_timeout, socket_peercred},
};

use super::wire::{BadMessage, Told, Verb, receive, send};
use crate::providers::storage::DeviceName;

/// A process of root on this machine that does for a node what only root can do: it attaches loop devices, makes
/// filesystems on them, and mounts. `bailiwick storage-helper` runs one.
#[derive(Clone, Debug)]
pub struct StorageHelper {
    socket: PathBuf,
}

/// Why the helper did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// Nothing was asked.
    #[error("the storage helper at {} cannot be asked: {error}", socket.display())]
    Away { socket: PathBuf, error: io::Error },
    #[error("the storage helper at {} is not root's, but user {user}'s", socket.display())]
    NotRoot { socket: PathBuf, user: u32 },
    /// It was asked, and what it has done is unknown.
    #[error("the storage helper has not answered; what it has done is unknown")]
    NoAnswer(#[source] BadMessage),
    #[error("no loop device is free: {why}")]
    NoRoom { why: String },
    #[error("the storage helper: {why}")]
    Failed { code: FaultCode, why: String, errno: Option<i32> },
}

impl HelperError {
    /// The code that decides what comes next.
    pub fn code(&self) -> FaultCode {
        match self {
            Self::Away { .. } => FaultCode::Unavailable,
            Self::NotRoot { .. } => FaultCode::PermissionDenied,
            Self::NoAnswer(_) => FaultCode::Unknown,
            Self::NoRoom { .. } => FaultCode::ResourceExhausted,
            Self::Failed { code, .. } => *code,
        }
    }

    /// Whether a program that was started may still be running.
    pub fn may_still_run(&self) -> bool {
        matches!(self, Self::NoAnswer(_) | Self::Failed { code: FaultCode::DeadlineExceeded, .. })
    }
}

/// What the kernel told the helper is told as if it had told us.
impl From<HelperError> for io::Error {
    fn from(error: HelperError) -> Self {
        match error {
            HelperError::Failed { errno: Some(errno), .. } => Self::from_raw_os_error(errno),
            HelperError::Away { error: ref cause, .. } => Self::new(cause.kind(), error),
            other => Self::other(other),
        }
    }
}

/// Longer than what the helper gives a program, and the time to end one that took too long.
const PATIENCE: Duration = Duration::from_secs(75);

impl StorageHelper {
    /// The helper that listens on this socket.
    pub fn at(socket: &Path) -> Self {
        Self { socket: socket.to_owned() }
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Has it do one thing; the answer is what was printed. Whoever holds `turn` open keeps others from the same thing, and so
    /// does the helper until it is done. Blocks.
    ///
    /// # Errors
    /// If it is not done, or nobody knows.
    pub fn ask(&self, verb: &Verb, turn: Option<BorrowedFd<'_>>) -> Result<String, HelperError> {
        self.exchange(verb, turn).map(|(printed, _)| printed)
    }

    /// Finds out whether it answers. Blocks.
    ///
    /// # Errors
    /// If it does not.
    pub fn reach(&self) -> Result<(), HelperError> {
        match self.ask(&Verb::RoomForLoop, None) {
            Ok(_) | Err(HelperError::NoRoom { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens a device for reading. Blocks.
    ///
    /// # Errors
    /// If it cannot be opened, or is none of the node's.
    pub fn open(&self, device: &DeviceName, exclusive: bool) -> io::Result<File> {
        let verb = Verb::OpenDevice { device: device.clone(), exclusive };
        let (_, file) = self.exchange(&verb, None)?;
        file.map(File::from).ok_or_else(|| io::Error::other("the storage helper has handed over no file"))
    }

    fn exchange(&self, verb: &Verb, turn: Option<BorrowedFd<'_>>) -> Result<(String, Option<OwnedFd>), HelperError> {
        let away = |error| HelperError::Away { socket: self.socket.clone(), error };
        let socket = self.connect().map_err(away)?;
        // Who may put a socket in its place could otherwise be told where everything lies, and hand over what he likes.
        let user = socket_peercred(&socket).map_err(|errno| away(errno.into()))?.uid.as_raw();
        if user != 0 {
            return Err(HelperError::NotRoot { socket: self.socket.clone(), user });
        }
        send(&socket, verb, turn).map_err(|error| away(io::Error::other(error)))?;
        let (told, file) = receive(&socket).map_err(HelperError::NoAnswer)?;
        match told {
            Told::Done { printed } => Ok((printed, file)),
            Told::NoRoom { why } => Err(HelperError::NoRoom { why }),
            Told::Failed { code, why, errno } => Err(HelperError::Failed { code, why, errno }),
        }
    }

    fn connect(&self) -> io::Result<OwnedFd> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
        connect(socket.as_fd(), &SocketAddrUnix::new(&self.socket)?)?;
        Ok(socket)
    }
}
