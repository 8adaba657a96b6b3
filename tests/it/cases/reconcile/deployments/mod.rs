//! Machine deployments.
//!
//! Rules are asked as passes ask them. Steps, runs, scaling, cleaning and whole passes are put to a deployment that has come to
//! what the case gives by events of its own, and is told by an observation how many machines its sets have.

mod differences;
mod living;

use std::{collections::BTreeMap, sync::Arc};

use bailiwick::actors::{
    machine::Spec as Template,
    machine_deployment::{
        self, Amount, Counts, OwnedSet, Progress, ProgressReason, RollingUpdate, Spec, State, Strategy, Totals,
    },
    testing::name,
    vocab::{FailureReason, Name},
};
use bailiwick_journal::Version;
use serde_json::{Value, json};

pub(in crate::cases) use differences::{DIFFERENCES, ELSEWHERE};
pub(super) use living::{cleanup, reconcile, rolling_run, rolling_step, scale};

use super::{
    given::{self, Deployment, Given, NOW, ago},
    read,
};

/// The template that stands for this text.
fn template(text: &str) -> Template {
    let labels = [("version".to_owned(), text.to_owned())].into();
    Template { labels, ..Template::with_provider(name("case")) }
}

fn amount(value: Option<&Value>) -> Result<Amount, String> {
    match value {
        None => Ok(Amount::Machines(1)),
        Some(Value::String(text)) => text.parse().map_err(|error| format!("{error}")),
        Some(number) => number.to_string().parse().map_err(|error| format!("{error}")),
    }
}

fn deployment(given: &Given) -> Result<&Deployment, String> {
    given.deployment.as_ref().ok_or_else(|| "it gives no deployment".to_owned())
}

pub(super) fn spec(deployment: &Deployment) -> Result<Spec, String> {
    let strategy = match deployment.strategy.as_deref() {
        None | Some("RollingUpdate") => Strategy::RollingUpdate(RollingUpdate {
            max_surge: amount(deployment.max_surge.as_ref())?,
            max_unavailable: amount(deployment.max_unavailable.as_ref())?,
        }),
        Some("Recreate") => Strategy::Recreate,
        Some(other) => return Err(format!("there is no strategy {other:?}")),
    };
    Ok(Spec {
        strategy,
        history_limit: deployment.revision_history_limit,
        progress_deadline_ms: deployment.progress_deadline_s.map(|seconds| seconds * 1_000),
        paused: deployment.paused,
        ..Spec::of(deployment.replicas, template(deployment.template.as_deref().unwrap_or("v1")))
    })
}

fn set(given: &given::Set) -> OwnedSet {
    OwnedSet {
        name: name(&given.name),
        revision: given.revision.as_deref().and_then(|text| text.parse().ok()).unwrap_or(0),
        template: Arc::new(template(given.template.as_deref().unwrap_or("v1"))),
        replicas: u32::try_from(given.replicas).expect("few"),
        sized_for: given.desired_annotation,
        most: given.max_annotation,
        created: ago(given.created_age_s.unwrap_or(0)),
        leaves: false,
        counts: counts(given),
    }
}

/// What was counted. There is no machine that is ready and not available where only running ones are either.
fn counts(given: &given::Set) -> Counts {
    let machines = given.status_replicas.unwrap_or(u32::try_from(given.replicas).expect("few"));
    let available = given.status_available.unwrap_or(machines);
    let failure = match given.replica_failure.as_deref() {
        Some("FailedCreate") => Some(FailureReason::FailedCreate),
        Some("FailedDelete") => Some(FailureReason::FailedDelete),
        _ => None,
    };
    Counts { machines, active: machines, ready: given.status_ready.unwrap_or(machines), available, failure }
}

/// The set that the case calls the new one, and the others. Ours is new by its template, so the others get one of their own.
fn told_apart(given: &Given) -> (Option<OwnedSet>, Vec<OwnedSet>) {
    let other = |(number, old): (usize, &given::Set)| OwnedSet {
        template: Arc::new(template(&format!("old-{number}"))),
        ..set(old)
    };
    (given.new_set.as_ref().map(set), given.old_sets.iter().enumerate().map(other).collect())
}

fn totals(given: &given::Totals) -> Totals {
    Totals {
        machines: given.replicas,
        updated: given.updated,
        ready: given.ready,
        available: given.available,
        observed: Version(given.observed_generation),
    }
}

fn progress_of(deployment: &Deployment) -> Result<Option<Progress>, String> {
    let Some(given) = &deployment.progressing else { return Ok(None) };
    let all = [
        ProgressReason::NewMachineSetCreated,
        ProgressReason::FoundNewMachineSet,
        ProgressReason::MachineSetUpdated,
        ProgressReason::NewMachineSetAvailable,
        ProgressReason::ProgressDeadlineExceeded,
        ProgressReason::DeploymentPaused,
        ProgressReason::DeploymentResumed,
    ];
    let reason = all.into_iter().find(|reason| reason.as_str() == given.reason);
    let reason = reason.ok_or_else(|| format!("there is no reason {:?}", given.reason))?;
    Ok(Some(Progress { reason, at: ago(given.age_s) }))
}

