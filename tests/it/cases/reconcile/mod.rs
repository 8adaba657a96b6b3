//! The cases about a machine's reconciliation: rules, single passes, drains, sets.
//!
//! What `expect` says is what the original does, and is asserted under its policy. Where the original is wrong (`defect`),
//! the better answer is laid over it and asserted under ours.

mod deployments;
mod expect;
mod given;
mod living;
mod orphans;
mod rules;
mod safety;
mod sets;

use bailiwick::actors::policy::{self, Reconciliation};
use serde_json::Value;

use super::{Group, Plan, by_field};
pub(super) use deployments::{DIFFERENCES as OF_DEPLOYMENTS, ELSEWHERE as OF_DEPLOYMENTS_ELSEWHERE};
use expect::Expect;
use given::Given;
pub(super) use living::{DIFFERENCES, DRAINS};
pub(super) use sets::{DIFFERENCES as OF_SETS, ELSEWHERE as OF_SETS_ELSEWHERE};

/// Groups are flows; what does not apply to us stands apart, so that it is counted and printed.
pub(super) fn groups(file: &Value) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (flow, cases) in by_field(file, "/flow") {
        for (name, case) in cases {
            let group = match not_applicable(&case) {
                Some(why) => format!("{flow} {why}"),
                None => flow.clone(),
            };
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, cases)) => cases.push((name, case)),
                None => groups.push((group, vec![(name, case)])),
            }
        }
    }
    groups
}

fn not_applicable(case: &Value) -> Option<&'static str> {
    let says = |field: &str| case.get(field).is_some();
    [("original_only", ORIGINAL), ("better_only", BETTER), ("applies", STORE)]
        .into_iter()
        .find_map(|(field, why)| says(field).then_some(why))
}

const ORIGINAL: &str = "(original only)";
const BETTER: &str = "(better only)";
const STORE: &str = "(store only)";

pub(super) fn plan(group: &str) -> Option<Plan> {
    let (flow, why) = group.split_once(' ').unwrap_or((group, ""));
    let plan = match flow {
        "create" => Plan::Living(living::create),
        "health" => Plan::Living(living::health),
        "delete" => Plan::Living(living::delete),
        "sync" => Plan::Living(living::sync),
        "reconcile" => Plan::Living(living::reconcile),
        "sequence" => Plan::Living(living::sequence),
        "healthy" => Plan::Living(living::healthy),
        "conditions_changed" => Plan::Living(living::conditions_changed),
        "critical_taint" => Plan::Living(living::critical_taint),
        "termination_reason" => Plan::Living(living::termination_reason),
        "timeouts" => Plan::Living(living::timeouts),
        "create_failure_phase" => Plan::Living(living::create_failure_phase),
        "sync_labels" | "sync_annotations" | "sync_taints" => Plan::Living(rules::sync),
        "can_fail" => Plan::Living(rules::can_fail),
        "validate_class" => Plan::Living(living::validate_class),
        "class" => Plan::Living(living::class),
        "node_event" => Plan::Living(living::node_event),
        "unmanaged" => Plan::NotApplicable(
            "nodes are no objects of their own: an agent that is no machine's is told so, and nothing is written on it",
        ),
        "orphans" => Plan::Living(orphans::orphans),
        "drain" => Plan::Living(living::drain),
        "drain_pdb" => Plan::Living(living::drain_pdb),
        "drain_shared" => Plan::Living(living::drain_shared),
        "rank" => Plan::Living(sets::rank),
        "pick" => Plan::Living(sets::pick),
        "active" => Plan::Living(sets::active),
        "slow_start" => Plan::Living(sets::slow_start),
        "replicas" => Plan::Living(sets::replicas),
        "set_status" => Plan::Living(sets::status),
        "token" => Plan::NotApplicable("an id is drawn for every instance; none follows from a name"),
        "permits" => {
            Plan::NotApplicable("orders that are not answered yet are the permits: none is taken or given back")
        }
        "fenceposts" => Plan::Living(deployments::fenceposts),
        "bounds" => Plan::Living(deployments::bounds),
        "new_replicas" => Plan::Living(deployments::new_replicas),
        "proportion" => Plan::Living(deployments::proportion),
        "saturated" => Plan::Living(deployments::saturated),
        "find_sets" => Plan::Living(deployments::find_sets),
        "progress" => Plan::Living(deployments::progress),
        "deployment_status" => Plan::Living(deployments::deployment_status),
        "rolling_step" => Plan::Living(deployments::rolling_step),
        "rolling_run" => Plan::Living(deployments::rolling_run),
        "scale" => Plan::Living(deployments::scale),
        "cleanup" => Plan::Living(deployments::cleanup),
        "reconcile_deployment" => Plan::Living(deployments::reconcile),
        "freeze" => Plan::Living(safety::freeze),
        "safety_api" => Plan::Living(living::safety_api),
        "similar" | "decode_error" => Plan::Skip("heuristics over texts, which a typed design does not have"),
        _ => return None,
    };
    Some(match why {
        "" => plan,
        ORIGINAL => Plan::NotApplicable("heuristics over texts, which a typed design does not have"),
        STORE => Plan::NotApplicable("the fault is a write to a store, which an event-sourced design does not have"),
        BETTER => Plan::NotApplicable("no fixed better value exists; a unit test asserts what is better"),
        _ => return None,
    })
}

/// The policy that a case is asserted under, by its name.
fn policy_name(given: &Given) -> &'static str {
    if given.defect { "default" } else { "gardener-0.49" }
}

/// Its settings of a machine's reconciliation.
fn policy(given: &Given) -> Reconciliation {
    let mut policy = policy::Document::named(policy_name(given)).expect("a policy of ours").reconciliation;
    if let Some(seconds) = given.flags.drain_timeout_s {
        policy.drain.timeout_ms = seconds * 1000;
    }
    policy
}

/// What is given and what is expected of a case; of a defect, with the better input and answer laid over.
fn read(case: &Value) -> Result<(Given, Expect), String> {
    let mut case = case.clone();
    let mut expect = case["expect"].take();
    if case["defect"] == true {
        for (path, value) in case["better_given"].take().as_object().into_iter().flatten() {
            given::put(&mut case, path, value.clone());
        }
        for (key, value) in case["better_expect"].take().as_object().into_iter().flatten() {
            expect[key] = value.clone();
        }
    }
    given::strip(&mut case);
    let given: Given = serde_json::from_value(case).map_err(|error| format!("the runner cannot read it: {error}"))?;
    Ok((given, Expect::new(expect)?))
}
