//! What has to be asked so that entities go, with what hangs on them and what is inside of them.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::Decider,
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set,
    shell::AnyCommand,
    vocab::{Life, Name, sort_by_key},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{Action, Plan, kinds};
use crate::view::Fleet;

/// In which way entities go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Going {
    /// Nothing is waited for.
    pub force: bool,
    /// The instances of machines stay.
    pub keep_instance: bool,
    /// The data of volumes and filesystems stays.
    pub release: bool,
    /// It goes, also where something was to be released.
    pub destroy: bool,
}

/// What has to be asked so that these entities go.
///
/// With force, those that are on their way out already are asked again. What providers of `inside` have made at a machine
/// goes with it.
pub fn removal(fleet: &Fleet, streams: &[StreamId], how: Going, inside: &BTreeSet<Name>) -> Plan {
    let mut plan = Plan::default();
    // What hangs on them goes first, and is said.
    let named: BTreeSet<StreamId> = streams.iter().cloned().collect();
    let mut streams: Vec<StreamId> = streams.to_vec();
    let bound: Vec<StreamId> = streams.iter().flat_map(|stream| inside_of(fleet, stream, inside)).collect();
    streams.extend(bound);
    // An instance that stays keeps what it works with, and a filesystem whose data stays the volume that this is on.
    let mut owners = if how.keep_instance || how.release { Vec::new() } else { streams.clone() };
    while let Some(owner) = owners.pop() {
        let owned = owned_by(fleet, &owner).into_iter().filter(|stream| !streams.contains(stream));
        let owned: Vec<StreamId> = owned.collect();
        streams.extend(owned.iter().cloned());
        owners.extend(owned);
    }
    let asked: BTreeSet<StreamId> = streams.iter().cloned().collect();
    let attachments: Vec<StreamId> = streams.iter().flat_map(|stream| attachments_of(fleet, stream)).collect();
    streams.extend(attachments);
    streams.sort();
    streams.dedup();
    sort_by_key(&mut streams, |stream| std::cmp::Reverse(kinds::rank(stream.kind())));
    let (documents, streams): (Vec<StreamId>, Vec<StreamId>) =
        streams.into_iter().partition(|stream| document::Kind::of(stream.kind()).is_some());
    for stream in documents {
        if fleet.exists(&stream) {
            plan.remove_document(fleet, &stream, &asked);
        }
    }
    for stream in streams {
        // Force is for what was named; what only hangs on that goes in order.
        let how = Going { force: how.force && named.contains(&stream), ..how };
        let life = fleet.life(&stream);
        let may_change = how.force || ((how.release || how.destroy) && named.contains(&stream));
        if life == Some(Life::Alive) || (may_change && fleet.exists(&stream)) {
            let follows =
                !how.force && (waits_for_workloads(fleet, &stream, &asked) || mounted_from(fleet, &stream).is_some());
            let removed = plan.commands.len();
            plan.ask_protected(fleet, &stream);
            let has_filesystem = || {
                let on_it = fleet.volumes.get(stream.name()).and_then(|state| state.own.filesystem.clone());
                on_it.is_some_and(|name| !is_alive(fleet, &name) || asked.contains(&filesystem(&name)))
            };
            if goes_with_its_machines(fleet, &stream, &asked) {
                plan.remove_once_unused(stream);
            } else if goes_with_its_deployment(fleet, &stream, &asked) {
                plan.step(Action::Remove, &stream, Vec::new());
                plan.commands.push((stream, AnyCommand::from(machine_set::Command::RemoveOwned)));
            } else if (Going { destroy: false, ..how }) == Going::default()
                && stream.kind() == volume::State::KIND
                && has_filesystem()
            {
                plan.step(Action::Remove, &stream, Vec::new());
                plan.commands
                    .push((stream, AnyCommand::from(volume::Command::Own(volume::OwnCommand::RemoveWithFilesystem))));
            } else if how.release && how.force && is_stored(&stream) && life != Some(Life::Dead) {
                // That the data stays is said first: what is forced alone is destroyed.
                plan.remove(stream.clone(), Going { force: false, ..how });
                if is_held(fleet, &stream) {
                    let forced = kinds::going(&stream, Going { force: true, ..Going::default() });
                    plan.commands.extend(forced.map(|command| (stream, command)));
                }
            } else {
                plan.remove(stream, how);
            }
            if follows {
                // It goes when nothing uses it any more: the storage supervisor sees to it.
                plan.commands.truncate(removed);
            }
        }
    }
    plan
}

