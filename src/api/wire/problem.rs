//! How the node says that it refused or failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of every answer that is not a success.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Stable, for programs: `not-found`, `failed-precondition`.
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// The causes behind it, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<String>,
    /// What to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}
