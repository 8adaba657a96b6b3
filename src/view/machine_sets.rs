//! Machine sets as rows.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Folded,
    machine_set::State,
    vocab::{Life, Name},
};
use serde::Serialize;

use super::{Fleet, rows::stream};
use crate::words::due;

/// A machine set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineSetRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    /// Whether it has as many machines as it shall have, and all are ready.
    pub ready: bool,
    pub provider: String,
    /// How many machines it shall have, has, and how many of these are ready.
    pub replicas: u32,
    pub machines: usize,
    pub ready_machines: usize,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// What there is of one set.
#[derive(Clone, Copy, Debug, Default)]
struct Counted<'a> {
    machines: usize,
    ready: usize,
    /// The first that is not ready, and how it is.
    unready: Option<(&'a str, &'static str)>,
}

/// The machine sets that exist, by name.
pub fn machine_sets(fleet: &Fleet) -> Vec<MachineSetRow> {
    let counted = counted(fleet);
    let existing = fleet.machine_sets.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| row(fleet, name, folded, &counted)).collect()
}

pub(super) fn machine_set_row(fleet: &Fleet, name: &str, folded: &Folded<State>) -> MachineSetRow {
    row(fleet, name, folded, &counted(fleet))
}

fn counted(fleet: &Fleet) -> BTreeMap<&Name, Counted<'_>> {
    let mut sets: BTreeMap<&Name, Counted<'_>> = BTreeMap::new();
    for (name, machine) in fleet.machines.iter().map(|(name, folded)| (name, &folded.state)) {
        let set = machine.spec.as_ref().and_then(|spec| spec.set.as_ref());
        let Some(set) = set.filter(|_| machine.life.exists()) else { continue };
        let counted = sets.entry(set).or_default();
        counted.machines += 1;
        if machine.is_ready() {
            counted.ready += 1;
        } else {
            counted.unready.get_or_insert((name, machine.status()));
        }
    }
    sets
}

fn row(fleet: &Fleet, name: &str, folded: &Folded<State>, counted: &BTreeMap<&Name, Counted<'_>>) -> MachineSetRow {
    let (state, stream) = (&folded.state, stream::<State>(name));
    let counted = name.parse::<Name>().ok().and_then(|name| counted.get(&name).copied()).unwrap_or_default();
    let replicas = state.spec.as_ref().map_or(0, |spec| spec.replicas);
    let wanted = usize::try_from(replicas).unwrap_or(usize::MAX);
    let is_full = counted.machines == wanted && counted.ready == wanted;
    let rest = state.rests_until.map(|until| format!("a machine was refused; next try {}", due(fleet.time, until)));
    let unready = counted.unready.map(|(machine, status)| format!("machine/{machine} is {status}"));
    let missing = (counted.machines != wanted).then(|| format!("{} of {wanted} machines exist", counted.machines));
    MachineSetRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.life == Life::Alive && state.is_at_rest() && state.rests_until.is_none() && is_full,
        provider: state.spec.as_ref().map(|spec| spec.template.provider.to_string()).unwrap_or_default(),
        replicas,
        machines: counted.machines,
        ready_machines: counted.ready,
        age_ms: fleet.age_ms(&stream),
        next_try_ms: state.rests_until.map(|until| until.0),
        detail: rest.or(missing).or(unready),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}
