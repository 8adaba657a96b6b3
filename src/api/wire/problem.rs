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

/// The code of what was ended before it was done.
const CANCELLED: &str = "cancelled";

impl Problem {
    /// It was ended before it was done.
    pub fn cancelled() -> Self {
        Self { code: CANCELLED.into(), message: "it was cancelled before it was done".into(), ..Self::default() }
    }

    /// Whether that is why.
    pub fn is_cancelled(&self) -> bool {
        self.code == CANCELLED
    }
}
