//! What an attachment needs before it can be made, and what must go before something else can.

use std::collections::BTreeSet;

use bailiwick_journal::{StreamId, Version};

use super::View;
use crate::{
    contract::{Decider, Fold},
    machine::{self, Instance},
    supervisor::Order,
    vocab::{Life, Name},
    volume::{self, Storage},
    volume_attachment::{self, Command, Link, Target},
};

/// The orders that follow for these entities and their attachments, in the order of the attachments' names.
pub(super) fn orders(view: &View, about: &BTreeSet<StreamId>) -> Vec<Order> {
    let mut pairs = BTreeSet::new();
    for stream in about {
        pairs.extend(attachments_of(view, stream));
    }
    pairs.iter().flat_map(|(machine, volume)| orders_for(view, machine, volume)).collect()
}

/// The attachments that a change of this entity may concern.
fn attachments_of(view: &View, stream: &StreamId) -> Vec<(Name, Name)> {
    match stream.kind() {
        machine::State::KIND => {
            let (Some(state), Ok(name)) = (view.machines.get(stream.name()), stream.name().parse::<Name>()) else {
                return Vec::new();
            };
            state.attachments.iter().map(|volume| (name.clone(), volume.clone())).collect()
        }
        volume::State::KIND => {
            let machine = view.volumes.get(stream.name()).and_then(|state| state.attached_to.clone());
            let name = stream.name().parse::<Name>().ok();
            machine.zip(name).into_iter().collect()
        }
        volume_attachment::State::KIND => pair(stream.name()).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn pair(name: &str) -> Option<(Name, Name)> {
    let (machine, volume) = name.split_once(':')?;
    Some((machine.parse().ok()?, volume.parse().ok()?))
}

fn orders_for(view: &View, machine: &Name, volume: &Name) -> Vec<Order> {
    let name = format!("{machine}:{volume}");
    let Some(attachment) = view.attachments.folded(&name) else {
        return Vec::new();
    };
    if attachment.state.life == Life::Removed {
        return releases(view, machine, volume);
    }
    let Some(command) = next(view, &attachment.state, machine, volume) else {
        return Vec::new();
    };
    let order = Order::VolumeAttachment { machine: machine.clone(), volume: volume.clone(), command };
    view.orders.is_news(&order, attachment.version).then_some(order).into_iter().collect()
}

/// What an attachment that exists should do next, if anything.
fn next(view: &View, attachment: &volume_attachment::State, machine: &Name, volume: &Name) -> Option<Command> {
    if attachment.life != Life::Alive {
        return None;
    }
    let machine_state = view.machines.get(machine.as_str());
    let volume_state = view.volumes.get(volume.as_str());
    // What runs on it still uses the volume.
    if machine_state.is_some_and(machine::State::is_draining) {
        return None;
    }
    let leaving = |life: Option<Life>| !matches!(life, Some(Life::Alive));
    if leaving(machine_state.map(|m| m.life)) || leaving(volume_state.map(|v| v.life)) {
        return Some(Command::Remove);
    }
    let running = machine_state.and_then(|state| match &state.instance {
        Instance::Running { instance, .. } => Some(instance),
        Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
    });
    match &attachment.link {
        Link::Waiting => {
            let instance = running?;
            let volume_state = volume_state?;
            let Storage::Provisioned { volume: provisioned, .. } = &volume_state.storage else {
                return None;
            };
            let target = Target {
                provider: volume_state.spec.as_ref()?.provider.clone(),
                machine_effect: instance.effect,
                instance: instance.instance.clone(),
                volume_effect: provisioned.effect,
                volume_id: provisioned.volume_id.clone(),
            };
            Some(Command::Attach { target })
        }
        Link::Attaching { target, .. } | Link::Attached { target, .. } => {
            let still_there = running.is_some_and(|instance| instance.effect == target.machine_effect);
            (!still_there).then_some(Command::Detach { machine_effect: target.machine_effect })
        }
        Link::Detaching { .. } => None,
    }
}

/// Machine and volume let go of an attachment that is gone.
fn releases(view: &View, machine: &Name, volume: &Name) -> Vec<Order> {
    let mut orders = Vec::new();
    let machine_holds = view.machines.get(machine.as_str()).is_some_and(|state| state.attachments.contains(volume));
    if machine_holds {
        let command = machine::Command::ReleaseAttachment { volume: volume.clone() };
        orders.push((Order::Machine { machine: machine.clone(), command }, version(&view.machines, machine)));
    }
    let volume_holds =
        view.volumes.get(volume.as_str()).is_some_and(|state| state.attached_to.as_ref() == Some(machine));
    if volume_holds {
        let command = volume::Command::ReleaseAttachment { machine: machine.clone() };
        orders.push((Order::Volume { volume: volume.clone(), command }, version(&view.volumes, volume)));
    }
    orders.retain(|(order, version)| view.orders.is_news(order, *version));
    orders.into_iter().map(|(order, _)| order).collect()
}

fn version<D: Decider>(fold: &Fold<D>, name: &Name) -> Version {
    fold.folded(name.as_str()).map_or(Version::ZERO, |folded| folded.version)
}
