//! What providers and engines are called for.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What a provider, or an engine of replica sets, is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// To make an instance, a volume or a filesystem.
    Create,
    /// To delete an instance, or to destroy or let go of a volume or a filesystem.
    Delete,
    /// To attach a volume, or to mount a filesystem.
    Attach,
    Detach,
    /// To change the members of a replica set, or who leads it.
    Reconfigure,
}

impl Call {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Create, Self::Delete, Self::Attach, Self::Detach, Self::Reconfigure];

    /// The stable word: `delete`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Attach => "attach",
            Self::Detach => "detach",
            Self::Reconfigure => "reconfigure",
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no such call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a call is create, delete, attach, detach or reconfigure")]
pub struct NoSuchCall;

impl FromStr for Call {
    type Err = NoSuchCall;

    fn from_str(text: &str) -> Result<Self, NoSuchCall> {
        Self::ALL.into_iter().find(|call| call.as_str() == text).ok_or(NoSuchCall)
    }
}
