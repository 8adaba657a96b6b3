//! Why an operator holds something.

/// The longest reason of a hold, in bytes.
pub const HOLD_REASON_BYTES_MAX: usize = 255;

/// Whether a hold can have this reason: one line of text.
pub fn is_hold_reason(reason: &str) -> bool {
    (1..=HOLD_REASON_BYTES_MAX).contains(&reason.len()) && !reason.chars().any(char::is_control)
}
