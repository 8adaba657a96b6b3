//! What a case expects, key by key. A key that nobody asks about is a failure.

use std::collections::BTreeSet;

use bailiwick::actors::machine::rules::{Taint, TaintEffect};
use serde_json::{Map, Value, json};

/// The keys that are still to be compared.
#[derive(Debug)]
pub(super) struct Expect {
    left: Map<String, Value>,
}

/// Texts that say what a typed field says too, and the time of an attempt, which stands in the journal's entries and not
/// in the machine.
const INFORMATIVE: [&str; 3] = ["message", "phase_time_reset", "op_time_reset"];

impl Expect {
    pub(super) fn new(expect: Value) -> Result<Self, String> {
        let Value::Object(mut left) = expect else { return Err("it expects nothing".to_owned()) };
        INFORMATIVE.iter().for_each(|key| drop(left.remove(*key)));
        if left.contains_key("outcome") {
            left.remove("error");
        }
        Ok(Self { left })
    }

    /// What is expected of this key, which is compared now.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.left.remove(key)
    }

    /// Puts back what is compared further on.
    pub(super) fn put(&mut self, key: &str, value: Value) {
        self.left.insert(key.to_owned(), value);
    }

    /// Compares a value as it stands.
    pub(super) fn same(&mut self, key: &str, got: impl Into<Value>) -> Result<(), String> {
        let Some(expected) = self.take(key) else { return Ok(()) };
        differ(key, &bare(&expected), &bare(&got.into()))
    }

    /// Compares a list whose order means nothing.
    pub(super) fn same_set(&mut self, key: &str, got: impl Into<Value>) -> Result<(), String> {
        let Some(expected) = self.take(key) else { return Ok(()) };
        differ(key, &sorted(&expected), &sorted(&got.into()))
    }

    /// Compares whether there is an error at all.
    pub(super) fn error(&mut self, key: &str, got: bool) -> Result<(), String> {
        let Some(expected) = self.take(key) else { return Ok(()) };
        differ(key, &json!(!expected.is_null() && expected != false), &json!(got))
    }

    /// That the call has returned, which it has.
    pub(super) fn returned(&mut self) -> Result<(), String> {
        self.same("panic", false)?;
        self.same("hangs", false)
    }

    /// That everything was compared.
    pub(super) fn done(self) -> Result<(), String> {
        let left: Vec<&String> = self.left.keys().collect();
        if left.is_empty() { Ok(()) } else { Err(format!("the runner does not understand {left:?}")) }
    }
}

pub(super) fn differ(key: &str, expected: &Value, got: &Value) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{key}: expected {expected}, got {got}")) }
}

/// Null, an empty list and an empty map mean the same.
pub(super) fn bare(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Object(fields) if fields.is_empty() => Value::Null,
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), bare(value))).collect(),
        other => other.clone(),
    }
}

pub(super) fn sorted(value: &Value) -> Value {
    let items: BTreeSet<String> = value.as_array().into_iter().flatten().map(|item| bare(item).to_string()).collect();
    let count = value.as_array().map_or(0, Vec::len);
    json!({"items": items, "count": count})
}

pub(super) fn compare_taints(what: &str, expected: &Value, got: &[Taint]) -> Result<(), String> {
    let got: Value = got.iter().map(taint).collect();
    differ(what, &sorted(&whole_taints(expected)), &sorted(&got))
}

/// Of a trace, calls to the provider and writes of nodes and secrets; writes of a machine are its journal.
pub(super) fn compare_trace(expect: &mut Expect, got: &[String]) -> Result<(), String> {
    let Some(expected) = expect.take("trace") else { return Ok(()) };
    let own = ["update machines", "update machines/status", "update machineclasses"];
    let counts = |entry: &&Value| !own.iter().any(|own| *entry == own);
    let expected: Vec<&Value> = expected.as_array().ok_or("trace is no list")?.iter().filter(counts).collect();
    differ("trace", &json!(expected), &json!(got))
}

/// A taint with the value that is left out when it is blank.
fn whole_taints(expected: &Value) -> Value {
    let whole = |taint: &Value| json!({"key": taint["key"], "value": taint["value"].as_str().unwrap_or_default(), "effect": taint["effect"]});
    expected.as_array().into_iter().flatten().map(whole).collect()
}

pub(super) fn taint(taint: &Taint) -> Value {
    let effect = match taint.effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    };
    json!({"key": taint.key, "value": taint.value, "effect": effect})
}
