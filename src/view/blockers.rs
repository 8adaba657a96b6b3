//! What stands in the way of a removal, and since when.

use bailiwick_actors::{
    contract::Folded,
    machine::{self, Instance},
    storage::{Provisioned, State, Storage},
    vocab::{Effort, Life, Name, Outlook, StorageRemoval, Timestamp},
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Fleet, clients,
    effort::given_up,
    filesystem_rows::mount_detail,
    kinds::{Obstacle, kind},
    planned::planned,
    rows::attachment_detail,
};
use crate::words::{due, until};

/// One thing that has to go, or to end, first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// What is blocked.
    pub entity: String,
    /// What blocks it: an entity, or something of its own: `its instance`, `its storage`, `its workloads`, `its provider`, `its client`.
    pub by: String,
    pub why: String,
    /// Since when it has been like this, in milliseconds since 1970.
    pub since_ms: Option<u64>,
}

impl Blocker {
    /// The same by the clock, where recorded times are ahead of it.
    pub fn by_clock(self, fleet: &Fleet) -> Self {
        let since_ms = self.since_ms.map(|ms| fleet.calendar.shown(Timestamp(ms)).0);
        Self { since_ms, why: fleet.calendar.told(&self.why, fleet.time), ..self }
    }
}

/// What blocks the removal of something that was asked to go; nothing for what was not, or is gone.
pub fn blockers(fleet: &Fleet, entity: &StreamId) -> Vec<Blocker> {
    let told = |(by, why, since): Obstacle| Blocker {
        entity: entity.to_string(),
        by,
        why,
        since_ms: since.map(|since: Timestamp| since.0),
    };
    let found = kind(entity.kind()).map(|kind| (kind.blocked)(fleet, entity)).unwrap_or_default();
    found.into_iter().map(told).collect()
}

