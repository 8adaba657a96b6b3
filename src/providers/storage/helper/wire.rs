//! What is asked of the storage helper and what it answers: one message each, as JSON, over a socket that keeps messages apart.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use bailiwick_actors::vocab::{FaultCode, SizeMib};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::providers::storage::{AbsPath, DeviceName, Tag};

/// All that the helper does. Whatever a request names is looked at again there: that it lies in the node's data directory
/// and belongs to the node's user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Verb {
    /// Prints which loop devices a file has. Whose `/dev` is his own does not see them.
    FindLoop {
        file: AbsPath,
    },
    /// Gives a file a loop device, and prints its path.
    AttachLoop {
        file: AbsPath,
        read_only: bool,
    },
    DetachLoop {
        device: DeviceName,
    },
    /// Binds a directory to another place.
    MountDirectory {
        directory: AbsPath,
        at: AbsPath,
        read_only: bool,
    },
    /// Mounts an empty filesystem in memory.
    MountMemory {
        tag: Tag,
        size: SizeMib,
        at: AbsPath,
        read_only: bool,
    },
    MountDevice {
        device: DeviceName,
        at: AbsPath,
        read_only: bool,
    },
    Unmount {
        at: AbsPath,
    },
    MakeExt4 {
        device: DeviceName,
    },
    /// Opens a device for reading and hands it over; `exclusive` fails if anything else has claimed the device.
    OpenDevice {
        device: DeviceName,
        exclusive: bool,
    },
    /// Says whether one more loop device can be had.
    RoomForLoop,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Told {
    /// It is done; what was printed, if anything was.
    Done { printed: String },
    /// No loop device is free, and why.
    NoRoom { why: String },
    /// It is not done, or nobody knows (a code of class unknown). `errno`: what the kernel said, where it was the kernel.
    Failed { code: FaultCode, why: String, errno: Option<i32> },
}

/// Two of the longest paths, escaped, with room for the rest.
const BYTES_MAX: usize = 32 * 1024;

/// Why a message was not understood.
#[derive(Debug, thiserror::Error)]
pub enum BadMessage {
    #[error("the other side has hung up")]
    Closed,
    #[error("a message is longer than {BYTES_MAX} bytes")]
    TooLong,
    #[error("a message does not make sense: {0}")]
    Garbled(#[from] serde_json::Error),
    #[error("cannot use the socket: {0}")]
    Io(io::Error),
}

// Not the error's source: it is told in one line with what was tried.
impl From<io::Error> for BadMessage {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Sends one message, with an open file if there is one to hand over.
pub fn send(socket: &impl AsFd, message: &impl Serialize, file: Option<BorrowedFd<'_>>) -> Result<(), BadMessage> {
    let bytes = serde_json::to_vec(message)?;
    if BYTES_MAX < bytes.len() {
        return Err(BadMessage::TooLong);
    }
    let files: Vec<BorrowedFd<'_>> = file.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        let has_room = control.push(SendAncillaryMessage::ScmRights(&files));
        assert!(has_room, "there is room for one file");
    }
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL).map_err(io::Error::from)?;
    Ok(())
}

/// Receives one message, with the open file that came along. Of several files only the first is kept.
pub fn receive<T: DeserializeOwned>(socket: &impl AsFd) -> Result<(T, Option<OwnedFd>), BadMessage> {
    let mut bytes = vec![0; BYTES_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC);
    let received = received.map_err(io::Error::from)?;
    let mut files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.next().and_then(|mut files| files.next());
    if received.flags.contains(ReturnFlags::TRUNC) {
        return Err(BadMessage::TooLong);
    }
    match &bytes[..received.bytes] {
        [] => Err(BadMessage::Closed),
        message => Ok((serde_json::from_slice(message)?, file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_verbs_of_the_list_with_checked_operands_are_understood() {
        let read = |text: &str| serde_json::from_str::<Verb>(text);
        let unmount = r#"{"unmount":{"at":"/var/lib/bailiwick/local/x"}}"#;
        assert!(matches!(read(unmount).unwrap(), Verb::Unmount { .. }));
        assert_eq!(serde_json::to_string(&read(unmount).unwrap()).unwrap(), unmount);
        assert_eq!(read(r#""room-for-loop""#).unwrap(), Verb::RoomForLoop);
        for wrong in [
            r#"{"run":{"program":"sh"}}"#,
            r#"{"unmount":{"at":"/a/../etc"}}"#,
            r#"{"unmount":{"at":"etc"}}"#,
            r#"{"unmount":{"at":"/a","lazy":true}}"#,
            r#"{"make-ext4":{"device":"../sda"}}"#,
            r#"{"mount-memory":{"tag":"-o","size":1,"at":"/a","read-only":false}}"#,
            r#"{"mount-memory":{"tag":"filesystem-0","size":-1,"at":"/a","read-only":false}}"#,
            r#"{"unmount":{"at":"/a"},"make-ext4":{"device":"loop0"}}"#,
            "[]",
            "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
