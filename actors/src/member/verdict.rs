//! Why something was taken in about a member, or left alone.

use serde::{Deserialize, Serialize};

use crate::contract::{Code, Stored, reasons};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "its set has a place for it, or has it already";
        StepUnderWay = "step-under-way", "a step of its set that concerns it is on its way";
        StepOver = "step-over", "the step that concerned it is over";
        HasJoined = "has-joined", "it is in the configuration of its set";
        HasVote = "has-vote", "the configuration of its set gives it a vote";
        HasLostVote = "has-lost-vote", "the configuration of its set gives it no vote any more";
        HasLeft = "has-left", "the configuration of its set does not have it any more";
        SeenNew = "seen-new", "its server is in another state than it was";
        SeatChanged = "seat-changed", "its set gives it another place";
        FlagChanged = "flag-changed", "it is known otherwise whether it may vote";
        NothingNew = "nothing-new", "this is known already";
        OlderThanKnown = "older-than-known", "more is known of its set already";
        NoPlace = "no-place", "its set has no place for it";
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
