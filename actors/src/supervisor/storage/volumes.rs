//! What volumes and their attachments are told.

use bailiwick_journal::{StreamId, Version};

use super::{View, claims, external, known::version, zones::elsewhere};
use crate::{
    contract::Decider,
    machine,
    supervisor::Order,
    vocab::{EXTERNAL, Life, Name},
    volume::{self, Place, Storage},
    volume_attachment::{self, Command, Link, Target},
};

/// What a volume should be told, if anything.
pub(super) fn volume(view: &View, volume: Name) -> Option<Order> {
    let Some(folded) = view.volumes.folded(volume.as_str()) else {
        return returned(view, volume);
    };
    let state = &folded.state;
    if let Some(command) = claims::volume(view, &volume, state) {
        let order = Order::Volume { volume, command };
        return view.orders.is_news(&order, folded.version).then_some(order);
    }
    let command = match (state.life, &state.storage) {
        (Life::Alive, Storage::None) if state.is_external() => external::came_with(view, &volume, state)?,
        (Life::Alive, Storage::None) => create(view, state)?,
        (Life::Alive, Storage::Provisioned { .. }) if state.is_external() => external::went_with(view, &volume, state)?,
        (Life::Alive | Life::Dying, Storage::Provisioned { made, .. }) => {
            let effect = made.effect;
            let is_lost = view.absence(&volume, effect).is_some_and(|absence| absence.is_confirmed);
            volume::Command::Report(match (is_lost, state.own.lost) {
                (true, None) => volume::Report::Own(volume::OwnReport::Lost { effect }),
                (false, Some(_)) => volume::Report::Own(volume::OwnReport::Found { effect }),
                (true, Some(_)) | (false, None) => return None,
            })
        }
        (Life::Dead, Storage::None | Storage::Creating { .. } | Storage::Provisioned { .. }) => volume::Command::Remove,
        _ => return None,
    };
    let order = Order::Volume { volume, command };
    view.orders.is_news(&order, folded.version).then_some(order)
}

/// A volume that is gone is destroyed again if its provider still shows it.
fn returned(view: &View, volume: Name) -> Option<Order> {
    let gone = view.gone.returned(&volume)?;
    let command =
        volume::Command::Own(volume::OwnCommand::DestroyReturned { provider: gone.provider.clone(), of: gone.of });
    let order = Order::Volume { volume, command };
    view.orders.is_news(&order, Version::ZERO).then_some(order)
}

/// A volume that waits for a machine is made once that has an instance: where that is, and in its zone.
fn create(view: &View, state: &volume::State) -> Option<volume::Command> {
    let machine = state.own.wanted_on.as_ref()?;
    let instance = view.running(machine)?;
    let place =
        Place { machine: machine.clone(), machine_effect: instance.effect, instance: instance.instance.clone() };
    Some(match instance.zone() {
        Some(zone) => volume::Command::Own(volume::OwnCommand::CreateIn { place, zone }),
        None => volume::Command::Own(volume::OwnCommand::Create { place }),
    })
}

/// What an attachment should be told; if it is gone, what both sides are told.
pub(super) fn attachment(view: &View, stream: &StreamId, machine: &Name, volume: &Name) -> Vec<Order> {
    let Some(folded) = view.attachments.folded(stream.name()) else {
        return Vec::new();
    };
    if folded.state.life == Life::Removed {
        return releases(view, machine, volume);
    }
    let made = view.volumes.get(volume.as_str());
    let zone = made.filter(|_| folded.state.life == Life::Alive);
    let zone = zone.and_then(|made| zone_noted(view, machine, volume, made));
    let noted = zone
        .or_else(|| detachment_noted(view, &folded.state, machine, volume))
        .or_else(|| external::let_go(view, &folded.state, machine, volume));
    let Some(command) = next(view, &folded.state, stream, machine, volume, made) else {
        return noted.into_iter().collect();
    };
    let mounted = || mounted(view, machine, volume);
    match &command {
        // What is mounted from it goes first.
        Command::Remove if let Some((filesystem, state)) = mounted() => {
            return state.into_iter().flat_map(|()| unmount(view, machine, &filesystem)).collect();
        }
        // It is unmounted by itself.
        Command::Detach { .. } if is_let_go(view, machine, volume) && mounted().is_some() => return Vec::new(),
        _ => (),
    }
    let order = Order::VolumeAttachment { machine: machine.clone(), volume: volume.clone(), command };
    let order = view.orders.is_news(&order, folded.version).then_some(order);
    noted.into_iter().chain(order).collect()
}

