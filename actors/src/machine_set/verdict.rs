//! Why something was done to a machine set, left alone, or refused.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons},
    vocab::Life,
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and has no machines yet";
        SpecDiffers = "spec-differs", "what is declared differs from what was";
        AlreadyAsDeclared = "already-as-declared", "it is already declared like this";
        RemovalAsked = "removal-asked", "its removal was asked for";
        AlreadyGoing = "already-going", "it is already on its way out";
        AlreadyGone = "already-gone", "there is nothing to remove";
        PassPlanned = "pass-planned", "its machines are not those that it shall have";
        NothingToDo = "nothing-to-do", "it has the machines that it shall have";
        PassUnderWay = "pass-under-way", "a pass is under way, or it rests after one";
        MachinesTold = "machines-told", "machines were told to go";
        BatchMade = "batch-made", "a batch of machines was declared";
        StaleReport = "stale-report", "the report is about something that is over";
        Empty = "empty", "its removal was asked for and its last machine is gone";
        NotEmptyYet = "not-empty-yet", "it is not on its way out";
        RestOver = "rest-over", "the time to try again has come";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such machine set")]
    NotDeclared,
    #[error("it is {life}, so nothing new can be asked of it; wait until it is removed")]
    Leaving { life: Life },
    #[error("a set has at most {most} machines")]
    TooMany { most: u32 },
    #[error(
        "its template names a set, a parent or volumes of workloads; machines of a set belong to it alone, and share no volume"
    )]
    BadTemplate,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving { .. } => "leaving",
            Self::TooMany { .. } => "too-many",
            Self::BadTemplate => "bad-template",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
