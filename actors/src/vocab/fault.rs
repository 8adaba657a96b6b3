//! What went wrong in the outside world.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The standard codes that machine providers answer with.
///
/// Source: the status codes of the machine-class driver interface that Gardener's providers use, which are gRPC's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FaultCode {
    Canceled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
    Uninitialized,
}

/// What a fault means for the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultClass {
    /// Trying the same again may help.
    Transient,
    /// Trying the same again cannot help, if it is true: somebody has to change what is asked for. A provider may be wrong
    /// once, so only the same answer several times in a row is believed.
    Permanent,
    /// We do not know whether it happened: ask by id before trying again.
    Unknown,
}

impl FaultCode {
    /// All codes, in order.
    pub const ALL: [Self; 17] = [
        Self::Canceled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
        Self::Uninitialized,
    ];

    /// The stable text: `resource-exhausted`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::Unknown => "unknown",
            Self::InvalidArgument => "invalid-argument",
            Self::DeadlineExceeded => "deadline-exceeded",
            Self::NotFound => "not-found",
            Self::AlreadyExists => "already-exists",
            Self::PermissionDenied => "permission-denied",
            Self::ResourceExhausted => "resource-exhausted",
            Self::FailedPrecondition => "failed-precondition",
            Self::Aborted => "aborted",
            Self::OutOfRange => "out-of-range",
            Self::Unimplemented => "unimplemented",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::DataLoss => "data-loss",
            Self::Unauthenticated => "unauthenticated",
            Self::Uninitialized => "uninitialized",
        }
    }

    /// What it means for the next step.
    ///
    /// A call that was cancelled, timed out or broke off may have happened; a wrong request stays wrong; the rest may pass.
    pub fn class(self) -> FaultClass {
        match self {
            Self::Canceled | Self::Unknown | Self::DeadlineExceeded | Self::Aborted => FaultClass::Unknown,
            Self::InvalidArgument | Self::OutOfRange | Self::Unimplemented | Self::PermissionDenied => {
                FaultClass::Permanent
            }
            Self::NotFound
            | Self::AlreadyExists
            | Self::ResourceExhausted
            | Self::FailedPrecondition
            | Self::Internal
            | Self::Unavailable
            | Self::DataLoss
            | Self::Unauthenticated
            | Self::Uninitialized => FaultClass::Transient,
        }
    }
}

impl FaultCode {
    /// Whether a provider that answers with this code says that it refused before it began: nothing was made, and nothing
    /// has to be undone. Every other failure may leave something behind, and what was intended is undone by its id.
    pub fn leaves_nothing(self) -> bool {
        matches!(self, Self::InvalidArgument | Self::Unimplemented | Self::FailedPrecondition | Self::Unauthenticated)
    }
}

/// Says that a text is no fault code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such fault code")]
pub struct InvalidFaultCode;

impl FromStr for FaultCode {
    type Err = InvalidFaultCode;

    /// Reads the stable text: `resource-exhausted`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|code| code.as_str() == text).ok_or(InvalidFaultCode)
    }
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure of a provider call: the code decides, the text is for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{code}: {text}")]
pub struct Fault {
    pub code: FaultCode,
    /// For people; control characters escaped, at most [`Fault::TEXT_BYTES_MAX`] bytes. Never holds a secret.
    pub text: String,
}

impl Fault {
    /// The longest text, in bytes.
    pub const TEXT_BYTES_MAX: usize = 1024;

    /// A fault with its text made harmless: control and direction-changing characters are escaped, long text is cut.
    pub fn new(code: FaultCode, text: impl AsRef<str>) -> Self {
        let mut harmless = String::new();
        for letter in text.as_ref().chars() {
            let hostile = letter.is_control()
                || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            let piece: String = if hostile { letter.escape_default().collect() } else { letter.to_string() };
            if harmless.len() + piece.len() > Self::TEXT_BYTES_MAX {
                break;
            }
            harmless.push_str(&piece);
        }
        Self { code, text: harmless }
    }
}