/// A machine is told where its volume came to be, so that a later instance is made there too.
fn zone_noted(view: &View, machine: &Name, volume: &Name, made: &volume::State) -> Option<Order> {
    let zone = made.own.zone.clone()?;
    let state = view.machines.get(machine.as_str()).filter(|state| state.life == Life::Alive)?;
    let is_here = view.running(machine)?.zone().as_ref() == Some(&zone);
    let is_known = state.volume_zones.of(volume) == Some(&zone) || !state.attachments.contains(volume);
    let command = machine::Command::NoteVolume { volume: volume.clone(), zone };
    let order = Order::Machine { machine: machine.clone(), command };
    let is_news = view.orders.is_news(&order, version(&view.machines, machine));
    (is_here && !is_known && is_news).then_some(order)
}

/// A machine that waits until a volume has left it is told so.
fn detachment_noted(
    view: &View,
    attachment: &volume_attachment::State,
    machine: &Name,
    volume: &Name,
) -> Option<Order> {
    let folded = view.machines.folded(machine.as_str()).filter(|folded| folded.state.awaits_detachment_of(volume))?;
    let effect = view.running(machine)?.effect;
    let command = machine::Command::NoteDetached { effect, volume: volume.clone() };
    let order = Order::Machine { machine: machine.clone(), command };
    // What goes with the instance is not waited for.
    let is_left = attachment.is_external() || !attachment.may_be_attached();
    (is_left && view.orders.is_news(&order, folded.version)).then_some(order)
}

/// Whether a machine is drained, and who used the volume there has ended.
pub(super) fn is_let_go(view: &View, machine: &Name, volume: &Name) -> bool {
    view.machines.get(machine.as_str()).is_some_and(|state| state.lets_go_of(volume))
}

/// Whether it is attached, and is to be made sure of.
pub(super) fn is_to_be_reattached(view: &View, stream: &StreamId, machine: &Name, volume: &Name) -> bool {
    let state = view.attachments.get(stream.name());
    let made = view.volumes.get(volume.as_str());
    state.is_some_and(|state| matches!(next(view, state, stream, machine, volume, made), Some(Command::Reattach)))
}

/// What an attachment that exists should do next, if anything.
fn next(
    view: &View,
    attachment: &volume_attachment::State,
    stream: &StreamId,
    machine: &Name,
    volume: &Name,
    made: Option<&volume::State>,
) -> Option<Command> {
    if attachment.is_external() && !external::is_there(view, attachment, machine) {
        return attachment.target().map(|target| Command::NoteGone { machine_effect: target.machine_effect });
    }
    match attachment.life {
        Life::Alive => (),
        // It was told already, unless it came to be dying in another way.
        Life::Dying if !matches!(attachment.link, Link::Detaching { .. }) => return Some(Command::Remove),
        Life::Undeclared | Life::Dying | Life::Dead | Life::Removed => return None,
    }
    let machine_state = view.machines.get(machine.as_str());
    if let Some(drained) = machine_state.filter(|state| state.is_draining()) {
        // What runs on it still uses the volume, unless its turn to leave has come.
        if !drained.lets_go_of(volume) {
            return None;
        }
        // Who is only replaced gets it back.
        if drained.life == Life::Alive {
            let target = attachment.target().filter(|_| !matches!(attachment.link, Link::Detaching { .. }));
            return target.map(|target| Command::Detach { machine_effect: target.machine_effect });
        }
    }
    let leaving = |life: Option<Life>| life.is_some_and(|life| life != Life::Alive);
    if leaving(machine_state.map(|m| m.life)) || leaving(made.map(|v| v.life)) {
        return Some(Command::Remove);
    }
    if made.is_some_and(|state| is_unmounted(view, state, machine)) {
        return Some(Command::Remove);
    }
    let running = view.running(machine);
    let target = made.zip(running).and_then(|(state, instance)| {
        let provisioned = state.made()?;
        Some(Box::new(Target {
            provider: state.spec.as_ref()?.provider.clone(),
            machine_effect: instance.effect,
            instance: instance.instance.clone(),
            volume_effect: provisioned.effect,
            volume_id: provisioned.volume_id.clone(),
        }))
    });
    match &attachment.link {
        Link::Waiting => {
            let target = target?;
            if made.is_some_and(|state| elsewhere(&view.machines, state, machine).is_some()) {
                return None;
            }
            // What is lost is nowhere to be attached from; when its provider lists it again, it is.
            if made.is_some_and(|state| state.own.lost.is_some()) {
                return None;
            }
            if made.is_some_and(volume::State::is_external) {
                let info = external::attached(view, machine, volume)?;
                return Some(Command::TakeOver { target, info });
            }
            let at_creation = made.and_then(|state| state.own.at_creation.as_ref().zip(state.own.place.as_ref()));
            match at_creation {
                Some((made, place)) if made.machine == *machine && place.machine_effect == target.machine_effect => {
                    Some(Command::TakeOver { target, info: made.info.clone() })
                }
                _ => Some(Command::Attach { target }),
            }
        }
        Link::Attaching { target: then, .. } | Link::Attached { target: then, .. } => {
            // Of a machine that nobody knows nothing follows.
            machine_state?;
            if running.is_none_or(|instance| instance.effect != then.machine_effect) {
                return Some(Command::Detach { machine_effect: then.machine_effect });
            }
            let is_attached = matches!(attachment.link, Link::Attached { .. });
            // Nobody could be asked whether it still is.
            let is_asked = target.as_ref().is_some_and(|target| target.provider.as_str() != EXTERNAL);
            let is_due = is_attached && is_asked && view.is_of_earlier_session(stream);
            is_due.then_some(Command::Reattach)
        }
        Link::Detaching { .. } => None,
    }
}