pub(super) fn fenceposts(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let params = &given.params;
    let desired = params.desired.ok_or("how many?")?;
    let of = || {
        let max_surge = amount(params.max_surge.as_ref())?;
        Ok(RollingUpdate { max_surge, max_unavailable: amount(params.max_unavailable.as_ref())? })
    };
    let update: Result<RollingUpdate, String> = of();
    let (surge, unavailable) =
        update.as_ref().map_or((0, 0), |update| machine_deployment::fenceposts(*update, desired));
    expect.same("surge", surge)?;
    expect.same("unavailable", unavailable)?;
    expect.error("error_present", update.is_err())?;
    expect.done()
}

pub(super) fn bounds(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let spec = spec(deployment(&given)?)?;
    let bounds = machine_deployment::bounds(spec.strategy, spec.replicas);
    expect.same("max_surge", bounds.surge)?;
    expect.same("max_unavailable", bounds.unavailable)?;
    expect.same("min_available", bounds.min_available)?;
    expect.done()
}

pub(super) fn new_replicas(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let spec = spec(deployment(&given)?)?;
    let (new, old) = told_apart(&given);
    let new = new.ok_or("it gives no new set")?;
    let size = machine_deployment::new_size(spec.strategy, spec.replicas, new.replicas, old.iter().chain([&new]));
    expect.same("replicas", size)?;
    expect.error("error_present", false)?;
    expect.done()
}

pub(super) fn proportion(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let deployment = deployment(&given)?;
    let spec = spec(deployment)?;
    let set = given.new_set.as_ref().map(set);
    let fallback = deployment.status.as_ref().map_or(0, |status| status.replicas);
    let share = set.map_or(0, |set| {
        let (to_add, added) = (given.params.to_add, given.params.added);
        machine_deployment::proportion(spec.strategy, spec.replicas, &set, to_add, added, fallback)
    });
    expect.same("add", share)?;
    expect.done()
}

pub(super) fn saturated(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let replicas = deployment(&given)?.replicas;
    let new = given.new_set.as_ref().map(set);
    expect.same("saturated", new.is_some_and(|new| machine_deployment::is_saturated(&new, replicas)))?;
    expect.done()
}

pub(super) fn find_sets(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let spec = spec(deployment(&given)?)?;
    let sets: BTreeMap<Name, OwnedSet> = given.sets.iter().map(|given| (name(&given.name), set(given))).collect();
    let found = machine_deployment::find(&sets, &spec.template);
    let named = |set: &OwnedSet| json!(set.name.as_str());
    expect.same("new", found.new.map_or(Value::Null, named))?;
    expect.same_set("old", found.old.iter().map(|set| named(set)).collect::<Value>())?;
    let active = found.old.iter().filter(|set| set.is_active());
    expect.same_set("old_with_replicas", active.map(|set| named(set)).collect::<Value>())?;
    let one = machine_deployment::active_or_latest(&found);
    expect.same("active_or_latest", one.map_or(Value::Null, named))?;
    expect.same("max_revision", machine_deployment::max_revision(sets.values()))?;
    expect.same("last_revision", machine_deployment::last_revision(sets.values()))?;
    expect.done()
}

pub(super) fn progress(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let deployment = deployment(&given)?;
    let before = deployment.status.as_ref().map(totals).unwrap_or_default();
    let after = given.params.new_status.as_ref().map(totals).ok_or("it gives no new status")?;
    let generation = Version(deployment.generation);
    expect.same("complete", machine_deployment::is_complete(deployment.replicas, generation, &after))?;
    expect.same("progressing", machine_deployment::is_progressing(&before, &after))?;
    let deadline_ms = deployment.progress_deadline_s.map(|seconds| seconds * 1_000);
    expect.same("timed_out", machine_deployment::is_timed_out(progress_of(deployment)?, deadline_ms, NOW))?;
    expect.done()
}

pub(super) fn status(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let deployment = deployment(&given)?;
    let (new, old) = told_apart(&given);
    let sets = new.into_iter().chain(old).map(|set| (set.name.clone(), set)).collect();
    let state = State { spec: Some(spec(deployment)?), sets, progress: progress_of(deployment)?, ..State::default() };
    let status = machine_deployment::status(&state);
    expect.same("replicas", status.totals.machines)?;
    expect.same("updated", status.totals.updated)?;
    expect.same("ready", status.totals.ready)?;
    expect.same("available", status.totals.available)?;
    expect.same("unavailable", status.unavailable)?;
    let conditions: Vec<String> = status.conditions.iter().map(|condition| condition.text()).collect();
    expect.same_set("conditions", json!(conditions))?;
    expect.done()
}
