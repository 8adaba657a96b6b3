//! Facts that are being put together.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::declared::filled;

/// The facts of one entity, by name: `status`, `instance`, `spec.constraints.cores`.
pub type Facts = BTreeMap<String, Value>;

/// Facts that are being put together.
#[derive(Default)]
pub(super) struct Told(pub(super) Facts);

impl Told {
    /// What has a status and a uid.
    pub(super) fn of(status: &'static str, uid: impl ToString) -> Self {
        let mut told = Self::default();
        told.put("status", status);
        told.put("uid", uid.to_string());
        told
    }

    pub(super) fn put(&mut self, fact: &str, value: impl Serialize) {
        if let Some(value) = filled(value) {
            self.0.insert(fact.to_owned(), value);
        }
    }

    /// The same of something optional, and of whatever can be shown.
    pub(super) fn show(&mut self, fact: &str, value: Option<impl ToString>) {
        self.put(fact, value.map(|value| value.to_string()));
    }

    pub(super) fn names(&mut self, fact: &str, names: impl IntoIterator<Item = impl ToString>) {
        self.put(fact, names.into_iter().map(|name| name.to_string()).collect::<Vec<_>>());
    }

    /// What was declared, field by field: `spec.constraints.cores`, `spec.workloads[0].name`.
    pub(super) fn fields(&mut self, path: &str, value: impl Serialize) {
        self.field(path, serde_json::to_value(value).unwrap_or(Value::Null));
    }

    fn field(&mut self, path: &str, value: Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.field(&format!("{path}.{name}"), value);
                }
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                for (index, item) in items.into_iter().enumerate() {
                    self.field(&format!("{path}[{index}]"), item);
                }
            }
            leaf => self.put(path, leaf),
        }
    }

    /// What is wrong, each once and without the times at which it was tried.
    pub(super) fn trouble(&mut self, what: impl IntoIterator<Item = String>) {
        self.put("trouble", what.into_iter().collect::<Vec<_>>().join("; "));
    }
}
