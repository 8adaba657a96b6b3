//! Accounts: who may use the node's API, and how they show who they are.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use crate::vocab::Timestamp;

/// Somebody who may use the node's API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub role: Role,
    /// The kinds of objects that it may change; none means all.
    pub kinds: BTreeSet<String>,
    /// With neither tokens nor users it is nobody any more: it is revoked, and its name stays known.
    pub tokens: Vec<Token>,
    /// Users of the node's own machine that are this account when they ask over the socket.
    pub users: BTreeSet<u32>,
}

/// What an account may do; each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    View,
    Operate,
    Admin,
}

/// A token, as far as the node keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What it is called: 8 hexadecimal digits, the part of it before the dot; it is no secret.
    pub id: String,
    /// BLAKE3 of the whole token.
    pub hash: [u8; 32],
    pub expires: Option<Timestamp>,
}

impl Account {
    /// The most tokens of one.
    pub const TOKENS_MAX: usize = 16;
    /// The most kinds that one names.
    pub const KINDS_MAX: usize = 64;
    /// The most users of the node's machine that are one.
    pub const USERS_MAX: usize = 64;
}

impl Role {
    /// All of them, from the one that may do least.
    pub const ALL: [Self; 3] = [Self::View, Self::Operate, Self::Admin];

    /// As a manifest writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// The role that is written so.
    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Token {
    /// Whether a text can be the id of a token.
    pub fn is_id(text: &str) -> bool {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        text.len() == 8 && text.bytes().all(is_digit)
    }
}
