//! The entity: one stream per document, one event per revision. All kinds of documents have this one frame.

use std::collections::BTreeSet;

use bailiwick_journal::{Body, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Content, Kind,
    check::{check, without_secrets},
};
use crate::{
    contract::{
        Code, Decider, Decision, Facts, NoEffect, NoView, Stored, StoredError, Touches, Verdict, is_news, reasons,
        stored_digest,
    },
    vocab::{Fact, Life, Uid},
};

/// As many users are named when a removal is refused; the others are counted.
pub const USERS_NAMED_MAX: usize = 8;

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// Counts the revisions, from 1, also over removals; 0 before the first.
    pub revision: u64,
    /// What it says, or said last; in the newest form.
    pub content: Option<Content>,
    /// The hash of its stored form.
    pub digest: [u8; 16],
}

/// A command to a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall say this.
    Declare(Box<Content>),
    /// It shall go. The sender says who uses it, as far as is known: then it stays.
    Remove { kind: Kind, used_by: Users },
}

/// Those that use a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    /// The first of them, at most [`USERS_NAMED_MAX`].
    pub named: Vec<StreamId>,
    /// How many there are beside.
    pub others: u32,
}

/// What happened to a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        content: Box<Content>,
    },
    Revised {
        content: Box<Content>,
    },
    Removed,
}

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was not declared before";
        Differs = "differs", "its declaration changed";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        RemovalAsked = "removal-asked", "its removal was requested and nothing uses it";
        AlreadyGone = "already-gone", "there is nothing to remove";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such document")]
    NotDeclared,
    #[error("it is used by {users}; remove them first, or change them to use something else")]
    InUse { users: Users },
    #[error("it is larger than {most} bytes, the limit of a document")]
    TooLarge { most: u64 },
    #[error("it is invalid: {problem}")]
    BadContent { problem: String },
    #[error("its content is of another kind: {kind}")]
    OtherKind { kind: Kind },
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::InUse { .. } => "in-use",
            Self::TooLarge { .. } => "too-large",
            Self::BadContent { .. } => "bad-content",
            Self::OtherKind { .. } => "other-kind",
        }
    }
}

impl Users {
    /// Names the first of them, and counts the others.
    pub fn of(all: impl IntoIterator<Item = StreamId>) -> Self {
        let mut all: Vec<StreamId> = all.into_iter().collect();
        let others = all.split_off(all.len().min(USERS_NAMED_MAX)).len();
        Self { named: all, others: u32::try_from(others).unwrap_or(u32::MAX) }
    }
}

impl std::fmt::Display for Users {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named: Vec<&str> = self.named.iter().map(StreamId::as_str).collect();
        f.write_str(&named.join(", "))?;
        if self.others > 0 { write!(f, " and {} more", self.others) } else { Ok(()) }
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;

    /// Whatever is asked is journaled, also where it is refused: a secret is not.
    fn store(&self) -> Result<Body, StoredError> {
        let hidden = match self {
            Self::Declare(content) => without_secrets(content),
            Self::Remove { .. } => None,
        };
        let hidden = hidden.map(|content| Self::Declare(Box::new(content)));
        Ok(bailiwick_journal::encode(Self::SCHEMA, hidden.as_ref().unwrap_or(self))?)
    }
}
impl Stored for Event {
    const SCHEMA: u16 = 1;
}
impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
impl Stored for Content {
    const SCHEMA: u16 = 1;
}

impl Command {
    /// The kind of document that it is for.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Declare(content) => content.kind(),
            Self::Remove { kind, .. } => *kind,
        }
    }
}

impl State {
    /// What it says; none if it does not exist.
    pub fn in_force(&self) -> Option<&Content> {
        self.content.as_ref().filter(|_| self.life.exists())
    }

    /// Its uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// One word for people.
    pub fn status(&self) -> String {
        match self.life {
            Life::Removed => "removed".into(),
            Life::Undeclared => "undeclared".into(),
            Life::Alive | Life::Dying | Life::Dead => format!("revision {}", self.revision),
        }
    }
}

impl Decider for State {
    /// The name of the frame: the streams are of the kinds of [`Kind`].
    const KIND: &'static str = "document";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = NoEffect;
    type View = NoView;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        let kind = command.kind();
        if facts.stream.kind() != kind.as_str() {
            return Err(Rejection::OtherKind { kind });
        }
        match command {
            Command::Declare(content) => declare(self, content),
            Command::Remove { used_by, .. } => remove(self, used_by),
        }
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        match event {
            Event::Declared { content } => {
                (self.life, self.declared_at) = (Life::Alive, at);
                self.revise(content);
            }
            Event::Revised { content } => self.revise(content),
            Event::Removed => self.life = Life::Removed,
        }
    }

    fn touches(event: &Event) -> Touches {
        match event {
            Event::Declared { .. } => Touches::All,
            Event::Revised { .. } => Touches::Some(&[Fact::Spec]),
            Event::Removed => Touches::Some(&[Fact::Life]),
        }
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<NoEffect> {
        BTreeSet::new()
    }
}

impl State {
    fn revise(&mut self, content: &Content) {
        self.revision += 1;
        self.digest = stored_digest(content);
        self.content = Some(content.clone());
    }
}

fn declare(state: &State, content: &Content) -> Verdict<State> {
    if !is_news(state.in_force(), content) {
        return Ok(Decision::nothing(Reason::AlreadyAsDeclared));
    }
    check(content)?;
    let content = Box::new(content.clone());
    Ok(match state.life.exists() {
        false => Decision::because(Reason::NewlyDeclared, [Event::Declared { content }]),
        true => Decision::because(Reason::Differs, [Event::Revised { content }]),
    })
}

fn remove(state: &State, used_by: &Users) -> Verdict<State> {
    match state.life {
        Life::Undeclared => Err(Rejection::NotDeclared),
        Life::Removed => Ok(Decision::nothing(Reason::AlreadyGone)),
        _ if !used_by.named.is_empty() => Err(Rejection::InUse { users: used_by.clone() }),
        _ => Ok(Decision::because(Reason::RemovalAsked, [Event::Removed])),
    }
}
