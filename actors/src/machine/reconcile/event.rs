//! What happened to a machine.

use serde::{Deserialize, Serialize};

use super::{CallError, Import, RemovalStep, Scope, Seen, Step, state::PassEnd};
use crate::{
    machine::{
        drain,
        rules::{NodeCondition, class::MachineClass, removal::Removal, token::TokenId},
    },
    vocab::Timestamp,
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Imported(Box<Import>),
    /// It shall go.
    RemovalAsked(Removal),
    PassBegan {
        at: Timestamp,
        scope: Scope,
        seen: Box<Seen>,
    },
    /// The pass owes the world this, and waits.
    Owed(Step),
    /// What the drain of its node has come to.
    Drain(drain::Event),
    /// The next pass is due then, and beside that it is looked at again. A pass that never had to wait has no other trace
    /// of its own: what it has seen stands in the command.
    PassEnded {
        end: PassEnd,
        next: Timestamp,
        recheck: Option<Timestamp>,
    },
    RecheckArmed {
        until: Timestamp,
    },
    /// We hold it from now on.
    Held,
    /// Its bootstrap token has this id.
    TokenKept(TokenId),
    /// The class its instance was made from.
    ClassRecorded(Box<MachineClass>),
    /// What its instance is called, by the provider and as a node.
    Labelled {
        node: String,
        provider_id: String,
    },
    JoiningBegan {
        at: Timestamp,
    },
    CreateFailed {
        at: Timestamp,
        is_given_up: bool,
        error: Option<CallError>,
    },
    /// The provider has told what it calls the state it is in.
    StateToldByProvider {
        last_known_state: String,
    },
    CleanupOpened {
        provider_id: String,
    },
    CleanupFailed {
        provider_id: String,
        error: CallError,
    },
    CleanupClosed {
        provider_id: String,
    },
    ConditionsCopied {
        conditions: Vec<NodeCondition>,
    },
    BecameWell {
        at: Timestamp,
        is_first_time: bool,
    },
    BecameSuspect {
        at: Timestamp,
    },
    JoinTimedOut {
        at: Timestamp,
    },
    HealthTimedOut {
        at: Timestamp,
    },
    RemovalBegan {
        at: Timestamp,
    },
    RemovalMoved {
        step: RemovalStep,
    },
    /// The present step failed.
    RemovalFailed {
        error: Option<CallError>,
    },
    /// Nothing of it is left.
    LetGo,
}
