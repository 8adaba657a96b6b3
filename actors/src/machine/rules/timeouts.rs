//! Which time-outs and counts are in force for one machine.

use std::collections::BTreeSet;

use crate::{policy::Reconciliation, vocab::Overrides};

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    pub creation_timeout_ms: u64,
    pub health_timeout_ms: u64,
    pub drain_timeout_ms: u64,
    pub evictions_max: u32,
    /// Each once, however often it is named.
    pub node_conditions: BTreeSet<String>,
    /// Refused evictions that fit into the drain, at most `evictions_max`. May be 0: then workloads end in any case.
    pub evictions_in_drain: u32,
    /// How long it is kept for diagnosis when it fails; 0 means not at all.
    pub keep_failed_ms: u64,
}

impl InForce {
    /// The policy's values, except where the machine says otherwise.
    pub fn of(overrides: &Overrides, policy: &Reconciliation) -> Self {
        let drain_timeout_ms = overrides.drain_timeout_ms.unwrap_or(policy.drain.timeout_ms);
        let evictions_max = overrides.evictions_max.unwrap_or(policy.drain.evictions_max);
        let fitting = drain_timeout_ms / policy.drain.eviction_retry_ms.max(1);
        Self {
            creation_timeout_ms: overrides.creation_timeout_ms.unwrap_or(policy.creation_timeout_ms),
            health_timeout_ms: overrides.health_timeout_ms.unwrap_or(policy.health_timeout_ms),
            drain_timeout_ms,
            evictions_max,
            node_conditions: match &overrides.node_conditions {
                Some(own) => own.clone(),
                None => policy.node_conditions.iter().cloned().collect(),
            },
            keep_failed_ms: overrides.keep_failed_ms.unwrap_or(policy.keep.failed_ms),
            evictions_in_drain: evictions_max.min(u32::try_from(fitting).unwrap_or(u32::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_says_counts_and_the_policy_else() {
        let policy = Reconciliation::default();
        let nothing = InForce::of(&Overrides::default(), &policy);
        assert_eq!((nothing.creation_timeout_ms, nothing.health_timeout_ms), (1_200_000, 600_000));
        assert_eq!(
            (nothing.drain_timeout_ms, nothing.evictions_max, nothing.evictions_in_drain),
            (7_200_000, 360, 360)
        );
        assert_eq!(nothing.node_conditions.len(), 4);
        let overrides = Overrides {
            creation_timeout_ms: Some(0),
            health_timeout_ms: Some(7),
            drain_timeout_ms: Some(100_000),
            evictions_max: Some(30),
            node_conditions: Some(BTreeSet::new()),
            keep_failed_ms: Some(8),
        };
        let own = InForce::of(&overrides, &policy);
        assert_eq!((own.creation_timeout_ms, own.health_timeout_ms, own.drain_timeout_ms), (0, 7, 100_000));
        assert_eq!((own.evictions_max, own.evictions_in_drain), (30, 5), "the drain is over before there are more");
        assert_eq!((nothing.keep_failed_ms, own.keep_failed_ms), (0, 8));
        assert!(own.node_conditions.is_empty(), "only readiness counts");
    }

    #[test]
    fn a_condition_that_is_named_twice_is_watched_once() {
        let twice = ["DiskPressure", "DiskPressure"].map(str::to_owned).to_vec();
        let policy = Reconciliation { node_conditions: twice, ..Reconciliation::default() };
        assert_eq!(InForce::of(&Overrides::default(), &policy).node_conditions.len(), 1);
    }
}
