//! An operator's hold on something: when one begins.

use super::Timestamp;

/// The longest reason of a hold, in bytes.
pub const HOLD_REASON_BYTES_MAX: usize = 255;

/// What a hold that an operator asks for comes to, whatever is to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedHold {
    /// Its reason is not one line of text.
    BadReason,
    /// It would have ended already.
    Over,
    /// It is held like this already.
    Already,
    /// It begins, or takes the place of the one before.
    Begins,
}

impl AskedHold {
    /// A hold for this reason and until then, where `held` is the one that there is.
    pub fn of(reason: &str, until: Option<Timestamp>, held: Option<(&str, Option<Timestamp>)>, now: Timestamp) -> Self {
        if !is_reason(reason) {
            Self::BadReason
        } else if until.is_some_and(|until| until <= now) {
            Self::Over
        } else if held == Some((reason, until)) {
            Self::Already
        } else {
            Self::Begins
        }
    }
}

fn is_reason(reason: &str) -> bool {
    (1..=HOLD_REASON_BYTES_MAX).contains(&reason.len()) && !reason.chars().any(char::is_control)
}
