//! The cases about drains that do not hold here by design.

use serde_json::Value;

use crate::cases::differences::Difference;

/// All of them.
pub(in crate::cases) const DRAINS: &[Difference] = &[
    Difference {
        file: "machine-reconcile",
        group: "drain",
        is_about: |case| pods(case).any(|pod| pod["mirror"] == true || pod["owner"] == "DaemonSet"),
        reason: "all that runs in a machine is declared with it, and all of it ends",
        shown_by: Some("a_workload_ends_while_its_volume_is_still_attached"),
    },
    Difference {
        file: "machine-reconcile",
        group: "drain",
        is_about: |case| pods(case).any(|pod| pod["evict"] == "500" || pod["delete"] == "500"),
        reason: "an agent is told what is to run whenever it reports: there is no call for a workload that could fail",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "drain",
        is_about: |case| case["params"]["no_eviction_api"] == true,
        reason: "every agent can be told to end workloads: there is no second way of ending them",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "drain",
        is_about: |case| case["params"]["max_evict_retries"] == 0,
        reason: "a disruption budget is asked once in any case before workloads end",
        shown_by: Some("what_a_machine_says_counts_and_the_policy_else"),
    },
    Difference {
        file: "machine-reconcile",
        group: "drain",
        is_about: |case| {
            let refuses_for_ever = pods(case).any(|pod| pod["evict"] == "429");
            refuses_for_ever && case["pdbs"].is_null()
        },
        reason: "with the last refusal that counts it is forced at once, without one more wait",
        shown_by: Some("every_reason_and_rejection_has_its_case"),
    },
    Difference {
        file: "machine-reconcile",
        group: "drain",
        is_about: |case| {
            let timeout_s = case["params"]["drain_timeout_s"].as_u64();
            timeout_s.is_some_and(|timeout_s| pods(case).any(|pod| pod["grace_s"].as_u64() > Some(timeout_s)))
        },
        reason: "the time of a drain is the whole of it: nothing is added for the last workload",
        shown_by: Some("a_budget_that_never_has_room_holds_nobody_longer_than_the_drain_may_take"),
    },
    Difference {
        file: "machine-reconcile",
        group: "drain",
        is_about: |case| {
            let has_volumes = |pod: &&Value| pod["pvs"].is_array();
            case["params"]["drain_timeout_s"].is_u64() && pods(case).filter(has_volumes).count() > 1
        },
        reason: "nobody waits for volumes to arrive elsewhere, so that the drain's time is not over between two workloads",
        shown_by: Some("a_turn_ends_with_the_drain_at_the_latest"),
    },
    Difference {
        file: "machine-reconcile",
        group: "drain",
        // These alone are put to the node under its own policy.
        is_about: |case| {
            let priorities: Vec<&Value> = pods(case).map(|pod| &pod["priority"]).collect();
            case["defect"] == true && priorities.windows(2).any(|pair| pair[0] != pair[1])
        },
        reason: "by default the least important workloads end first; `gardener-0.49` has the original's order",
        shown_by: Some("the_least_important_end_first_or_as_the_policy_says"),
    },
    Difference {
        file: "machine-reconcile",
        group: "drain_shared",
        is_about: |case| {
            let named: Vec<&Value> = pods(case).flat_map(|pod| pod["pvs"].as_array().into_iter().flatten()).collect();
            named.iter().enumerate().any(|(place, volume)| named[..place].contains(volume))
        },
        reason: "a volume that several use leaves with the last of them, and is waited for with it",
        shown_by: Some("whose_turn_is_to_come_goes_on_and_its_volumes_stay"),
    },
];

fn pods(case: &Value) -> impl Iterator<Item = &Value> {
    case["pods"].as_array().into_iter().flatten()
}
