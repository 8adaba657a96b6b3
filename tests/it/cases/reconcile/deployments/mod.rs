//! Machine deployments.
//!
//! They are put to a deployment that has come to what the case gives by events of its own, and is told by an observation how
//! many machines its sets have. A rule is seen in what it then decides for them, and in what it tells.

mod differences;
mod living;
mod rules;

use std::sync::Arc;

use bailiwick::actors::{
    machine::Spec as Template,
    machine_deployment::{Amount, Counts, OwnedSet, Progress, ProgressReason, RollingUpdate, Spec, Strategy, Totals},
    testing::name,
    vocab::FailureReason,
};
use bailiwick_journal::Version;
use serde_json::Value;

pub(in crate::cases) use differences::{DIFFERENCES, ELSEWHERE};
pub(super) use living::{cleanup, reconcile, rolling_run, rolling_step, scale};
pub(super) use rules::{
    bounds, deployment_status, fenceposts, find_sets, new_replicas, progress, proportion, saturated,
};

use super::given::{self, Deployment, Given, ago};

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
