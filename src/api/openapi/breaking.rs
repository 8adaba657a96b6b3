//! Which changes of a description break those who use the API.
//!
//! Followed through references: what is gone, what has another type, what has become required of who asks, and what may be
//! left out of an answer that always had it. What is only added breaks nobody.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What breaks, a line for each.
pub(super) fn breaking(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (path, methods) in object(&before["paths"]) {
        let Some(new) = now["paths"].get(path) else {
            found.push(format!("{path} is gone"));
            continue;
        };
        for (method, old) in object(methods) {
            match new.get(method) {
                None => found.push(format!("{method} {path} is gone")),
                Some(new) => {
                    let mut compared = Compared { before, now, seen: BTreeSet::new(), found: &mut found };
                    compared.operation(&format!("{method} {path}"), old, new);
                }
            }
        }
    }
    found
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// Who says it, which is who may say less or more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Takes,
    Answers,
}

struct Compared<'a> {
    before: &'a Value,
    now: &'a Value,
    /// Names that were compared already: types may have themselves inside.
    seen: BTreeSet<String>,
    found: &'a mut Vec<String>,
}

impl Compared<'_> {
    fn operation(&mut self, what: &str, old: &Value, new: &Value) {
        let of = |operation: &Value| -> Vec<Value> { operation["parameters"].as_array().cloned().unwrap_or_default() };
        let (old_parameters, new_parameters) = (of(old), of(new));
        for parameter in &old_parameters {
            if !new_parameters.iter().any(|new| new["name"] == parameter["name"]) {
                self.found.push(format!("{what}: the parameter {} is gone", text(&parameter["name"])));
            }
        }
        for parameter in &new_parameters {
            let was = old_parameters.iter().any(|old| old["name"] == parameter["name"] && old["required"] == true);
            if parameter["required"] == true && !was {
                self.found.push(format!("{what}: the parameter {} is required", text(&parameter["name"])));
            }
        }
        let json = |value: &Value| value["content"]["application/json"]["schema"].clone();
        self.schema(Side::Takes, &format!("{what} takes"), &json(&old["requestBody"]), &json(&new["requestBody"]));
        let success = |operation: &Value| json(&operation["responses"]["200"]);
        self.schema(Side::Answers, &format!("{what} answers"), &success(old), &success(new));
    }

    fn schema(&mut self, side: Side, what: &str, old: &Value, new: &Value) {
        if let (Some(name), Some(_)) = (old["$ref"].as_str(), new["$ref"].as_str())
            && !self.seen.insert(name.to_owned())
        {
            return;
        }
        let (old, new) = (resolved(self.before, old), resolved(self.now, new));
        if old["type"] != new["type"] {
            self.found.push(format!("{what}: {} is {}", old["type"], new["type"]));
            return;
        }
        let required = |schema: &Value, field: &str| {
            schema["required"].as_array().is_some_and(|required| required.iter().any(|name| name == field))
        };
        for (field, schema) in object(&old["properties"]) {
            match new["properties"].get(field) {
                None => self.found.push(format!("{what}: {field} is gone")),
                Some(now) => {
                    if side == Side::Answers && required(&old, field) && !required(&new, field) {
                        self.found.push(format!("{what}: {field} may be left out"));
                    }
                    self.schema(side, &format!("{what}: {field}"), schema, now);
                }
            }
        }
        for field in new["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if side == Side::Takes && !required(&old, field) {
                self.found.push(format!("{what}: {field} is required"));
            }
        }
        for (values, all) in [("enum", "values"), ("oneOf", "forms"), ("anyOf", "forms"), ("allOf", "parts")] {
            let (old, new) = (bare(&old[values]), bare(&new[values]));
            let (old, new) = (list(&old), list(&new));
            let lost = old.iter().filter(|value| !new.contains(value)).count();
            if lost > 0 && old.iter().all(|value| value.get("$ref").is_none()) {
                self.found.push(format!("{what}: {lost} of its {all} are gone or others"));
            }
        }
        if !old["items"].is_null() {
            self.schema(side, what, &old["items"], &new["items"]);
        }
        for (old, new) in list(&old["allOf"]).iter().zip(list(&new["allOf"])) {
            self.schema(side, what, old, new);
        }
    }
}

/// Without what is said for people.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let bare = |(name, value): (&String, &Value)| (name != "description").then(|| (name.clone(), bare(value)));
            fields.iter().filter_map(bare).collect()
        }
        Value::Array(values) => values.iter().map(bare).collect(),
        other => other.clone(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What a reference names.
fn resolved(document: &Value, schema: &Value) -> Value {
    match schema["$ref"].as_str().and_then(|name| document.pointer(name.trim_start_matches('#'))) {
        Some(named) => named.clone(),
        None => schema.clone(),
    }
}
