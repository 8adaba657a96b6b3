//! What a machine is classed as, and what harvesting does with each class.

use bailiwick::actors::supervisor::machines::{
    HarvestMode,
    classify::{AgentStatus, Class, HasInstance, Known, classify},
};
use serde::Deserialize;
use serde_json::Value;

use super::{super::read, life, machine_id, same};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassCase {
    machine_id: String,
    life: String,
    instance_id: String,
    status: String,
    instance_status: Option<String>,
    ensure_dead: Option<String>,
    expect: ExpectedClass,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedClass {
    class: String,
    ensure_dead_called: bool,
    error: Option<String>,
}

pub(super) fn class(case: &Value) -> Result<(), String> {
    let case: ClassCase = read(case)?;
    let machine = machine_id(&case.machine_id)?;
    let known = Known {
        machine: &machine,
        life: life(&case.life)?,
        instance: match case.instance_id.as_str() {
            "present" => HasInstance::Yes,
            "not_provisioned" => HasInstance::NotProvisioned,
            other => HasInstance::Unknown(other.trim_start_matches("error:").to_owned()),
        },
        status: match case.status.as_str() {
            "pending" => AgentStatus::Pending,
            status if status.starts_with("error:") => AgentStatus::Unreadable,
            _ => AgentStatus::Other,
        },
        is_being_provisioned: case.instance_status.as_deref() == Some("provisioning"),
    };
    let got = match classify(known) {
        Err(code) => ExpectedClass { class: "None".into(), ensure_dead_called: false, error: Some(code) },
        Ok(classified) => {
            let failed = case.ensure_dead.filter(|_| classified.ensure_dead);
            let error = failed.map(|error| error.trim_start_matches("error:").to_owned());
            // What cannot be made dead is left alone.
            let class = if error.is_some() { Class::None } else { classified.class };
            ExpectedClass { class: format!("{class:?}"), ensure_dead_called: classified.ensure_dead, error }
        }
    };
    same("class", case.expect, got)
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ModeRow {
    mode: String,
    stops_dead_machines_instances: bool,
    stops_unknown_instances: bool,
    removes_dead_machines: bool,
}

pub(super) fn mode(text: &str) -> Result<HarvestMode, String> {
    text.parse().map_err(|error| format!("{error}"))
}

pub(super) fn harvest_mode(case: &Value) -> Result<(), String> {
    let case: ModeRow = read(case)?;
    let found = mode(&case.mode)?;
    let got = ModeRow {
        mode: found.to_string(),
        stops_dead_machines_instances: found.stops_dead(),
        stops_unknown_instances: found.stops_unknown(),
        removes_dead_machines: found.removes_dead_machines(),
    };
    same("row", case, got)
}

pub(super) fn harvest_mode_name(case: &Value) -> Result<(), String> {
    let (text, expected): (String, String) = read(case)?;
    same("mode", expected, text.parse::<HarvestMode>().map_or_else(|_| "error".into(), |mode| mode.to_string()))
}
