//! What has to be asked so that the declared becomes true, or goes.

mod documents;
mod kinds;
mod removing;
mod templates;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::{Decider, Fold},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, policy,
    replica_set,
    shell::AnyCommand,
    supervisor::storage::zone_of,
    vocab::{ClassContent, Life, Name, sort_by_key},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::kinds::add;
pub use self::{
    kinds::{going, protecting, retrying},
    removing::{Going, mounted_from, removal},
};
use crate::{
    manifest::{Document, Pooled, Wish},
    view::{Fleet, declared_spec, policy_changes, steps_towards},
};

/// What would be done with one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub action: Action,
    pub entity: String,
    /// For a change: which fields differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// What stays although the manifest says otherwise, and how to change it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stays: Option<String>,
    /// What every machine of a set brings with it, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brings: Vec<String>,
    /// For a replica set: the steps that follow, in words. After each of them everything is looked at and planned anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<String>,
}

/// Kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Create,
    Change,
    Unchanged,
    Remove,
    /// It is declared nowhere any more and stays all the same: pruning was not asked for.
    Keep,
    /// It is on its way out, and nothing new can be asked of it until it is gone.
    Refuse,
}

/// Whether what is not declared any more goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    #[default]
    No,
    Yes,
}

/// The steps, and the commands that take them; all commands together or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub commands: Vec<(StreamId, AnyCommand)>,
    /// How many objects are declared nowhere here and stay. As many as [`KEPT_TOLD_MAX`] of them have a step.
    pub kept: usize,
}

/// So many of the objects that stay are named: whoever declares one of thousands wants to see that one.
pub const KEPT_TOLD_MAX: usize = 100;

impl Plan {
    /// Whether anything would change.
    pub fn changes(&self) -> bool {
        !self.commands.is_empty()
    }
}

/// What has to be asked so that these documents become true of this fleet.
///
/// Policies come first, then machines and volumes, then attachments, so that each finds what it needs. An attachment is
/// declared together with its reservation on both sides: either all three happen or none.
pub fn plan(fleet: &Fleet, documents: &[Document], prune: Prune) -> Plan {
    let mut plan = Plan::default();
    let mut documents_in_order: Vec<&Document> = documents.iter().collect();
    // A volume keeps room for the filesystem on it, so it comes first, wherever it stands.
    sort_by_key(&mut documents_in_order, |Document { wish, .. }| (rank(wish), matches!(wish, Wish::Filesystem { .. })));
    for document in documents_in_order {
        let before = plan.commands.len();
        plan.wish(fleet, &document.wish);
        plan.protect(fleet, document, before);
    }
    plan.assign_units(fleet, documents);
    plan.undeclared(fleet, documents, prune);
    plan
}

fn rank(wish: &Wish) -> u8 {
    kinds::rank(wish.stream().kind())
}

/// The fields in which two declarations of a custom kind differ.
fn differing(present: &Value, wanted: &Value) -> Vec<String> {
    let names = |spec: &Value| spec.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let mut fields = names(wanted);
    fields.extend(names(present).into_iter().filter(|name| wanted.get(name).is_none()));
    fields.retain(|name| present.get(name).unwrap_or(&Value::Null) != wanted.get(name).unwrap_or(&Value::Null));
    fields.into_iter().map(|name| format!("spec.{name}")).collect()
}

impl Plan {
    fn step(&mut self, action: Action, stream: &StreamId, fields: Vec<String>) {
        let (brings, follows) = (Vec::new(), Vec::new());
        self.steps.push(Step { action, entity: stream.to_string(), fields, stays: None, brings, follows });
    }

