//! What each order of the storage supervisor rests on.

use bailiwick_journal::Cite;

use super::View;
use crate::{
    contract::Decider,
    filesystem::{self, Storage as Files},
    filesystem_attachment, machine,
    supervisor::{Order, cites::Cites},
    vocab::{Fact, Life, Name},
    volume::{self, Report},
    volume_attachment,
};

/// The events that an order followed from.
pub(super) fn rests_on(view: &View, order: &Order) -> Vec<Cite> {
    match order {
        Order::Volume { volume, command } => of_volume(view, volume, command),
        Order::VolumeAttachment { machine, volume, command } => of_attachment(view, machine, volume, command),
        Order::Filesystem { filesystem, command } => of_filesystem(view, filesystem, command),
        Order::FilesystemAttachment { machine, filesystem, command } => of_mount(view, machine, filesystem, command),
        Order::Machine { machine, command } => of_machine(view, machine, command),
        _ => Cites::default(),
    }
    .list()
}

fn own(at: Option<bailiwick_journal::Version>) -> Cites {
    Cites::default().event(super::State::KIND, View::NAME, at)
}

/// What a machine of a set asks for itself, it was declared with.
fn asked_by(view: &View, machine: &Name) -> Cites {
    Cites::default().fold(&view.machines, machine.as_str(), &[Fact::Spec])
}

/// That a machine goes.
fn goes_with(view: &View, machine: Option<&Name>) -> Cites {
    Cites::default().fold(&view.machines, machine.map_or("", Name::as_str), &[Fact::Life])
}

/// The machine of a set that a volume was made for.
fn made_for<'v>(view: &'v View, volume: &str) -> Option<&'v Name> {
    view.volumes.get(volume)?.claim.as_ref().map(|by| &by.machine)
}

fn is_alive(life: Option<Life>) -> bool {
    life == Some(Life::Alive)
}

fn pair(machine: &Name, other: &Name) -> String {
    format!("{machine}:{other}")
}

fn of_volume(view: &View, volume: &Name, command: &volume::Command) -> Cites {
    use volume::Command;
    let name = volume.as_str();
    match command {
        Command::Claim(claim) => asked_by(view, &claim.by.machine),
        // What was made of it is what there is to keep.
        Command::Keep => goes_with(view, made_for(view, name)).fold(&view.volumes, name, &[Fact::Spec, Fact::Effect]),
        Command::Remove | Command::Own(volume::OwnCommand::RemoveWithFilesystem) => match made_for(view, name) {
            Some(machine) if is_alive(view.volumes.get(name).map(|state| state.life)) => {
                goes_with(view, Some(machine)).fold(&view.volumes, name, &[Fact::Spec])
            }
            _ => Cites::default().fold(&view.volumes, name, &[Fact::Life]),
        },
        Command::Own(volume::OwnCommand::DestroyReturned { .. }) => {
            let ended = view.gone.returned(volume).map(|gone| gone.ended);
            own(view.gone.returned_at(volume)).event(volume::State::KIND, name, ended)
        }
        Command::Own(volume::OwnCommand::Create { place })
        | Command::Own(volume::OwnCommand::CreateIn { place, .. }) => Cites::default()
            .fold(&view.volumes, name, &[Fact::Spec])
            .fold(&view.machines, place.machine.as_str(), &[Fact::Effect]),
        Command::Report(Report::Own(volume::OwnReport::CameWith { place, .. })) => Cites::default()
            .fold(&view.volumes, name, &[Fact::Spec])
            .fold(&view.machines, place.machine.as_str(), &[Fact::Effect]),
        Command::Report(Report::Own(volume::OwnReport::InstanceReplaced { .. })) => {
            let place = view.volumes.get(name).and_then(|state| state.own.place.as_ref());
            let cites = Cites::default().fold(&view.volumes, name, &[Fact::Effect]);
            cites.fold(&view.machines, place.map_or("", |place| place.machine.as_str()), &[Fact::Effect])
        }
        Command::Report(Report::Own(volume::OwnReport::WentWith { .. })) => {
            let machine = view.volumes.get(name).and_then(|state| state.own.place.as_ref()).map(|place| &place.machine);
            goes_with(view, machine).fold(&view.volumes, name, &[Fact::Effect, Fact::Dependents])
        }
        Command::Report(Report::Own(volume::OwnReport::Lost { .. })) => {
            own(view.missed_at(volume)).fold(&view.volumes, name, &[Fact::Effect])
        }
        // That it was lost is what makes it news.
        Command::Report(Report::Own(volume::OwnReport::Found { .. })) => {
            Cites::default().fold(&view.volumes, name, &[Fact::Effect])
        }
        Command::ReleaseAttachment { machine } => match view.attachments.get(&pair(machine, volume)) {
            Some(_) => Cites::default().fold(&view.attachments, &pair(machine, volume), &[Fact::Life]),
            // Nothing was attached, and nothing will be.
            None => goes_with(view, Some(machine)).fold(&view.volumes, name, &[Fact::Spec]),
        },
        Command::Own(volume::OwnCommand::ReleaseFilesystem { filesystem, .. }) => {
            match view.filesystems.get(filesystem.as_str()) {
                Some(_) => Cites::default().fold(&view.filesystems, filesystem.as_str(), &[Fact::Life]),
                None => goes_with(view, made_for(view, name)).fold(&view.volumes, name, &[Fact::Spec]),
            }
        }
        _ => Cites::default(),
    }
}

