//! What becomes of what a case gives.

use bailiwick::actors::{
    machine::rules::{Overrides, Taint, template::NodeTemplate},
    vocab::FaultCode,
};

use serde_json::json;

use super::{Class, Condition, Driver, DriverError, GivenTaint, Machine, Map, Member, Node, Template};

/// The annotation that holds what was applied last.
const RECORD: &str = "node.machine.sapcloud.io/last-applied-anno-labels-taints";

impl Machine {
    pub(crate) fn label(&self, key: &str) -> &str {
        self.labels.as_ref().and_then(|labels| labels.get(key)).map_or("", String::as_str)
    }

    pub(crate) fn conditions(&self) -> Vec<Condition> {
        self.conditions.clone().unwrap_or_default()
    }

    pub(crate) fn template(&self) -> NodeTemplate {
        self.node_template.clone().unwrap_or_default().template()
    }

    pub(crate) fn created_age_s(&self) -> u64 {
        self.created_age_s
    }

    pub(crate) fn phase_age_s(&self) -> u64 {
        self.phase_age_s
    }

    /// The step of its removal that comes next, as the case says it.
    pub(crate) fn next_step(&self) -> Option<&str> {
        self.last_operation.next_step.as_deref()
    }

    pub(crate) fn is_going(&self) -> bool {
        self.deleted_age_s.is_some()
    }

    pub(crate) fn overrides(&self) -> Overrides {
        let ms = |seconds: Option<u64>| seconds.map(|seconds| seconds * 1000);
        let watched = self.config.node_conditions.as_deref();
        Overrides {
            creation_timeout_ms: ms(self.config.creation_timeout_s),
            health_timeout_ms: ms(self.config.health_timeout_s),
            drain_timeout_ms: ms(self.config.drain_timeout_s),
            evictions_max: self.config.max_evict_retries,
            keep_failed_ms: None,
            node_conditions: watched.map(|text| text.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }
}

/// So long before what the case says was each machine of a set declared, for want of time to get to its phase.
const DECLARED_BEFORE_S: u64 = 5_000;

impl Member {
    /// The labels of a set's template.
    pub(crate) fn template_labels() -> Map {
        [("of".to_owned(), "the-set".to_owned())].into()
    }

    /// The machine that it is. Which labels it has is said where it has not those of the template.
    pub(crate) fn machine(&self, set: &str) -> Machine {
        let phase = if self.deleted_age_s.is_some() { "Terminating" } else { &self.phase };
        let text = json!({
            "name": self.name, "phase": phase, "finalizer": false, "provider_id": "",
            "created_age_s": self.created_age_s + DECLARED_BEFORE_S,
            "labels": self.labels.clone().unwrap_or_else(Self::template_labels),
        });
        let machine: Machine = serde_json::from_value(text).expect("a machine");
        Machine { set: Some(set.to_owned()), ..machine }
    }
}

impl Template {
    pub(crate) fn template(self) -> NodeTemplate {
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

impl Node {
    /// What was applied to it last.
    pub(crate) fn last_applied(&self) -> NodeTemplate {
        self.last_applied.clone().unwrap_or_default().template()
    }

    /// The node as it would be seen; and the text of a record that nobody can read.
    pub(crate) fn seen(&self) -> (NodeSeen, Option<String>) {
        let mut annotations = self.annotations.clone().unwrap_or_default();
        let unreadable = annotations.remove(RECORD);
        let seen = NodeSeen {
            labels: self.labels.clone().unwrap_or_default(),
            annotations,
            taints: taints(self.taints.as_deref()),
            conditions: self.conditions.clone().unwrap_or_default(),
        };
        (seen, unreadable)
    }
}

/// A node as it would be seen.
pub(crate) struct NodeSeen {
    pub(crate) labels: Map,
    pub(crate) annotations: Map,
    pub(crate) taints: Vec<Taint>,
    pub(crate) conditions: Vec<Condition>,
}

/// How a call failed: with which code, if with one.
#[derive(Clone, Debug)]
pub(crate) struct CallError {
    pub(crate) code: Option<FaultCode>,
    pub(crate) text: String,
}

/// How a call to the provider went.
pub(crate) type CallResult = Result<(), CallError>;

impl Driver {
    /// What a call answers, by the errors of the case.
    pub(crate) fn error(&self, call: &str) -> Result<CallResult, String> {
        match self.errors.get(call) {
            None => Ok(Ok(())),
            Some(error) => error.error().map(Err),
        }
    }

    /// Whether it answers a call with an error.
    pub(crate) fn fails(&self, call: &str) -> bool {
        self.errors.contains_key(call)
    }
}

impl DriverError {
    pub(crate) fn error(&self) -> Result<CallError, String> {
        if let Some(raw) = &self.raw {
            return Ok(CallError { code: None, text: raw.clone() });
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
        Ok(CallError { code: Some(code), text: self.message.clone().unwrap_or_else(|| "provider says no".to_owned()) })
    }
}

/// A code as the original spells it.
pub(crate) fn spelled(code: FaultCode) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    code.as_str().split('-').map(word).collect()
}

impl Class {
    pub(crate) fn is_leaving(&self) -> bool {
        self.deleting
    }

    /// The parts of its node template: capacity, instance type, region and zone.
    pub(crate) fn capacity(&self) -> Option<(Map, String, String, String)> {
        let template = self.node_template.clone()?;
        Some((template.capacity, template.instance_type, template.region, template.zone))
    }

    /// What is in its secret, if there is one.
    pub(crate) fn secret(&self) -> Option<Map> {
        let absent = || Map::from([("userData".to_owned(), "boot <<BOOTSTRAP_TOKEN>>".to_owned())]);
        (!self.secret_missing).then(|| self.secret.clone().unwrap_or_else(absent))
    }
}
