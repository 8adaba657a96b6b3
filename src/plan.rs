//! What has to be asked so that the declared becomes true.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::{Decider, Fold},
    filesystem, filesystem_attachment, machine, machine_set, policy, replica_set,
    shell::AnyCommand,
    vocab::{Life, Name},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};

use crate::{
    manifest::{Document, Wish},
    view::Fleet,
};

/// What would be done with one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub action: Action,
    pub entity: String,
    /// For a change: which fields differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Create,
    Change,
    Unchanged,
    Remove,
    /// It is declared nowhere any more and stays all the same: pruning was not asked for.
    Keep,
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
}

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
    let mut wishes: Vec<&Wish> = documents.iter().map(|document| &document.wish).collect();
    wishes.sort_by_key(|wish| rank(wish));
    let mut declared = BTreeSet::new();
    for wish in wishes {
        declared.insert(wish.stream());
        plan.wish(fleet, wish);
    }
    plan.undeclared(fleet, &declared, prune);
    plan
}

/// What has to be asked so that these entities go.
///
/// With force, those that are on their way out already are asked again.
pub fn removal(fleet: &Fleet, streams: &[StreamId], how: machine::Removal) -> Plan {
    let mut plan = Plan::default();
    // What hangs on them goes first, and is said.
    let mut streams: Vec<StreamId> = streams.to_vec();
    let asked: BTreeSet<StreamId> = streams.iter().cloned().collect();
    let hanging: Vec<StreamId> = streams.iter().flat_map(|stream| attachments_of(fleet, stream)).collect();
    streams.extend(hanging);
    streams.sort();
    streams.dedup();
    streams.sort_by_key(|stream| std::cmp::Reverse(kind_rank(stream.kind())));
    for stream in streams {
        let is_machine = stream.kind() == machine::State::KIND;
        let life = fleet.life(&stream);
        if life == Some(Life::Alive) || (how.force && is_machine && fleet.exists(&stream)) {
            let follows = !how.force && waits_for_workloads(fleet, &stream, &asked);
            let removed = plan.commands.len();
            plan.remove(stream, how);
            if follows {
                // It goes when nothing uses it any more: the storage supervisor sees to it.
                plan.commands.truncate(removed);
            }
        }
    }
    plan
}

/// Whether an attachment goes only because its machine does, whose workloads end first.
fn waits_for_workloads(fleet: &Fleet, stream: &StreamId, asked: &BTreeSet<StreamId>) -> bool {
    let Some((machine, _)) = stream.name().split_once(':') else { return false };
    let goes = asked.iter().any(|stream| stream.kind() == machine::State::KIND && stream.name() == machine);
    let has_workloads = |state: &machine::State| state.spec.as_ref().is_some_and(|spec| !spec.workloads.is_empty());
    !asked.contains(stream) && goes && fleet.machines.get(machine).is_some_and(has_workloads)
}

fn attachments_of(fleet: &Fleet, stream: &StreamId) -> Vec<StreamId> {
    let name = stream.name();
    let of = |names: Vec<String>| {
        let attachment = |name: String| StreamId::new(volume_attachment::State::KIND, &name).ok();
        names.into_iter().filter_map(attachment).collect()
    };
    match stream.kind() {
        filesystem::State::KIND => mounts_of(fleet, |_, filesystem| filesystem == name),
        machine::State::KIND => {
            let mut hanging = mounts_of(fleet, |machine, _| machine == name);
            let volumes = fleet.machines.get(name).map(|state| state.attachments.clone()).unwrap_or_default();
            let of_volumes: Vec<StreamId> = of(volumes.iter().map(|volume| format!("{name}:{volume}")).collect());
            hanging.extend(of_volumes);
            hanging
        }
        volume::State::KIND => {
            let machine = fleet.volumes.get(name).and_then(|state| state.attached_to.clone());
            of(machine.iter().map(|machine| format!("{machine}:{name}")).collect())
        }
        _ => Vec::new(),
    }
}

/// The attachments of filesystems of which machine and filesystem fit.
fn mounts_of(fleet: &Fleet, fits: impl Fn(&str, &str) -> bool) -> Vec<StreamId> {
    let names = fleet.filesystem_attachments.iter().map(|(name, _)| name);
    let fitting = names.filter(|name| name.split_once(':').is_some_and(|(machine, other)| fits(machine, other)));
    fitting.filter_map(|name| StreamId::new(filesystem_attachment::State::KIND, name).ok()).collect()
}

