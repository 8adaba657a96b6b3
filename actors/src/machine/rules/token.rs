//! Bootstrap tokens: with one, a new instance may join.

use serde::{Deserialize, Serialize};

/// The id of a bootstrap token: six characters of `[0-9a-f]`. Not a secret; the secret part never enters a journal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenId(pub String);

/// How many characters an id has.
const ID_CHARACTERS: usize = 6;

/// Stands in the user data where the token goes, plain or URL-encoded.
const PLACEHOLDERS: [&str; 2] = ["<<BOOTSTRAP_TOKEN>>", "%3C%3CBOOTSTRAP_TOKEN%3E%3E"];

impl TokenId {
    /// The id that follows from a machine's name: of its last five bytes, the first three in hexadecimal. A shorter name
    /// is filled up with zeros.
    ///
    /// Machines of one pool can share it (see `policy::TokenReading`). Source: Gardener's machine controller.
    pub fn of_name(name: &str) -> Self {
        let tail = &name.as_bytes()[name.len().saturating_sub(5)..];
        let hex: String = tail.iter().take(ID_CHARACTERS / 2).map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{hex:0<ID_CHARACTERS$}"))
    }

    /// The name of the secret that holds the token.
    pub fn secret_name(&self) -> String {
        format!("bootstrap-token-{}", self.0)
    }
}

/// The user data with the token in its place: every plain placeholder, or else every encoded one. Without any it is
/// passed on as it is.
pub fn placed(user_data: &str, token: &str) -> String {
    match PLACEHOLDERS.into_iter().find(|placeholder| user_data.contains(placeholder)) {
        Some(placeholder) => user_data.replace(placeholder, token),
        None => user_data.to_owned(),
    }
}