    fn wish(&mut self, fleet: &Fleet, wish: &Wish) {
        let stream = wish.stream();
        match wish {
            Wish::Machine { spec, .. } => {
                let present = fleet.machines.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| machine_fields(present, spec)).unwrap_or_default();
                let command = AnyCommand::from(machine::Command::Declare(spec.clone()));
                self.declare(fleet, stream, present.is_some(), fields, command);
            }
            Wish::Volume { spec, machine, pool, owner, tags, .. } => {
                let present = fleet.volumes.get(stream.name()).filter(|state| state.life.exists());
                let mut declaration = volume::Declaration {
                    spec: spec.clone(),
                    wanted: volume::Wanted { machine: machine.clone(), import: None },
                    pool: Pooled::from_pool(pool.as_ref()),
                    owner: owner.clone(),
                };
                if let Some(state) = present.filter(|_| pool.as_ref().is_some_and(|pool| !pool.is_named)) {
                    // Who names no pool leaves what is there where it came from.
                    declaration.pool = state.pool.clone();
                    if let Some(present) = &state.spec {
                        declaration.spec.provider = present.provider.clone();
                    }
                }
                let fields = present.map(|state| state.differences_tagged(&declaration, tags)).unwrap_or_default();
                let fields = fields.into_iter().map(str::to_owned).collect();
                let command = AnyCommand::from(volume::Command::declare_tagged(declaration, tags.clone()));
                self.declare(fleet, stream, present.is_some(), fields, command);
            }
            Wish::VolumeAttachment { spec } => {
                let present = fleet.attachments.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let differs = present.is_some_and(|present| present.read_only != spec.read_only);
                let fields = if differs { vec!["spec.readOnly".to_owned()] } else { Vec::new() };
                let command = AnyCommand::from(volume_attachment::Command::Declare(spec.clone()));
                self.declare(fleet, stream, present.is_some(), fields, command);
                if present.is_none() {
                    self.reserve(fleet, &spec.machine, &spec.volume);
                }
            }
            Wish::Filesystem { name, spec, pool, owner } => {
                let present = fleet.filesystems.get(stream.name()).filter(|state| state.life.exists());
                let mut declaration = filesystem::Declaration {
                    spec: spec.clone(),
                    wanted: filesystem::Wanted,
                    pool: Pooled::from_pool(pool.as_ref()),
                    owner: owner.clone(),
                };
                if let Some(state) = present.filter(|_| pool.as_ref().is_some_and(|pool| !pool.is_named)) {
                    declaration.pool = state.pool.clone();
                    if let Some(present) = &state.spec {
                        declaration.spec.provider = present.provider.clone();
                    }
                }
                let fields = present.map(|state| state.differences(&declaration)).unwrap_or_default();
                let fields = fields.into_iter().map(str::to_owned).collect();
                let (backing, filesystem) = (spec.backing.clone().filter(|_| present.is_none()), name.clone());
                let command = AnyCommand::from(filesystem::Command::from(declaration));
                self.declare(fleet, stream, present.is_some(), fields, command);
                if let Some(volume) = backing {
                    let volume = StreamId::new(volume::State::KIND, volume.as_str()).expect("names are checked");
                    let command = volume::Command::Own(volume::OwnCommand::ReserveFilesystem { filesystem });
                    self.commands.push((volume, AnyCommand::from(command)));
                }
            }
            Wish::FilesystemAttachment { spec } => {
                let present = fleet.filesystem_attachments.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| mount_fields(present, spec)).unwrap_or_default();
                let declare = filesystem_attachment::Command::Declare(spec.clone());
                self.declare(fleet, stream, present.is_some(), fields, AnyCommand::from(declare));
                if present.is_none() {
                    let kind = filesystem::State::KIND;
                    let filesystem = StreamId::new(kind, spec.filesystem.as_str()).expect("names are checked");
                    let command = filesystem::Command::ReserveAttachment { machine: spec.machine.clone() };
                    self.commands.push((filesystem, AnyCommand::from(command)));
                    let machine =
                        StreamId::new(machine::State::KIND, spec.machine.as_str()).expect("names are checked");
                    let command = machine::Command::ReserveMount { filesystem: spec.filesystem.clone() };
                    self.commands.push((machine, AnyCommand::from(command)));
                }
            }
            Wish::ReplicaSet { spec, .. } => {
                let present = fleet.replica_sets.get(stream.name()).filter(|state| state.life.exists());
                let meant = present.map(|state| state.meant_by(spec));
                let fields = present.map(|state| replica_set_fields(state, spec)).unwrap_or_default();
                let command = AnyCommand::from(replica_set::Command::Declare(spec.clone()));
                let follows = steps_towards(fleet, stream.name(), meant.as_ref().unwrap_or(spec));
                self.declare(fleet, stream, present.is_some(), fields, command);
                if let Some(step) = self.steps.last_mut() {
                    step.stays = meant.filter(|meant| meant.servers != spec.servers).map(|meant| {
                        format!(
                            "spec.servers stays {}, as set by enable-ha; a value other than {} here changes it",
                            meant.servers, spec.servers
                        )
                    });
                    step.follows = follows;
                }
            }
            Wish::MachineSet { spec, .. } => {
                let present = fleet.machine_sets.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let template = templates::steady(present.map(|present| &present.template), &spec.template);
                let spec = machine_set::Spec { template, ..spec.clone() };
                let fields = present.map(|present| machine_set_fields(present, &spec)).unwrap_or_default();
                let storage = spec.template.storage.clone();
                let command = AnyCommand::from(machine_set::Command::Declare(spec));
                self.declare(fleet, stream, present.is_some(), fields, command);
                self.brings(&storage);
            }
            Wish::MachineDeployment { spec, .. } => {
                let present = fleet.machine_deployments.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let template = templates::steady(present.map(|present| &present.template), &spec.template);
                let spec = machine_deployment::Spec { template, ..spec.clone() };
                let fields = present.map(|present| machine_deployment_fields(present, &spec)).unwrap_or_default();
                let storage = spec.template.storage.clone();
                let command = AnyCommand::from(machine_deployment::Command::Declare(spec));
                self.declare(fleet, stream, present.is_some(), fields, command);
                self.brings(&storage);
            }
            Wish::MachineClass { content, .. } => {
                let present = fleet.machine_classes.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.content.as_ref());
                let fields = present.map(|present| machine_class_fields(present, content)).unwrap_or_default();
                let command = AnyCommand::from(machine_class::Command::Declare(content.clone()));
                self.declare(fleet, stream, present.is_some(), fields, command);
            }
            Wish::Custom(custom) => {
                let present = declared_spec(fleet, &stream);
                let fields = present.as_ref().map(|present| differing(present, &custom.spec)).unwrap_or_default();
                self.declare(fleet, stream, present.is_some(), fields, custom.command.clone());
            }
            Wish::Document { content, .. } => self.document(fleet, stream, content),
            Wish::Policy { document, .. } => {
                let present = fleet.policies.get(stream.name()).filter(|state| state.revision > 0);
                let fields = present.map(|state| policy_changes(&state.document, document)).unwrap_or_default();
                let command = AnyCommand::from(policy::Command::Revise(document.clone()));
                self.declare(fleet, stream, present.is_some(), fields, command);
            }
        }
    }

    /// Protects what is declared, or ends that; `before` is where its other commands begin.
    fn protect(&mut self, fleet: &Fleet, document: &Document, before: usize) {
        let stream = document.wish.stream();
        let Some(on) = document.protect.filter(|on| *on != fleet.is_protected(&stream)) else { return };
        let Some(command) = protecting(&stream, on) else { return };
        // It ends before that is asked which it would refuse, and begins once there is something to protect.
        let at = if on { self.commands.len() } else { before };
        let own = self.steps.iter_mut().rev().find(|step| step.entity == stream.as_str());
        if let Some(step) = own.filter(|step| matches!(step.action, Action::Unchanged | Action::Change)) {
            step.action = Action::Change;
            step.fields.push("metadata.protect".to_owned());
        }
        self.commands.insert(at, (stream, command));
    }

    fn declare(&mut self, fleet: &Fleet, stream: StreamId, present: bool, fields: Vec<String>, command: AnyCommand) {
        let is_going = matches!(fleet.life(&stream), Some(Life::Dying | Life::Dead));
        let action = match (present, fields.is_empty()) {
            // It is asked all the same, and refuses: then the refusal is recorded, and nothing of the rest is done.
            _ if is_going => Action::Refuse,
            (false, _) => Action::Create,
            (true, true) => Action::Unchanged,
            (true, false) => Action::Change,
        };
        self.step(action, &stream, fields);
        if action != Action::Unchanged {
            self.commands.push((stream, command));
        }
    }

    fn reserve(&mut self, fleet: &Fleet, machine: &Name, volume: &Name) {
        let on_machine = StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked");
        let on_volume = StreamId::new(volume::State::KIND, volume.as_str()).expect("names are checked");
        let command = machine::Command::ReserveAttachment { volume: volume.clone() };
        self.commands.push((on_machine.clone(), AnyCommand::from(command)));
        // Before its instance is asked for, a new machine knows where it has to be.
        let zone = fleet.volumes.get(volume.as_str()).filter(|state| state.life.exists());
        if let Some(zone) = zone.and_then(|state| zone_of(&fleet.machines, state)) {
            let command = machine::Command::NoteVolume { volume: volume.clone(), zone };
            self.commands.push((on_machine, AnyCommand::from(command)));
        }
        let command = volume::Command::ReserveAttachment { machine: machine.clone() };
        self.commands.push((on_volume, AnyCommand::from(command)));
    }

    fn undeclared(&mut self, fleet: &Fleet, documents: &[Document], prune: Prune) {
        let declared: Vec<StreamId> = documents.iter().map(|document| document.wish.stream()).collect();
        let declared: BTreeSet<_> = declared.iter().map(|stream| (stream.kind(), stream.name())).collect();
        let mut undeclared = declarable(fleet).filter(|object| !declared.contains(object));
        let stream = |(kind, name)| StreamId::new(kind, name).expect("a stream of the journal");
        if prune == Prune::No {
            for object in undeclared.by_ref().take(KEPT_TOLD_MAX) {
                self.step(Action::Keep, &stream(object), Vec::new());
                self.kept += 1;
            }
            self.kept += undeclared.count();
            return;
        }
        let undeclared: Vec<StreamId> = undeclared.map(stream).collect();
        let going: BTreeSet<StreamId> = undeclared.iter().cloned().collect();
        for stream in undeclared {
            if removing::goes_with_its_machines(fleet, &stream, &going) {
                self.remove_once_unused(stream);
            } else if document::Kind::of(stream.kind()).is_some() {
                self.remove_document(fleet, &stream, &going);
            } else {
                self.ask_protected(fleet, &stream);
                self.remove(stream, Going::default());
            }
        }
    }
}

