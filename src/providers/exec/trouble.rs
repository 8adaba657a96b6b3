//! Why a process does not serve, and what that means for its calls.

use std::{fmt, time::Duration};

use bailiwick_actors::vocab::{Fault, FaultCode};

use super::wire::{BadLine, Nature};

/// Why a process does not serve. Nothing that it wrote stands in the texts: it may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    CannotStart(String),
    /// It did not answer the first line in time.
    NoHello,
    /// It answered the first line with a fault, or with something that makes no sense.
    BadHello(String),
    Ended(String),
    BadLine(BadLine, usize),
    LongLine(usize),
    /// It answered a call that was never made.
    UnknownCall(u64),
    AnsweredTwice(u64),
    Flood(u32),
    Silent(u64),
    /// It answers others, and has forgotten one.
    Overdue(u64),
    /// The node ends it.
    Stopped,
}

impl Trouble {
    /// What becomes of a call that was under way.
    pub fn under_way(&self, nature: Nature) -> Fault {
        match nature {
            Nature::Changes => Fault::new(FaultCode::Aborted, format!("{self}; the call may have taken effect")),
            Nature::Asks => Fault::new(FaultCode::Unknown, self.to_string()),
            Nature::Lists => Fault::new(FaultCode::Unavailable, self.to_string()),
        }
    }

    /// What becomes of a call that was never passed on.
    pub fn not_begun(&self, nature: Nature) -> Fault {
        match nature {
            Nature::Changes | Nature::Lists => Fault::new(FaultCode::Unavailable, self.to_string()),
            Nature::Asks => Fault::new(FaultCode::Unknown, self.to_string()),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotStart(why) => write!(f, "the provider's program cannot be started: {why}"),
            Self::NoHello => f.write_str("the provider did not answer the first line in time"),
            Self::BadHello(why) => write!(f, "the provider does not speak this protocol: {why}"),
            Self::Ended(how) => write!(f, "the provider's process ended ({how})"),
            Self::BadLine(BadLine::NotJson { column }, bytes) => {
                write!(f, "the provider wrote a line of {bytes} bytes that is not a JSON object (at column {column})")
            }
            Self::BadLine(BadLine::NoAnswer, bytes) => {
                write!(f, "the provider wrote a line of {bytes} bytes that is neither an answer nor progress")
            }
            Self::LongLine(max) => write!(f, "the provider wrote a line of more than {max} bytes"),
            Self::UnknownCall(id) => write!(f, "the provider answered call {id}, which was never made"),
            Self::AnsweredTwice(id) => write!(f, "the provider answered call {id} twice"),
            Self::Flood(max) => write!(f, "the provider wrote more than {max} lines in a second that answer nothing"),
            Self::Silent(ms) => {
                write!(f, "the provider owed an answer and wrote nothing for {:?}", Duration::from_millis(*ms))
            }
            Self::Overdue(ms) => write!(f, "the provider has not answered a call for {:?}", Duration::from_millis(*ms)),
            Self::Stopped => f.write_str("the provider is being stopped"),
        }
    }
}
