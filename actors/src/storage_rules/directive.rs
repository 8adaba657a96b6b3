//! How people ask for storage: `pool,count,size`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::PoolName;
use crate::vocab::SizeMib;

/// What is asked for in one line. Pool, count and size stand in any order, each at most once, separated by commas.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Directive {
    /// Where it is made; where none is named, the defaults say.
    pub pool: Option<PoolName>,
    /// How many; at least 1, and 1 where none is named.
    pub count: u64,
    /// How large each is; where none is named, the defaults say.
    pub size: Option<SizeMib>,
}

/// Why a text is no directive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveError {
    #[error("no pool, count or size is given: expected for example \"pool,2,10G\"")]
    Empty,
    #[error("a count must be at least 1, not {field:?}")]
    CountNotPositive { field: String },
    #[error("the count {field:?} is too large")]
    CountTooBig { field: String },
    #[error("a size cannot be negative: {field:?}")]
    SizeNegative { field: String },
    #[error("the size {field:?} is too large")]
    SizeTooBig { field: String },
    #[error("the pool is named twice, the second time as {field:?}")]
    PoolRepeated { field: String },
    #[error("the count is given twice, the second time as {field:?}")]
    CountRepeated { field: String },
    #[error("the size is given twice, the second time as {field:?}")]
    SizeRepeated { field: String },
    #[error("{field:?} is not a pool, count or size")]
    UnknownField { field: String },
}

impl Default for Directive {
    /// One of whatever the defaults say.
    fn default() -> Self {
        Self { pool: None, count: 1, size: None }
    }
}

impl FromStr for Directive {
    type Err = DirectiveError;

    /// Every field is tried as pool, count and size, in this order; so `1` is a count. Empty fields are ignored, and at
    /// least one must not be empty.
    ///
    /// Source: Juju's storage directives; that nothing may be given twice, since 4.0.
    fn from_str(text: &str) -> Result<Self, DirectiveError> {
        let (mut pool, mut count, mut size) = (None, None, None);
        for field in text.split(',').filter(|field| !field.is_empty()) {
            let cut = || field.chars().take(80).collect::<String>();
            if let Ok(name) = field.parse::<PoolName>() {
                put(&mut pool, name).map_err(|()| DirectiveError::PoolRepeated { field: cut() })?;
            } else if is_whole_number(field) {
                put(&mut count, parse_count(field)?).map_err(|()| DirectiveError::CountRepeated { field: cut() })?;
            } else if is_size(field) {
                put(&mut size, parse_size(field)?).map_err(|()| DirectiveError::SizeRepeated { field: cut() })?;
            } else {
                return Err(DirectiveError::UnknownField { field: cut() });
            }
        }
        if pool.is_none() && count.is_none() && size.is_none() {
            return Err(DirectiveError::Empty);
        }
        Ok(Self { pool, count: count.unwrap_or(1), size })
    }
}

/// Fills a place that is empty.
fn put<T>(place: &mut Option<T>, value: T) -> Result<(), ()> {
    if place.is_some() {
        return Err(());
    }
    *place = Some(value);
    Ok(())
}

fn unsigned(field: &str) -> &str {
    field.strip_prefix('-').unwrap_or(field)
}

fn is_whole_number(field: &str) -> bool {
    let digits = unsigned(field);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse_count(field: &str) -> Result<u64, DirectiveError> {
    let cut = || field.chars().take(80).collect();
    if field.starts_with('-') || field.bytes().all(|byte| byte == b'0') {
        return Err(DirectiveError::CountNotPositive { field: cut() });
    }
    field.parse().map_err(|_| DirectiveError::CountTooBig { field: cut() })
}

/// Digits, maybe a fraction, and a unit; the unit is what tells a size from a count.
fn is_size(field: &str) -> bool {
    let rest = unsigned(field);
    let number_end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(number_end);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = match number.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(number),
    };
    let mut letters = unit.chars();
    let has_unit = letters.next().is_some_and(|letter| "MGTPEZY".contains(letter));
    is_number && has_unit && matches!(letters.as_str(), "" | "B" | "iB")
}

fn parse_size(field: &str) -> Result<SizeMib, DirectiveError> {
    let cut = || field.chars().take(80).collect();
    if field.starts_with('-') {
        return Err(DirectiveError::SizeNegative { field: cut() });
    }
    field.parse().map_err(|_| DirectiveError::SizeTooBig { field: cut() })
}

impl TryFrom<String> for Directive {
    type Error = DirectiveError;
    fn try_from(text: String) -> Result<Self, DirectiveError> {
        text.parse()
    }
}

impl From<Directive> for String {
    fn from(directive: Directive) -> Self {
        directive.to_string()
    }
}

impl fmt::Display for Directive {
    /// `pool,count,size`, without what is not given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pool) = &self.pool {
            write!(f, "{pool},")?;
        }
        write!(f, "{}", self.count)?;
        self.size.map_or(Ok(()), |size| write!(f, ",{size}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hostile_texts_are_refused_with_their_kind() {
        let big = "9".repeat(30);
        for (text, expected) in [
            (format!("p,{big}"), DirectiveError::CountTooBig { field: big.clone() }),
            (format!("p,{big}Y"), DirectiveError::SizeTooBig { field: format!("{big}Y") }),
            ("p, 1M".to_owned(), DirectiveError::UnknownField { field: " 1M".to_owned() }),
            ("1.M".to_owned(), DirectiveError::UnknownField { field: "1.M".to_owned() }),
            (".5M".to_owned(), DirectiveError::UnknownField { field: ".5M".to_owned() }),
            ("-".to_owned(), DirectiveError::UnknownField { field: "-".to_owned() }),
            ("../../etc".to_owned(), DirectiveError::UnknownField { field: "../../etc".to_owned() }),
            ("x".repeat(500), DirectiveError::UnknownField { field: "x".repeat(80) }),
        ] {
            assert_eq!(text.parse::<Directive>(), Err(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(pool in proptest::option::of("[a-zA-Z]{1,5}[-?a-z0-9]{0,5}"), count in 1u64..,
                                         size in proptest::option::of(0u64..1 << 40)) {
            let pool = pool.map(|name| name.parse().unwrap());
            let directive = Directive { pool, count, size: size.map(SizeMib) };
            prop_assert_eq!(directive.to_string().parse::<Directive>(), Ok(directive));
        }

        #[test]
        fn no_text_panics_and_the_order_does_not_matter(fields in proptest::collection::vec("\\PC{0,8}", 0..5)) {
            let mut turned = fields.clone();
            turned.reverse();
            let (one, other) = (fields.join(",").parse::<Directive>(), turned.join(",").parse::<Directive>());
            prop_assert_eq!(one.as_ref().ok(), other.as_ref().ok());
        }
    }
}
