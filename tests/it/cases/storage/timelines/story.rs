//! What happened, as a case tells it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What is to happen, and what happened.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) calls: Vec<Value>,
    pub(super) statuses: Vec<Value>,
    pub(super) recorded: Vec<Value>,
    pub(super) removed: Vec<Value>,
    pub(super) scheduled_at_end: Map<String, Value>,
}

impl Expect {
    pub(super) fn compare(&self, got: &Self) -> Result<(), String> {
        let lists = [
            ("calls", &self.calls, &got.calls),
            ("statuses", &self.statuses, &got.statuses),
            ("recorded", &self.recorded, &got.recorded),
            ("removed", &self.removed, &got.removed),
        ];
        for (what, expected, got) in lists {
            for place in 0..expected.len().max(got.len()) {
                match (expected.get(place), got.get(place)) {
                    (Some(expected), Some(got)) if same(expected, got) => (),
                    (expected, got) => {
                        let text = |value: Option<&Value>| value.map_or("nothing more".to_owned(), Value::to_string);
                        return Err(format!("{what}[{place}]: expected {}, got {}", text(expected), text(got)));
                    }
                }
            }
        }
        let (expected, got) = (Value::from(self.scheduled_at_end.clone()), Value::from(got.scheduled_at_end.clone()));
        if same(&expected, &got) { Ok(()) } else { Err(format!("scheduled_at_end: expected {expected}, got {got}")) }
    }
}

/// Numbers are the same however they are written.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        (one, other) => one == other,
    }
}

/// A time in seconds.
pub(super) fn seconds(ms: u64) -> Value {
    json!(ms as f64 / 1_000.0)
}
