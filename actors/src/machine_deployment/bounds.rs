//! What a strategy comes to for a number of machines.

use super::{RollingUpdate, Strategy};

/// What a strategy comes to for a number of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub surge: u32,
    pub unavailable: u32,
    /// So many have to be available at any time.
    pub min_available: u32,
}

/// How many machines more, and how many less, a rolling update may have. Percentages that round to nothing would let nothing
/// move: then one may be missing, because a provider may have no room for more.
pub fn fenceposts(update: RollingUpdate, replicas: u32) -> (u32, u32) {
    let (surge, unavailable) = (update.max_surge.rounded_up(replicas), update.max_unavailable.rounded_down(replicas));
    if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
}

/// What a strategy comes to for this number of machines.
pub fn bounds(strategy: Strategy, replicas: u32) -> Bounds {
    let (surge, unavailable) = match strategy {
        Strategy::Recreate => (0, 0),
        Strategy::RollingUpdate(update) => fenceposts(update, replicas),
    };
    let unavailable = unavailable.min(replicas);
    Bounds { surge, unavailable, min_available: replicas - unavailable }
}
