//! Instances that nobody knows: when they are stopped, and when not.
//!
//! An instance is unknown if a complete list has it and no machine claims it. It goes if the policy's mode says so, after
//! enough sightings in complete lists, and after a grace period. One that its machine had deleted is known to be ours,
//! whatever its provider said then: it also goes in the modes that stop the instances of dead machines. Nothing is unknown before the first complete list that was
//! compared with the whole view. The machine whose name it bears has the last word: it knows what is its own.

use crate::{policy::Harvest, vocab::Timestamp};

use super::{Sighting, Unclaimed};

/// Whether an instance that nobody knows is to be stopped, or when, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It is to be stopped.
    Due,
    /// So many more sightings are needed.
    Sightings { more: u32 },
    /// It has not been unknown for long enough.
    Grace { until: Timestamp },
    /// The mode leaves it alone.
    Spared,
    /// Its machine was told already.
    Told,
}

/// What is to become of an unknown instance, as it was seen last.
pub fn outlook(unclaimed: &Unclaimed, policy: &Harvest) -> Outlook {
    if unclaimed.told {
        return Outlook::Told;
    }
    if unclaimed.times < policy.sightings_min {
        return Outlook::Sightings { more: policy.sightings_min - unclaimed.times };
    }
    let until = unclaimed.since.after(policy.grace_ms);
    if unclaimed.last < until {
        return Outlook::Grace { until };
    }
    let goes = policy.mode.stops_unknown() || (unclaimed.was_deleted && policy.mode.stops_dead());
    if goes { Outlook::Due } else { Outlook::Spared }
}

/// Whether another sighting, as of then, is worth noting: only what brings the end nearer is, so that an instance which
/// nobody removes is not noted for ever.
pub(super) fn is_worth_noting(sighting: &Sighting, policy: &Harvest, as_of: Timestamp) -> bool {
    let Some(unclaimed) = &sighting.unclaimed else {
        return true;
    };
    let (now, then) = (outlook(unclaimed, policy), outlook(&unclaimed.seen_again(as_of), policy));
    match then {
        Outlook::Told => false,
        Outlook::Sightings { .. } => unclaimed.last < as_of,
        Outlook::Due => true,
        Outlook::Grace { .. } | Outlook::Spared => now != then && unclaimed.last < as_of,
    }
}
