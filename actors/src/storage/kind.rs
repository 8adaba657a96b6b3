//! What volumes and filesystems differ in.

use std::fmt;

use bailiwick_journal::{Body, StreamId, Version};

use super::{Declaration, Event, Reason, Rejection, State};
use crate::{
    contract::{Facts, Invariant, Part, Renumbered, StoredError, Touches, Verdict},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{EffectId, Fault, InstanceId, Name, SizeMib, SkippedStorage, Timestamp},
};

/// What providers make and keep: volumes, or filesystems.
pub trait Provisioned: Copy + fmt::Debug + Default + Eq + Send + Sync + Unpin + 'static {
    /// The kind of its streams.
    const KIND: &'static str;
    /// How the first stored form is read.
    const FIRST_FORM: FirstForm<Self>;

    /// What can be declared. None of it can change while it lives.
    type Spec: Part;
    /// What can be declared beside that, and where it comes from.
    type Wanted: Part + Default;
    /// What a machine of a set asks for.
    type Claim: Part;
    /// Where, or on what, it is made.
    type Base: Part;
    /// What its provider made.
    type Made: Part;
    /// What is true of this kind only.
    type Own: Part + Default;
    /// What happens to this kind only.
    type OwnEvent: Part;
    /// What only this kind can be asked.
    type OwnCommand: Part;
    /// What the world reports of this kind only.
    type OwnReport: Part;

    /// Claims about its states, beside those about all storage.
    const CLAIMS: [Invariant<State<Self>>; 2];

    /// What follows a first declaration.
    fn begin(declaration: &Declaration<Self>, now: Timestamp) -> Begun<Self>;

    /// The fields in which a declaration differs from the present one, beside its pool and its owner.
    fn differences(state: &State<Self>, declaration: &Declaration<Self>) -> Vec<&'static str>;

    /// A field that was declared in another way than by a declaration alone, and that one without it does away with.
    fn declared_beside(_state: &State<Self>) -> Option<&'static str> {
        None
    }

    /// What a machine of a set asks for.
    fn claimed(claim: &Self::Claim) -> Claimed<'_, Self>;

    /// What its provider says that it made.
    fn made(made: &Self::Made) -> Made<'_>;

    /// At least this large it has to be; none if it is as large as what it is made on.
    fn size_min(spec: &Self::Spec) -> Option<SizeMib>;

    /// Whether, and why not, it can be attached to this machine beside those that it is attached to.
    fn has_room(state: &State<Self>, machine: &Name) -> Result<(), Rejection>;

    /// What has to be removed before this one can be.
    fn holds(_state: &State<Self>) -> Option<&Name> {
        None
    }

    /// Whether a provider has to be asked before it is gone; else it goes with what it is made on.
    fn needs_undoing(state: &State<Self>) -> bool;

    /// Whether it is gone although its provider could not be asked, and why.
    fn is_gone_all_the_same(_state: &State<Self>, _fault: &Fault) -> Option<Reason> {
        None
    }

    /// Since when its provider has not shown it; none while it does.
    fn lost_since(_state: &State<Self>) -> Option<Timestamp> {
        None
    }

    /// Whether a command of this kind only asks for its removal.
    fn removes(_command: &Self::OwnCommand) -> bool {
        false
    }

    /// Whether a command of this kind only is recorded even though the disk is nearly full: something can go by it.
    fn lets_go(command: &Self::OwnCommand) -> bool {
        Self::removes(command)
    }

    /// What comes of a command of this kind only.
    fn decide(state: &State<Self>, command: &Self::OwnCommand, facts: &Facts<'_, State<Self>>) -> Verdict<State<Self>>;

    /// What comes of a report of this kind only.
    fn report(state: &State<Self>, report: &Self::OwnReport, facts: &Facts<'_, State<Self>>) -> Verdict<State<Self>>;

    /// What an event of this kind only changes.
    fn evolve(state: &mut State<Self>, at: Version, event: &Self::OwnEvent);

    /// The sides that such an event changes.
    fn touches(event: &Self::OwnEvent) -> Touches;

    /// What of its own outlives a new declaration.
    fn kept_when_declared(_own: Self::Own) -> Self::Own {
        Self::Own::default()
    }

    /// What else a step of its life changes.
    fn stepped(state: &mut State<Self>, step: Step<'_, Self>);
}

/// A step that all storage takes, and that changes more of some.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a, K: Provisioned> {
    /// A provider is asked for it.
    Requested {
        base: &'a K::Base,
    },
    Created,
    /// A provider is asked to undo it.
    Undoing,
    /// A machine has let go of it.
    Released,
    Skipped(&'a SkippedStorage),
    /// It goes for good; what is kept of it is still there.
    Removed,
}

/// How the first stored form is read.
#[derive(Clone, Copy, Debug)]
pub struct FirstForm<K: Provisioned> {
    pub commands: Renumbered,
    pub events: Renumbered,
    /// None if reasons and rejections have kept their numbers.
    pub verdicts: Option<Renumbered>,
    /// Reads a declaration, which had several forms; none for other events.
    pub declaration: fn(&Body) -> Result<Option<Declaration<K>>, StoredError>,
}

/// What follows a first declaration, and why.
#[derive(Clone, Debug)]
pub struct Begun<K: Provisioned> {
    pub reason: Reason,
    /// After `Declared`.
    pub events: Vec<Event<K>>,
}

/// What a machine of a set asks for.
#[derive(Clone, Debug)]
pub struct Claimed<'a, K: Provisioned> {
    pub spec: &'a K::Spec,
    pub pool: Option<&'a FromPool>,
    pub by: &'a ClaimedBy,
    pub owner: Option<&'a StreamId>,
    /// What follows before its attachment is reserved, and after that.
    pub around: [Vec<Event<K>>; 2],
}

/// What a provider says that it made.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    pub effect: EffectId,
    pub id: &'a InstanceId,
    pub size: SizeMib,
}
