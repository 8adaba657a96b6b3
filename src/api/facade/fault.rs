//! Errors as clients are told of them: the messages and codes of Juju's API server, word for word, because clients compare them.

use bailiwick_actors::shell::AskError;
use bailiwick_journal::ReadError;
use serde::Serialize;

use crate::juju::MachineId;

/// An error, of a call or of one item of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Fault {
    pub(super) message: String,
    /// Empty where there is none.
    pub(super) code: &'static str,
}

pub(super) const UNAUTHORIZED: &str = "unauthorized access";
pub(super) const NOT_FOUND: &str = "not found";
pub(super) const NOT_PROVISIONED: &str = "not provisioned";
pub(super) const NOT_IMPLEMENTED: &str = "not implemented";
pub(super) const NOT_SUPPORTED: &str = "not supported";
pub(super) const TRY_AGAIN: &str = "try again";
pub(super) const BAD_REQUEST: &str = "bad request";

impl Fault {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { message: message.into(), code }
    }

    /// Without a code.
    pub(super) fn plain(message: impl Into<String>) -> Self {
        Self::new("", message)
    }

    pub(super) fn denied() -> Self {
        Self::new(UNAUTHORIZED, "permission denied")
    }

    pub(super) fn no_tag(text: &str) -> Self {
        Self::plain(format!("{text:?} is not a valid tag"))
    }

    pub(super) fn no_machine_tag(text: &str) -> Self {
        Self::plain(format!("{text:?} is not a valid machine tag"))
    }

    pub(super) fn no_machine(id: &MachineId) -> Self {
        Self::new(NOT_FOUND, format!("machine {id} not found"))
    }

    pub(super) fn not_provisioned(id: &MachineId) -> Self {
        Self::new(NOT_PROVISIONED, format!("machine {id} not provisioned"))
    }

    /// The node itself cannot answer.
    pub(super) fn node(problem: &dyn std::error::Error) -> Self {
        tracing::warn!(%problem, "a client of the facade could not be answered");
        Self::plain("the node cannot answer; its log says why")
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        Self::node(&error)
    }
}

impl From<AskError> for Fault {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Overloaded | AskError::Contended => Self::new(TRY_AGAIN, error.to_string()),
            AskError::Stopping => Self::new(TRY_AGAIN, "the node is stopping"),
            other => Self::node(&other),
        }
    }
}
