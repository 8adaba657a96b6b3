//! What a pass has seen of the world. No secrets: whether there is user data, not what is in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::rules::{
    NodeCondition, Taint, budget::BudgetView, class::ClassSeen, template::LastWritten, token::TokenId,
};

/// What was seen before a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Whether everything is frozen but removals.
    pub is_frozen: bool,
    pub class: ClassSeen,
    /// Whether the class's secret holds user data.
    pub has_user_data: bool,
    /// Whether there is a secret for the machine's bootstrap token.
    pub has_token: bool,
    /// An id that was drawn for it, in case it needs one.
    pub drawn_token: Option<TokenId>,
    /// The machine's node, if there is one.
    pub node: Option<NodeSeen>,
    pub budget: BudgetView,
}

/// A node as it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSeen {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    /// Without the record of what was written last.
    pub annotations: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    pub conditions: Vec<NodeCondition>,
    /// Whether it takes no new pods.
    pub is_cordoned: bool,
    pub last_written: LastWritten,
}
