//! Names and numbers: which stream, which version in it, which position in the whole journal.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// Names one stream: the ordered events of one entity, written `kind/name`, such as `machine/0` or
/// `volume-attachment/0:7`.
///
/// Kind: `[a-z][a-z0-9-]{0,62}`. Name: 1 to 190 of `[a-z0-9:/-]`, beginning and ending with a letter or digit.
/// Cloning is cheap. The order is that of the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = r"^[a-z][a-z0-9-]{0,62}/[a-z0-9]([a-z0-9:/-]{0,188}[a-z0-9])?$")))]
#[serde(try_from = "String", into = "String")]
pub struct StreamId(Arc<str>);

/// Says that a text names no stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a stream name: expected kind/name in lower-case letters, digits, '-', ':' and '/'")]
pub struct InvalidStreamId {
    /// The text, cut to 80 characters.
    pub text: String,
}

impl StreamId {
    /// The longest name, in bytes (the kind has at most 63).
    pub const NAME_BYTES_MAX: usize = 190;

    /// Joins a kind and a name.
    ///
    /// # Errors
    /// If either part is outside the allowed letters or too long.
    pub fn new(kind: &str, name: &str) -> Result<Self, InvalidStreamId> {
        format!("{kind}/{name}").parse()
    }

    /// The part before the first slash: `machine`.
    pub fn kind(&self) -> &str {
        &self.0[..self.slash()]
    }

    /// The part after the first slash: `0`, or `0/lxd/1`.
    pub fn name(&self) -> &str {
        &self.0[self.slash() + 1..]
    }

    /// Where the kind ends. Looked for byte by byte: kinds are short, and this is asked several times for every entry.
    fn slash(&self) -> usize {
        self.0.bytes().position(|byte| byte == b'/').expect("a stream id has a slash")
    }

    /// The whole text, `kind/name`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Order, equality and hash are those of the text.
impl Borrow<str> for StreamId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl FromStr for StreamId {
    type Err = InvalidStreamId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidStreamId { text: text.chars().take(80).collect() };
        let (kind, name) = text.split_once('/').ok_or_else(invalid)?;
        let kind_ok = (1..=63).contains(&kind.len())
            && kind.as_bytes()[0].is_ascii_lowercase()
            && kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let name_ok = (1..=Self::NAME_BYTES_MAX).contains(&name.len())
            && name.bytes().all(|b| alphanumeric(&b) || matches!(b, b'-' | b':' | b'/'))
            && name.as_bytes().first().is_some_and(alphanumeric)
            && name.as_bytes().last().is_some_and(alphanumeric);
        if kind_ok && name_ok { Ok(Self(text.into())) } else { Err(invalid()) }
    }
}

impl TryFrom<String> for StreamId {
    type Error = InvalidStreamId;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<StreamId> for String {
    fn from(id: StreamId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Before the first one.
            pub const ZERO: Self = Self(0);

            /// The one `count` after this.
            #[must_use]
            pub fn plus(self, count: u64) -> Self {
                Self(self.0 + count)
            }

            /// The next one.
            #[must_use]
            pub fn next(self) -> Self {
                self.plus(1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// The number of an event in its stream: from 1, without gaps. An entry without events takes none.
    Version
}
number! {
    /// The number of an entry in the whole journal: from 1, without gaps.
    Position
}
