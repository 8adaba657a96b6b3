//! The cases about the machine provisioner: classes, harvest, passes, starts and their retries, zones.
//!
//! They are put to living machines and the machines supervisor, under the policy `juju-2016` with the figures of the case.

mod classes;
mod passes;
mod starts;
mod workers;
mod zones;

use bailiwick::actors::policy::Document;
use serde_json::Value;

use super::{Group, Plan, by_top_level_key};

/// Groups are top-level keys; two tables have rows without names.
pub(super) fn groups(file: &Value) -> Vec<Group> {
    by_top_level_key(file)
}

pub(super) fn plan(group: &str) -> Option<Plan> {
    Some(match group {
        "classify" => Plan::Living(classes::class),
        "harvest_modes" => Plan::Living(classes::harvest_mode),
        "harvest_mode_names" => Plan::Living(classes::harvest_mode_name),
        "passes" => Plan::Living(passes::passes),
        "start_retry" => Plan::Living(starts::start_retry),
        "zones" => Plan::Living(zones::zones),
        "transient_retry" => Plan::Living(starts::transient_retry),
        "batch_isolation" => Plan::Living(starts::batch_isolation),
        "worker_sequences" => Plan::Living(workers::worker_sequence),
        "start_volume_params" => Plan::NotApplicable(
            "volumes and attachments are entities with typed names: a start can name no volume of another machine",
        ),
        "state_machine_task" | "state_machine_worker" => Plan::NotApplicable(
            "the states of the original's workers; the sequences assert in which order a machine goes through them",
        ),
        _ => return None,
    })
}

/// The policy of the cases, with so many retries, so many seconds apart.
fn policy(retries: u32, delay_s: u64) -> Document {
    let mut policy = Document::named("juju-2016").expect("a policy of ours");
    policy.machines.attempts_max = retries + 1;
    // No wait at all is the shortest that there is.
    policy.machines.retry_first_ms = (delay_s * 1_000).max(1);
    policy.machines.retry_max_ms = policy.machines.retry_first_ms;
    policy
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, got: T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}