/// The kind and the name of what is there and somebody declares: what the control plane made by itself is not among it.
fn declarable(fleet: &Fleet) -> impl Iterator<Item = (&str, &str)> {
    let is_alive = |life: Life| life == Life::Alive;
    let replica_sets = alive_of(&fleet.replica_sets, move |state| is_alive(state.life));
    let deployments = alive_of(&fleet.machine_deployments, move |state| is_alive(state.life));
    // What a deployment owns goes with it.
    let is_free = |set: &machine_set::State| set.spec.as_ref().is_some_and(|spec| spec.deployment.is_none());
    let sets = alive_of(&fleet.machine_sets, move |state| is_alive(state.life) && is_free(state));
    // What a set made is the set's to keep or to remove, and so is what was made for its machines.
    let attachments = templates::free_attachments(fleet);
    let filesystems = alive_of(&fleet.filesystems, move |state| is_alive(state.life) && state.claim.is_none());
    let volumes = alive_of(&fleet.volumes, move |state| is_alive(state.life) && state.claim.is_none());
    let machines = alive_of(&fleet.machines, move |state| is_alive(state.life) && !is_of_set(fleet, state));
    let classes = alive_of(&fleet.machine_classes, move |state| is_alive(state.life));
    let machines = replica_sets
        .chain(deployments)
        .chain(sets)
        .chain(attachments)
        .chain(filesystems)
        .chain(volumes)
        .chain(machines);
    machines.chain(classes).chain(documents::existing(fleet))
}

