//! What a case gives, field by field. A field that is not here is a failure.

mod built;

use std::collections::BTreeMap;

use bailiwick::actors::{
    machine::rules::TaintEffect,
    vocab::{MachinePhase, Timestamp},
};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) use self::built::{CallError, CallResult, spelled};

pub(super) type Map = BTreeMap<String, String>;

/// The moment of all cases: 2023-06-21T12:00:00Z.
pub(super) const NOW: Timestamp = Timestamp(1_687_348_800_000);

/// The moment so many seconds before.
pub(super) fn ago(seconds: u64) -> Timestamp {
    Timestamp(NOW.0 - seconds * 1000)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "fields about a case, for people; that they are known is what counts")]
pub(super) struct Given {
    pub(super) name: String,
    source: String,
    pub(super) flow: String,
    now: String,
    note: Option<String>,
    #[serde(default)]
    pub(super) defect: bool,
    better: Option<Value>,
    better_given: Option<Value>,
    better_expect: Option<Value>,
    expect: Option<Value>,
    pub(super) machine: Option<Machine>,
    #[serde(default)]
    pub(super) others: Vec<Machine>,
    pub(super) node: Option<Node>,
    #[serde(default)]
    pub(super) nodes: Vec<Node>,
    #[serde(default)]
    pub(super) driver: Driver,
    #[serde(default)]
    pub(super) machine_class: Class,
    #[serde(default)]
    pub(super) flags: Flags,
    #[serde(default)]
    pub(super) frozen: bool,
    #[serde(default)]
    pub(super) control_errors: Map,
    #[serde(default)]
    pub(super) target_secrets: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) params: Params,
    #[serde(default)]
    pub(super) pods: Vec<Pod>,
    #[serde(default)]
    pub(super) pdbs: Vec<Budget>,
    #[serde(default)]
    pub(super) sets: Vec<Set>,
    #[serde(default)]
    pub(super) machines: Vec<Member>,
    pub(super) deployment: Option<Deployment>,
    pub(super) new_set: Option<Set>,
    #[serde(default)]
    pub(super) old_sets: Vec<Set>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flags {
    pub(super) drain_timeout_s: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    pub(super) phase: Option<String>,
    pub(super) machine_name: Option<String>,
    pub(super) deployment: Option<String>,
    pub(super) lock_held: bool,
    pub(super) ops: Vec<Vec<Value>>,
    pub(super) class: Option<String>,
    pub(super) event: Option<String>,
    panic_expected: bool,
    pub(super) passes: u32,
    pub(super) events: BTreeMap<String, Event>,
    pub(super) delete_reason: Option<String>,
    pub(super) force: bool,
    pub(super) class_snapshot: bool,
    pub(super) max_evict_retries: Option<u32>,
    pub(super) drain_timeout_s: Option<u64>,
    pub(super) pv_detach_timeout_s: Option<u64>,
    pub(super) pv_reattach_timeout_s: Option<u64>,
    pub(super) attachment_events: bool,
    pub(super) no_eviction_api: bool,
    pub(super) node_gone_after_s: Option<u64>,
    pub(super) cordon_error: Option<String>,
    pub(super) no_priority: bool,
    pub(super) count: Option<usize>,
    pub(super) initial: Option<usize>,
    pub(super) fail_from_call: Option<usize>,
    pub(super) delete_error: Option<String>,
    pub(super) create_error: Option<String>,
    pub(super) create_error_from_call: Option<usize>,
    pub(super) error: Option<String>,
    pub(super) control_up: Option<bool>,
    pub(super) target_up: Option<bool>,
    pub(super) inactive_s: Option<u64>,
    pub(super) max_surge: Option<Value>,
    pub(super) max_unavailable: Option<Value>,
    pub(super) desired: Option<u32>,
    pub(super) new_available: Option<String>,
    pub(super) to_add: i64,
    pub(super) added: i64,
    pub(super) new_status: Option<Totals>,
}

/// What happens just before a pass.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Event {
    pub(super) node: Option<Node>,
    pub(super) node_gone: Option<String>,
    pub(super) driver_errors: Option<BTreeMap<String, DriverError>>,
    pub(super) age_phase_s: Option<u64>,
    pub(super) delete: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "what the original records of a machine and ours has nothing for; that it is known is what counts"
)]
pub(super) struct Machine {
    pub(super) name: String,
    /// The set that it belongs to, where a case is about that.
    #[serde(skip)]
    pub(super) set: Option<String>,
    #[serde(default)]
    created_age_s: u64,
    deleted_age_s: Option<u64>,
    finalizer: bool,
    pub(super) labels: Option<Map>,
    annotations: Option<Map>,
    pub(super) provider_id: String,
    class: Option<String>,
    class_kind: Option<String>,
    node_template: Option<Template>,
    #[serde(default)]
    config: Config,
    pub(super) phase: String,
    #[serde(default)]
    phase_age_s: u64,
    #[serde(default)]
    last_operation: LastOperation,
    conditions: Option<Vec<Condition>>,
    #[serde(default)]
    last_known_state: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    creation_timeout_s: Option<u64>,
    health_timeout_s: Option<u64>,
    drain_timeout_s: Option<u64>,
    max_evict_retries: Option<u32>,
    node_conditions: Option<String>,
}

/// A typed design takes the next step as it is given, and ignores the description.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LastOperation {
    r#type: String,
    state: String,
    description: String,
    age_s: u64,
    next_step: Option<String>,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum ConditionStatus {
    True,
    False,
    Unknown,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "how old a condition is counts for nothing here, and texts are for people")]
