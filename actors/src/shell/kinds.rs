//! The kinds that the registry can start, and what their effects mean as work.

use std::{any::Any, fmt};

use bailiwick_journal::{Body, Intake, StreamId, Version};
use uuid::Uuid;

use super::{Call, Services};
use crate::{
    contract::{Decider, Entity, NoEffect, NoView, Stored, StoredError},
    document, policy,
    vocab::{EffectId, Timestamp},
};

/// A kind of entity, as the shell needs it.
pub trait Kind: Decider<View = NoView, Command: Asked<State = Self>> + Unpin {
    /// What an effect means as work.
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Self::Effect) -> Work;

    /// The command that says that something is due; none for a kind that never waits.
    fn wake(_due: Timestamp) -> Option<Self::Command> {
        None
    }

    /// Whether it is ever owed anything by the world, or waits for a time.
    const OWES: bool = true;

    /// Whether a command reports how running work went.
    fn is_report(_command: &Self::Command) -> bool {
        false
    }

    /// When a command may be recorded although the disk is nearly full. The last of it is for what running work reports, for
    /// the operator who stops things or lets them go, and for all that this takes: what is leaving goes on until it is gone,
    /// and what it leaves lets go of it.
    fn urgency(command: &Self::Command) -> Urgency {
        if Self::is_report(command) { Urgency::Always } else { Urgency::WhileLeaving }
    }

    /// The intent that storage was made for, and the id that it was made under; none if none was.
    fn made(&self) -> Option<(Version, EffectId)> {
        None
    }

    /// Whether another journal made it: the one that this one was imported from as new.
    fn is_taken_over(&self, journal: Uuid, stream: &StreamId) -> bool {
        self.made().is_some_and(|(intent, made)| made != EffectId::of(journal, stream, intent))
    }

    /// Whether it was removed and has not gone yet: what it still has to do gives something back, so it goes on while the
    /// disk is nearly full.
    fn is_leaving(&self) -> bool {
        false
    }

    /// Called after every recorded step.
    fn stepped(_entity: &Entity<Self>, _services: &Services) {}
}

/// Work that the shell can do.
#[derive(Clone, Debug)]
pub enum Work {
    /// Say when it is time.
    WakeAt(Timestamp),
    /// Call a provider.
    Call(Box<Call>),
}

/// When a command may be recorded although the disk is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    Always,
    /// If the entity was removed and has not gone yet.
    WhileLeaving,
    Never,
}

impl Urgency {
    /// How an entity's command is put to the journal.
    pub fn intake(self, is_leaving: bool) -> Intake {
        match self {
            Self::Always => Intake::Report,
            Self::WhileLeaving if is_leaving => Intake::Report,
            Self::WhileLeaving | Self::Never => Intake::Ordinary,
        }
    }
}

/// A command of one kind of entity.
pub trait Asked: Stored + Eq + Sync {
    /// What takes it.
    type State: Kind<Command = Self>;

    /// The kind of stream that takes it.
    fn kind(&self) -> &'static str {
        Self::State::KIND
    }
}

/// A command to any kind of entity: made of one with `from`, and taken back as one with
/// [`AnyCommand::take`].
pub struct AnyCommand(Box<dyn Erased>);

/// What is the same whatever kind a command is of.
trait Erased: Any + fmt::Debug + Send + Sync {
    fn kind(&self) -> &'static str;
    fn store(&self) -> Result<Body, StoredError>;
    fn is_report(&self) -> bool;
    fn copy(&self) -> Box<dyn Erased>;
    fn is(&self, other: &dyn Any) -> bool;
}

impl<C: Asked> Erased for C {
    fn kind(&self) -> &'static str {
        Asked::kind(self)
    }

    fn store(&self) -> Result<Body, StoredError> {
        Stored::store(self)
    }

    fn is_report(&self) -> bool {
        C::State::is_report(self)
    }

    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

impl AnyCommand {
    /// The kind of stream that takes it.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// As [`AnyCommand::take`], by reference.
    #[cfg(feature = "testing")]
    pub fn get<C: Asked>(&self) -> Option<&C> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }

    /// The command, if it is one of this kind.
    pub fn take<C: Asked>(self) -> Option<C> {
        let any: Box<dyn Any> = self.0;
        any.downcast().ok().map(|command| *command)
    }

    /// As the journal holds it.
    ///
    /// # Errors
    /// If it is larger than a body may be.
    pub fn store(&self) -> Result<Body, StoredError> {
        self.0.store()
    }

    /// A command to an entity of this kind, as the journal holds it; none of a kind that this release does not know.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn load(kind: &str, body: &Body) -> Result<Option<Self>, StoredError> {
        super::table::kind(kind).map(|known| (known.load)(body)).transpose()
    }

    /// Whether it reports how running work went.
    pub fn is_report(&self) -> bool {
        self.0.is_report()
    }
}

impl<C: Asked> From<C> for AnyCommand {
    fn from(command: C) -> Self {
        Self(Box::new(command))
    }
}

impl Clone for AnyCommand {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl fmt::Debug for AnyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for AnyCommand {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&*other.0)
    }
}

impl Eq for AnyCommand {}

impl Asked for document::Command {
    type State = document::State;

    fn kind(&self) -> &'static str {
        Self::kind(self).as_str()
    }
}

impl Asked for policy::Command {
    type State = policy::State;
}

impl Kind for document::State {
    const OWES: bool = false;

    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }
}

impl Kind for policy::State {
    const OWES: bool = false;

    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn stepped(entity: &Entity<Self>, services: &Services) {
        if entity.stream().name() == policy::default_name().as_str() {
            services.set_policy(entity.state().in_force(entity.stream()));
        }
    }
}
