//! What the operating system says, in the provider's codes.

use std::io;

use bailiwick_actors::vocab::{Fault, FaultCode};
use rustix::io::Errno;

/// Says what was being done when it failed.
pub trait OrFault<T> {
    /// The value, or a fault that reads "cannot `doing`: why".
    fn or_fault(self, doing: &str) -> Result<T, Fault>;
}

impl<T> OrFault<T> for io::Result<T> {
    fn or_fault(self, doing: &str) -> Result<T, Fault> {
        self.map_err(|error| Fault::new(code_of(&error), format!("cannot {doing}: {error}")))
    }
}

/// A refusal that the state of things causes.
pub fn failed_precondition<T>(text: impl AsRef<str>) -> Result<T, Fault> {
    Err(Fault::new(FaultCode::FailedPrecondition, text))
}

/// The code of an error of the operating system.
pub fn code_of(error: &io::Error) -> FaultCode {
    use io::ErrorKind as Kind;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        // No more processes, files or memory: passes when others end.
        Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE) => return FaultCode::ResourceExhausted,
        Some(Errno::OVERFLOW) => return FaultCode::OutOfRange,
        _ => (),
    }
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded | Kind::OutOfMemory => FaultCode::ResourceExhausted,
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => FaultCode::PermissionDenied,
        Kind::TimedOut => FaultCode::DeadlineExceeded,
        Kind::NotFound => FaultCode::NotFound,
        Kind::AlreadyExists => FaultCode::AlreadyExists,
        Kind::FileTooLarge => FaultCode::OutOfRange,
        Kind::InvalidInput | Kind::InvalidFilename => FaultCode::InvalidArgument,
        Kind::InvalidData | Kind::UnexpectedEof => FaultCode::DataLoss,
        Kind::Interrupted => FaultCode::Aborted,
        Kind::Unsupported => FaultCode::Unimplemented,
        Kind::ResourceBusy | Kind::WouldBlock => FaultCode::Unavailable,
        _ => FaultCode::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_codes() {
        let codes = [Errno::NOSPC, Errno::DQUOT, Errno::ACCESS, Errno::ROFS, Errno::AGAIN, Errno::FBIG, Errno::IO]
            .map(|errno| code_of(&io::Error::from(errno)).as_str());
        assert_eq!(
            codes,
            [
                "resource-exhausted",
                "resource-exhausted",
                "permission-denied",
                "permission-denied",
                "resource-exhausted",
                "out-of-range",
                "internal"
            ]
        );
    }
}
