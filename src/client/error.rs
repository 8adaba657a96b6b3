//! What can come of asking a node.

use std::{io, path::PathBuf};

use tokio_rustls::rustls;

use super::{trust::Distrust, url::Whereabouts};
use crate::api::wire::problem::Problem;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("no node is running at {}", socket.display())]
    NotRunning { socket: PathBuf },
    /// The listener there is neither this user nor root. Nothing was sent.
    #[error("the process that listens at {} belongs to user {user} and is not trusted", socket.display())]
    Stranger { socket: PathBuf, user: u32 },
    /// Nobody answers there: refused, no route, no such name, or silent. Nothing was sent.
    #[error("cannot reach the node at {node}")]
    Unreachable { node: Whereabouts, source: io::Error },
    /// The server there has not proven to be the node. Nothing was sent.
    #[error("the node at {node} is not trusted: {why}")]
    Untrusted { node: Whereabouts, why: Distrust },
    /// The server there does not speak TLS 1.3. Nothing was sent.
    #[error("no TLS 1.3 is spoken at {node}")]
    OtherProtocol { node: Whereabouts, source: Box<rustls::Error> },
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
