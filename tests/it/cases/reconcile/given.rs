//! What a case gives, field by field. A field that is not here is a failure.

use std::collections::BTreeMap;

use bailiwick::actors::{
    machine::{
        reconcile::{
            CallError, Import, NodeSeen, Operation, OperationKind, OperationState, Record, RemovalStep, State,
        },
        rules::{
            ConditionStatus, NodeCondition, Overrides, Taint, TaintEffect,
            class::{ClassSeen, MachineClass, NodeCapacity},
            names,
            removal::{Removal, RemovalReason},
            template::{LastWritten, NodeTemplate, RECORD},
        },
    },
    policy::Reconciliation,
    vocab::{FaultCode, MachinePhase, Timestamp},
};
use serde::Deserialize;
use serde_json::{Value, json};

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
pub(super) struct Machine {
    pub(super) name: String,
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
    next_step: Option<RemovalStep>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    r#type: String,
    status: ConditionStatus,
    #[serde(default)]
    age_s: u64,
    #[serde(default)]
    reason: String,
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
pub(super) struct Node {
    pub(super) name: String,
    #[serde(default)]
    pub(super) created_age_s: u64,
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
#[expect(dead_code, reason = "a set's fields that only deployments look at; that they are known is what counts")]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) replicas: usize,
    status_replicas: Option<u32>,
    status_ready: Option<u32>,
    status_available: Option<u32>,
    template: Option<String>,
    revision: Option<String>,
    desired_annotation: Option<Value>,
    max_annotation: Option<Value>,
    created_age_s: Option<u64>,
    pub(super) deleted_age_s: Option<u64>,
    #[serde(default)]
    pub(super) frozen: bool,
    frozen_condition: Option<Value>,
    pub(super) replica_failure: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
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
    MachinePhase::parse(text).ok_or_else(|| format!("there is no phase {text:?}"))
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

impl Machine {
    pub(super) fn label(&self, key: &str) -> &str {
        self.labels.as_ref().and_then(|labels| labels.get(key)).map_or("", String::as_str)
    }

    pub(super) fn class_name(&self) -> &str {
        self.class.as_deref().unwrap_or(CLASS)
    }

    pub(super) fn conditions(&self) -> Vec<NodeCondition> {
        conditions(self.conditions.as_deref())
    }

    pub(super) fn template(&self) -> NodeTemplate {
        self.node_template.clone().unwrap_or_default().template()
    }

    pub(super) fn is_going(&self) -> bool {
        self.deleted_age_s.is_some()
    }

    pub(super) fn created(&self) -> Timestamp {
        ago(self.created_age_s)
    }

    pub(super) fn overrides(&self, policy: &Reconciliation) -> Overrides {
        let ms = |seconds: Option<u64>| seconds.map(|seconds| seconds * 1000);
        let watched = self.config.node_conditions.as_deref();
        Overrides {
            creation_timeout_ms: ms(self.config.creation_timeout_s),
            health_timeout_ms: ms(self.config.health_timeout_s),
            drain_timeout_ms: ms(self.config.drain_timeout_s),
            evictions_max: self.config.max_evict_retries,
            node_conditions: watched.map(|text| names(text, policy.readings.condition_names)),
        }
    }

