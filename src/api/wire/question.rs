//! What questions may add to their paths: `?at=@17&limit=20`.
//!
//! A moment is `@POSITION`, milliseconds since 1970, or `-` and how many milliseconds ago.

use bailiwick_actors::vocab::HarvestMode;
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Questions that may be about the past.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtParameters {
    /// The moment: `@POSITION`, milliseconds since 1970, or `-` and how many milliseconds ago. Now, if it is left out.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParameters {
    /// Only what has such labels: `tier=front,role!=writer`. Machines have labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// The moment, as everywhere.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleParameters {
    /// At most so many; 100 unless said, 1000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The moment, as everywhere.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhyParameters {
    /// Only this side of the object: `health`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// What followed from it, instead of what led to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forward: bool,
    /// The moment, as everywhere.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Instances that nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarvestParameters {
    /// As if this harvest mode were in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<HarvestMode>,
    /// The moment, as everywhere.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The difference between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffParameters {
    /// The earlier moment.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    pub from: String,
    /// The later moment. Now, if it is left out.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Only this object: `machine/web`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<StreamId>,
    /// Only objects of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayParameters {
    /// Every divergence, instead of the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// The last entry to look at; none means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}