/// The kind, and the names of its entities for which the condition holds.
fn alive_of<'f, D: Decider>(
    all: &'f Fold<D>,
    is_alive: impl Fn(&D) -> bool + 'f,
) -> impl Iterator<Item = (&'f str, &'f str)> {
    all.iter().filter(move |(_, folded)| is_alive(&folded.state)).map(|(name, _)| (D::KIND, name))
}

/// Whether a machine belongs to a set that is there.
fn is_of_set(fleet: &Fleet, machine: &machine::State) -> bool {
    let set = machine.spec.as_ref().and_then(|spec| spec.set.as_ref());
    set.is_some_and(|set| fleet.machine_sets.get(set.as_str()).is_some_and(|set| set.life.exists()))
}

fn machine_set_fields(present: &machine_set::Spec, wanted: &machine_set::Spec) -> Vec<String> {
    let fields = [
        ("spec.replicas", present.replicas != wanted.replicas),
        ("spec.template", present.template != wanted.template),
        ("spec.priorities", present.priorities != wanted.priorities),
        // Whose it is, no manifest says: the set refuses, and names its deployment.
        ("spec.deployment", present.deployment != wanted.deployment),
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn machine_deployment_fields(present: &machine_deployment::Spec, wanted: &machine_deployment::Spec) -> Vec<String> {
    let fields = [
        ("spec.replicas", present.replicas != wanted.replicas),
        ("spec.selector", present.selector != wanted.selector),
        ("spec.template", present.template != wanted.template),
        ("spec.strategy", present.strategy != wanted.strategy),
        ("spec.minReadySeconds", present.min_ready_ms != wanted.min_ready_ms),
        ("spec.revisionHistoryLimit", present.history_limit != wanted.history_limit),
        ("spec.progressDeadline", present.progress_deadline_ms != wanted.progress_deadline_ms),
        ("spec.paused", present.paused != wanted.paused),
        ("spec.windows", present.windows != wanted.windows),
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn machine_class_fields(present: &ClassContent, wanted: &ClassContent) -> Vec<String> {
    let fields = [
        ("spec.provider", present.provider != wanted.provider),
        ("spec.providerSpec", present.provider_spec != wanted.provider_spec),
        ("spec.secret", present.secret != wanted.secret),
        ("spec.credentials", present.credentials != wanted.credentials),
        ("spec.nodeTemplate", present.node_template != wanted.node_template),
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn machine_fields(present: &machine::Spec, wanted: &machine::Spec) -> Vec<String> {
    let fields = [
        ("spec.provider", present.provider != wanted.provider),
        ("spec.workloads", present.workloads != wanted.workloads),
        ("metadata.labels", present.labels != wanted.labels),
        ("metadata.annotations", present.annotations != wanted.annotations),
        ("spec.taints", present.taints != wanted.taints),
        ("spec.tags", present.tags != wanted.tags),
        ("spec.constraints", present.constraints != wanted.constraints),
        ("spec.placement", present.placement != wanted.placement),
        ("spec.base", present.base != wanted.base),
        ("spec.jobs", present.jobs != wanted.jobs),
        ("spec.parent", present.parent != wanted.parent),
        ("spec.zone", present.zone != wanted.zone),
        ("spec.spread", present.spread != wanted.spread),
        ("spec.class", present.class != wanted.class),
        ("spec.set", present.set != wanted.set),
        ("spec.patience", present.patience != wanted.patience),
        ("spec.storage", present.storage != wanted.storage),
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn mount_fields(present: &filesystem_attachment::Spec, wanted: &filesystem_attachment::Spec) -> Vec<String> {
    let fields = [("spec.path", present.path != wanted.path), ("spec.readOnly", present.read_only != wanted.read_only)];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

/// What a declaration changes about a set: the number of servers if it says another one than was declared last, and not
/// because somebody asked for more since.
fn replica_set_fields(state: &replica_set::State, wanted: &replica_set::Spec) -> Vec<String> {
    let Some(present) = &state.spec else { return Vec::new() };
    let fields = [
        ("spec.engine", present.engine != wanted.engine),
        ("spec.servers", state.servers_declared != Some(wanted.servers)),
        ("spec.seats", present.seats != wanted.seats),
        ("spec.oneHost", present.one_host != wanted.one_host),
        ("spec.space", present.space != wanted.space),
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}
