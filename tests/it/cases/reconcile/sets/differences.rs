//! The cases of machine sets that do not hold here by design.

use serde_json::Value;

use crate::cases::differences::Difference;

const FILE: &str = "machine-reconcile";

/// All of them.
pub(in crate::cases) const DIFFERENCES: &[Difference] = &[
    Difference {
        file: FILE,
        group: "rank",
        is_about: |case| has_phase(case, &["Failed", "Terminating", "Available"]),
        reason: "a set chooses among the machines that count: who was given up or is on its way out goes in any case",
        shown_by: Some("who_is_least_useful_goes_first_unless_a_priority_says_otherwise"),
    },
    Difference {
        file: FILE,
        group: "replicas",
        is_about: |case| case.pointer("/sets/0/deleted_age_s").is_some(),
        reason: "a set that goes makes no machine any more: all of its machines go",
        shown_by: Some("a_set_that_goes_takes_its_machines_with_it"),
    },
];

/// Those that none of the cases here is about, and others from the same tables are.
pub(in crate::cases) const ELSEWHERE: &[Difference] = &[
    never_available("active"),
    never_available("pick"),
    never_available("replicas"),
    never_available("set_status"),
    goes_at_once("rank"),
    goes_at_once("pick"),
    goes_at_once("replicas"),
    goes_at_once("set_status"),
    Difference {
        file: FILE,
        group: "slow_start",
        is_about: |case| case["params"]["initial"] != 1 && case["params"]["fail_from_call"].is_number(),
        reason: "a set begins with one machine, however many are missing",
        shown_by: Some("its_machines_are_made_one_two_four"),
    },
    Difference {
        file: FILE,
        group: "set_status",
        is_about: has_failed_operation,
        reason: "a machine that is tried again has not failed: a set names those that were given up",
        shown_by: Some("a_machine_that_was_given_up_is_replaced_under_a_new_name"),
    },
];

const fn never_available(group: &'static str) -> Difference {
    let reason = "no machine of ours is ever Available: it is pending, or it runs";
    Difference { file: FILE, group, is_about: |case| has_phase(case, &["Available"]), reason, shown_by: None }
}

const fn goes_at_once(group: &'static str) -> Difference {
    let reason = "a machine that was told to go is Terminating from that moment on";
    Difference { file: FILE, group, is_about: is_going_in_another_phase, reason, shown_by: None }
}

fn machines(case: &Value) -> impl Iterator<Item = &Value> {
    case["machines"].as_array().into_iter().flatten()
}

fn has_phase(case: &Value, phases: &[&str]) -> bool {
    machines(case).any(|machine| phases.contains(&machine["phase"].as_str().unwrap_or_default()))
}

fn is_going_in_another_phase(case: &Value) -> bool {
    machines(case).any(|machine| machine["deleted_age_s"].is_number() && machine["phase"] != "Terminating")
}

fn has_failed_operation(case: &Value) -> bool {
    machines(case).any(|machine| machine["op_state"] == "Failed" && machine["phase"] != "Failed")
}