/// Whether it is attached only for the filesystem that it is there for, and that is not to be mounted on this machine.
fn is_unmounted(view: &View, volume: &volume::State, machine: &Name) -> bool {
    let Some(owner) = volume.owner.as_ref().filter(|owner| owner.kind() == crate::filesystem::State::KIND) else {
        return false;
    };
    let mount = view.filesystem_attachments.get(&format!("{machine}:{}", owner.name()));
    mount.is_none_or(|mount| !mount.life.exists())
}

/// The filesystem on this volume, if it is mounted on this machine or may be; with a mark if it was not told to go yet.
fn mounted(view: &View, machine: &Name, volume: &Name) -> Option<(Name, Option<()>)> {
    let filesystem = view.volumes.get(volume.as_str())?.own.filesystem.clone()?;
    let state = view.filesystem_attachments.get(&format!("{machine}:{filesystem}"))?;
    let is_there = state.life.exists() && state.may_be_attached();
    is_there.then(|| (filesystem, (state.life == Life::Alive).then_some(())))
}

fn unmount(view: &View, machine: &Name, filesystem: &Name) -> Option<Order> {
    let folded = view.filesystem_attachments.folded(&format!("{machine}:{filesystem}"))?;
    let command = crate::filesystem_attachment::Command::Remove;
    let order = Order::FilesystemAttachment { machine: machine.clone(), filesystem: filesystem.clone(), command };
    view.orders.is_news(&order, folded.version).then_some(order)
}

/// Machine and volume let go of an attachment that is gone.
fn releases(view: &View, machine: &Name, volume: &Name) -> Vec<Order> {
    let mut orders = Vec::new();
    let present = view.machines.get(machine.as_str()).filter(|state| state.life != Life::Removed);
    let machine_holds = present.is_some_and(|state| state.attachments.contains(volume));
    if machine_holds {
        let command = machine::Command::ReleaseAttachment { volume: volume.clone() };
        orders.push((Order::Machine { machine: machine.clone(), command }, version(&view.machines, machine)));
    }
    let volume_holds = view.volumes.get(volume.as_str()).is_some_and(|state| state.attached_to.contains(machine));
    if volume_holds {
        let command = volume::Command::ReleaseAttachment { machine: machine.clone() };
        orders.push((Order::Volume { volume: volume.clone(), command }, version(&view.volumes, volume)));
    }
    orders.retain(|(order, version)| view.orders.is_news(order, *version));
    orders.into_iter().map(|(order, _)| order).collect()
}
