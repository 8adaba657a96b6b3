//! How often a start is tried again, and after what.

use serde::{Deserialize, Serialize};

/// The knobs of starting a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Attempts after the first; 0 means that there is one attempt.
    pub retries_max: u32,
    /// From a failure to the next attempt, in milliseconds.
    pub retry_delay_ms: u64,
    pub retry_on: RetryOn,
    pub after_lost_record: AfterLostRecord,
}

/// Which failures are worth another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryOn {
    /// The class of the first failure decides for all that follow (Juju until 2016).
    FirstFailure,
    /// All are (Juju since 2016).
    Every,
    /// Those that may pass (ours).
    Transient,
}

/// What follows when an instance was made and could not be recorded: it is stopped in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterLostRecord {
    /// Nothing: somebody has to ask for another attempt.
    Fail,
    /// It counts as a failed attempt.
    Retry,
}

impl Policy {
    /// Ours: retries what may pass, and gives up at once on what cannot.
    pub fn ours() -> Self {
        Self { retry_on: RetryOn::Transient, ..Self::juju_4_0() }
    }

    /// Juju's task of April 2016: 3 retries, 10 s apart.
    pub fn juju_2016() -> Self {
        Self {
            retries_max: 3,
            retry_delay_ms: 10_000,
            retry_on: RetryOn::FirstFailure,
            after_lost_record: AfterLostRecord::Fail,
        }
    }

    /// Juju's worker per machine (4.0): 10 retries, 10 s apart.
    pub fn juju_4_0() -> Self {
        Self {
            retries_max: 10,
            retry_delay_ms: 10_000,
            retry_on: RetryOn::Every,
            after_lost_record: AfterLostRecord::Retry,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::ours()
    }
}