fn rank(wish: &Wish) -> u8 {
    kind_rank(wish.stream().kind())
}

fn kind_rank(kind: &str) -> u8 {
    match kind {
        policy::State::KIND => 0,
        machine::State::KIND => 1,
        volume::State::KIND | filesystem::State::KIND => 2,
        replica_set::State::KIND | machine_set::State::KIND => 4,
        _ => 3,
    }
}

impl Plan {
    fn step(&mut self, action: Action, stream: &StreamId, fields: Vec<String>) {
        self.steps.push(Step { action, entity: stream.to_string(), fields });
    }

    fn wish(&mut self, fleet: &Fleet, wish: &Wish) {
        let stream = wish.stream();
        match wish {
            Wish::Machine { spec, .. } => {
                let present = fleet.machines.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| machine_fields(present, spec)).unwrap_or_default();
                let command = AnyCommand::Machine(machine::Command::Declare(spec.clone()));
                self.declare(stream, present.is_some(), fields, command);
            }
            Wish::Volume { spec, .. } => {
                let present = fleet.volumes.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| volume_fields(present, spec)).unwrap_or_default();
                let command = AnyCommand::Volume(volume::Command::Declare(spec.clone()));
                self.declare(stream, present.is_some(), fields, command);
            }
            Wish::VolumeAttachment { spec } => {
                let present = fleet.attachments.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let differs = present.is_some_and(|present| present.read_only != spec.read_only);
                let fields = if differs { vec!["spec.readOnly".to_owned()] } else { Vec::new() };
                let command = AnyCommand::VolumeAttachment(volume_attachment::Command::Declare(spec.clone()));
                self.declare(stream, present.is_some(), fields, command);
                if present.is_none() {
                    self.reserve(&spec.machine, &spec.volume);
                }
            }
            Wish::Filesystem { spec, .. } => {
                let present = fleet.filesystems.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| filesystem_fields(present, spec)).unwrap_or_default();
                let command = AnyCommand::Filesystem(filesystem::Command::Declare(spec.clone()));
                self.declare(stream, present.is_some(), fields, command);
            }
            Wish::FilesystemAttachment { spec } => {
                let present = fleet.filesystem_attachments.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| mount_fields(present, spec)).unwrap_or_default();
                let declare = filesystem_attachment::Command::Declare(spec.clone());
                self.declare(stream, present.is_some(), fields, AnyCommand::FilesystemAttachment(declare));
                if present.is_none() {
                    let kind = filesystem::State::KIND;
                    let filesystem = StreamId::new(kind, spec.filesystem.as_str()).expect("names are checked");
                    let command = filesystem::Command::ReserveAttachment { machine: spec.machine.clone() };
                    self.commands.push((filesystem, AnyCommand::Filesystem(command)));
                }
            }
            Wish::ReplicaSet { spec, .. } => {
                let present = fleet.replica_sets.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| replica_set_fields(present, spec)).unwrap_or_default();
                let command = AnyCommand::ReplicaSet(replica_set::Command::Declare(spec.clone()));
                self.declare(stream, present.is_some(), fields, command);
            }
            Wish::MachineSet { spec, .. } => {
                let present = fleet.machine_sets.get(stream.name()).filter(|state| state.life.exists());
                let present = present.and_then(|state| state.spec.as_ref());
                let fields = present.map(|present| machine_set_fields(present, spec)).unwrap_or_default();
                let command = AnyCommand::MachineSet(machine_set::Command::Declare(spec.clone()));
                self.declare(stream, present.is_some(), fields, command);
            }
            Wish::Policy { document, .. } => {
                let present = fleet.policies.get(stream.name()).filter(|state| state.revision > 0);
                let differs = present.is_some_and(|state| state.document != **document);
                let fields = if differs { vec!["spec".to_owned()] } else { Vec::new() };
                let command = AnyCommand::Policy(policy::Command::Revise(document.clone()));
                self.declare(stream, present.is_some(), fields, command);
            }
        }
    }

    fn declare(&mut self, stream: StreamId, present: bool, fields: Vec<String>, command: AnyCommand) {
        let action = match (present, fields.is_empty()) {
            (false, _) => Action::Create,
            (true, true) => Action::Unchanged,
            (true, false) => Action::Change,
        };
        self.step(action, &stream, fields);
        if action != Action::Unchanged {
            self.commands.push((stream, command));
        }
    }

    fn reserve(&mut self, machine: &Name, volume: &Name) {
        let on_machine = StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked");
        let on_volume = StreamId::new(volume::State::KIND, volume.as_str()).expect("names are checked");
        let command = machine::Command::ReserveAttachment { volume: volume.clone() };
        self.commands.push((on_machine, AnyCommand::Machine(command)));
        let command = volume::Command::ReserveAttachment { machine: machine.clone() };
        self.commands.push((on_volume, AnyCommand::Volume(command)));
    }

    fn undeclared(&mut self, fleet: &Fleet, declared: &BTreeSet<StreamId>, prune: Prune) {
        let is_alive = |life: Life| life == Life::Alive;
        let mut alive = alive_of(&fleet.replica_sets, |state| is_alive(state.life));
        alive.extend(alive_of(&fleet.machine_sets, |state| is_alive(state.life)));
        alive.extend(alive_of(&fleet.attachments, |state| is_alive(state.life)));
        alive.extend(alive_of(&fleet.filesystem_attachments, |state| is_alive(state.life)));
        alive.extend(alive_of(&fleet.filesystems, |state| is_alive(state.life)));
        alive.extend(alive_of(&fleet.volumes, |state| is_alive(state.life)));
        // What a set made is the set's to keep or to remove.
        alive.extend(alive_of(&fleet.machines, |state| is_alive(state.life) && !is_of_set(fleet, state)));
        for stream in alive.into_iter().filter(|stream| !declared.contains(stream)) {
            match prune {
                Prune::Yes => self.remove(stream, machine::Removal::default()),
                Prune::No => self.step(Action::Keep, &stream, Vec::new()),
            }
        }
    }

    fn remove(&mut self, stream: StreamId, how: machine::Removal) {
        let command = match stream.kind() {
            machine::State::KIND if how != machine::Removal::default() => {
                AnyCommand::Machine(machine::Command::RemoveWith(how))
            }
            machine::State::KIND => AnyCommand::Machine(machine::Command::Remove),
            volume::State::KIND => AnyCommand::Volume(volume::Command::Remove),
            volume_attachment::State::KIND => AnyCommand::VolumeAttachment(volume_attachment::Command::Remove),
            filesystem::State::KIND => AnyCommand::Filesystem(filesystem::Command::Remove),
            filesystem_attachment::State::KIND => {
                AnyCommand::FilesystemAttachment(filesystem_attachment::Command::Remove)
            }
            replica_set::State::KIND => AnyCommand::ReplicaSet(replica_set::Command::Remove),
            machine_set::State::KIND => AnyCommand::MachineSet(machine_set::Command::Remove),
            _ => return,
        };
        self.step(Action::Remove, &stream, Vec::new());
        self.commands.push((stream, command));
    }
}