pub(super) fn of_machine(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Vec<Obstacle> {
    match state.life {
        Life::Dying => {
            let drain = state.drain.as_ref().filter(|drain| drain.outcome.is_none()).map(|drain| {
                let why = format!("they have {} to stop", until(fleet.time, drain.until));
                ("its workloads".to_owned(), why, Some(drain.since))
            });
            let volumes = state.attachments.iter().map(|volume| attachment(fleet, entity.name(), volume.as_str()));
            let mounts = state.mounts.iter().map(|filesystem| mount(fleet, entity.name(), filesystem.as_str()));
            let engaged = state.engaged.iter().map(|set| {
                let name = format!("{set}:{}", entity.name());
                let folded = fleet.members.folded(&name);
                let status = folded.map_or("unknown", |folded| folded.state.status());
                let held = fleet.replica_sets.get(set.as_str()).and_then(|of| planned(fleet, set.as_str(), of).held);
                let why = held.map_or_else(String::new, |held| format!(", and its set is on hold: {held}"));
                (format!("member/{name}"), format!("{}{why}", how(status, None)), folded.map(|folded| folded.changed))
            });
            let containers = state.containers.iter().map(|container| {
                let folded = fleet.machines.folded(container.as_str());
                let status = folded.map_or("unknown", |folded| folded.state.status());
                let by = format!("machine/{container}");
                (
                    by,
                    format!("it is hosted on this machine; {}", how(status, None)),
                    folded.map(|folded| folded.changed),
                )
            });
            drain.into_iter().chain(engaged).chain(containers).chain(volumes).chain(mounts).collect()
        }
        Life::Dead if state.is_external() => {
            let waits = clients::awaited(state).map(|it| ("its client".to_owned(), it.because, state.going_since));
            waits.into_iter().collect()
        }
        Life::Dead => match &state.instance {
            Instance::Deleting { effort, .. } => {
                vec![("its instance".to_owned(), undoing(effort, "delete", fleet.time), Some(effort.since))]
            }
            _ => Vec::new(),
        },
        Life::Undeclared | Life::Alive | Life::Removed => Vec::new(),
    }
}

/// What the removal of a volume or a filesystem waits for: what is on it, its attachments, or the end of its storage.
pub(super) fn of_storage<K: Provisioned>(
    fleet: &Fleet,
    name: &str,
    state: &State<K>,
    of_machine: fn(&Fleet, &str, &str) -> Obstacle,
) -> Vec<Obstacle> {
    match (state.life, &state.storage) {
        (Life::Dying, _) => {
            let filesystem = K::holds(state).map(|filesystem| on_it(fleet, filesystem));
            let attached = state.attached_to.iter().map(|machine| of_machine(fleet, machine.as_str(), name));
            filesystem.into_iter().chain(attached).collect()
        }
        (Life::Dead, Storage::Destroying { effort, .. }) => vec![removal_of_storage(effort, state.removal, fleet.time)],
        _ => Vec::new(),
    }
}

pub(super) fn of_attachment(life: Life, effort: Option<&Effort>, verb: &str, now: Timestamp) -> Vec<Obstacle> {
    let is_going =
        |effort: &&Effort| life == Life::Dying && (effort.outlook != Outlook::Trying || effort.overdue.is_some());
    let effort = effort
        .filter(is_going)
        .map(|effort| ("its provider".to_owned(), undoing(effort, verb, now), Some(effort.since)));
    effort.into_iter().collect()
}

fn removal_of_storage(effort: &Effort, removal: StorageRemoval, now: Timestamp) -> Obstacle {
    let verb = if removal == StorageRemoval::Release { "release" } else { "destroy" };
    ("its storage".to_owned(), undoing(effort, verb, now), Some(effort.since))
}

fn undoing(effort: &Effort, verb: &str, now: Timestamp) -> String {
    let told = asked_to(effort, verb, now);
    // Whoever has waited for so long is told what else there is.
    let more = effort.overdue.map(|at| format!("; overdue since {at} (--force does not wait)"));
    told + &more.unwrap_or_default()
}

fn asked_to(effort: &Effort, verb: &str, now: Timestamp) -> String {
    match &effort.outlook {
        Outlook::Trying => format!("asked the provider to {verb} it (attempt {})", effort.attempt),
        Outlook::Waiting { until, fault } => format!("{fault}; attempt {} {}", effort.attempt, due(now, *until)),
        Outlook::GivenUp { fault, again } => given_up(effort.attempt, fault, *again, now),
    }
}

fn on_it(fleet: &Fleet, filesystem: &Name) -> Obstacle {
    let folded = fleet.filesystems.folded(filesystem.as_str());
    let status = folded.map_or("reserved", |folded| folded.state.status());
    (format!("filesystem/{filesystem}"), how(status, None), folded.map(|folded| folded.changed))
}

pub(super) fn attachment(fleet: &Fleet, machine: &str, volume: &str) -> Obstacle {
    let name = format!("{machine}:{volume}");
    let folded = fleet.attachments.folded(&name);
    let detail = folded.and_then(|folded| attachment_detail(fleet, &name, &folded.state));
    let status = folded.map_or("reserved", |folded| folded.state.status());
    let since = folded.map(|folded| since(folded, folded.state.effort()));
    (format!("volume-attachment/{name}"), how(status, detail), since)
}

pub(super) fn mount(fleet: &Fleet, machine: &str, filesystem: &str) -> Obstacle {
    let name = format!("{machine}:{filesystem}");
    let folded = fleet.filesystem_attachments.folded(&name);
    let detail = folded.and_then(|folded| mount_detail(fleet, &name, &folded.state));
    let status = folded.map_or("reserved", |folded| folded.state.status());
    let since = folded.map(|folded| since(folded, folded.state.effort()));
    (format!("filesystem-attachment/{name}"), how(status, detail), since)
}

fn how(status: &str, detail: Option<String>) -> String {
    let is = match status {
        "attaching" => "it is being attached".to_owned(),
        "creating" => "it is being created".to_owned(),
        "destroying" => "it is being destroyed".to_owned(),
        "detaching" => "it is being detached".to_owned(),
        "releasing" => "it is being released".to_owned(),
        "removed" => "it has been removed".to_owned(),
        "removing" => "it is being removed".to_owned(),
        "voter" | "learner" => format!("it is still a {status}"),
        status => format!("it is {status}"),
    };
    detail.map_or_else(|| is.clone(), |detail| format!("{is}: {detail}"))
}

/// When the first attempt at its present work began, or else when it last changed.
fn since<D>(folded: &Folded<D>, effort: Option<&Effort>) -> Timestamp {
    effort.map_or(folded.changed, |effort| effort.since)
}
