//! `kind: MachineDeployment`.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_actors::{
    machine,
    machine_deployment::{Amount, RollingUpdate, Spec, Strategy},
};

use super::{
    label_map,
    machine_set::{replicas, template_of},
    period::positive_period,
    windows::windows,
};
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        limits,
        problem::Code,
        read::Claim,
        read::{Provider, Reference},
    },
    text::cut,
};

const FIELDS: [&str; 9] = [
    "replicas",
    "selector",
    "template",
    "strategy",
    "minReadySeconds",
    "revisionHistoryLimit",
    "progressDeadline",
    "paused",
    "windows",
];

pub(super) fn machine_deployment(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    provider: &mut Provider,
    asked_for: &mut Vec<Claim>,
    reading: &mut Reading<'_>,
) -> Option<Spec> {
    let fields = Fields::of(spec, &FIELDS, reading)?;
    let size = fields.require("replicas", "3", reading).and_then(|field| replicas(&field, reading));
    let template = fields.require("template", "{spec: {provider: local}}", reading);
    let template = template.and_then(|field| template_of(&field, references, provider, asked_for, reading));
    let strategy = match fields.get("strategy") {
        None => Some(Strategy::default()),
        Some(field) => strategy(&field, reading),
    };
    let selector = fields.get("selector").and_then(|field| selector_of(&field, reading)).unwrap_or_default();
    let fits = template.as_ref().map(|template| fits_its_template(&fields, &selector, template, reading));
    let min_ready_ms = match fields.get("minReadySeconds") {
        None => Some(0),
        Some(field) => field.number(reading).map(|seconds| u64::from(seconds) * 1_000),
    };
    let deadline = match fields.get("progressDeadline") {
        None => Some(None),
        Some(field) => positive_period(&field, reading).map(Some),
    };
    let history_limit = match fields.get("revisionHistoryLimit") {
        None => Some(None),
        Some(field) => field.number(reading).map(Some),
    };
    let paused = match fields.get("paused") {
        None => Some(false),
        Some(field) => field.truth(reading),
    };
    let windows = match fields.get("windows") {
        None => Some(None),
        Some(field) => windows(&field, reading).map(Some),
    };
    fits??;
    Some(Spec {
        replicas: size?,
        template: Arc::new(template?),
        selector,
        strategy: strategy?,
        min_ready_ms: min_ready_ms?,
        history_limit: history_limit?,
        progress_deadline_ms: deadline?,
        paused: paused?,
        windows: windows?,
    })
}

/// The labels that a selector names. Who knows Kubernetes writes them under `matchLabels`.
fn selector_of(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeMap<String, String>> {
    let entries = field.entries(limits::LABELS_MAX, reading)?;
    if let Some((key, nested)) = entries.iter().find(|(key, _)| key.text.starts_with("match"))
        && (nested.is_mapping() || &*key.text == "matchExpressions")
    {
        let message = format!("a selector names labels directly, without {}", key.text);
        return nested.refuse(reading, Code::WrongType, message, "write selector: {app: web}");
    }
    Some(label_map(field, reading))
}

/// A selector that does not match its own template would take sets of others and never know its own.
pub(super) fn fits_its_template(
    fields: &Fields<'_>,
    selector: &BTreeMap<String, String>,
    template: &machine::Spec,
    reading: &mut Reading<'_>,
) -> Option<()> {
    let missing = selector.iter().find(|(key, value)| template.labels.get(*key) != Some(*value));
    let (Some((key, value)), Some(field)) = (missing, fields.get("selector")) else { return Some(()) };
    let message = format!("the template does not have the label `{}: {}`", cut(key, 60), cut(value, 60));
    let next = "add it to spec.template.metadata.labels, or remove it from the selector";
    field.refuse(reading, Code::Conflict, message, next)
}

fn strategy(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Strategy> {
    let fields = Fields::of(field, &["type", "maxSurge", "maxUnavailable"], reading)?;
    let kind = match fields.get("type") {
        None => "RollingUpdate",
        Some(field) => field.text(reading)?,
    };
    match kind {
        "RollingUpdate" => rolling_update(&fields, RollingUpdate::default(), reading).map(Strategy::RollingUpdate),
        "Recreate" => match fields.get("maxSurge").or_else(|| fields.get("maxUnavailable")) {
            None => Some(Strategy::Recreate),
            Some(field) => {
                let message = "Recreate removes all machines before it creates any";
                field.refuse(reading, Code::Conflict, message, "remove it, or write `type: RollingUpdate`")
            }
        },
        other => unknown_strategy(&fields, other, reading),
    }
}

pub(super) fn unknown_strategy<T>(fields: &Fields<'_>, kind: &str, reading: &mut Reading<'_>) -> Option<T> {
    let message = format!("unknown strategy `{}`", cut(kind, 60));
    fields.get("type")?.refuse(reading, Code::WrongType, message, "use RollingUpdate or Recreate")
}

/// How far a rolling update may go; what is not said is as in `default`.
pub(super) fn rolling_update(
    fields: &Fields<'_>,
    default: RollingUpdate,
    reading: &mut Reading<'_>,
) -> Option<RollingUpdate> {
    let mut of = |what: &str, default| match fields.get(what) {
        None => Some(default),
        Some(field) => amount(&field, reading),
    };
    let (surge, unavailable) = (of("maxSurge", default.max_surge), of("maxUnavailable", default.max_unavailable));
    let update = RollingUpdate { max_surge: surge?, max_unavailable: unavailable? };
    if !(update.max_surge.is_zero() && update.max_unavailable.is_zero()) {
        return Some(update);
    }
    let message = "maxSurge and maxUnavailable are both 0: nothing could change";
    let field = fields.get("maxSurge").or_else(|| fields.get("maxUnavailable"))?;
    field.refuse(reading, Code::Conflict, message, "set at least one of them to 1 or more")
}

fn amount(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Amount> {
    let text = field.text(reading)?;
    match text.parse() {
        Ok(amount) => Some(amount),
        Err(_) => {
            let message = format!("{:?} is neither a number of machines nor a percentage", cut(text, 40));
            field.refuse(reading, Code::WrongType, message, "write 2, or '25%'")
        }
    }
}
