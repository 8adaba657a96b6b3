//! How patient one is with a machine, where that is not what the policy says: `patience` of a machine, and the fields of that
//! meaning in Gardener's machines.

use std::collections::BTreeSet;

use bailiwick_actors::machine::rules::Overrides;

use super::period::{period, positive_period};
use crate::manifest::{
    fields::{Field, Fields, Reading},
    limits,
    problem::Code,
};

/// `patience` of a machine; the names are those of the policy.
pub(super) fn patience(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Overrides> {
    let known = ["creationTimeout", "healthTimeout", "drainTimeout", "evictionsMax", "nodeConditions", "keepFailed"];
    let fields = Fields::of(field, &known, reading)?;
    Some(Overrides {
        creation_timeout_ms: told(&fields, "creationTimeout", positive_period, reading)?,
        health_timeout_ms: told(&fields, "healthTimeout", positive_period, reading)?,
        drain_timeout_ms: told(&fields, "drainTimeout", period, reading)?,
        evictions_max: told(&fields, "evictionsMax", Field::number, reading)?,
        node_conditions: told(&fields, "nodeConditions", conditions, reading)?,
        keep_failed_ms: told(&fields, "keepFailed", period, reading)?,
    })
}

/// The same of a Gardener machine, whose conditions are one text with commas.
pub(super) fn of_gardener(fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Overrides> {
    Some(Overrides {
        creation_timeout_ms: told(fields, "creationTimeout", period, reading)?,
        health_timeout_ms: told(fields, "healthTimeout", period, reading)?,
        drain_timeout_ms: told(fields, "drainTimeout", period, reading)?,
        evictions_max: told(fields, "maxEvictRetries", Field::number, reading)?,
        node_conditions: told(fields, "nodeConditions", listed, reading)?,
        keep_failed_ms: None,
    })
}

/// What the field says, or that there is none; none of both if it makes no sense.
fn told<'n, T>(
    fields: &Fields<'n>,
    name: &str,
    read: impl FnOnce(&Field<'n>, &mut Reading<'_>) -> Option<T>,
    reading: &mut Reading<'_>,
) -> Option<Option<T>> {
    match fields.get(name) {
        None => Some(None),
        Some(field) => read(&field, reading).map(Some),
    }
}

/// Names of conditions; none means that only readiness counts.
fn conditions(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for item in field.items(limits::CONDITIONS_MAX, reading)? {
        let name = item.line(reading)?.to_owned();
        if names.contains(&name) {
            let message = format!("condition `{name}` is already named");
            return item.refuse(reading, Code::Duplicate, message, "name it once");
        }
        names.insert(name);
    }
    Some(names)
}

/// `DiskPressure, MemoryPressure`: blanks around a name mean nothing, and a name that is there twice is watched once.
fn listed(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeSet<String>> {
    let names = field.line(reading)?.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    if names.len() > limits::CONDITIONS_MAX {
        let message = format!("more than {} conditions", limits::CONDITIONS_MAX);
        return field.refuse(reading, Code::BadText, message, "name fewer");
    }
    Some(names)
}
