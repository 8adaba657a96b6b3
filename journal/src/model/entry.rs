//! What a caller hands in (`Draft`) and what is read back (`Entry`).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Position, StreamId, Version};

/// One stored form: the schema version it was written in, and its bytes.
///
/// What the bytes mean follows from the stream's kind and the place of the body in the entry (command, facts,
/// verdict, event). The journal never looks inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// Counts the frozen forms of this kind and place, from 1.
    pub schema: u16,
    /// The encoded form; at most [`Draft::BODY_BYTES_MAX`].
    pub bytes: Vec<u8>,
}

/// What an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A command was decided: it can be decided again.
    Decision,
    /// Something about the node itself: a writer opened, an actor crashed or was quarantined.
    Note,
}

/// How a command was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// With events.
    Done,
    /// With a reason why nothing has to be done.
    Nothing,
    /// With a rejection.
    Refused,
}

impl Outcome {
    /// The stable text, the same as in serialised forms.
    pub fn code(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Nothing => "nothing",
            Self::Refused => "refused",
        }
    }
}

/// Names the policy revision that a decision was made under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRef {
    /// The policy entity's name: `default` is the stream `policy/default`.
    pub name: String,
    /// Its revision, from 1.
    pub revision: u64,
    /// First 16 bytes of the BLAKE3 hash of the revision's stored form.
    pub digest: [u8; 16],
}

/// One event that a decision rests on: without it the decision would have been another. Written `machine/web@12`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cite {
    pub stream: StreamId,
    /// The event's version in that stream, from 1.
    pub version: Version,
}

/// Says that a text cites nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cites nothing: expected kind/name@version")]
pub struct InvalidCite {
    /// The text, cut to 80 characters.
    pub text: String,
}

impl Cite {
    /// Cites one event of a stream.
    pub fn new(stream: StreamId, version: Version) -> Self {
        Self { stream, version }
    }
}

impl fmt::Display for Cite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.stream, self.version)
    }
}

impl FromStr for Cite {
    type Err = InvalidCite;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidCite { text: text.chars().take(80).collect() };
        let (stream, version) = text.split_once('@').ok_or_else(invalid)?;
        let number = version.parse::<u64>().ok().filter(|number| *number != 0 && number.to_string() == version);
        match (stream.parse(), number) {
            (Ok(stream), Some(number)) => Ok(Self { stream, version: Version(number) }),
            _ => Err(invalid()),
        }
    }
}

impl TryFrom<String> for Cite {
    type Error = InvalidCite;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Cite> for String {
    fn from(cite: Cite) -> Self {
        cite.to_string()
    }
}

/// Everything about a decision that a reader needs without opening its bodies, as the caller states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub kind: EntryKind,
    pub outcome: Outcome,
    /// The typed reason or rejection as a stable code, such as `worth-retrying`.
    pub code: String,
    /// Milliseconds since 1970-01-01T00:00:00Z. Never smaller than in an earlier entry; the journal refuses less.
    pub time_ms: u64,
    /// The same id again within [`crate::COMMAND_WINDOW_MS`] is refused with the first answer's position.
    pub command_id: Uuid,
    /// First 16 bytes of the BLAKE3 hash of the command's stored form: the same id with another hash is another command.
    pub command_hash: [u8; 16],
    /// The entry that led to this one; none for what came from outside.
    pub cause: Option<Position>,
    /// Who asked: `uid:0`, `agent:machine/0`, `provider:cloud`, `supervisor/machines`, `schedule`, `node`.
    pub principal: String,
    pub policy: Option<PolicyRef>,
    /// Where the view stood that the decision looked at.
    pub view: Option<Position>,
    /// What it rests on beside the command: not all that was looked at, but what it followed from. At most
    /// [`Draft::CITES_MAX`], sorted, each once.
    pub cites: Vec<Cite>,
}

/// One decision as a caller hands it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub stream: StreamId,
    /// The stream's version that the decision was based on; the append is refused if it is no longer that.
    pub expected: Version,
    pub meta: Meta,
    pub command: Body,
    pub facts: Body,
    pub verdict: Body,
    pub events: Vec<Body>,
}

impl Draft {
    /// The largest body, in bytes: what the decoder accepts (reliability: the decoder is bounded before it allocates).
    pub const BODY_BYTES_MAX: usize = 64 * 1024;
    /// The most events in one draft.
    pub const EVENTS_MAX: usize = 4096;
    /// The most events that one draft cites.
    pub const CITES_MAX: usize = 255;
    /// The most encoded bytes of all drafts of one append.
    pub const APPEND_BYTES_MAX: usize = 16 * 1024 * 1024;
}

/// The part of an entry that can be read without its bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub position: Position,
    pub stream: StreamId,
    /// The version of the first event; without events, the version that a next event would take.
    pub first_version: Version,
    /// How many events the entry has.
    pub events: u32,
    pub meta: Meta,
}

impl Header {
    /// The stream's version after this entry. A number in a hostile file may be any: what goes past the end stays there.
    pub fn last_version(&self) -> Version {
        Version(self.first_version.0.saturating_add(u64::from(self.events)).saturating_sub(1))
    }
}

/// One decision as it is read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub header: Header,
    pub command: Body,
    pub facts: Body,
    pub verdict: Body,
    pub events: Vec<Body>,
}

impl Entry {
    /// The events with their versions.
    pub fn versioned_events(&self) -> impl Iterator<Item = (Version, &Body)> {
        let first = self.header.first_version;
        self.events.iter().zip(0..).map(move |(event, index)| (first.plus(index), event))
    }
}
