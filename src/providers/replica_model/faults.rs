//! How the model misbehaves.

use bailiwick_actors::vocab::{Fault, FaultCode};

use crate::providers::simulated::Dice;

/// What may go wrong, and how often: in so many of a thousand calls (`…_per_mille`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelFaults {
    /// Half a call takes at least and at most this long, in milliseconds.
    pub latency_ms: (u64, u64),
    /// Nobody answers a look.
    pub look_fail_per_mille: u16,
    /// A write is refused though it is lawful.
    pub refuse_per_mille: u16,
    /// A write is taken, and its answer lost.
    pub lost_answer_per_mille: u16,
    /// The answer is lost, and the write is taken some seconds later, if it is lawful then.
    pub late_per_mille: u16,
    /// The answer is lost, and the write was never taken.
    pub dropped_per_mille: u16,
    /// A look shows a member as primary that is not any more, or not at all.
    pub two_primaries_per_mille: u16,
    /// The primary falls in the middle of a command, before or after it has done what it was asked.
    pub interrupt_per_mille: u16,
}

impl Default for ModelFaults {
    fn default() -> Self {
        Self {
            latency_ms: (1, 20),
            look_fail_per_mille: 0,
            refuse_per_mille: 0,
            lost_answer_per_mille: 0,
            late_per_mille: 0,
            dropped_per_mille: 0,
            two_primaries_per_mille: 0,
            interrupt_per_mille: 0,
        }
    }
}

/// What becomes of a write.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    Taken { answered: bool },
    Late { by_ms: u64 },
    Dropped,
    Refused(Fault),
}

impl Fate {
    pub(super) fn thrown(dice: &mut Dice, faults: &ModelFaults) -> Self {
        if dice.happens(faults.refuse_per_mille) {
            return Self::Refused(Fault::new(FaultCode::Unavailable, "unhealthy cluster"));
        }
        if dice.happens(faults.dropped_per_mille) {
            return Self::Dropped;
        }
        if dice.happens(faults.late_per_mille) {
            return Self::Late { by_ms: dice.between(100, 8_000) };
        }
        Self::Taken { answered: !dice.happens(faults.lost_answer_per_mille) }
    }
}
