//! Why a pass ended as it did, and when the next one is due.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons},
    policy::Reconciliation,
};

/// How soon a machine is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    Short,
    Medium,
    Long,
}

/// What came of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There was nothing to do.
    Settled,
    /// The machine has moved on.
    Progressed,
    /// Something failed or was refused.
    Failed,
}

reasons! {
    /// Why.
    pub enum Reason {
        Imported = "imported", "it was taken over from another control plane";
        RemovalAsked = "removal-asked", "its removal was requested";
        AlreadyGoing = "already-going", "it is already being removed";
        Waiting = "waiting", "the pass waits for an answer";
        StaleReport = "stale-report", "nothing waits for this report";
        PassUnderWay = "pass-under-way", "the pass before is still under way";
        Frozen = "frozen", "everything is frozen but removals";
        NoClassNamed = "no-class-named", "it names no class";
        ClassMissing = "class-missing", "its class is missing";
        ClassNotKept = "class-not-kept", "its class is not kept for it yet";
        ClassIncomplete = "class-incomplete", "the node template of its class is incomplete";
        Held = "held", "it is held from now on until nothing of it is left";
        NotHeld = "not-held", "it goes and nobody holds it, so nothing is known of what is left of it";
        AllWell = "all-well", "all is as it should be";
        NoUserData = "no-user-data", "the secret of its class has no user data";
        NoTokenDrawn = "no-token-drawn", "no token id was drawn for it";
        TokenNotCreated = "token-not-created", "its bootstrap token could not be made";
        StatusFailed = "status-failed", "the provider could not say what it has";
        CreateFailed = "create-failed", "the provider could not make its instance";
        StaleNode = "stale-node", "its instance came up with another machine's node";
        CleanupFailed = "cleanup-failed", "an instance with another machine's node could not be removed";
        Labelled = "labelled", "its instance is known and written down";
        Joining = "joining", "its instance is made and has to join now";
        Joined = "joined", "its node is healthy for the first time";
        Rejoined = "rejoined", "its node is healthy again";
        NodeGone = "node-gone", "its node is gone";
        NodeUnhealthy = "node-unhealthy", "its node is unhealthy";
        ConditionsCopied = "conditions-copied", "its node tells something new";
        JoinTimedOut = "join-timed-out", "it did not join in time";
        HealthTimedOut = "health-timed-out", "its node was unhealthy or gone for too long";
        NotYetTimedOut = "not-yet-timed-out", "its time is not up yet";
        PermitTaken = "permit-taken", "another machine of its deployment is being decided about";
        BudgetSpent = "budget-spent", "other machines of its deployment are in replacement already";
        NodeWritten = "node-written", "its template was written to its node";
        NodeNotWritten = "node-not-written", "its template could not be written to its node";
        NoNode = "no-node", "it has no node to write to";
        RecordUnreadable = "record-unreadable", "nobody can read what was written to its node last";
        RemovalBegan = "removal-began", "its removal begins";
        VmFound = "vm-found", "its instance is there";
        VmMissing = "vm-missing", "its instance is gone already";
        VmUnknown = "vm-unknown", "the provider cannot say whether its instance is there";
        Drained = "drained", "its node is drained";
        DrainSkipped = "drain-skipped", "draining its node would be in vain";
        DrainForced = "drain-forced", "its node could not be drained and the removal is forced";
        DrainFailed = "drain-failed", "its node could not be drained";
        NodeNotMarked = "node-not-marked", "its node could not be told that it goes";
        VmDeleted = "vm-deleted", "its instance is removed";
        DeleteFailed = "delete-failed", "its instance could not be removed";
        NodeDeleted = "node-deleted", "its node is removed";
        NodeDeleteFailed = "node-delete-failed", "its node could not be removed";
        LetGo = "let-go", "nothing of it is left";
    }
}

impl Reason {
    /// What came of a pass that ended for this reason.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Waiting
            | Self::StaleReport
            | Self::PassUnderWay
            | Self::AlreadyGoing
            | Self::AllWell
            | Self::NotYetTimedOut
            | Self::NoNode => Outcome::Settled,
            Self::Imported
            | Self::RemovalAsked
            | Self::Held
            | Self::StaleNode
            | Self::Labelled
            | Self::Joining
            | Self::Joined
            | Self::Rejoined
            | Self::NodeGone
            | Self::NodeUnhealthy
            | Self::ConditionsCopied
            | Self::JoinTimedOut
            | Self::HealthTimedOut
            | Self::NodeWritten
            | Self::RemovalBegan
            | Self::VmFound
            | Self::VmMissing
            | Self::VmUnknown
            | Self::Drained
            | Self::DrainSkipped
            | Self::DrainForced
            | Self::VmDeleted
            | Self::NodeDeleted
            | Self::LetGo => Outcome::Progressed,
            Self::Frozen
            | Self::NoClassNamed
            | Self::ClassMissing
            | Self::ClassNotKept
            | Self::ClassIncomplete
            | Self::NotHeld
            | Self::NoUserData
            | Self::NoTokenDrawn
            | Self::TokenNotCreated
            | Self::StatusFailed
            | Self::CreateFailed
            | Self::CleanupFailed
            | Self::PermitTaken
            | Self::BudgetSpent
            | Self::NodeNotWritten
            | Self::RecordUnreadable
            | Self::DrainFailed
            | Self::NodeNotMarked
            | Self::DeleteFailed
            | Self::NodeDeleteFailed => Outcome::Failed,
        }
    }
}

impl Retry {
    /// The wait that the policy has for it.
    pub fn ms(self, policy: &Reconciliation) -> u64 {
        match self {
            Self::Short => policy.retry_short_ms,
            Self::Medium => policy.retry_medium_ms,
            Self::Long => policy.retry_long_ms,
        }
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such machine")]
    NoSuchMachine,
    #[error("there is such a machine already")]
    Exists,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NoSuchMachine => "no-such-machine",
            Self::Exists => "exists",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
