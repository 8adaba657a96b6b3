//! The secrets that a node knows: whatever foreign programs say is looked through for them before it is kept or told.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use bailiwick_actors::{
    ports::{Blot, MARK, SecretData},
    vocab::hex,
};
use serde_json::{Map, Value};

/// All secrets of one node, wherever it has read them. Shows nothing of them.
///
/// A value that was once read stays known as long as the node runs, also after it was changed in its place.
#[derive(Clone, Debug, Default)]
pub struct KnownSecrets(Arc<RwLock<Blot>>);

impl KnownSecrets {
    /// Takes in a value; `of` says whose it is, for people.
    pub fn add(&self, of: &str, value: &str) {
        // Written for every call that needs it: nearly always it is known.
        if !self.blot().knows(value.as_bytes()) {
            self.change(|blot| blot.add(of, value));
        }
    }

    /// Takes in what a secret holds.
    pub fn add_secret(&self, name: &str, data: &SecretData) {
        for (key, value) in data.reveal() {
            self.add(&format!("`{key}` of {name}"), value);
        }
    }

    /// Takes in what is looked for as it is, and in no other form.
    pub fn add_bytes(&self, of: &str, bytes: &[u8]) {
        if !self.blot().knows(bytes) {
            self.change(|blot| blot.add_bytes(of, bytes));
        }
    }

    /// What was added with [`Self::add_bytes`] is good for nothing any more.
    pub fn forget_bytes(&self, bytes: &[u8]) {
        self.change(|blot| blot.remove_bytes(bytes));
    }

    /// Takes in a key as whoever read its file would print it.
    pub fn add_key(&self, of: &str, key: &[u8]) {
        let hex = hex(key);
        self.add_bytes(of, key);
        self.add(of, &hex);
        self.add_bytes(of, hex.to_ascii_uppercase().as_bytes());
        self.change(|blot| blot.add_base64(of, key));
    }

    /// What finds them.
    pub fn blot(&self) -> RwLockReadGuard<'_, Blot> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Blot)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Blots them out of every text and number of a value, the names of fields included; the answer is whose they were.
    pub fn out_of_json(&self, value: &mut Value) -> BTreeSet<Arc<str>> {
        let (blot, mut found) = (self.blot(), BTreeSet::new());
        if !blot.is_empty() {
            out_of(&blot, value, &mut found);
        }
        found
    }
}

/// The fields whose numbers are not looked at: the number of a request, and the age of a list.
const COUNTS: [&str; 2] = ["id", "age_ms"];

fn out_of(blot: &Blot, value: &mut Value, found: &mut BTreeSet<Arc<str>>) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(without) = blot.out_telling(text, found) {
                *text = without;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| out_of(blot, item, found)),
        Value::Object(fields) => {
            // What counts lines and time is kept by nobody, and has to stay what it is, also where it is a PIN by chance.
            let kept =
                fields.iter_mut().filter(|(name, value)| !(value.is_number() && COUNTS.contains(&name.as_str())));
            kept.for_each(|(_, value)| out_of(blot, value, found));
            if fields.keys().any(|name| matches!(blot.out(name), Cow::Owned(_))) {
                let mut without = |(name, value): (String, Value)| (blot.out_telling(&name, found).into_owned(), value);
                *fields = std::mem::take(fields).into_iter().map(&mut without).collect::<Map<_, _>>();
            }
        }
        Value::Number(number) => {
            let digits = number.to_string();
            if blot.knows(digits.as_bytes()) {
                *value = Value::String(blot.out_telling(&digits, found).into_owned());
            }
        }
        Value::Null | Value::Bool(_) => (),
    }
}

/// Whether something stood there that was blotted out.
pub fn is_blotted(text: &str) -> bool {
    text.contains(MARK)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_of_a_secret_is_left_anywhere_in_an_answer() {
        let known = KnownSecrets::default();
        known.add("variable TOKEN", "hunter22");
        known.add("the PIN", "12345678");
        let mut told = json!({"a": ["x hunter22"], "hunter22": {"b": "aHVudGVyMjI="}, "n": 12_345_678, "p": "12345678", "q": 345_678});
        told["id"] = json!(12_345_678);
        let found = known.out_of_json(&mut told);
        let left = json!({"a": ["x ***"], "***": {"b": "***"}, "n": "***", "p": "***", "q": 345_678, "id": 12_345_678});
        assert_eq!(told, left);
        assert_eq!(found.len(), 2);
        assert!(!format!("{known:?}").contains("hunter"));
    }

    #[test]
    fn a_key_is_found_raw_in_hex_and_in_base64() {
        let known = KnownSecrets::default();
        known.add_key("node.key", &[0xfb; 32]);
        for text in ["fb".repeat(32), "FB".repeat(32), "-_v7".repeat(10) + "-_s=", "+/v7".repeat(10) + "+/s="] {
            let left = known.blot().out(&text).into_owned();
            assert!(is_blotted(&left) && left.len() <= 8, "{left}");
        }
        assert_eq!(known.blot().out_of_bytes(&[0xfb; 32]), MARK.as_bytes());
    }
}
