//! The cases about the machine provisioner: classes, harvest, passes, starts and their retries, zones, parameters.

mod classes;
mod passes;
mod starts;
mod volumes;
mod workers;
mod zones;

use bailiwick::actors::vocab::{Life, MachineId};
use serde_json::Value;

use super::{Group, Plan, by_top_level_key};

/// Groups are top-level keys; two tables have rows without names.
pub(super) fn groups(file: &Value) -> Vec<Group> {
    by_top_level_key(file)
}

pub(super) fn plan(group: &str) -> Option<Plan> {
    Some(Plan::Run(match group {
        "classify" => classes::class,
        "harvest_modes" => classes::harvest_mode,
        "harvest_mode_names" => classes::harvest_mode_name,
        "passes" => passes::passes,
        "start_retry" => starts::start_retry,
        "zones" => zones::zones,
        "transient_retry" => starts::transient_retry,
        "batch_isolation" => starts::batch_isolation,
        "start_volume_params" => volumes::start_volume_params,
        "state_machine_task" => workers::task_states,
        "state_machine_worker" => workers::worker_states,
        "worker_sequences" => workers::worker_sequence,
        _ => return None,
    }))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, got: T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

fn life(text: &str) -> Result<Life, String> {
    match text {
        "alive" => Ok(Life::Alive),
        "dying" => Ok(Life::Dying),
        "dead" => Ok(Life::Dead),
        _ => Err(format!("the runner does not know the life {text:?}")),
    }
}

fn machine_id(text: &str) -> Result<MachineId, String> {
    text.parse().map_err(|error| format!("{error}"))
}
