//! What is asked, and what is answered.

use actix::Message;
use bailiwick_journal::{AppendError, Cite, Entry, Outcome, Position, StreamId, Version};
use uuid::Uuid;

use super::AnyCommand;

/// Where a command comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The same id again gets the first answer.
    pub id: Uuid,
    pub principal: String,
    /// The entry that led to this command; none for what comes from outside.
    pub cause: Option<Position>,
    /// What the command rests on, as its issuer cites it.
    pub cites: Vec<Cite>,
    /// Whether "nothing to do, for the same reason as before" is only counted instead of journaled.
    pub routine: bool,
    /// What has to be as the caller saw it; otherwise nothing is decided.
    pub expected: Option<Expected>,
}

/// An entity as somebody saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub stream: StreamId,
    pub version: Version,
}

impl Expected {
    /// Whether the entity is still as it was seen; now it has this version.
    pub(super) fn check(&self, now: Version) -> Result<(), AskError> {
        let Self { stream, version } = self;
        if now == *version { Ok(()) } else { Err(AskError::Changed { stream: stream.clone(), version: now }) }
    }
}

/// A command to one entity, by its stream.
#[derive(Debug, Message)]
#[rtype(result = "Result<Answer, AskError>")]
pub struct Ask {
    pub stream: StreamId,
    pub command: AnyCommand,
    pub origin: Origin,
}

/// Commands to several entities that happen together or not at all.
#[derive(Debug, Message)]
#[rtype(result = "Result<GroupAnswer, AskError>")]
pub struct AskGroup {
    /// Several may concern one stream; they are decided in this order.
    pub commands: Vec<(StreamId, AnyCommand)>,
    /// The id of the request as a whole; each command's own id follows from it and its place.
    pub origin: Origin,
    /// Hash of what was asked for, as the caller said it: the same id with another hash is another request.
    pub content: [u8; 16],
}

/// What would be answered to a group now. Nothing is recorded.
#[derive(Debug, Message)]
#[rtype(result = "Result<GroupAnswer, AskError>")]
pub struct RehearseGroup(pub AskGroup);

/// How a command was answered. A refusal is an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub stream: StreamId,
    /// Where the answer stands in the journal; none if it was only counted.
    pub position: Option<Position>,
    /// The stream's version after it.
    pub version: Version,
    pub outcome: Outcome,
    /// The stable code of the reason or rejection.
    pub code: String,
    /// The same in plain words.
    pub text: String,
    /// Whether this is the first answer to the same command id, told again.
    pub repeated: bool,
    /// Whether the entity now waits for nothing but commands and due times.
    pub idle: bool,
}

/// How a group was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAnswer {
    /// Whether it was done. If not, only the refusals were journaled.
    pub done: bool,
    /// One answer for each command, in order.
    pub answers: Vec<Answer>,
}

/// Why a command could not be answered. Only after `NotRecorded` with an unknown outcome may something have happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error("too many commands are waiting; try again in a moment")]
    Overloaded,
    #[error("the node is stopping")]
    Stopping,
    #[error("the decision could not be recorded")]
    NotRecorded(#[source] AppendError),
    #[error("the actor of {stream} crashed on this command; it was rebuilt from the journal")]
    Crashed { stream: StreamId },
    #[error("the actor of {stream} crashed too often and is out of service until the node restarts")]
    Quarantined { stream: StreamId },
    #[error("the history of {stream} cannot be read: {problem}")]
    Unreadable { stream: StreamId, problem: String },
    #[error("command id {id} was used before for another command")]
    CommandReused { id: Uuid },
    #[error("a command to {stream} cannot be stored: {problem}")]
    Unstorable { stream: StreamId, problem: String },
    #[error("{stream} takes no such command")]
    Misdirected { stream: StreamId },
    #[error("{stream} has changed meanwhile: it is at version {version} now")]
    Changed { stream: StreamId, version: Version },
    #[error("other requests kept changing the same objects; try again")]
    Contended,
}

impl Answer {
    /// The answer that an entry records.
    pub(crate) fn of(entry: &Entry, text: String, repeated: bool, idle: bool) -> Self {
        Self {
            stream: entry.header.stream.clone(),
            position: Some(entry.header.position),
            version: entry.header.last_version(),
            outcome: entry.header.meta.outcome,
            code: entry.header.meta.code.clone(),
            text,
            repeated,
            idle,
        }
    }
}
