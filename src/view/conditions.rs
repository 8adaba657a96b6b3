//! Conditions as they are shown, whoever reports them.

use schemars::JsonSchema;
use serde::Serialize;

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConditionRow {
    pub kind: String,
    /// Null where nobody can tell.
    pub healthy: Option<bool>,
    pub text: String,
}
