//! What filesystems and their attachments are told.

use bailiwick_journal::{Cite, StreamId};

use super::{View, claims, known::version, volumes::is_let_go};
use crate::{
    contract::Decider,
    filesystem::{self, Base, OwnCommand, Storage},
    filesystem_attachment::{self, Command, Link, Target},
    machine,
    ports::Backing,
    storage_rules::default_mount_point,
    supervisor::Order,
    vocab::{Life, Name, Outlook},
    volume::{self, Leftovers},
};

/// What a filesystem should be told; if it is gone, what the volume beneath is told.
pub(super) fn filesystem(view: &View, filesystem: &Name) -> Vec<Order> {
    let Some(folded) = view.filesystems.folded(filesystem.as_str()) else {
        return Vec::new();
    };
    let state = &folded.state;
    if let Some(command) = claims::filesystem(view, filesystem, state) {
        let order = Order::Filesystem { filesystem: filesystem.clone(), command };
        return view.orders.is_news(&order, folded.version).then_some(order).into_iter().collect();
    }
    let command = match (state.life, &state.storage) {
        (Life::Removed, _) => return release(view, filesystem, state).into_iter().collect(),
        (Life::Alive, Storage::None) => create(view, state).map(made_on),
        // What a later attempt is made on is what is seen then.
        (Life::Alive, Storage::Creating { base, effort })
            if base.backing.is_some() && effort.outlook != Outlook::Trying =>
        {
            create(view, state).filter(|now| now.backing != base.backing).map(made_on)
        }
        (Life::Dead, Storage::None | Storage::Creating { .. } | Storage::Provisioned { .. }) => {
            Some(filesystem::Command::Remove)
        }
        _ => None,
    };
    let order = command.map(|command| Order::Filesystem { filesystem: filesystem.clone(), command });
    order.filter(|order| view.orders.is_news(order, folded.version)).into_iter().collect()
}

/// It is made once everything that it needs is there: nothing, or the device of the volume beneath.
fn create(view: &View, state: &filesystem::State) -> Option<Base> {
    let spec = state.spec.as_ref()?;
    let backing = match &spec.backing {
        // Inside of a machine that is known it waits for that one's instance.
        None if spec.machine.as_ref().is_some_and(|machine| view.is_without_instance(machine)) => return None,
        None => None,
        Some(volume) => Some(device(view, state, volume)?.clone()),
    };
    let beneath = spec.backing.as_ref().and_then(|volume| view.volumes.get(volume.as_str()));
    let over = beneath.map(|volume| volume.own.leftovers.keys().cloned().collect()).unwrap_or_default();
    Some(Base { backing, over })
}

fn made_on(base: Base) -> filesystem::Command {
    filesystem::Command::Own(OwnCommand::Create(base))
}

/// The device of the volume beneath, on the machine that the filesystem is bound to or mounted on.
fn device<'v>(view: &'v View, state: &filesystem::State, volume: &Name) -> Option<&'v Backing> {
    let bound = state.spec.as_ref().and_then(|spec| spec.machine.as_ref());
    bound.into_iter().chain(&state.attached_to).find_map(|machine| view.device(machine, volume))
}

fn release(view: &View, filesystem: &Name, state: &filesystem::State) -> Option<Order> {
    let volume = state.backing()?;
    let held = view.volumes.get(volume.as_str())?.own.filesystem.as_ref() == Some(filesystem);
    let own = StreamId::new(filesystem::State::KIND, filesystem.as_str()).ok()?;
    let of = state.own.destroyed.iter().map(|intent| Cite::new(own.clone(), *intent)).collect();
    let leaves = Leftovers { of, instead: state.own.was_made };
    let command =
        volume::Command::Own(volume::OwnCommand::ReleaseFilesystem { filesystem: filesystem.clone(), leaves });
    let order = Order::Volume { volume: volume.clone(), command };
    (held && view.orders.is_news(&order, version(&view.volumes, volume))).then_some(order)
}

/// What an attachment should be told; if it is gone, what its filesystem is told.
pub(super) fn attachment(
    view: &View,
    stream: &StreamId,
    machine: &Name,
    filesystem: &Name,
    mount_dir: Option<&str>,
) -> Vec<Order> {
    let Some(folded) = view.filesystem_attachments.folded(stream.name()) else {
        return Vec::new();
    };
    if folded.state.life == Life::Removed {
        return releases(view, machine, filesystem);
    }
    let command = next(view, &folded.state, stream, machine, filesystem, mount_dir);
    let order = command.map(|command| Order::FilesystemAttachment {
        machine: machine.clone(),
        filesystem: filesystem.clone(),
        command,
    });
    order.filter(|order| view.orders.is_news(order, folded.version)).into_iter().collect()
}

