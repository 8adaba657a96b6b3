//! How a simulated provider misbehaves.

use bailiwick_actors::vocab::FaultCode;
use serde::{Deserialize, Serialize};

/// What may go wrong, and how often: in so many of a thousand calls (`…_per_mille`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Faults {
    /// A call takes at least and at most this long, in milliseconds.
    pub latency_ms: (u64, u64),
    /// An item fails, and nothing happens.
    pub fail_per_mille: u16,
    /// The codes of such failures; one of them by chance.
    pub fail_codes: Vec<FaultCode>,
    /// The call happens, but its answer is lost: `deadline-exceeded`, `unknown`, or none at all.
    pub lost_answer_per_mille: u16,
    /// The call is never answered; it happens or does not.
    pub hang_per_mille: u16,
    /// A lookup answers that nobody knows.
    pub unknown_lookup_per_mille: u16,
    /// A list says that it is not complete, and is not.
    pub partial_list_per_mille: u16,
    /// A list is older than it could be, and says so.
    pub stale_list_per_mille: u16,
    /// A list fails.
    pub fail_list_per_mille: u16,
    /// A bulk call gives one answer too few.
    pub miscount_per_mille: u16,
    /// No more instances than this are made; the rest fails with `resource-exhausted`.
    pub instances_max: Option<usize>,
    /// A bulk call breaks off somewhere: the items before that happen, the others do not. Either every item says how it
    /// went (`unavailable` for those that were not reached), or the call as a whole says `aborted`.
    pub break_off_per_mille: u16,
    /// No more volumes than this are made; the rest fails with `resource-exhausted`.
    pub volumes_max: Option<usize>,
    /// It tells that a machine is being made as long as it is.
    pub tells_progress: bool,
    /// No more calls than this in a minute; the rest fails as a whole with `resource-exhausted`, and nothing happens.
    pub calls_per_minute_max: Option<usize>,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            latency_ms: (5, 50),
            fail_per_mille: 0,
            fail_codes: vec![FaultCode::Unavailable, FaultCode::Internal, FaultCode::ResourceExhausted],
            lost_answer_per_mille: 0,
            hang_per_mille: 0,
            unknown_lookup_per_mille: 0,
            partial_list_per_mille: 0,
            stale_list_per_mille: 0,
            fail_list_per_mille: 0,
            miscount_per_mille: 0,
            instances_max: None,
            break_off_per_mille: 0,
            volumes_max: None,
            tells_progress: false,
            calls_per_minute_max: None,
        }
    }
}