fn is_stored(stream: &StreamId) -> bool {
    matches!(stream.kind(), volume::State::KIND | filesystem::State::KIND)
}

/// Whether a volume or filesystem is attached, or about to be.
fn is_held(fleet: &Fleet, stream: &StreamId) -> bool {
    match stream.kind() {
        volume::State::KIND => fleet.volumes.get(stream.name()).is_some_and(|state| !state.attached_to.is_empty()),
        _ => fleet.filesystems.get(stream.name()).is_some_and(|state| !state.attached_to.is_empty()),
    }
}

/// What providers inside of machines have made at a machine, if that is what the stream is of.
fn inside_of(fleet: &Fleet, machine: &StreamId, inside: &BTreeSet<Name>) -> Vec<StreamId> {
    if machine.kind() != machine::State::KIND {
        return Vec::new();
    }
    let is_here = |name: &Name| name.as_str() == machine.name();
    let volume_is_here = |state: &volume::State| {
        let is_inside = state.spec.as_ref().is_some_and(|spec| inside.contains(&spec.provider));
        is_inside && state.own.wanted_on.as_ref().is_some_and(is_here)
    };
    let filesystem_is_here = |state: &filesystem::State| {
        let Some(spec) = &state.spec else { return false };
        let beneath = spec.backing.as_ref().and_then(|volume| fleet.volumes.get(volume.as_str()));
        match beneath {
            Some(volume) => volume_is_here(volume),
            None => inside.contains(&spec.provider) && spec.machine.as_ref().is_some_and(is_here),
        }
    };
    let volumes = fleet.volumes.iter().filter(|(_, folded)| volume_is_here(&folded.state));
    let volumes = volumes.filter_map(|(name, _)| StreamId::new(volume::State::KIND, name).ok());
    let filesystems = fleet.filesystems.iter().filter(|(_, folded)| filesystem_is_here(&folded.state));
    let filesystems = filesystems.filter_map(|(name, _)| StreamId::new(filesystem::State::KIND, name).ok());
    volumes.chain(filesystems).collect()
}

/// What is there only because this one needs it, unless it outlives what it is attached to, or is in use elsewhere.
fn owned_by(fleet: &Fleet, owner: &StreamId) -> Vec<StreamId> {
    let is_of_machine = owner.kind() == machine::State::KIND;
    let is_elsewhere = |machine: &Name| is_of_machine && machine.as_str() != owner.name();
    let goes = |state: &volume::State| {
        let is_owned = state.life.exists() && state.owner.as_ref() == Some(owner);
        let stays = is_of_machine && state.own.facts.as_ref().is_some_and(|facts| facts.persistent);
        is_owned && !stays && !state.attached_to.iter().any(is_elsewhere)
    };
    let filesystem_goes = |state: &filesystem::State| {
        let is_owned = state.life.exists() && state.owner.as_ref() == Some(owner);
        is_owned && !state.attached_to.iter().any(is_elsewhere)
    };
    let volumes = fleet.volumes.iter().filter(|(_, folded)| goes(&folded.state));
    let volumes = volumes.filter_map(|(name, _)| StreamId::new(volume::State::KIND, name).ok());
    let filesystems = fleet.filesystems.iter().filter(|(_, folded)| filesystem_goes(&folded.state));
    let filesystems = filesystems.filter_map(|(name, _)| StreamId::new(filesystem::State::KIND, name).ok());
    volumes.chain(filesystems).collect()
}

fn is_alive(fleet: &Fleet, filesystem: &Name) -> bool {
    fleet.filesystems.get(filesystem.as_str()).is_some_and(|state| state.life == Life::Alive)
}

fn filesystem(name: &Name) -> StreamId {
    StreamId::new(filesystem::State::KIND, name.as_str()).expect("names are checked")
}

