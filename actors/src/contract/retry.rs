//! Whether and when to try again.

use crate::{
    policy::{Machines, Storage},
    schedule::backoff_ms,
    vocab::{Effort, Fault, FaultClass, Timestamp},
};

/// How often and how soon an operation is tried again. Comes from the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryRule {
    /// 0 means no limit.
    pub attempts_max: u32,
    pub first_ms: u64,
    pub max_ms: u64,
}

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The same again at `until`.
    Retry { until: Timestamp },
    /// Ask again by id at `until`: nobody knows whether it happened.
    Ask { until: Timestamp },
    /// No attempt is left.
    Exhausted,
    /// Trying the same again cannot help.
    Hopeless,
}

impl From<&Machines> for RetryRule {
    fn from(policy: &Machines) -> Self {
        Self { attempts_max: policy.attempts_max, first_ms: policy.retry_first_ms, max_ms: policy.retry_max_ms }
    }
}

impl From<&Storage> for RetryRule {
    fn from(policy: &Storage) -> Self {
        Self { attempts_max: policy.attempts_max, first_ms: policy.retry_first_ms, max_ms: policy.retry_max_ms }
    }
}

impl RetryRule {
    /// What follows when the effort's present attempt ends in this fault.
    pub fn after(self, effort: &Effort, fault: &Fault, now: Timestamp) -> Next {
        let until = now.after(backoff_ms(effort.in_series().saturating_add(1), self.first_ms, self.max_ms));
        let exhausted = self.attempts_max != 0 && self.attempts_max <= effort.in_series();
        match fault.code.class() {
            FaultClass::Permanent => Next::Hopeless,
            FaultClass::Transient | FaultClass::Unknown if exhausted => Next::Exhausted,
            FaultClass::Transient => Next::Retry { until },
            FaultClass::Unknown => Next::Ask { until },
        }
    }
}