    /// The machine's record, as one would be taken over from a Gardener control plane.
    pub(super) fn import(&self, given: &Given, policy: &Reconciliation) -> Result<Import, String> {
        let named = |text: &Option<String>, absent: &str| match text.as_deref() {
            None => absent.to_owned(),
            Some("-") => String::new(),
            Some(text) => text.to_owned(),
        };
        let record = Record {
            name: self.name.clone(),
            created: self.created(),
            class_kind: named(&self.class_kind, "MachineClass"),
            class: named(&self.class, CLASS),
            recorded_class: given.params.class_snapshot.then(|| given.machine_class.class()),
            is_held: self.finalizer,
            labels: self.labels.clone().unwrap_or_default(),
            annotations: self.annotations.clone().unwrap_or_default(),
            provider_id: self.provider_id.clone(),
            template: self.template(),
            overrides: self.overrides(policy),
            conditions: self.conditions(),
            last_known_state: self.last_known_state.clone(),
            token: None,
        };
        let reason = match given.params.delete_reason.as_deref() {
            None => None,
            Some("Unhealthy") => Some(RemovalReason::Unhealthy),
            Some("ScaleDown") => Some(RemovalReason::ScaleDown),
            Some(other) => return Err(format!("there is no reason {other:?}")),
        };
        let removal = self.deleted_age_s.map(|age| Removal { asked: ago(age), reason, force: given.params.force });
        Ok(Import {
            record,
            phase: phase(&self.phase)?,
            phase_since: ago(self.phase_age_s),
            operation: self.last_operation.operation()?,
            next_step: self.last_operation.next_step,
            removal,
        })
    }
}

impl LastOperation {
    fn operation(&self) -> Result<Operation, String> {
        let kind = match self.r#type.as_str() {
            "" => None,
            "Create" => Some(OperationKind::Create),
            "HealthCheck" => Some(OperationKind::HealthCheck),
            "Delete" => Some(OperationKind::Delete),
            other => return Err(format!("there is no operation {other:?}")),
        };
        let state = match self.state.as_str() {
            "" => None,
            "Processing" => Some(OperationState::Processing),
            "Failed" => Some(OperationState::Failed),
            "Successful" => Some(OperationState::Successful),
            other => return Err(format!("there is no state {other:?}")),
        };
        Ok(Operation { kind, state, error: None })
    }
}

impl Template {
    pub(super) fn template(self) -> NodeTemplate {
        NodeTemplate {
            labels: self.labels.unwrap_or_default(),
            annotations: self.annotations.unwrap_or_default(),
            taints: taints(self.taints.as_deref()),
        }
    }
}

fn taints(given: Option<&[GivenTaint]>) -> Vec<Taint> {
    let taint = |taint: &GivenTaint| Taint { key: taint.key.clone(), value: taint.value.clone(), effect: taint.effect };
    given.unwrap_or_default().iter().map(taint).collect()
}

fn conditions(given: Option<&[Condition]>) -> Vec<NodeCondition> {
    let condition = |condition: &Condition| NodeCondition {
        kind: condition.r#type.clone(),
        status: condition.status,
        since: ago(condition.age_s),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    };
    given.unwrap_or_default().iter().map(condition).collect()
}

impl Node {
    /// The node as it would be seen; and the text of a record that nobody can read.
    pub(super) fn seen(&self) -> (NodeSeen, Option<String>) {
        let mut annotations = self.annotations.clone().unwrap_or_default();
        let unreadable = annotations.remove(RECORD);
        let last_written = match (&self.last_applied, &unreadable) {
            (_, Some(_)) => LastWritten::Unreadable,
            (Some(last), None) => LastWritten::Known(last.clone().template()),
            (None, None) => LastWritten::Nothing,
        };
        let seen = NodeSeen {
            name: self.name.clone(),
            labels: self.labels.clone().unwrap_or_default(),
            annotations,
            taints: taints(self.taints.as_deref()),
            conditions: conditions(self.conditions.as_deref()),
            is_cordoned: self.unschedulable,
            last_written,
        };
        (seen, unreadable)
    }
}

/// How a call to the provider went.
pub(super) type CallResult = Result<(), CallError>;

impl Driver {
    /// What a call answers, by the errors of the case.
    pub(super) fn error(&self, call: &str) -> Result<CallResult, String> {
        match self.errors.get(call) {
            None => Ok(Ok(())),
            Some(error) => error.error().map(Err),
        }
    }

    /// Whether it has an instance.
    pub(super) fn is_there(&self) -> CallResult {
        let missing = || CallError::new(Some(FaultCode::NotFound), "no instance");
        self.exists.then_some(()).ok_or_else(missing)
    }
}

impl DriverError {
    pub(super) fn error(&self) -> Result<CallError, String> {
        if let Some(raw) = &self.raw {
            return Ok(CallError::new(None, raw));
        }
        let name = self.code.as_deref().unwrap_or_default();
        // Ours are spelled with hyphens: `resource-exhausted`.
        let spelled: String = name
            .char_indices()
            .flat_map(|(at, letter)| {
                let hyphen = (letter.is_ascii_uppercase() && at > 0).then_some('-');
                hyphen.into_iter().chain(letter.to_lowercase())
            })
            .collect();
        let code = FaultCode::ALL.into_iter().find(|code| code.as_str() == spelled);
        let code = code.ok_or_else(|| format!("there is no code {name:?}"))?;
        Ok(CallError::new(Some(code), self.message.as_deref().unwrap_or("provider says no")))
    }
}

/// A code as the original spells it.
pub(super) fn spelled(code: FaultCode) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    code.as_str().split('-').map(word).collect()
}

impl Class {
    pub(super) fn class(&self) -> MachineClass {
        MachineClass {
            name: CLASS.to_owned(),
            provider: "provider".to_owned(),
            provider_spec: String::new(),
            secret: Some("secret".to_owned()),
            credentials: self.credentials.as_ref().map(|_| "credentials".to_owned()),
            node_template: self.node_template.clone().map(|template| NodeCapacity {
                capacity: template.capacity,
                instance_type: template.instance_type,
                region: template.region,
                zone: template.zone,
            }),
            is_kept: !self.no_finalizer,
            is_leaving: self.deleting,
        }
    }

    /// What is seen of the class of this name.
    pub(super) fn seen(&self, name: &str) -> ClassSeen {
        if self.missing || name != CLASS { ClassSeen::Missing } else { ClassSeen::Found(Box::new(self.class())) }
    }

    /// What is in its secret, if there is one.
    pub(super) fn secret(&self) -> Option<Map> {
        let absent = || Map::from([("userData".to_owned(), "boot <<BOOTSTRAP_TOKEN>>".to_owned())]);
        (!self.secret_missing).then(|| self.secret.clone().unwrap_or_else(absent))
    }
}

/// The state of a machine that was taken over like this.
pub(super) fn state(given: &Given, policy: &Reconciliation) -> Result<State, String> {
    use bailiwick::{
        actors::machine::reconcile::{Command, Facts, decide},
        journal::Version,
    };
    let machine = given.machine.as_ref().ok_or("it gives no machine")?;
    let import = Command::Import(Box::new(machine.import(given, policy)?));
    let facts = Facts { now: NOW, policy, next: Version(1) };
    let decision = decide(&State::default(), &import, &facts).map_err(|rejection| rejection.to_string())?;
    let mut state = State::default();
    decision.events.iter().for_each(|event| state.evolve(Version(1), event));
    Ok(state)
}