fn of_attachment(view: &View, machine: &Name, volume: &Name, command: &volume_attachment::Command) -> Cites {
    use volume_attachment::Command;
    let name = pair(machine, volume);
    let cites = Cites::default();
    match command {
        Command::Declare(_) => {
            let mount = view.volumes.get(volume.as_str()).and_then(|state| state.own.filesystem.as_ref());
            let cites = asked_by(view, machine).fold(&view.volumes, volume.as_str(), &[Fact::Spec]);
            let mount = mount.map(|filesystem| pair(machine, filesystem)).unwrap_or_default();
            cites.fold(&view.filesystem_attachments, &mount, &[Fact::Spec])
        }
        Command::Attach { .. } | Command::TakeOver { .. } => cites
            .fold(&view.attachments, &name, &[Fact::Spec])
            .fold(&view.volumes, volume.as_str(), &[Fact::Effect])
            .fold(&view.machines, machine.as_str(), &[Fact::Effect]),
        Command::Detach { .. } => instance_gone(view, machine, cites.fold(&view.attachments, &name, &[Fact::Request])),
        Command::NoteGone { .. } => {
            let is_there = view.machines.get(machine.as_str()).is_some_and(|state| state.life.exists());
            let fact = if is_there { Fact::Effect } else { Fact::Life };
            cites.fold(&view.attachments, &name, &[Fact::Effect]).fold(&view.machines, machine.as_str(), &[fact])
        }
        Command::Reattach => own(view.session_version()).fold(&view.attachments, &name, &[Fact::Effect]),
        Command::Remove => why_detached(view, machine, volume, cites),
        _ => cites,
    }
}

/// Why a volume is to leave a machine: the first of these that goes.
fn why_detached(view: &View, machine: &Name, volume: &Name, cites: Cites) -> Cites {
    let name = pair(machine, volume);
    let is_leaving = |life: Option<Life>| life.is_some_and(|life| life != Life::Alive);
    let of_volume = view.volumes.get(volume.as_str());
    if is_leaving(view.attachments.get(&name).map(|state| state.life)) {
        return cites.fold(&view.attachments, &name, &[Fact::Life]);
    }
    if is_leaving(view.machines.get(machine.as_str()).map(|state| state.life)) {
        // What it was attached for had to go first, and went for that reason.
        let own =
            of_volume.and_then(|state| state.owner.as_ref()).filter(|owner| owner.kind() == filesystem::State::KIND);
        let mount = own.map(|filesystem| format!("{machine}:{}", filesystem.name()));
        let gone = |mount: &String| view.filesystem_attachments.get(mount).is_some_and(|state| !state.life.exists());
        return match mount.filter(gone) {
            Some(mount) => cites.fold(&view.filesystem_attachments, &mount, &[Fact::Life]),
            None => machine_goes(view, machine, is_leaving(of_volume.map(|state| state.life)), cites),
        };
    }
    if is_leaving(of_volume.map(|state| state.life)) {
        return cites.fold(&view.volumes, volume.as_str(), &[Fact::Life]);
    }
    // It was attached for a filesystem that is not to be mounted there.
    match of_volume.and_then(|state| state.owner.as_ref()) {
        Some(owner) => cites
            .fold(&view.filesystem_attachments, &format!("{machine}:{}", owner.name()), &[Fact::Life])
            .fold(&view.volumes, volume.as_str(), &[Fact::Spec]),
        None => cites,
    }
}

