//! Lists: one row per entity that exists. The field names are those of the API and of `-o json`.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::{Decider, Fold, Folded},
    machine::{self, Health, Instance, Node},
    policy,
    shell::{Kind, STAYS_THERE},
    vocab::{Name, Timestamp, hex},
    volume::{self, Storage},
    volume_attachment::{self, Link},
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fleet,
    effort::{effort_detail, next_look, next_try, stream, told},
    machine_detail::{machine_detail, machine_id},
};
use crate::words::{started_with, withholding};

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineRow {
    pub name: String,
    /// As people call it: `0/lxd/0` for `0-lxd-0`, which stands in `0`.
    pub id: String,
    /// The machine that it stands in.
    pub parent: Option<String>,
    /// The machines that stand in it, or are about to.
    pub containers: Vec<String>,
    /// The applications of which a unit stands on it.
    pub units: Vec<String>,
    /// What its instance is started with beside what is declared, in short.
    pub started_with: Option<String>,
    pub status: &'static str,
    pub life: String,
    pub ready: bool,
    /// Where it stands, in Gardener's words and in Juju's.
    pub phase: &'static str,
    pub juju_status: &'static str,
    /// `unjudged`, `joining`, `well`, `suspect` or `overdue`.
    pub health: &'static str,
    /// Why it goes, or its instance is replaced: `deleted`, `unhealthy`, `scale-down`, `set-deleted` or `host-deleted`.
    pub going: Option<&'static str>,
    /// Why it is not replaced although it should be.
    pub withheld: Option<String>,
    pub provider: String,
    /// What the provider calls its instance.
    pub instance: Option<String>,
    /// The id that the instance was made under.
    pub effect: Option<String>,
    /// What the provider tells of the instance beside its name.
    pub facts: BTreeMap<String, String>,
    /// `reporting`, `silent` or `stale`.
    pub node: &'static str,
    /// What its provider tells of the call that is under way.
    pub progress: Option<String>,
    /// The volumes that are attached to it, or about to be.
    pub attachments: Vec<String>,
    pub age_ms: u64,
    /// When the next attempt begins.
    pub next_try_ms: Option<u64>,
    /// When it is looked at next by itself, whatever for.
    pub next_look_ms: Option<u64>,
    /// Until when it is kept for diagnosis, out of service.
    pub kept_until_ms: Option<u64>,
    /// Why an operator holds it.
    pub held: Option<String>,
    /// Whether something would have happened to it and did not, because it is held.
    pub held_back: bool,
    /// What stands in the way, in words.
    pub detail: Option<String>,
    /// The class that it is made from, and in which revision, once it has taken that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    pub ready: bool,
    pub provider: String,
    /// As it is if it is there, or else as it was asked for.
    pub size: String,
    pub size_mib: u64,
    /// What the provider calls it.
    pub volume_id: Option<String>,
    pub attached_to: Option<String>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentRow {
    /// `machine:volume`.
    pub name: String,
    pub machine: String,
    pub volume: String,
    pub status: &'static str,
    pub life: String,
    pub ready: bool,
    pub read_only: bool,
    /// How the machine's workloads reach the volume.
    pub path: Option<String>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRow {
    pub name: String,
    pub revision: u64,
    /// The first bytes of the hash of its stored form, as decisions cite it.
    pub digest: String,
    pub age_ms: u64,
    pub version: u64,
    pub changed_ms: u64,
}

/// The machines that exist, by name.
pub fn machines(fleet: &Fleet) -> Vec<MachineRow> {
    existing(&fleet.machines).map(|(name, folded)| machine_row(fleet, name, folded)).collect()
}

/// The volumes that exist, by name.
pub fn volumes(fleet: &Fleet) -> Vec<VolumeRow> {
    existing(&fleet.volumes).map(|(name, folded)| volume_row(fleet, name, folded)).collect()
}

/// The attachments that exist, by machine and volume.
pub fn attachments(fleet: &Fleet) -> Vec<AttachmentRow> {
    existing(&fleet.attachments).map(|(name, folded)| attachment_row(fleet, name, folded)).collect()
}

/// The policies, by name.
pub fn policies(fleet: &Fleet) -> Vec<PolicyRow> {
    fleet.policies.iter().map(|(name, folded)| policy_row(fleet, name, folded)).collect()
}

pub(super) fn machine_row(fleet: &Fleet, name: &str, folded: &Folded<machine::State>) -> MachineRow {
    let (state, stream) = (&folded.state, stream::<machine::State>(name));
    let spec = state.spec.as_ref();
    MachineRow {
        name: name.to_owned(),
        id: machine_id(fleet, name),
        parent: spec.and_then(|spec| spec.parent.as_ref()).map(ToString::to_string),
        containers: state.containers.iter().map(ToString::to_string).collect(),
        units: state.units.iter().map(ToString::to_string).collect(),
        started_with: state.parameters().map(|parameters| started_with(parameters, &[])),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.is_ready(),
        phase: machine::phase(state).as_str(),
        juju_status: machine::juju_status(state),
        health: health_word(&state.health),
        going: state.goes_because().map(machine::RemovalReason::as_str),
        withheld: withheld_from(fleet, name),
        provider: spec.map(|spec| spec.provider.to_string()).unwrap_or_default(),
        instance: match &state.instance {
            Instance::Running { instance, .. } => Some(instance.instance.to_string()),
            Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
        },
        effect: state.running_effect().map(|effect| effect.to_string()),
        facts: match &state.instance {
            Instance::Running { instance, .. } => instance.facts.clone(),
            Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => {
                BTreeMap::new()
            }
        },
        node: node_word(&state.node),
        progress: told(state),
        attachments: state.attachments.iter().map(ToString::to_string).collect(),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: state.effort().and_then(next_try).or(stray_try(state)).map(|until| until.0),
        next_look_ms: next_look(state).map(|until| until.0),
        kept_until_ms: state.aside.filter(|_| state.is_aside()).map(|aside| aside.until.0),
        held: state.hold.as_ref().map(|hold| hold.reason.clone()),
        held_back: state.is_held_back(),
        detail: match (withheld_from(fleet, name), machine_detail(state, fleet.time)) {
            _ if state.awaits_class().is_some() => state.awaits_class().map(|class| format!("waits for class {class}")),
            (Some(why), _) if state.awaits_site() => Some(format!("not created: {why}")),
            (Some(why), Some(detail)) => Some(format!("{detail}; not replaced: {why}")),
            (Some(why), None) => Some(format!("not replaced: {why}")),
            (None, detail) => detail,
        },
        class: state.class().map(ToString::to_string),
        labels: spec.map(|spec| spec.labels.clone()).unwrap_or_default(),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

pub(super) fn volume_row(fleet: &Fleet, name: &str, folded: &Folded<volume::State>) -> VolumeRow {
    let (state, stream) = (&folded.state, stream::<volume::State>(name));
    let provisioned = state.made();
    let asked = state.spec.as_ref().map(|spec| spec.size).unwrap_or_default();
    let size = provisioned.map_or(asked, |volume| volume.size);
    VolumeRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.is_ready(),
        provider: state.spec.as_ref().map(|spec| spec.provider.to_string()).unwrap_or_default(),
        size: size.to_string(),
        size_mib: size.0,
        volume_id: provisioned.map(|volume| volume.volume_id.to_string()),
        attached_to: state.attached_to.first().map(ToString::to_string),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: state.effort().and_then(next_try).map(|until| until.0),
        detail: volume_detail(fleet, &stream, state),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

pub(super) fn attachment_row(fleet: &Fleet, name: &str, folded: &Folded<volume_attachment::State>) -> AttachmentRow {
    let (state, stream) = (&folded.state, stream::<volume_attachment::State>(name));
    let (machine, volume) = name.split_once(':').unwrap_or((name, ""));
    let is_lost = state.is_ready() && lost_beneath(fleet, name).is_some();
    AttachmentRow {
        name: name.to_owned(),
        machine: machine.to_owned(),
        volume: volume.to_owned(),
        status: if is_lost { "lost" } else { state.status() },
        life: state.life.to_string(),
        ready: state.is_ready() && !is_lost,
        read_only: state.spec.as_ref().is_some_and(|spec| spec.read_only),
        path: state.attached().map(|(_, info)| info.path.clone()),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: state.effort().and_then(next_try).map(|until| until.0),
        detail: attachment_detail(fleet, name, state),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

pub(super) fn policy_row(fleet: &Fleet, name: &str, folded: &Folded<policy::State>) -> PolicyRow {
    let stream = stream::<policy::State>(name);
    let digest = folded.state.in_force(&stream).reference.map(|reference| reference.digest).unwrap_or_default();
    PolicyRow {
        name: name.to_owned(),
        revision: folded.state.revision,
        digest: hex(&digest),
        age_ms: fleet.age_ms(&stream),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

fn existing<D: Lives>(fold: &Fold<D>) -> impl Iterator<Item = (&str, &Folded<D>)> {
    fold.iter().filter(|(_, folded)| folded.state.exists())
}

/// An entity with a life.
trait Lives: Decider {
    fn exists(&self) -> bool;
}

impl Lives for machine::State {
    fn exists(&self) -> bool {
        self.life.exists()
    }
}

impl Lives for volume::State {
    fn exists(&self) -> bool {
        self.life.exists()
    }
}

impl Lives for volume_attachment::State {
    fn exists(&self) -> bool {
        self.life.exists()
    }
}

/// When it is next tried to delete what bears a machine's name and is not its own, after that has failed.
pub(super) fn stray_try(state: &machine::State) -> Option<Timestamp> {
    state.strays.values().filter_map(|stray| next_try(&stray.effort)).min()
}

pub(super) fn withheld_from(fleet: &Fleet, machine: &str) -> Option<String> {
    let name = machine.parse().ok()?;
    fleet.seen.withheld.get::<Name>(&name).map(withholding)
}

pub(super) fn health_word(health: &Health) -> &'static str {
    match health {
        Health::Unjudged => "unjudged",
        Health::Joining { .. } => "joining",
        Health::Well { .. } => "well",
        Health::Suspect { .. } => "suspect",
        Health::Overdue { .. } => "overdue",
    }
}

pub(super) fn node_word(node: &Node) -> &'static str {
    match node {
        Node::Silent => "silent",
        Node::Reporting { .. } => "reporting",
        Node::Stale { .. } => "stale",
    }
}

pub(super) fn volume_detail(fleet: &Fleet, stream: &StreamId, state: &volume::State) -> Option<String> {
    let effort = state.effort().and_then(|effort| effort_detail(effort, fleet.time));
    effort.or_else(|| lost(fleet, stream, state)).or_else(|| kept(state.kept_of.as_ref()))
}

/// Why a volume is lost, if it is.
pub(super) fn lost(fleet: &Fleet, stream: &StreamId, state: &volume::State) -> Option<String> {
    let since = state.own.lost?;
    if state.is_taken_over(fleet.journal, stream) {
        return Some(STAYS_THERE.to_owned());
    }
    Some(format!("its provider no longer lists it (noticed at {since})"))
}

/// That it outlived the machine of a set that it was made for.
pub(super) fn kept(machine: Option<&Name>) -> Option<String> {
    machine.map(|machine| format!("kept: it was created for machine {machine}, which was removed"))
}

/// Why an attachment that looks well is none: its volume is lost.
pub(super) fn lost_beneath(fleet: &Fleet, name: &str) -> Option<String> {
    let (_, volume) = name.split_once(':')?;
    fleet.volumes.get(volume)?.own.lost.map(|since| format!("its volume is lost (noticed at {since})"))
}

/// What an attachment waits for is the state of others.
pub(super) fn attachment_detail(fleet: &Fleet, name: &str, state: &volume_attachment::State) -> Option<String> {
    if let Some(detail) = state.effort().and_then(|effort| effort_detail(effort, fleet.time)) {
        return Some(detail);
    }
    if state.is_ready() {
        return lost_beneath(fleet, name);
    }
    if !matches!(state.link, Link::Waiting) || !state.life.exists() {
        return None;
    }
    let (machine, volume) = name.split_once(':')?;
    let mut waits = Vec::new();
    let machine_state = fleet.machines.get(machine);
    if !machine_state.is_some_and(|state| matches!(state.instance, Instance::Running { .. })) {
        waits.push(format!("machine {machine} ({})", machine_state.map_or("undeclared", machine::State::status)));
    }
    let volume_state = fleet.volumes.get(volume);
    if !volume_state.is_some_and(|state| matches!(state.storage, Storage::Provisioned { .. })) {
        waits.push(format!("volume {volume} ({})", volume_state.map_or("undeclared", volume::State::status)));
    }
    (!waits.is_empty()).then(|| format!("waits for {}", waits.join(" and ")))
}
