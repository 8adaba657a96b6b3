//! What was declared, by the names and in the words of a manifest. What nobody said, and what is as by default, is left out.

use bailiwick_actors::{
    filesystem, filesystem_attachment,
    machine::{self, Constraints, Workload},
    machine_deployment::{self, Strategy},
    machine_set,
    replica_set::{self, Seat},
    storage_rules::{ClaimForm, FromPool, PoolName, StorageClaim},
    vocab::{Address, ClassContent, Day, Name, Overrides, Scope, Taint, Window, Windows},
    volume, volume_attachment,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::words::written_period;

/// A value that says something; nothing for what is null or empty.
pub(super) fn filled(value: impl Serialize) -> Option<Value> {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    let is_empty = match &value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    (!is_empty).then_some(value)
}

/// The fields of one mapping, in the order in which they are said.
#[derive(Default)]
struct Said(Map<String, Value>);

impl Said {
    /// A field; nothing if it is empty.
    fn put(&mut self, field: &str, value: impl Serialize) {
        if let Some(value) = filled(value) {
            self.0.insert(field.to_owned(), value);
        }
    }

    /// What is written as it is shown.
    fn show(&mut self, field: &str, value: Option<impl ToString>) {
        self.put(field, value.map(|value| value.to_string()));
    }

    fn period(&mut self, field: &str, ms: Option<u64>) {
        self.put(field, ms.map(written_period));
    }

    /// What is false unless it is said.
    fn flag(&mut self, field: &str, is_so: bool) {
        self.put(field, is_so.then_some(true));
    }

    fn list(&mut self, field: &str, items: impl IntoIterator<Item = impl ToString>) {
        self.put(field, items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>());
    }

    fn end(self) -> Value {
        Value::Object(self.0)
    }
}

/// What is said of what was declared; null of what was not.
pub(super) fn of<T>(declared: Option<&T>, say: fn(&T) -> Value) -> Value {
    declared.map_or(Value::Null, say)
}

/// `spec` of a machine. Its labels and annotations stand beside it.
pub(super) fn machine(spec: &machine::Spec) -> Value {
    machine_fields(spec).end()
}

fn machine_fields(spec: &machine::Spec) -> Said {
    let mut said = Said::default();
    said.put("provider", &spec.provider);
    said.put("workloads", spec.workloads.iter().map(workload).collect::<Vec<_>>());
    said.put("taints", spec.taints.iter().map(taint).collect::<Vec<_>>());
    said.put("tags", &spec.tags);
    said.put("constraints", constraints(&spec.constraints));
    said.show("placement", spec.placement.as_ref());
    said.show("base", spec.base.as_ref());
    said.list("jobs", spec.jobs.iter().map(|job| job.as_str()));
    said.put("parent", &spec.parent);
    said.show("zone", spec.zone.as_ref());
    said.put("spread", &spec.spread);
    said.put("class", &spec.class);
    said.put("set", &spec.set);
    said.put("storage", spec.storage.iter().map(claim).collect::<Map<_, _>>());
    said.put("patience", patience(&spec.patience));
    said
}

fn workload(workload: &Workload) -> Value {
    let mut said = Said::default();
    said.put("name", &workload.name);
    said.put("command", &workload.command);
    said.put("env", &workload.env);
    said.put("volumes", &workload.volumes);
    said.put("priority", Some(workload.priority).filter(|priority| *priority != 0));
    said.period("grace", workload.grace_ms);
    said.put("application", &workload.application);
    said.end()
}

fn taint(taint: &Taint) -> Value {
    let mut said = Said::default();
    said.put("key", &taint.key);
    said.put("value", &taint.value);
    said.put("effect", taint.effect.as_str());
    said.end()
}

fn constraints(constraints: &Constraints) -> Value {
    let mut said = Said::default();
    said.put("arch", &constraints.arch);
    said.put("cores", constraints.cores);
    said.show("memory", constraints.memory);
    said.show("rootDisk", constraints.root_disk);
    said.put("instanceType", &constraints.instance_type);
    said.list("zones", &constraints.zones);
    said.list("spaces", &constraints.spaces);
    said.end()
}

fn patience(patience: &Overrides) -> Value {
    let mut said = Said::default();
    said.period("creationTimeout", patience.creation_timeout_ms);
    said.period("healthTimeout", patience.health_timeout_ms);
    said.period("drainTimeout", patience.drain_timeout_ms);
    said.put("evictionsMax", patience.evictions_max);
    if let Some(conditions) = &patience.node_conditions {
        // An empty list says that only readiness counts.
        said.0.insert("nodeConditions".to_owned(), conditions.iter().cloned().collect());
    }
    said.period("keepFailed", patience.keep_failed_ms);
    said.end()
}

/// What a machine of a set asks for, under its name there.
fn claim(claim: &StorageClaim) -> (String, Value) {
    let mut said = Said::default();
    let several = if claim.count == 1 { String::new() } else { format!(",{}", claim.count) };
    let directive = format!("{},{}{several}", claim.pool.name, claim.size);
    let path = match &claim.form {
        ClaimForm::Volume => {
            said.put("volume", directive);
            &None
        }
        ClaimForm::Filesystem { path, .. } | ClaimForm::OnVolume { path, .. } => {
            said.put("filesystem", directive);
            path
        }
    };
    said.put("path", path);
    said.flag("readOnly", claim.read_only);
    said.put("persistent", claim.is_persistent);
    (claim.name.to_string(), said.end())
}

/// What the machines of a set are made like: `{metadata: {labels: …}, spec: …}`.
fn template(spec: &machine::Spec) -> Value {
    let mut metadata = Said::default();
    metadata.put("labels", &spec.labels);
    metadata.put("annotations", &spec.annotations);
    let mut said = Said::default();
    said.put("metadata", metadata.end());
    said.put("spec", machine(spec));
    said.end()
}

/// `spec` of a set; and the deployment that made it, if one did.
pub(super) fn machine_set(spec: &machine_set::Spec) -> Value {
    let mut said = Said::default();
    said.put("replicas", spec.replicas);
    said.put("priorities", &spec.priorities);
    said.put("deployment", &spec.deployment);
    said.put("template", template(&spec.template));
    said.end()
}

pub(super) fn machine_deployment(spec: &machine_deployment::Spec) -> Value {
    let mut strategy = Said::default();
    match spec.strategy {
        Strategy::Recreate => strategy.put("type", "Recreate"),
        Strategy::RollingUpdate(update) => {
            strategy.put("maxSurge", update.max_surge.to_string());
            strategy.put("maxUnavailable", update.max_unavailable.to_string());
        }
    }
    let mut said = Said::default();
    said.put("replicas", spec.replicas);
    said.put("selector", &spec.selector);
    said.put("strategy", strategy.end());
    said.put("minReadySeconds", Some(spec.min_ready_ms / 1_000).filter(|seconds| *seconds != 0));
    said.period("progressDeadline", spec.progress_deadline_ms);
    said.put("revisionHistoryLimit", spec.history_limit);
    said.flag("paused", spec.paused);
    said.put("windows", spec.windows.as_ref().map(windows));
    said.put("template", template(&spec.template));
    said.end()
}

/// Windows as a manifest writes them: `always` if there are none.
pub(super) fn windows(windows: &Windows) -> Value {
    if windows.0.is_empty() {
        return Value::from("always");
    }
    windows.0.iter().map(window).collect()
}

fn window(window: &Window) -> Value {
    let mut said = Said::default();
    let days: Vec<&str> = window.days.iter().map(|day| day.as_str()).collect();
    said.put("days", Some(days).filter(|days| days.len() < Day::ALL.len()));
    said.put("from", format!("{:02}:{:02}", window.from_minute / 60, window.from_minute % 60));
    said.period("for", Some(window.for_ms));
    said.end()
}

/// `spec` of a volume that exists.
pub(super) fn of_volume(state: &volume::State) -> Value {
    let spec = state.spec.as_ref();
    spec.map_or(Value::Null, |spec| volume(spec, state.pool.as_ref(), &state.own))
}

/// `spec` of a filesystem that exists.
pub(super) fn of_filesystem(state: &filesystem::State) -> Value {
    state.spec.as_ref().map_or(Value::Null, |spec| filesystem(spec, state.pool.as_ref()))
}

/// `spec` of a volume: from a pool, if that was named or chosen, and at a machine, if it is made there.
fn volume(spec: &volume::Spec, pool: Option<&FromPool>, own: &volume::Own) -> Value {
    let mut said = Said::default();
    source(&mut said, &spec.provider, pool.map(|pool| &pool.name));
    said.show("size", Some(spec.size));
    said.put("machine", &own.wanted_on);
    said.put("tags", &own.tags);
    said.end()
}

fn filesystem(spec: &filesystem::Spec, pool: Option<&FromPool>) -> Value {
    let mut said = Said::default();
    if spec.backing.is_none() {
        source(&mut said, &spec.provider, pool.map(|pool| &pool.name));
    }
    said.show("size", Some(spec.size));
    said.put("volume", &spec.backing);
    said.put("machine", &spec.machine);
    said.end()
}

/// A pool says its provider.
fn source(said: &mut Said, provider: &Name, pool: Option<&PoolName>) {
    match pool {
        Some(pool) => said.show("pool", Some(pool)),
        None => said.put("provider", provider),
    }
}

pub(super) fn volume_attachment(spec: &volume_attachment::Spec) -> Value {
    let mut said = Said::default();
    said.put("machine", &spec.machine);
    said.put("volume", &spec.volume);
    said.flag("readOnly", spec.read_only);
    said.end()
}

pub(super) fn filesystem_attachment(spec: &filesystem_attachment::Spec) -> Value {
    let mut said = Said::default();
    said.put("machine", &spec.machine);
    said.put("filesystem", &spec.filesystem);
    said.put("path", &spec.path);
    said.flag("readOnly", spec.read_only);
    said.end()
}

pub(super) fn replica_set(spec: &replica_set::Spec) -> Value {
    let mut said = Said::default();
    said.put("engine", &spec.engine);
    said.put("servers", spec.servers);
    said.flag("oneHost", spec.one_host);
    said.put("space", &spec.space);
    said.put("seats", spec.seats.iter().map(seat).collect::<Vec<_>>());
    said.end()
}

fn seat(seat: &Seat) -> Value {
    let mut said = Said::default();
    said.put("machine", &seat.machine);
    match seat.addresses.as_slice() {
        [Address { value, scope: Scope::Unknown, space: None, .. }] => said.put("address", value),
        several => said.put("addresses", several.iter().map(address).collect::<Vec<_>>()),
    }
    said.put("peerPort", seat.peer_port);
    said.put("clientPort", Some(seat.client_port).filter(|port| *port != seat.peer_port));
    said.end()
}

fn address(address: &Address) -> Value {
    let mut said = Said::default();
    said.put("value", &address.value);
    said.put("scope", address.scope);
    said.put("space", &address.space);
    said.end()
}

pub(super) fn machine_class(content: &ClassContent) -> Value {
    let mut said = Said::default();
    said.put("provider", &content.provider);
    let provider_spec = serde_json::from_str(&content.provider_spec);
    said.put("providerSpec", provider_spec.unwrap_or_else(|_| Value::String(content.provider_spec.clone())));
    said.put("secret", &content.secret);
    said.put("credentials", &content.credentials);
    if let Some(node) = &content.node_template {
        let mut template = Said::default();
        template.put("capacity", &node.capacity);
        template.put("instanceType", &node.instance_type);
        template.put("region", &node.region);
        template.put("zone", &node.zone);
        said.put("nodeTemplate", template.end());
    }
    said.end()
}
