//! How many servers somebody may ask for.

use serde::{Deserialize, Serialize};

/// The most servers that can be asked for: as many as can vote. Source: Juju's enable-ha.
pub const SERVERS_MAX: i64 = 7;

/// The fewest that survive the loss of one.
const SERVERS_LEAST: i64 = 3;

/// Why a number of servers is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum EnableHaError {
    #[error("{asked} is not a valid number of servers")]
    Negative { asked: i64 },
    #[error("an even number of servers ({asked}) survives no more failures than one fewer")]
    Even { asked: i64 },
    #[error("{asked} servers are too many: at most {max} can vote")]
    TooMany { asked: i64, max: i64 },
    #[error("{asked} would be fewer than the {voters} servers that vote now; remove machines instead")]
    FewerThanVoters { asked: i64, voters: i64 },
}

/// How many servers there shall be. Asking for 0 means enough: an odd number, at least 3 and no fewer than vote now.
///
/// # Errors
/// If the number is negative, even, above 7, or below the present number of voters.
///
/// ```
/// use bailiwick_actors::replica_set::enable_ha::servers;
/// assert_eq!(servers(0, 1), Ok(3));
/// assert_eq!(servers(0, 4), Ok(5));
/// assert_eq!(servers(5, 3), Ok(5));
/// assert!(servers(4, 3).is_err());
/// assert!(servers(1, 3).is_err());
/// ```
pub fn servers(asked: i64, voters: u32) -> Result<i64, EnableHaError> {
    let voters = i64::from(voters);
    if asked < 0 {
        return Err(EnableHaError::Negative { asked });
    }
    if asked == 0 {
        let enough = voters.max(SERVERS_LEAST);
        let odd = enough + i64::from(enough % 2 == 0);
        return within_limit(odd);
    }
    if asked % 2 == 0 {
        return Err(EnableHaError::Even { asked });
    }
    let asked = within_limit(asked)?;
    if asked < voters {
        return Err(EnableHaError::FewerThanVoters { asked, voters });
    }
    Ok(asked)
}

fn within_limit(asked: i64) -> Result<i64, EnableHaError> {
    if asked > SERVERS_MAX { Err(EnableHaError::TooMany { asked, max: SERVERS_MAX }) } else { Ok(asked) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits() {
        assert_eq!(servers(-1, 0), Err(EnableHaError::Negative { asked: -1 }));
        assert_eq!(servers(2, 0), Err(EnableHaError::Even { asked: 2 }));
        assert_eq!(servers(9, 0), Err(EnableHaError::TooMany { asked: 9, max: 7 }));
        assert_eq!(servers(3, 5), Err(EnableHaError::FewerThanVoters { asked: 3, voters: 5 }));
        assert_eq!(servers(0, 8), Err(EnableHaError::TooMany { asked: 9, max: 7 }));
        assert_eq!(servers(7, 7), Ok(7));
        assert_eq!(servers(1, 1), Ok(1));
        assert_eq!(servers(i64::MAX, 1), Err(EnableHaError::TooMany { asked: i64::MAX, max: 7 }));
    }

    #[test]
    fn every_answer_is_odd_and_within_the_limits() {
        for (asked, voters) in (-3..12).flat_map(|asked| (0..12).map(move |voters| (asked, voters))) {
            if let Ok(count) = servers(asked, voters) {
                assert!(count % 2 == 1 && (1..=7).contains(&count) && count >= i64::from(voters), "{asked} {voters}");
            }
        }
    }
}
