//! What of a machine's template has to be written to its node.
//!
//! What was written last is recorded on the node: what the record has and the template has not any more is taken away,
//! what the template has is set, and everything else on the node is somebody else's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Taint;

type Map = BTreeMap<String, String>;

/// Labels, annotations and taints that a node shall have.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeTemplate {
    pub labels: Map,
    pub annotations: Map,
    pub taints: Vec<Taint>,
}

/// The map of a node after the template was applied, and whether that is a change. A key that was recorded and is not
/// wanted any more is a change even if the node has lost it already.
pub fn map(template: &Map, record: &Map, node: &Map) -> (bool, Map) {
    let mut after = node.clone();
    let mut is_changed = false;
    for key in record.keys().filter(|key| !template.contains_key(*key)) {
        after.remove(key);
        is_changed = true;
    }
    for (key, value) in template.iter().filter(|(key, value)| node.get(*key) != Some(value)) {
        after.insert(key.clone(), value.clone());
        is_changed = true;
    }
    (is_changed, after)
}

/// The same for taints. A taint is known by key and effect; its value may change in place.
pub fn taints(template: &[Taint], record: &[Taint], node: &[Taint]) -> (bool, Vec<Taint>) {
    let is_same = |one: &Taint, other: &Taint| one.key == other.key && one.effect == other.effect;
    let mut after = node.to_vec();
    let mut is_changed = false;
    for gone in record.iter().filter(|old| !template.iter().any(|new| is_same(new, old))) {
        after.retain(|taint| !is_same(taint, gone));
        is_changed = true;
    }
    for wanted in template {
        match after.iter_mut().find(|taint| is_same(taint, wanted)) {
            Some(taint) if taint.value == wanted.value => (),
            Some(taint) => {
                taint.value.clone_from(&wanted.value);
                is_changed = true;
            }
            None => {
                after.push(wanted.clone());
                is_changed = true;
            }
        }
    }
    (is_changed, after)
}
