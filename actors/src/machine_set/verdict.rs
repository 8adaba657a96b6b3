//! Why something was done to a machine set, left alone, or refused.

use serde::{Deserialize, Serialize};

use super::State;
use crate::{
    contract::{self, Code, Stored, reasons},
    vocab::{Life, Name, PROTECTED},
};

/// What a step of its life is decided by.
pub(super) type Facts<'a> = contract::Facts<'a, State>;
/// What is decided.
pub(super) type Verdict = contract::Verdict<State>;

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and has no machines yet";
        SpecDiffers = "spec-differs", "its declaration changed";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        RemovalAsked = "removal-asked", "its removal was requested";
        AlreadyGoing = "already-going", "it is already being removed";
        AlreadyGone = "already-gone", "there is nothing to remove";
        PassPlanned = "pass-planned", "its machines differ from its declaration";
        NothingToDo = "nothing-to-do", "its machines match its declaration";
        PassUnderWay = "pass-under-way", "a pass is under way, or the next one is not due yet";
        MachinesTold = "machines-told", "machines were ordered to be removed";
        BatchMade = "batch-made", "a batch of machines was declared";
        StaleReport = "stale-report", "the report is out of date";
        Empty = "empty", "its removal was requested and its last machine is gone";
        NotEmptyYet = "not-empty-yet", "it is not being removed";
        RestOver = "rest-over", "the next attempt is due";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
        Overshot = "overshot", "it has far more machines than it needs";
        FewEnough = "few-enough", "it no longer has too many machines";
        NumberTolerable = "number-tolerable", "the number of its machines changes nothing";
        OperatorThaws = "operator-thaws", "an operator ended the freeze";
        OperatorHolds = "operator-holds", "an operator holds it";
        HeldAlready = "held-already", "it is already held for that reason";
        OperatorReleases = "operator-releases", "an operator ended the hold";
        NotHeld = "not-held", "it is not held";
        HoldOver = "hold-over", "its hold expired";
        OnHold = "on-hold", "it is held";
        HeldByFreeze = "held-by-freeze", "it is frozen and creates no machines";
        NotFrozen = "not-frozen", "it is not frozen";
        ProtectionAsked = "protection-asked", "a change of its protection was requested";
        ProtectionKnown = "protection-known", "its protection did not change";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such machine set")]
    NotDeclared,
    #[error("it is being removed ({life}); wait until it is gone")]
    Leaving { life: Life },
    #[error("a set has at most {most} machines")]
    TooMany { most: u32 },
    #[error(
        "its template names a set or a parent, or one of its workloads names a volume that is not in its `storage`"
    )]
    BadTemplate,
    #[error("it belongs to machine deployment {deployment}; scale, change or delete that instead")]
    Owned { deployment: Name },
    #[error("the reason for a hold must be 1 to 255 bytes long, without control characters")]
    BadHold,
    #[error("the end of a hold must be in the future")]
    HoldOver,
    #[error("it is held ({reason}); end the hold with `bailiwick unhold`")]
    Held { reason: String },
    #[error("{}", PROTECTED)]
    Protected,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving { .. } => "leaving",
            Self::TooMany { .. } => "too-many",
            Self::BadTemplate => "bad-template",
            Self::Owned { .. } => "owned",
            Self::BadHold => "bad-hold",
            Self::HoldOver => "hold-over",
            Self::Held { .. } => "held",
            Self::Protected => "protected",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
