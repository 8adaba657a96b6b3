//! Everything about one entity.

use std::collections::BTreeMap;

use bailiwick_actors::{
    machine,
    vocab::{EffectId, Effort, Outlook, Timestamp},
};
use bailiwick_journal::{Journal, StreamId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    Blocker, Fleet, FleetError, blockers,
    conditions::ConditionRow,
    kinds::{Portrait, kind},
    members::MemberRow,
    portrait::{AgentRow, History, Row},
};
use crate::words::Line;

/// Everything about one entity, as of the fleet's position.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    pub entity: String,
    pub kind: String,
    pub position: u64,
    #[serde(flatten)]
    #[schemars(skip)]
    pub row: Row,
    /// Whether it is protected from deletion.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
    /// For people and programs; nothing is selected by them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// What was declared last, by the names and in the words of a manifest.
    pub spec: Value,
    /// The members of a replica set, as they were seen last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberRow>,
    /// What the agent inside said of itself and its machine when it joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentRow>,
    /// What the agent inside reports.
    pub conditions: Vec<ConditionRow>,
    /// What stands in the way of its removal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    /// Work in the outside world that is under way, waits, or was given up.
    pub effort: Option<EffortRow>,
    /// The last entry about it.
    pub last_operation: Option<Line>,
    /// Every status that it ever had, newest first.
    pub history: Vec<History>,
}

/// How an effort stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffortRow {
    /// `trying`, `waiting` or `given-up`.
    pub outlook: &'static str,
    pub attempt: u32,
    /// When the first attempt began.
    pub since: String,
    /// The token that the provider knows it by.
    pub effect: String,
    pub next_try: Option<String>,
    pub next_try_ms: Option<u64>,
    /// How long until then; 0 if it is due.
    pub next_try_in_ms: Option<u64>,
    pub fault_code: Option<&'static str>,
    pub fault: Option<String>,
}

/// Describes one entity, gone ones included; none if nothing was ever heard of it.
///
/// # Errors
/// If its history cannot be read or understood.
pub fn describe(journal: &dyn Journal, fleet: &Fleet, entity: &StreamId) -> Result<Option<Description>, FleetError> {
    let Some(kind) = kind(entity.kind()) else { return Ok(None) };
    let Some(portrait) = (kind.portrait)(fleet, entity) else { return Ok(None) };
    let Portrait { row, spec, annotations, members, agent, conditions } = portrait;
    let (history, last_operation) = (kind.past)(journal, fleet, entity)?;
    let effort = (kind.effort)(fleet, entity);
    Ok(Some(Description {
        protected: fleet.is_protected(entity),
        entity: entity.to_string(),
        kind: entity.kind().to_owned(),
        position: fleet.position.0,
        blockers: blockers(fleet, entity),
        row,
        annotations,
        spec,
        members,
        agent,
        conditions,
        effort: effort.map(|effort| effort_row(fleet, entity, effort)),
        last_operation,
        history,
    }))
}

/// What was declared last of an entity that exists, as it is shown.
pub(crate) fn declared_spec(fleet: &Fleet, entity: &StreamId) -> Option<Value> {
    let kind = kind(entity.kind()).filter(|_| fleet.exists(entity))?;
    (kind.portrait)(fleet, entity).map(|portrait| portrait.spec)
}

pub(super) fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

pub(super) fn conditions_of(state: &machine::State) -> Vec<ConditionRow> {
    let (machine::Node::Reporting { conditions, .. } | machine::Node::Stale { conditions, .. }) = &state.node else {
        return Vec::new();
    };
    let row = |condition: &bailiwick_actors::ports::Condition| ConditionRow {
        kind: condition.kind.clone(),
        healthy: condition.healthy.told(),
        text: condition.text.clone(),
    };
    conditions.values().map(row).collect()
}

pub(super) fn agent_row(joined: &machine::Joined) -> AgentRow {
    let node = &joined.node;
    AgentRow {
        version: node.agent_version.clone(),
        arch: node.arch.clone(),
        cores: node.cores,
        memory: node.memory.to_string(),
        disk: node.disk.to_string(),
        labels: node.labels.clone(),
        annotations: node.annotations.clone(),
        taints: node.taints.iter().map(ToString::to_string).collect(),
        joined: joined.since.to_string(),
        token: joined.token.clone(),
    }
}

fn effort_row(fleet: &Fleet, stream: &StreamId, effort: &Effort) -> EffortRow {
    let (outlook, until) = match &effort.outlook {
        Outlook::Trying => ("trying", None),
        Outlook::Waiting { until, .. } => ("waiting", Some(until.0)),
        Outlook::GivenUp { again, .. } => ("given-up", again.map(|again| again.0)),
    };
    EffortRow {
        outlook,
        attempt: effort.attempt,
        since: effort.since.to_string(),
        effect: EffectId::of(fleet.journal, stream, effort.intent).to_string(),
        next_try: until.map(|until| Timestamp(until).to_string()),
        next_try_ms: until,
        next_try_in_ms: until.map(|at| Timestamp(at).since(fleet.time)),
        fault_code: effort.fault().map(|fault| fault.code.as_str()),
        fault: effort.fault().map(|fault| fault.text.clone()),
    }
}
