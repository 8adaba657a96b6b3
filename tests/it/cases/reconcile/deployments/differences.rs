//! The cases of machine deployments that do not hold here by design.

use serde_json::Value;

use crate::cases::differences::Difference;

const FILE: &str = "machine-reconcile";

const ROOM: &str = "machines that a set has yet to make take their room, so that no pass uses it twice";

/// All of them.
pub(in crate::cases) const DIFFERENCES: &[Difference] = &[
    Difference {
        file: FILE,
        group: "reconcile_deployment",
        is_about: is_grown_twice,
        reason: ROOM,
        shown_by: Some("machines_that_a_set_has_yet_to_make_take_their_room"),
    },
    Difference {
        file: FILE,
        group: "proportion",
        is_about: |case| case["params"]["to_add"].as_i64().is_some_and(|to_add| to_add > 0),
        reason: "a share of what is added shows in nothing: in a rollout only the new set grows, as group scale asserts",
        shown_by: None,
    },
];

/// Those that none of the cases here is about, and others from the same tables are.
pub(in crate::cases) const ELSEWHERE: &[Difference] = &[
    Difference {
        file: FILE,
        group: "fenceposts",
        is_about: |case| case["params"]["desired"].as_u64() < case["expect"]["unavailable"].as_u64(),
        reason: "no more machines are missing than there shall be",
        shown_by: None,
    },
    Difference {
        file: FILE,
        group: "bounds",
        is_about: has_unknown_strategy,
        reason: UNKNOWN,
        shown_by: Some("what_a_deployment_cannot_be_is_refused_where_it_stands"),
    },
    Difference {
        file: FILE,
        group: "new_replicas",
        is_about: has_unknown_strategy,
        reason: UNKNOWN,
        shown_by: Some("what_a_deployment_cannot_be_is_refused_where_it_stands"),
    },
    Difference {
        file: FILE,
        group: "reconcile_deployment",
        is_about: has_unknown_strategy,
        reason: UNKNOWN,
        shown_by: Some("what_a_deployment_cannot_be_is_refused_where_it_stands"),
    },
    Difference {
        file: FILE,
        group: "new_replicas",
        is_about: has_machines_to_make,
        reason: ROOM,
        shown_by: Some("machines_that_a_set_has_yet_to_make_take_their_room"),
    },
    Difference {
        file: FILE,
        group: "reconcile_deployment",
        is_about: |case| case["deployment"]["rollback_to"].is_number(),
        reason: "a rollback is done when it is asked for, or refused with the reason; none waits for a pass or is dropped",
        shown_by: Some("a_restart_is_another_template_and_an_undo_brings_the_old_one_back"),
    },
];

const UNKNOWN: &str = "an unknown strategy is refused at apply";

fn has_unknown_strategy(case: &Value) -> bool {
    case["deployment"]["strategy"].as_str().is_some_and(|text| !matches!(text, "RollingUpdate" | "Recreate"))
}

/// Whether a set has fewer machines than it shall have.
fn has_machines_to_make(case: &Value) -> bool {
    let sets = case["old_sets"].as_array().into_iter().flatten().chain([&case["new_set"]]);
    sets.into_iter().any(|set| set["status_replicas"].as_u64().is_some_and(|has| Some(has) < set["replicas"].as_u64()))
}

/// Whether a pass makes the new set with what there is room for, and then grows it by the same room once more.
fn is_grown_twice(case: &Value) -> bool {
    let sets = case["sets"].as_array().into_iter().flatten();
    let has_new = sets.clone().any(|set| set["template"] == case["deployment"]["template"]);
    let rolls = case["deployment"]["strategy"] != "Recreate" && case["deployment"]["paused"] != true;
    let made = case["expect"]["sets"].as_object().into_iter().flatten();
    let is_small = |(name, set): (&String, &Value)| {
        name.starts_with("(created)") && set["replicas"].as_u64() < case["deployment"]["replicas"].as_u64()
    };
    rolls && sets.count() > 0 && !has_new && made.into_iter().any(is_small)
}
