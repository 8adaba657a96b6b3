//! Why something was taken in about a member, or left alone.

use serde::{Deserialize, Serialize};

use crate::contract::{Code, Stored, reasons};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "its replica set added it";
        StepUnderWay = "step-under-way", "its set started a step that changes it";
        StepOver = "step-over", "the step ended";
        HasJoined = "has-joined", "its set's configuration contains it";
        HasVote = "has-vote", "its set's configuration gives it a vote";
        HasLostVote = "has-lost-vote", "its set's configuration no longer gives it a vote";
        HasLeft = "has-left", "its set's configuration no longer contains it";
        SeenNew = "seen-new", "the state of its server changed";
        SeatChanged = "seat-changed", "its set changed its address";
        FlagChanged = "flag-changed", "whether it may vote changed";
        NothingNew = "nothing-new", "it is already known";
        OlderThanKnown = "older-than-known", "a newer state of its set is known";
        NoPlace = "no-place", "its set has no seat for it";
        AlreadyGone = "already-gone", "there is nothing to forget";
    }
}

/// It refuses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match *self {}
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
