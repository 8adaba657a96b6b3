//! Machine deployments as rows.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Folded,
    machine_deployment::{Condition, OwnedSet, State, find, status},
    vocab::{Life, Timestamp, sort_by_key},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Fleet, conditions::ConditionRow, effort::stream};
use crate::words::{claim_told, due, progressed};

/// A machine deployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineDeploymentRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    /// Whether its rollout is complete.
    pub ready: bool,
    pub provider: String,
    /// The storage that each machine gets for itself, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<String>,
    pub strategy: &'static str,
    pub paused: bool,
    /// When the window opens that its rollout waits for; none if it waits for none.
    pub window_opens_ms: Option<u64>,
    /// Whether one of its sets makes no more machines because it has too many.
    pub frozen: bool,
    /// How many machines it shall have, has, has of its template, and how many of all are ready and available.
    pub replicas: u32,
    pub machines: u32,
    pub updated_machines: u32,
    pub ready_machines: u32,
    pub available_machines: u32,
    pub unavailable_machines: u32,
    /// The revision that is in force; none before its first pass.
    pub revision: Option<u64>,
    /// The sets that it has, the newest first.
    pub revisions: Vec<RevisionRow>,
    /// `Available`, `Progressing` and `ReplicaFailure`, each with its reason.
    pub conditions: Vec<ConditionRow>,
    /// The labels of its template, which its machines have: `--selector` selects it by them.
    pub labels: BTreeMap<String, String>,
    pub age_ms: u64,
    /// It is never tried again, for nothing of it fails: its sets are.
    pub next_try_ms: Option<u64>,
    pub next_look_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// A set of a deployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevisionRow {
    pub revision: u64,
    /// The machine set.
    pub set: String,
    /// Whether its template is the one in force.
    pub current: bool,
    pub replicas: u32,
    pub machines: u32,
    pub ready_machines: u32,
    pub available_machines: u32,
    /// When the machines of this revision were asked to be made anew; none if they were not.
    pub restarted: Option<String>,
    pub created: String,
    pub created_ms: u64,
}

/// The machine deployments that exist, by name.
pub fn machine_deployments(fleet: &Fleet) -> Vec<MachineDeploymentRow> {
    let existing = fleet.machine_deployments.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| machine_deployment_row(fleet, name, folded)).collect()
}

pub(super) fn machine_deployment_row(fleet: &Fleet, name: &str, folded: &Folded<State>) -> MachineDeploymentRow {
    let (state, stream) = (&folded.state, stream::<State>(name));
    let status = status(state);
    let spec = state.spec.as_ref();
    let revisions = revisions(state);
    MachineDeploymentRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.life == Life::Alive && state.is_complete(),
        provider: spec.map(|spec| spec.template.provider.to_string()).unwrap_or_default(),
        storage: spec.into_iter().flat_map(|spec| &spec.template.storage).map(claim_told).collect(),
        strategy: spec.map(|spec| spec.strategy.as_str()).unwrap_or_default(),
        paused: state.is_paused(),
        window_opens_ms: state.awaits.map(|opens| opens.0),
        frozen: is_frozen(fleet, state),
        replicas: spec.map_or(0, |spec| spec.replicas),
        machines: status.totals.machines,
        updated_machines: status.totals.updated,
        ready_machines: status.totals.ready,
        available_machines: status.totals.available,
        unavailable_machines: status.unavailable,
        revision: revisions.iter().find(|row| row.current).map(|row| row.revision),
        revisions,
        conditions: status.conditions.iter().map(|condition| condition_row(*condition)).collect(),
        labels: spec.map(|spec| spec.template.labels.clone()).unwrap_or_default(),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: None,
        next_look_ms: state.due().map(|due| due.0),
        detail: detail(fleet.time, name, state, &status),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

/// The deployment's conditions as machines' are told. A failure that is true is not healthy; of what is unknown nobody can tell.
fn condition_row(condition: Condition) -> ConditionRow {
    let (kind, truth, reason) = condition.told();
    let healthy = match truth {
        "Unknown" => None,
        truth => Some((truth == "True") != matches!(condition, Condition::ReplicaFailure(_))),
    };
    ConditionRow { kind: kind.to_owned(), healthy, text: reason.to_owned() }
}

fn is_frozen(fleet: &Fleet, state: &State) -> bool {
    let sets = state.sets.keys().filter_map(|set| fleet.machine_sets.get(set.as_str()));
    sets.into_iter().any(|set| set.frozen.is_some())
}

fn revisions(state: &State) -> Vec<RevisionRow> {
    let Some(template) = state.template() else { return Vec::new() };
    let found = find(&state.sets, &template);
    let row = |set: &OwnedSet, current| RevisionRow {
        revision: set.revision,
        set: set.name.to_string(),
        current,
        replicas: set.replicas,
        machines: set.counts.machines,
        ready_machines: set.counts.ready,
        available_machines: set.counts.available,
        restarted: set.template.annotations.get(bailiwick_actors::machine_deployment::Spec::RESTARTED).cloned(),
        created: set.created.to_string(),
        created_ms: set.created.0,
    };
    let new = found.new.map(|set| row(set, true));
    let mut rows: Vec<RevisionRow> = found.old.iter().map(|set| row(set, false)).chain(new).collect();
    sort_by_key(&mut rows, |row| std::cmp::Reverse(row.revision));
    rows
}

/// What keeps it from being complete, in one line; none if nothing does.
fn detail(
    now: Timestamp,
    name: &str,
    state: &State,
    status: &bailiwick_actors::machine_deployment::Status,
) -> Option<String> {
    if state.life != Life::Alive || (state.is_complete() && !state.is_paused()) {
        return None;
    }
    if state.is_paused() {
        return Some(format!("paused; resume it with `bailiwick rollout resume {name}`"));
    }
    let replicas = state.spec.as_ref().map_or(0, |spec| spec.replicas);
    let totals = &status.totals;
    let told = format!("{}/{replicas} machines updated, {} available", totals.updated, totals.available);
    let failure = status.conditions.iter().find_map(|condition| match condition {
        Condition::ReplicaFailure(reason) => Some(reason.as_str()),
        Condition::Progressing(_) | Condition::Available(_) => None,
    });
    if let Some(opens) = state.awaits {
        return Some(format!("{told}; waits for its window, which opens {}", due(now, opens)));
    }
    let why = match (state.progress.filter(|_| state.is_late()), failure, state.due()) {
        (Some(progress), ..) => Some(progressed(progress.reason).to_owned()),
        (None, Some(failure), _) => Some(failure.to_owned()),
        (None, None, Some(at)) => Some(format!("next check {}", due(now, at))),
        (None, None, None) => None,
    };
    Some(why.map_or(told.clone(), |why| format!("{told}; {why}")))
}
