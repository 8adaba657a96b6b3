//! How a kind is registered.

use super::{Rule, State};
use crate::{
    replay,
    shell::{self, Asked, Kind},
};

/// Names of streams that are no kinds of entities.
const RESERVED: [&str; 4] = ["supervisor", "schedule", "node", "pool"];

/// Why a kind cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name is that of a built-in kind or of one that is registered, or is used for something else.
    #[error("kind {kind} cannot be registered: the name is taken")]
    Taken { kind: &'static str },
    /// It is no name that a stream can have.
    #[error("kind {kind:?} cannot be registered: a kind has lower-case letters, digits and hyphens, at most 63")]
    Unusable { kind: &'static str },
}

fn is_usable(kind: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    kind.starts_with(|first: char| first.is_ascii_lowercase()) && kind.len() <= 63 && kind.bytes().all(letter)
}

/// Registers a kind, with its rule, for this process: nodes and journals that are opened from now on know it.
///
/// # Errors
/// If the name is taken or cannot be used.
pub fn register<K>() -> Result<(), RegisterError>
where
    K: Rule<Command: Asked<State = K>> + Kind,
{
    let kind = K::KIND;
    if !is_usable(kind) {
        return Err(RegisterError::Unusable { kind });
    }
    if RESERVED.contains(&kind) || shell::kind(kind).is_some() {
        return Err(RegisterError::Taken { kind });
    }
    replay::add::<K, State<K>>();
    shell::add::<K, State<K>>();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_called_as_the_built_in_ones_are() {
        for usable in ["virtual-ip", "x", "dns4"] {
            assert!(is_usable(usable), "{usable}");
        }
        for unusable in ["", "VirtualIp", "virtual/ip", "4dns", "virtual ip", &"x".repeat(64)] {
            assert!(!is_usable(unusable), "{unusable}");
        }
    }
}
