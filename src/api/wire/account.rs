//! What an administrator asks to be changed about accounts.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::{Name, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// `POST /v1/accounts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeAccount {
    pub name: Name,
    pub change: AccountChange,
    /// The same id again within 24 hours gets the first answer.
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub enum AccountChange {
    /// An account that does not exist yet.
    Create {
        /// `view`, `operate`, `admin`.
        role: String,
        /// The kinds of objects that it may change; none means all.
        #[serde(default)]
        kinds: BTreeSet<String>,
        /// Users of the node's own machine that are this account on its socket.
        #[serde(default)]
        users: BTreeSet<u32>,
        #[serde(default)]
        token: Option<NewToken>,
    },
    /// One more token.
    AddToken(NewToken),
    /// The end of one token, or of all of them.
    RevokeToken { id: Option<String> },
}

/// A token, without what opens: whoever drew it keeps that, and the node never sees it before it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NewToken {
    /// 8 hexadecimal digits.
    pub id: String,
    /// BLAKE3 of the whole token, as 64 hexadecimal digits.
    pub hash: String,
    /// When it ends, in milliseconds since 1970.
    #[serde(default)]
    pub expires_ms: Option<Timestamp>,
}