/// Why what is attached leaves an instance: its machine is drained, or has another one, or none.
fn instance_gone(view: &View, machine: &Name, cites: Cites) -> Cites {
    let is_draining = view.machines.get(machine.as_str()).is_some_and(machine::State::is_draining);
    let fact = if is_draining { Fact::Drain } else { Fact::Effect };
    cites.fold(&view.machines, machine.as_str(), &[fact])
}

/// Why what is attached leaves a machine that goes. If what is attached goes as well, each of the two would be enough; what
/// it waited for is the end of the machine's drain.
fn machine_goes(view: &View, machine: &Name, goes_too: bool, cites: Cites) -> Cites {
    let state = view.machines.get(machine.as_str());
    let was_drained = state.and_then(|state| state.drain.as_ref()).is_some_and(|drain| drain.outcome.is_some());
    let fact = if goes_too && was_drained { Fact::Drain } else { Fact::Life };
    cites.fold(&view.machines, machine.as_str(), &[fact])
}

fn of_filesystem(view: &View, name: &Name, command: &filesystem::Command) -> Cites {
    use filesystem::Command;
    let (cites, filesystem) = (Cites::default(), name.as_str());
    let state = view.filesystems.get(filesystem);
    match command {
        Command::Own(filesystem::OwnCommand::Create(filesystem::Base { backing, over })) => {
            let (spec, creating) = (state.and_then(|state| state.spec.as_ref()), |state: &filesystem::State| {
                matches!(state.storage, Files::Creating { .. })
            });
            // What a later attempt is made on is another device than the earlier one's.
            let side = if state.is_some_and(creating) { Fact::Effect } else { Fact::Spec };
            let cites = cites.fold(&view.filesystems, filesystem, &[side]);
            match (backing, spec.and_then(|spec| spec.machine.as_ref())) {
                (Some(backing), bound) => {
                    let on = bound.or_else(|| state.and_then(|state| state.attached_to.iter().next()));
                    let cites = cites.cite(on.and_then(|machine| view.device_cite(machine, &backing.volume)));
                    let volume = backing.volume.as_str();
                    let said = |of| view.volumes.get(volume)?.own.leftovers.get(of).copied();
                    over.iter().fold(cites, |cites, of| cites.event(volume::State::KIND, volume, said(of)))
                }
                (None, Some(machine)) => cites.fold(&view.machines, machine.as_str(), &[Fact::Effect]),
                (None, None) => cites,
            }
        }
        Command::Claim(claim) => {
            let volume = claim.spec.backing.as_ref().map_or("", Name::as_str);
            asked_by(view, &claim.by.machine).fold(&view.volumes, volume, &[Fact::Spec])
        }
        Command::Keep => {
            let machine = state.and_then(|state| state.claim.as_ref()).map(|by| &by.machine);
            goes_with(view, machine).fold(&view.filesystems, filesystem, &[Fact::Spec, Fact::Effect])
        }
        Command::Remove => match state.and_then(|state| state.claim.as_ref()) {
            Some(by) if is_alive(state.map(|state| state.life)) => {
                goes_with(view, Some(&by.machine)).fold(&view.filesystems, filesystem, &[Fact::Spec])
            }
            _ => cites.fold(&view.filesystems, filesystem, &[Fact::Life]),
        },
        Command::ReleaseAttachment { machine } => match view.filesystem_attachments.get(&pair(machine, name)) {
            Some(_) => cites.fold(&view.filesystem_attachments, &pair(machine, name), &[Fact::Life]),
            None => goes_with(view, Some(machine)).fold(&view.filesystems, filesystem, &[Fact::Spec]),
        },
        _ => cites,
    }
}

