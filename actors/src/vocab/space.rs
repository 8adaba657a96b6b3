//! Spaces that a machine has to reach, or must not.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{InvalidName, Name};

/// A space that a machine has to reach (`inner`), or must not (`^outer`). Source of the form: Juju's constraints.
///
/// Those that it has to reach come first, by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SpaceWish {
    /// Whether the machine must not reach it.
    pub is_excluded: bool,
    pub space: Name,
}

impl FromStr for SpaceWish {
    type Err = InvalidName;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (is_excluded, name) = match text.strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, text),
        };
        Ok(Self { is_excluded, space: name.parse()? })
    }
}

impl TryFrom<String> for SpaceWish {
    type Error = InvalidName;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SpaceWish> for String {
    fn from(wish: SpaceWish) -> Self {
        wish.to_string()
    }
}

impl fmt::Display for SpaceWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_excluded { "^" } else { "" };
        write!(f, "{sign}{}", self.space)
    }
}

impl fmt::Debug for SpaceWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_written_as_it_is_read() {
        for text in ["inner", "^outer"] {
            assert_eq!(text.parse::<SpaceWish>().map(|wish| wish.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "^", "^^inner", "Inner"] {
            assert!(text.parse::<SpaceWish>().is_err(), "{text:?}");
        }
    }
}
