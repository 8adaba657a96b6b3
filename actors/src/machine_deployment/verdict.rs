//! Why something was done to a machine deployment, left alone, or refused.

use serde::{Deserialize, Serialize};

use super::State;
use crate::{
    contract::{self, Code, Stored, reasons},
    vocab::{Life, PROTECTED},
};

/// What a step of its life is decided by.
pub(super) type Facts<'a> = contract::Facts<'a, State>;
/// What is decided.
pub(super) type Verdict = contract::Verdict<State>;

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and has no sets yet";
        SpecDiffers = "spec-differs", "its declaration changed";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        RemovalAsked = "removal-asked", "its removal was requested";
        AlreadyGoing = "already-going", "it is already being removed";
        AlreadyGone = "already-gone", "there is nothing to remove";
        PauseAsked = "pause-asked", "its rollout was paused";
        AlreadyPaused = "already-paused", "its rollout is already paused";
        ResumeAsked = "resume-asked", "its rollout was resumed";
        NotPaused = "not-paused", "its rollout is not paused";
        RestartAsked = "restart-asked", "a restart of its machines was requested";
        UndoAsked = "undo-asked", "an earlier template was requested";
        SameTemplate = "same-template", "that revision has the current template";
        SetTaken = "set-taken", "an unowned set matches its selector";
        AlreadyOwned = "already-owned", "the set already belongs to it";
        SetGone = "set-gone", "a set that was no longer needed is gone";
        UnknownSet = "unknown-set", "no such set belongs to it";
        SetsChange = "sets-change", "its sets differ from its declaration";
        MachinesCounted = "machines-counted", "the machines of its sets were counted";
        NothingNew = "nothing-new", "nothing changed since the last count";
        Empty = "empty", "its removal was requested and its last set is gone";
        NotEmptyYet = "not-empty-yet", "it is not being removed";
        Due = "due", "its next step is due";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
        ProtectionAsked = "protection-asked", "a change of its protection was requested";
        ProtectionKnown = "protection-known", "its protection did not change";
        HurryAsked = "hurry-asked", "an operator asked it not to wait for its window";
        AlreadyHurried = "already-hurried", "its rollout already proceeds outside its windows";
        NothingToHurry = "nothing-to-hurry", "its rollout is complete";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such machine deployment")]
    NotDeclared,
    #[error("it is being removed ({life}); wait until it is gone")]
    Leaving { life: Life },
    #[error("a deployment has at most {most} machines")]
    TooMany { most: u32 },
    #[error(
        "its template names a set or a parent, or one of its workloads names a volume that is not in its `storage`"
    )]
    BadTemplate,
    #[error("its template does not have the labels of its selector")]
    SelectorMismatch,
    #[error("its rollout is paused; resume it first")]
    Paused,
    #[error("it has no earlier revision")]
    NoEarlierRevision,
    #[error("it has no revision {revision}")]
    UnknownRevision { revision: u64 },
    #[error("{}", PROTECTED)]
    Protected,
    #[error("its windows are invalid: {problem}")]
    BadWindows { problem: String },
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving { .. } => "leaving",
            Self::TooMany { .. } => "too-many",
            Self::BadTemplate => "bad-template",
            Self::SelectorMismatch => "selector-mismatch",
            Self::Paused => "paused",
            Self::NoEarlierRevision => "no-earlier-revision",
            Self::UnknownRevision { .. } => "unknown-revision",
            Self::Protected => "protected",
            Self::BadWindows { .. } => "bad-windows",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
