//! What the kernel says of a device, value by value.

use std::{fs, io, path::PathBuf};

use rustix::io::Errno;

use super::{
    DeviceName,
    error::{Doing, StorageError},
};

/// One value of the kernel, without its line's end; none if it has none.
pub(super) fn attribute(path: &PathBuf) -> Result<Option<String>, StorageError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim_end_matches('\n').trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // Some attributes are there and say "not for this device".
        Err(error)
            if matches!(Errno::from_io_error(&error), Some(Errno::NODEV | Errno::INVAL | Errno::NXIO | Errno::IO)) =>
        {
            Ok(None)
        }
        Err(error) => Err(error).doing("ask the kernel"),
    }
}

pub(super) fn block_class(device: &DeviceName) -> PathBuf {
    PathBuf::from("/sys/class/block").join(device.as_str())
}