/// Whether it is mounted, and is to be made sure of.
pub(super) fn is_to_be_reattached(view: &View, stream: &StreamId, machine: &Name, filesystem: &Name) -> bool {
    let state = view.filesystem_attachments.get(stream.name());
    state.is_some_and(|state| matches!(next(view, state, stream, machine, filesystem, None), Some(Command::Reattach)))
}

/// What an attachment that exists should do next, if anything.
fn next(
    view: &View,
    attachment: &filesystem_attachment::State,
    stream: &StreamId,
    machine: &Name,
    filesystem: &Name,
    mount_dir: Option<&str>,
) -> Option<Command> {
    let state = view.filesystems.get(filesystem.as_str());
    match attachment.life {
        Life::Alive => (),
        // It was told already, unless it came to be dying in another way.
        Life::Dying if !matches!(attachment.link, Link::Detaching { .. }) => return Some(Command::Remove),
        Life::Undeclared | Life::Dying | Life::Dead | Life::Removed => return None,
    }
    let machine_state = view.machines.get(machine.as_str());
    if let Some(drained) = machine_state.filter(|state| state.is_draining()) {
        // What runs on it still uses the filesystem, unless the turn of the volume beneath to leave has come.
        let beneath = state.and_then(filesystem::State::backing);
        if !beneath.is_some_and(|volume| is_let_go(view, machine, volume)) {
            return None;
        }
        // Who is only replaced gets it back.
        if drained.life == Life::Alive {
            let target = attachment.target().filter(|_| !matches!(attachment.link, Link::Detaching { .. }));
            return target.map(|target| Command::Detach { machine_effect: target.machine_effect });
        }
    }
    let leaving = |life: Option<Life>| life.is_some_and(|life| life != Life::Alive);
    if leaving(machine_state.map(|m| m.life)) || leaving(state.map(|f| f.life)) {
        return Some(Command::Remove);
    }
    let running = view.running(machine);
    let target = state.and_then(|state| target(view, attachment, state, machine, mount_dir));
    match &attachment.link {
        Link::Waiting => Some(Command::Attach { target: Box::new(target?) }),
        Link::Attaching { target: then, .. } | Link::Attached { target: then, .. } => {
            // Of a machine that nobody knows nothing follows.
            machine_state?;
            if running.is_none_or(|instance| instance.effect != then.machine_effect) {
                return Some(Command::Detach { machine_effect: then.machine_effect });
            }
            match &attachment.link {
                // What a later attempt mounts is what is seen then.
                Link::Attaching { effort, .. } if effort.outlook != Outlook::Trying => {
                    target.filter(|target| target != then).map(|target| Command::Attach { target: Box::new(target) })
                }
                Link::Attached { .. } if target.is_some() && view.is_of_earlier_session(stream) => {
                    Some(Command::Reattach)
                }
                _ => None,
            }
        }
        Link::Detaching { .. } => None,
    }
}

/// What is mounted, and where; none while something is missing: the filesystem, the machine's instance, or the device.
fn target(
    view: &View,
    attachment: &filesystem_attachment::State,
    state: &filesystem::State,
    machine: &Name,
    mount_dir: Option<&str>,
) -> Option<Target> {
    let spec = attachment.spec.as_ref()?;
    let instance = view.running(machine)?;
    let provisioned = state.made()?;
    let backing = match state.backing() {
        None => None,
        Some(volume) => Some(view.device(machine, volume)?.clone()),
    };
    let wanted = spec.path.clone().filter(|path| !path.is_empty());
    Some(Target {
        provider: state.source()?,
        machine_effect: instance.effect,
        instance: instance.instance.clone(),
        filesystem_effect: provisioned.effect,
        filesystem_id: provisioned.filesystem_id.clone(),
        backing,
        path: wanted.or_else(|| mount_dir.map(|dir| default_mount_point(dir, &spec.filesystem))),
    })
}

/// Machine and filesystem let go of an attachment that is gone.
fn releases(view: &View, machine: &Name, filesystem: &Name) -> Vec<Order> {
    let mut orders = Vec::new();
    if view.has_mount(machine.as_str(), filesystem.as_str()) {
        let command = machine::Command::ReleaseMount { filesystem: filesystem.clone() };
        orders.push((Order::Machine { machine: machine.clone(), command }, version(&view.machines, machine)));
    }
    if view.filesystems.get(filesystem.as_str()).is_some_and(|state| state.attached_to.contains(machine)) {
        let command = filesystem::Command::ReleaseAttachment { machine: machine.clone() };
        let order = Order::Filesystem { filesystem: filesystem.clone(), command };
        orders.push((order, version(&view.filesystems, filesystem)));
    }
    orders.retain(|(order, version)| view.orders.is_news(order, *version));
    orders.into_iter().map(|(order, _)| order).collect()
}