fn of_mount(view: &View, machine: &Name, filesystem: &Name, command: &filesystem_attachment::Command) -> Cites {
    use filesystem_attachment::Command;
    let (cites, name) = (Cites::default(), pair(machine, filesystem));
    match command {
        Command::Declare(_) => asked_by(view, machine).fold(&view.filesystems, filesystem.as_str(), &[Fact::Spec]),
        Command::Attach { target } => {
            let is_tried = view.filesystem_attachments.get(&name).is_some_and(|state| state.target().is_some());
            let side = if is_tried { Fact::Effect } else { Fact::Spec };
            let cites = cites
                .fold(&view.filesystem_attachments, &name, &[side])
                .fold(&view.filesystems, filesystem.as_str(), &[Fact::Effect])
                .fold(&view.machines, machine.as_str(), &[Fact::Effect]);
            match &target.backing {
                Some(backing) => cites.cite(view.device_cite(machine, &backing.volume)),
                None => cites,
            }
        }
        Command::Detach { .. } => {
            instance_gone(view, machine, cites.fold(&view.filesystem_attachments, &name, &[Fact::Request]))
        }
        Command::Reattach => own(view.session_version()).fold(&view.filesystem_attachments, &name, &[Fact::Effect]),
        Command::Remove => why_unmounted(view, machine, filesystem, cites),
        _ => cites,
    }
}

/// Why a filesystem is to leave a machine: the first of these that goes, the volume beneath it last.
fn why_unmounted(view: &View, machine: &Name, filesystem: &Name, cites: Cites) -> Cites {
    let name = pair(machine, filesystem);
    let is_leaving = |life: Option<Life>| life.is_some_and(|life| life != Life::Alive);
    let state = view.filesystems.get(filesystem.as_str());
    if is_leaving(view.filesystem_attachments.get(&name).map(|state| state.life)) {
        return cites.fold(&view.filesystem_attachments, &name, &[Fact::Life]);
    }
    if is_leaving(view.machines.get(machine.as_str()).map(|state| state.life)) {
        return machine_goes(view, machine, is_leaving(state.map(|state| state.life)), cites);
    }
    if is_leaving(state.map(|state| state.life)) {
        return cites.fold(&view.filesystems, filesystem.as_str(), &[Fact::Life]);
    }
    match state.and_then(filesystem::State::backing) {
        Some(volume) => why_detached(view, machine, volume, cites),
        None => cites,
    }
}

fn of_machine(view: &View, machine: &Name, command: &machine::Command) -> Cites {
    use machine::Command;
    let cites = Cites::default();
    match command {
        Command::NoteVolume { volume, .. } => cites
            .fold(&view.attachments, &pair(machine, volume), &[Fact::Spec])
            .fold(&view.volumes, volume.as_str(), &[Fact::Zone])
            .fold(&view.machines, machine.as_str(), &[Fact::Effect]),
        Command::NoteDetached { volume, .. } => cites
            .fold(&view.attachments, &pair(machine, volume), &[Fact::Effect])
            .fold(&view.machines, machine.as_str(), &[Fact::Drain]),
        Command::ReleaseAttachment { volume } => match view.attachments.get(&pair(machine, volume)) {
            // It goes with the instance, and the machine does not wait for that.
            Some(state) if state.life.exists() => {
                goes_with(view, Some(machine)).fold(&view.attachments, &pair(machine, volume), &[Fact::Effect])
            }
            Some(_) => cites.fold(&view.attachments, &pair(machine, volume), &[Fact::Life]),
            None => goes_with(view, Some(machine)),
        },
        Command::ReleaseMount { filesystem } => match view.filesystem_attachments.get(&pair(machine, filesystem)) {
            Some(_) => cites.fold(&view.filesystem_attachments, &pair(machine, filesystem), &[Fact::Life]),
            None => goes_with(view, Some(machine)),
        },
        _ => cites,
    }
}
