//! Replies compared as the file says: absent, null, empty and zero mean the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// How the replies of a step are compared.
pub(super) struct Rules {
    unordered: BTreeSet<String>,
    subset: BTreeSet<String>,
    keys: BTreeSet<String>,
    ignored: BTreeSet<String>,
}

/// Ids of watchers, by what the case calls them.
type Bound = BTreeMap<String, String>;

/// All that a step may say.
const KNOWN: [&str; 16] = [
    "name",
    "source",
    "given",
    "as",
    "call",
    "expect",
    "then",
    "accept",
    "check_state",
    "note",
    "blocks",
    "event",
    "unordered",
    "subset",
    "keys",
    "ignore",
];

impl Rules {
    /// # Errors
    /// If the step says something that is not understood here.
    pub(super) fn of(step: &Value) -> Result<Self, String> {
        let strange = step.as_object().into_iter().flatten().find(|(key, _)| !KNOWN.contains(&key.as_str()));
        if let Some((key, _)) = strange {
            return Err(format!("the runner does not understand {key:?}"));
        }
        let texts = |key: &str| {
            let list = step[key].as_array().into_iter().flatten();
            list.filter_map(|text| text.as_str().map(str::to_owned)).collect::<BTreeSet<_>>()
        };
        let mut ignored = texts("ignore");
        ignored.insert("since".to_owned());
        Ok(Self { unordered: texts("unordered"), subset: texts("subset"), keys: texts("keys"), ignored })
    }

    /// The watchers that are bound if the reply is as expected, or else the first difference.
    pub(super) fn compare(&self, expected: &Value, reply: &Value) -> Result<Bound, String> {
        for (kind, other) in [("response", "error"), ("error", "response")] {
            if expected.get(kind).is_some() && reply.get(other).is_some() {
                return Err(format!("expected {expected}, got {reply}"));
            }
        }
        let mut bound = Bound::new();
        let part = if expected.get("response").is_some() { "response" } else { "error" };
        let (expected, reply) = (self.bare(&expected[part], "", false), self.bare(&reply[part], "", false));
        self.same(&expected, &reply, "", &mut bound)?;
        Ok(bound)
    }

    /// Without what means nothing.
    fn bare(&self, value: &Value, at: &str, is_kept: bool) -> Value {
        match value {
            Value::Object(members) => {
                let is_kept = is_kept || self.keys.contains(at);
                let mut bare = Map::new();
                for (key, value) in members {
                    let value = self.bare(value, &format!("{at}/{key}"), is_kept);
                    if is_kept || !is_zero(&value) {
                        bare.insert(key.clone(), value);
                    }
                }
                Value::Object(bare)
            }
            Value::Array(items) => {
                let item = |(index, value): (usize, &Value)| self.bare(value, &format!("{at}/{index}"), is_kept);
                Value::Array(items.iter().enumerate().map(item).collect())
            }
            other => other.clone(),
        }
    }

    fn same(&self, expected: &Value, reply: &Value, at: &str, bound: &mut Bound) -> Result<(), String> {
        let differs = || Err(format!("{at}: expected {expected}, got {reply}"));
        match (expected, reply) {
            (Value::String(wish), _) if wish == "$any" => {
                if is_zero(reply) {
                    differs()
                } else {
                    Ok(())
                }
            }
            (Value::String(wish), Value::String(mac)) if wish == "$mac" => {
                if mac.starts_with("00:16:3e") {
                    Ok(())
                } else {
                    differs()
                }
            }
            (Value::String(wish), Value::String(id)) if wish.starts_with("$watcher:") => {
                if id.is_empty() {
                    return differs();
                }
                bound.insert(wish.clone(), id.clone());
                Ok(())
            }
            (Value::Object(wished), Value::Object(got)) => {
                let counts = |key: &&String| !self.ignored.contains(*key);
                for (key, wish) in wished.iter().filter(|(key, _)| counts(key)) {
                    self.same(wish, got.get(key).unwrap_or(&Value::Null), &format!("{at}/{key}"), bound)?;
                }
                let more = got.keys().filter(counts).find(|key| !wished.contains_key(*key));
                match more.filter(|_| !self.subset.contains(at)) {
                    Some(key) => Err(format!("{at}/{key}: not expected, got {}", got[key])),
                    None => Ok(()),
                }
            }
            (Value::Array(wished), Value::Array(got)) if wished.len() == got.len() => {
                if !self.unordered.contains(at) {
                    let pairs = wished.iter().zip(got).enumerate();
                    return pairs
                        .into_iter()
                        .try_for_each(|(index, (wish, got))| self.same(wish, got, &format!("{at}/{index}"), bound));
                }
                let mut left: Vec<&Value> = got.iter().collect();
                for wish in wished {
                    let found = left.iter().position(|got| self.same(wish, got, at, &mut bound.clone()).is_ok());
                    let Some(found) = found else { return differs() };
                    self.same(wish, left.remove(found), at, bound)?;
                }
                Ok(())
            }
            (Value::Number(wish), Value::Number(got)) if wish.as_f64() == got.as_f64() => Ok(()),
            _ if expected == reply => Ok(()),
            _ => differs(),
        }
    }
}

/// A zero value, as the original's language has them.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(true) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compared(step: &Value, expected: &Value, got: &Value) -> bool {
        let rules = Rules::of(step).expect("known");
        rules.compare(&json!({"response": expected}), &json!({"response": got})).is_ok()
    }

    #[test]
    fn what_differs_is_noticed_and_what_means_the_same_is_not() {
        let plain = json!({});
        assert!(compared(&plain, &json!({"a": 1}), &json!({"a": 1, "b": null, "c": [], "d": "", "since": "x"})));
        assert!(!compared(&plain, &json!({"a": 1}), &json!({"a": 2})));
        assert!(!compared(&plain, &json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(compared(&json!({"subset": ["/a"]}), &json!({"a": {"b": 1}}), &json!({"a": {"b": 1, "c": 2}})));
        assert!(!compared(&plain, &json!({"a": [1, 2]}), &json!({"a": [2, 1]})));
        assert!(compared(&json!({"unordered": ["/a"]}), &json!({"a": [1, 2]}), &json!({"a": [2, 1]})));
        assert!(!compared(&json!({"unordered": ["/a"]}), &json!({"a": [1, 2]}), &json!({"a": [2, 2]})));
        assert!(!compared(&plain, &json!({"a": "$any"}), &json!({"a": ""})));
        assert!(!compared(&json!({"keys": ["/a"]}), &json!({"a": {}}), &json!({"a": {"x": ""}})));
        assert!(Rules::of(&json!({"strange": 1})).is_err());
    }
}
