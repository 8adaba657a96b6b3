//! Machine sets as rows.

use std::{cmp::Ordering, collections::BTreeMap};

use bailiwick_actors::{
    contract::{Decider, Folded, NoView},
    machine,
    machine_set::{Effect, FailureReason, Member, Spec, State, Status, status},
    supervisor::machine_sets::member,
    vocab::{Life, Name, Timestamp},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Fleet, effort::stream};
use crate::words::{self, due, until};

/// A machine set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineSetRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    /// Whether it has as many machines as it shall have, and all are ready.
    pub ready: bool,
    pub provider: String,
    /// The storage that each machine gets for itself, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<String>,
    /// How many machines it shall have, has, and how many of these are ready.
    pub replicas: u32,
    pub machines: usize,
    pub ready_machines: usize,
    /// How many can be used, and how many have all labels of the template as it is now.
    pub available_machines: usize,
    pub labelled_machines: usize,
    /// Those that were given up.
    pub failed_machines: Vec<String>,
    /// That it creates no machines because it had too many; none if it does.
    pub frozen: Option<String>,
    /// Why an operator holds it.
    pub held: Option<String>,
    /// What keeps it from its number: `FailedCreate` or `FailedDelete`.
    pub failure: Option<&'static str>,
    /// The labels of its template, which its machines have: `--selector` selects it by them.
    pub labels: BTreeMap<String, String>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// The machine sets that exist, by name.
pub fn machine_sets(fleet: &Fleet) -> Vec<MachineSetRow> {
    let machines = machines(fleet);
    let existing = fleet.machine_sets.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| row(fleet, name, folded, &machines)).collect()
}

pub(super) fn machine_set_row(fleet: &Fleet, name: &str, folded: &Folded<State>) -> MachineSetRow {
    row(fleet, name, folded, &machines(fleet))
}

/// The machines that exist and belong to a set, by set.
type Machines<'a> = BTreeMap<&'a Name, Vec<(&'a str, &'a machine::State)>>;

fn machines(fleet: &Fleet) -> Machines<'_> {
    let mut machines = Machines::new();
    for (name, machine) in fleet.machines.iter().map(|(name, folded)| (name, &folded.state)) {
        let set = machine.spec.as_ref().and_then(|spec| spec.set.as_ref());
        if let Some(set) = set.filter(|_| machine.life.exists()) {
            machines.entry(set).or_default().push((name, machine));
        }
    }
    machines
}

/// What the set tells about itself, and the first of its machines that is not ready.
fn told(set: &State, machines: &[(&str, &machine::State)]) -> (Status, Option<String>) {
    let spec = set.spec.iter();
    let member = |spec: &Spec, name: &str, machine| Some(member(spec, &name.parse().ok()?, Timestamp(0), machine));
    let members: Vec<Member> =
        spec.flat_map(|spec| machines.iter().filter_map(move |(name, machine)| member(spec, name, machine))).collect();
    let unready = members.iter().position(|member| !member.is_ready() && !member.is_kept).map(|at| machines[at]);
    let unready = unready.map(|(name, machine)| format!("machine/{name}: {}", machine.status()));
    (status(set, &members), unready)
}

/// That its provider does not answer: nobody is replaced then.
pub(super) fn cut_off(fleet: &Fleet, set: &State) -> Option<String> {
    let provider = &set.spec.as_ref()?.template.provider;
    let since = fleet.seen.out.get(provider)?;
    Some(format!("provider {provider} has not answered since {since}: no machine of it is created or replaced"))
}

fn row(fleet: &Fleet, name: &str, folded: &Folded<State>, machines: &Machines<'_>) -> MachineSetRow {
    let (state, stream) = (&folded.state, stream::<State>(name));
    let machines = name.parse::<Name>().ok().and_then(|name| machines.get(&name)).map_or(&[][..], Vec::as_slice);
    let (status, unready) = told(state, machines);
    let replicas = state.spec.as_ref().map_or(0, |spec| spec.replicas);
    let wanted = usize::try_from(replicas).unwrap_or(usize::MAX);
    let is_full = status.replicas == wanted && status.ready == wanted;
    let refused = match status.failure {
        Some(FailureReason::FailedDelete) => "removing a machine was refused",
        Some(FailureReason::FailedCreate) | None => "creating a machine was refused",
    };
    let rest = state.rests_until.map(|until| format!("{refused}; next attempt {}", due(fleet.time, until)));
    let held = state.hold.as_ref().map(|hold| {
        let ends = hold.until.map(|at| format!(" {}", until(fleet.time, at))).unwrap_or_default();
        format!("held{ends}: {}", hold.reason)
    });
    let frozen = state.frozen.map(|frozen| words::frozen(&frozen));
    let cut_off = cut_off(fleet, state).filter(|_| status.ready != wanted);
    let kept = machines.iter().filter(|(_, machine)| machine.protected).count();
    let missing = match (status.replicas.cmp(&wanted), kept) {
        (Ordering::Equal, _) => None,
        (Ordering::Greater, 1..) => Some(format!("{}/{wanted} machines exist; {kept} protected", status.replicas)),
        _ => Some(format!("{}/{wanted} machines exist", status.replicas)),
    };
    MachineSetRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.life == Life::Alive && state.is_at_rest() && state.rests_until.is_none() && is_full,
        provider: state.spec.as_ref().map(|spec| spec.template.provider.to_string()).unwrap_or_default(),
        storage: state.spec.iter().flat_map(|spec| &spec.template.storage).map(words::claim_told).collect(),
        replicas,
        machines: status.replicas,
        ready_machines: status.ready,
        available_machines: status.available,
        labelled_machines: status.fully_labelled,
        failed_machines: status.failed,
        frozen: frozen.clone(),
        held: state.hold.as_ref().map(|hold| hold.reason.clone()),
        failure: status.failure.map(FailureReason::as_str),
        labels: state.spec.as_ref().map(|spec| spec.template.labels.clone()).unwrap_or_default(),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: state.pending(&NoView).into_iter().map(|Effect::WakeAt(due)| due.0).min(),
        detail: held.or(frozen).or(cut_off).or(rest).or(missing).or(unready),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}
