//! What is true of a machine.

use std::collections::BTreeMap;

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::{CallError, Reason, Retry, Scope, Seen};
use crate::{
    machine::{
        drain,
        rules::{
            NodeCondition, Overrides,
            class::MachineClass,
            removal::{Removal, RemovalReason},
            template::{NodeTemplate, NodeWrite},
            token::TokenId,
        },
    },
    vocab::{FaultCode, MachinePhase, Timestamp},
};

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    pub instance: Instance,
    pub health: Health,
    pub removing: Removing,
    pub record: Record,
    /// The latest attempt at something.
    pub operation: Operation,
    /// The pass that is under way and waits for a report.
    pub pass: Option<Box<Pass>>,
    /// When the next pass is due, and how urgent it is.
    pub next_pass: Option<(Retry, Timestamp)>,
    /// When it is looked at again, beside that.
    pub recheck: Option<Timestamp>,
    /// Instances that belong to nobody because of us, by provider id.
    pub cleanups: BTreeMap<String, Cleanup>,
    /// The version of the event that opened the intent to make its instance: the idempotency key of all attempts.
    pub intent: Option<Version>,
}

/// Whether it shall be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Life {
    /// There is no such machine.
    #[default]
    None,
    Wanted,
    Unwanted(Removal),
    /// It was let go.
    Gone,
}

/// How making its instance stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instance {
    #[default]
    None,
    /// Made; its node is awaited since then.
    Joining {
        since: Timestamp,
        /// Whether the wait was begun by us and its end is being watched.
        is_timed: bool,
    },
    Joined,
    /// Made, and there is nothing to join.
    Alone {
        since: Timestamp,
    },
    /// The last attempt failed and is worth another.
    Failing {
        since: Timestamp,
    },
    GivenUp {
        since: Timestamp,
    },
}

/// What its node says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    #[default]
    Unjudged,
    Well {
        since: Timestamp,
    },
    /// Unhealthy or gone, and may come back.
    Suspect {
        since: Timestamp,
    },
    GivenUp {
        since: Timestamp,
    },
}

/// How its removal stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Removing {
    #[default]
    None,
    /// Under way. Without a step, nobody has said yet where to begin.
    Step { since: Timestamp, step: Option<RemovalStep> },
}

/// The steps of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemovalStep {
    GetVmStatus,
    Drain,
    DeleteVm,
    DeleteNode,
    RemoveFinalizer,
}

/// What is kept beside the states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub name: String,
    pub created: Timestamp,
    /// The kind and name of its class.
    pub class_kind: String,
    pub class: String,
    /// The class as it was when its instance was made: with it, the machine can be removed whatever becomes of the class.
    pub recorded_class: Option<MachineClass>,
    /// Whether we hold it until nothing of it is left (Gardener: its finalizer).
    pub is_held: bool,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    /// The provider's id of its instance; blank if it is not known.
    pub provider_id: String,
    pub template: NodeTemplate,
    pub overrides: Overrides,
    /// As its node told last.
    pub conditions: Vec<NodeCondition>,
    /// Opaque text of the provider, handed back to it.
    pub last_known_state: String,
    /// The id of its bootstrap token, if it got one of its own.
    pub token: Option<TokenId>,
}

/// The latest attempt at something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub kind: Option<OperationKind>,
    pub state: Option<OperationState>,
    /// Why it failed, if a call did.
    pub error: Option<CallError>,
}

/// What was attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationKind {
    Create,
    HealthCheck,
    Delete,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationState {
    Processing,
    Failed,
    Successful,
}

/// An instance that is to be removed, apart from the machine's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cleanup {
    /// The call is owed or under way.
    Trying,
    /// It failed, and is tried again in the next pass.
    Waiting(CallError),
}

/// A pass that waits for a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// The version of the event that began it.
    pub id: Version,
    pub began: Timestamp,
    pub scope: Scope,
    pub seen: Seen,
    pub step: Step,
}

/// What a pass waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Nothing yet.
    Begun,
    /// The secret of a bootstrap token to be made.
    CreateToken(TokenId),
    /// The provider to say what it has.
    AskStatus,
    /// The provider to make the instance.
    Create,
    /// The provider to remove an instance that got another's node.
    CleanUp { provider_id: String },
    /// The secret of a used token to be deleted.
    DropToken(TokenId),
    /// The node to be written.
    WriteNode(NodeWrite),
    /// The node to be told that it goes.
    MarkNode { is_forced: bool, reason: RemovalReason },
    /// The node to be drained.
    Drain { is_forced: bool, drain: drain::State },
    /// The provider to remove the instance.
    DeleteVm,
    /// The node to be deleted.
    DeleteNode,
}

/// A machine taken over from a Gardener control plane, as its record says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub record: Record,
    pub phase: MachinePhase,
    pub phase_since: Timestamp,
    pub operation: Operation,
    /// Where its removal stands, if one is under way.
    pub next_step: Option<RemovalStep>,
    pub removal: Option<Removal>,
}

impl State {
    /// The label that names its node.
    pub const NODE_LABEL: &str = "node";
    /// The label that names its deployment.
    pub const DEPLOYMENT_LABEL: &str = "name";
    /// The annotation with its rank among those that a set may delete.
    pub const PRIORITY: &str = "machinepriority.machine.sapcloud.io";

    /// The name of its node; none if it is not known.
    pub fn node(&self) -> Option<&str> {
        self.record.labels.get(Self::NODE_LABEL).map(String::as_str).filter(|node| !node.is_empty())
    }

    /// The removal that was asked for.
    pub fn removal(&self) -> Option<&Removal> {
        match &self.life {
            Life::Unwanted(removal) => Some(removal),
            Life::None | Life::Wanted | Life::Gone => None,
        }
    }

    /// What is still to be removed at the provider, apart from its own instance.
    pub fn open_cleanups(&self) -> impl Iterator<Item = &str> {
        self.cleanups.keys().map(String::as_str)
    }

    /// The code of the latest attempt, if a call failed with one.
    pub fn code(&self) -> Option<FaultCode> {
        self.operation.error.as_ref().and_then(|error| error.code)
    }
}

/// The end of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassEnd {
    pub retry: Retry,
    pub reason: Reason,
}
