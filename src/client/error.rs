//! What can come of asking a node.

use std::path::PathBuf;

use crate::api::wire::problem::Problem;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("no node is running at {}", socket.display())]
    NotRunning { socket: PathBuf },
    /// Whoever listens there is neither this user nor root. Nothing was sent.
    #[error("the process that listens at {} belongs to user {user} and is not trusted", socket.display())]
    Stranger { socket: PathBuf, user: u32 },
    /// The node answered, with a refusal or a failure.
    #[error("{}: {}", problem.code, problem.message)]
    Refused { status: u16, problem: Problem },
    /// The connection, the request or the answer is not as it should be. Whether the node acted is unknown.
    #[error("{doing}")]
    Broken { doing: &'static str, source: Box<dyn std::error::Error + Send + Sync> },
    /// No answer in time. Whether the node acted is unknown.
    #[error("the node did not answer in time")]
    TimedOut,
}

impl ClientError {
    pub(super) fn broken(doing: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Broken { doing, source: source.into() }
    }
}
