//! Why a provider was held, left in service, or a wish refused.

use serde::{Deserialize, Serialize};

use super::State;
use crate::contract::{self, Code, Stored, reasons};

/// What is decided.
pub(super) type Verdict = contract::Verdict<State>;

reasons! {
    /// Why.
    pub enum Reason {
        OperatorHolds = "operator-holds", "an operator holds it";
        HeldAlready = "held-already", "it is already held for that reason";
        OperatorReleases = "operator-releases", "an operator ended the hold";
        NotHeld = "not-held", "it is not held";
        HoldOver = "hold-over", "its hold expired";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("the reason for a hold must be 1 to 255 bytes long, without control characters")]
    BadHold,
    #[error("the end of a hold must be in the future")]
    HoldOver,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::BadHold => "bad-hold",
            Self::HoldOver => "hold-over",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