pub(super) struct Condition {
    pub(super) r#type: String,
    pub(super) status: ConditionStatus,
    #[serde(default)]
    age_s: u64,
    #[serde(default)]
    pub(super) reason: String,
    #[serde(default)]
    message: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Template {
    labels: Option<Map>,
    annotations: Option<Map>,
    taints: Option<Vec<GivenTaint>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenTaint {
    key: String,
    #[serde(default)]
    value: String,
    effect: TaintEffect,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "no node of ours is cordoned; that the field is known is what counts")]
pub(super) struct Node {
    pub(super) name: String,
    #[serde(default)]
    #[expect(dead_code, reason = "how old a node is matters to nobody here")]
    created_age_s: u64,
    labels: Option<Map>,
    annotations: Option<Map>,
    taints: Option<Vec<GivenTaint>>,
    conditions: Option<Vec<Condition>>,
    #[serde(default)]
    unschedulable: bool,
    last_applied: Option<Template>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Driver {
    pub(super) exists: bool,
    pub(super) provider_id: String,
    pub(super) node_name: String,
    pub(super) last_known_state: String,
    pub(super) vms: Map,
    pub(super) errors: BTreeMap<String, DriverError>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DriverError {
    code: Option<String>,
    message: Option<String>,
    raw: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Class {
    missing: bool,
    no_finalizer: bool,
    deleting: bool,
    secret_missing: bool,
    secret: Option<Map>,
    pub(super) credentials: Option<Map>,
    node_template: Option<Capacity>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Capacity {
    capacity: Map,
    instance_type: String,
    region: String,
    zone: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "local storage and the phase of a pod do not keep it; that the fields are known is what counts"
)]
pub(super) struct Pod {
    pub(super) name: String,
    #[serde(default)]
    pub(super) priority: i32,
    #[serde(default)]
    pub(super) owner: String,
    #[serde(default)]
    pub(super) mirror: bool,
    #[serde(default)]
    empty_dir: bool,
    phase: Option<String>,
    #[serde(default)]
    pub(super) grace_s: u64,
    #[serde(default)]
    pub(super) pvs: Vec<String>,
    pub(super) gone_after_s: Option<u64>,
    pub(super) detach_after_s: Option<u64>,
    pub(super) reattach_after_s: Option<u64>,
    pub(super) evict: Option<String>,
    pub(super) evict_ok_after_tries: Option<u32>,
    pub(super) delete: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "a budget counts what is so now, and never an older state of its application")]
pub(super) struct Budget {
    pub(super) pod: String,
    pub(super) expected: u32,
    pub(super) healthy: u32,
    pub(super) allowed: u32,
    pub(super) generation: u64,
    pub(super) observed_generation: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) replicas: usize,
    pub(super) status_replicas: Option<u32>,
    pub(super) status_ready: Option<u32>,
    pub(super) status_available: Option<u32>,
    pub(super) template: Option<String>,
    pub(super) revision: Option<String>,
    pub(super) desired_annotation: Option<u32>,
    pub(super) max_annotation: Option<u32>,
    pub(super) created_age_s: Option<u64>,
    pub(super) deleted_age_s: Option<u64>,
    #[serde(default)]
    pub(super) frozen: bool,
    #[serde(default)]
    frozen_condition: bool,
    pub(super) replica_failure: Option<String>,
}

impl Set {
    /// A label and a condition say so there, which are one thing here.
    pub(super) fn is_frozen(&self) -> bool {
        self.frozen || self.frozen_condition
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deployment {
    pub(super) replicas: u32,
    pub(super) strategy: Option<String>,
    pub(super) max_surge: Option<Value>,
    pub(super) max_unavailable: Option<Value>,
    pub(super) template: Option<String>,
    #[serde(default)]
    pub(super) paused: bool,
    #[expect(dead_code, reason = "a rollback waits for no pass; that the field is known is what counts")]
    pub(super) rollback_to: Option<u64>,
    pub(super) revision_history_limit: Option<u32>,
    #[serde(default)]
    pub(super) generation: u64,
    pub(super) progress_deadline_s: Option<u64>,
    pub(super) progressing: Option<Progressing>,
    pub(super) status: Option<Totals>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "whether it is true follows from the reason")]
pub(super) struct Progressing {
    status: String,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) age_s: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Totals {
    pub(super) replicas: u32,
    pub(super) updated: u32,
    pub(super) ready: u32,
    pub(super) available: u32,
    pub(super) observed_generation: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "what its latest operation came to shows in the phase; that the field is known is what counts"
)]
pub(super) struct Member {
    pub(super) name: String,
    #[serde(default)]
    pub(super) phase: String,
    pub(super) priority: Option<String>,
    #[serde(default)]
    pub(super) created_age_s: u64,
    pub(super) deleted_age_s: Option<u64>,
    #[serde(default)]
    pub(super) op_state: String,
    pub(super) labels: Option<Map>,
}

/// The class that exists.
pub(super) const CLASS: &str = "class-0";

pub(super) fn phase(text: &str) -> Result<MachinePhase, String> {
    let known = MachinePhase::ALL.into_iter().find(|phase| phase.as_str() == text);
    known.ok_or_else(|| format!("there is no phase {text:?}"))
}

/// Takes away what is null: for everything that is given, it means the same as absent.
pub(super) fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => (),
    }
}

/// Lays a value over a case, at a path like `machine.last_operation.next_step`.
pub(super) fn put(case: &mut Value, path: &str, value: Value) {
    let place = path.split('.').fold(case, |place, key| {
        if place.get(key).is_none() {
            place[key] = json!({});
        }
        &mut place[key]
    });
    *place = value;
}
