//! Amounts of storage.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// An amount of storage in MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SizeMib(pub u64);

/// Says that a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a size: expected a number of MiB, or a number with M, G, T, P, E, Z or Y (10G, 0.5GiB)")]
pub struct InvalidSize {
    /// The text, cut to 80 characters.
    pub text: String,
}

impl SizeMib {
    /// The amount in bytes; none if that is more than 64 bits hold.
    pub fn bytes(self) -> Option<u64> {
        self.0.checked_mul(1024 * 1024)
    }
}

/// The multiples of a MiB, each 1,024 times the one before. Source: Juju's size parser.
const SUFFIXES: [char; 7] = ['M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

impl FromStr for SizeMib {
    type Err = InvalidSize;

    /// Reads a decimal number with an optional suffix (`M` to `Y`, also as `GB` or `GiB`); without one it means MiB.
    /// A part of a MiB counts as a whole one.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_mib(text).map(Self).ok_or_else(|| InvalidSize { text: text.chars().take(80).collect() })
    }
}

fn parse_mib(text: &str) -> Option<u64> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits_end);
    let factor_power = match suffix {
        "" => 0,
        suffix => {
            let mut letters = suffix.chars();
            let letter = letters.next()?;
            let rest = letters.as_str();
            if !matches!(rest, "" | "B" | "iB") {
                return None;
            }
            SUFFIXES.iter().position(|known| *known == letter)? as u32
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || fraction.len() > 18 {
        return None;
    }
    // Exact: whole and fraction as one integer over a power of ten, in 128 bits.
    let scale = 10u128.checked_pow(fraction.len() as u32)?;
    let amount: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let total = amount.checked_mul(scale)?.checked_add(part)?.checked_mul(1024u128.pow(factor_power))?;
    u64::try_from(total.div_ceil(scale)).ok()
}

impl fmt::Display for SizeMib {
    /// The largest suffix that gives a whole number: `10G`, `1536M`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut amount = self.0;
        let mut power = 0;
        while amount != 0 && amount.is_multiple_of(1024) && power + 1 < SUFFIXES.len() {
            amount /= 1024;
            power += 1;
        }
        write!(f, "{amount}{}", SUFFIXES[power])
    }
}