/// The attachment of a filesystem that is mounted from this attachment's volume, on the same machine: it goes first.
pub fn mounted_from(fleet: &Fleet, attachment: &StreamId) -> Option<StreamId> {
    if attachment.kind() != volume_attachment::State::KIND {
        return None;
    }
    let (machine, volume) = attachment.name().split_once(':')?;
    let on_it = fleet.volumes.get(volume)?.own.filesystem.as_ref()?;
    let mount = StreamId::new(filesystem_attachment::State::KIND, &format!("{machine}:{on_it}")).ok()?;
    fleet.exists(&mount).then_some(mount)
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
            let mut attachments = mounts_of(fleet, |machine, _| machine == name);
            let volumes = fleet.machines.get(name).map(|state| state.attachments.clone()).unwrap_or_default();
            let of_volumes: Vec<StreamId> = of(volumes.iter().map(|volume| format!("{name}:{volume}")).collect());
            attachments.extend(of_volumes);
            attachments
        }
        volume::State::KIND => {
            let machines = fleet.volumes.get(name).map(|state| state.attached_to.clone()).unwrap_or_default();
            of(machines.iter().map(|machine| format!("{machine}:{name}")).collect())
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

/// Whether the stream is of a class that machines use, all of which go now or are going already. (A class that some
/// machine would miss refuses, and names it.)
pub(super) fn goes_with_its_machines(fleet: &Fleet, stream: &StreamId, asked: &BTreeSet<StreamId>) -> bool {
    if stream.kind() != machine_class::State::KIND {
        return false;
    }
    let is_asked = |kind: &str, name: &Name| asked.iter().any(|s| s.kind() == kind && s.name() == name.as_str());
    let goes = |name: &Name| {
        let Some(machine) = fleet.machines.get(name.as_str()) else { return true };
        let set = machine.spec.as_ref().and_then(|spec| spec.set.as_ref());
        let set_goes = |set: &Name| {
            let state = fleet.machine_sets.get(set.as_str());
            let owner = state.and_then(|set| set.spec.as_ref()?.deployment.as_ref());
            state.is_some_and(|set| set.life == Life::Dying)
                || is_asked(machine_set::State::KIND, set)
                || owner.is_some_and(|owner| is_asked(machine_deployment::State::KIND, owner))
        };
        machine.life != Life::Alive || is_asked(machine::State::KIND, name) || set.is_some_and(set_goes)
    };
    fleet
        .machine_classes
        .get(stream.name())
        .is_some_and(|class| !class.users.is_empty() && class.users.iter().all(goes))
}

/// Whether the stream is of a set whose deployment goes now. (One that stays refuses to lose it.)
fn goes_with_its_deployment(fleet: &Fleet, stream: &StreamId, asked: &BTreeSet<StreamId>) -> bool {
    let set = fleet.machine_sets.get(stream.name()).filter(|_| stream.kind() == machine_set::State::KIND);
    let owner = set.and_then(|set| set.spec.as_ref()?.deployment.as_ref());
    owner.is_some_and(|owner| {
        asked.iter().any(|other| other.kind() == machine_deployment::State::KIND && other.name() == owner.as_str())
    })
}

impl Plan {
    /// Asks the protected machines of a set that goes, so that they refuse it: it could not go without them.
    pub(super) fn ask_protected(&mut self, fleet: &Fleet, stream: &StreamId) {
        let goes = |set: &Name| match stream.kind() {
            machine_set::State::KIND => set.as_str() == stream.name(),
            machine_deployment::State::KIND => {
                let set = fleet.machine_sets.get(set.as_str()).and_then(|set| set.spec.as_ref());
                set.and_then(|set| set.deployment.as_ref()).is_some_and(|owner| owner.as_str() == stream.name())
            }
            _ => false,
        };
        let of_it = |state: &machine::State| state.spec.as_ref().and_then(|spec| spec.set.as_ref()).is_some_and(goes);
        let kept = fleet.machines.iter().filter(|(_, folded)| folded.state.protected && of_it(&folded.state));
        let kept: Vec<StreamId> = kept.filter_map(|(name, _)| StreamId::new(machine::State::KIND, name).ok()).collect();
        for machine in kept.into_iter().filter(|machine| fleet.is_protected(machine)) {
            self.remove(machine, Going::default());
        }
    }

    pub(super) fn remove_once_unused(&mut self, class: StreamId) {
        self.step(Action::Remove, &class, Vec::new());
        self.commands.push((class, AnyCommand::from(machine_class::Command::RemoveOnceUnused)));
    }

    /// Documents go by [`Plan::remove_document`]: who uses them is asked with it.
    pub(super) fn remove(&mut self, stream: StreamId, how: Going) {
        let Some(command) = kinds::kind(stream.kind()).and_then(|kind| (kind.remove)(how)) else { return };
        self.step(Action::Remove, &stream, Vec::new());
        self.commands.push((stream, command));
    }
}
