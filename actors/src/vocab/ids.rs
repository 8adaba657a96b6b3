//! Ids: names that people choose, and ids that follow from them.

use std::{borrow::Borrow, fmt, str::FromStr};

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use uuid::Uuid;

/// The namespace of every id that a core derives.
const NAMESPACE: Uuid = Uuid::from_bytes(*b"bailiwick/ids/v1");

/// Version 5 uuid of some text, in the project's namespace: the same text gives the same id, for ever.
pub fn derived_uuid(text: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, text.as_bytes())
}

/// The name of an entity within its kind: `[a-z0-9][a-z0-9-]{0,62}`, not ending with `-`. Up to 23 bytes it allocates nothing, and lies where it is kept:
/// a look-up among many thousands does not follow a pointer for each that it is compared with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")))]
#[serde(try_from = "SmolStr", into = "SmolStr")]
pub struct Name(SmolStr);

/// Says that a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a valid name: expected 1 to 63 lower-case letters, digits and '-', beginning with a letter or digit"
)]
pub struct InvalidName {
    /// The text, cut to 80 characters.
    pub text: String,
}

impl Name {
    /// The longest name, in bytes (the length of a DNS label).
    pub const BYTES_MAX: usize = 63;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = InvalidName;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let fits = (1..=Self::BYTES_MAX).contains(&text.len())
            && letter(text.as_bytes()[0])
            && text.bytes().all(|b| letter(b) || b == b'-')
            && !text.ends_with('-');
        if fits { Ok(Self(text.into())) } else { Err(InvalidName { text: text.chars().take(80).collect() }) }
    }
}

impl TryFrom<SmolStr> for Name {
    type Error = InvalidName;
    fn try_from(text: SmolStr) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Name> for SmolStr {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! derived_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// The id that follows from a journal, a stream in it, and the version of one of its events.
            pub fn of(journal: Uuid, stream: &StreamId, at: Version) -> Self {
                Self(derived_uuid(&format!(concat!($what, " {} {} {}"), journal, stream, at)))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

derived_id! {
    /// Names one piece of work in the outside world: uuid v5 of the journal's id, the stream, and the version of the event
    /// that opened the intent. Two nodes on one provider account never meet under one id. All attempts share it. It is the provider's idempotency token and the tag by which a lost instance
    /// or volume is found again.
    EffectId, "effect"
}
derived_id! {
    /// Tells apart entities that had the same name one after the other: uuid v5 of the journal's id, the stream, and the
    /// version of the event that declared it.
    Uid, "uid"
}

/// What a provider calls the thing it made; opaque to us, at most 255 bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct InstanceId(pub String);

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a zone, as its provider calls it; opaque to us.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Zone(pub String);

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