/// The entities of one kind that are so.
fn alive_of<D: Decider>(all: &Fold<D>, is_alive: impl Fn(&D) -> bool) -> Vec<StreamId> {
    let alive = all.iter().filter(|(_, folded)| is_alive(&folded.state));
    alive.map(|(name, _)| StreamId::new(D::KIND, name).expect("a stream of the journal")).collect()
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
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn volume_fields(present: &volume::Spec, wanted: &volume::Spec) -> Vec<String> {
    let fields = [("spec.provider", present.provider != wanted.provider), ("spec.size", present.size != wanted.size)];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn filesystem_fields(present: &filesystem::Spec, wanted: &filesystem::Spec) -> Vec<String> {
    let fields = [("spec.provider", present.provider != wanted.provider), ("spec.size", present.size != wanted.size)];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn mount_fields(present: &filesystem_attachment::Spec, wanted: &filesystem_attachment::Spec) -> Vec<String> {
    let fields = [("spec.path", present.path != wanted.path), ("spec.readOnly", present.read_only != wanted.read_only)];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}

fn replica_set_fields(present: &replica_set::Spec, wanted: &replica_set::Spec) -> Vec<String> {
    let fields = [
        ("spec.engine", present.engine != wanted.engine),
        ("spec.servers", present.servers != wanted.servers),
        ("spec.seats", present.seats != wanted.seats),
        ("spec.oneHost", present.one_host != wanted.one_host),
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(field, _)| (*field).to_owned()).collect()
}
