//! Volumes that come with the instance of a machine, and are attached as long as that is there: a client of Juju's makes both, or
//! the machine's provider does.

use super::{View, known::version};
use crate::{
    machine::{self, Instance},
    ports::{AttachmentInfo, CreatedAttachment},
    supervisor::Order,
    vocab::{EffectId, Life, Name},
    volume::{self, Place},
    volume_attachment::{self, Link},
};

/// A volume that waits for its machine is there once it is told that it came with the instance.
pub(super) fn came_with(view: &View, volume: &Name, state: &volume::State) -> Option<volume::Command> {
    let machine = state.own.wanted_on.as_ref()?;
    let instance = view.running(machine)?;
    let created = view.machines.get(machine.as_str())?.record().storage.volumes.get(volume)?;
    let place =
        Place { machine: machine.clone(), machine_effect: instance.effect, instance: instance.instance.clone() };
    let facts = volume::VolumeFacts { hardware_id: created.hardware_id.clone(), persistent: created.persistent };
    let (zone, volume_id, size) = (instance.zone(), created.id.clone(), created.size);
    Some(volume::Command::Report(volume::Report::Own(volume::OwnReport::CameWith {
        place,
        zone,
        volume_id,
        size,
        facts,
    })))
}

/// A volume went with the instance that it came with. One that is protected stays, as it was, but where its machine gets
/// another instance: with that it comes again.
pub(super) fn went_with(view: &View, volume: &Name, state: &volume::State) -> Option<volume::Command> {
    let place = state.own.place.as_ref().filter(|_| state.goes_with_instance())?;
    if has(view, &place.machine, place.machine_effect) {
        return None;
    }
    let machine_effect = place.machine_effect;
    let machine = view.machines.get(place.machine.as_str()).filter(|machine| machine.life == Life::Alive);
    let report = match machine.filter(|machine| !machine.is_external() && machine.attachments.contains(volume)) {
        Some(_) => volume::OwnReport::InstanceReplaced { machine_effect },
        None if state.protected || !state.attached_to.is_empty() => return None,
        None => volume::OwnReport::WentWith { machine_effect },
    };
    Some(volume::Command::Report(volume::Report::Own(report)))
}

/// How an instance reaches a volume, as whoever has made it said.
pub(super) fn attached(view: &View, machine: &Name, volume: &Name) -> Option<AttachmentInfo> {
    let said = &view.machines.get(machine.as_str())?.record().storage;
    said.attachments.get(volume).map(CreatedAttachment::info)
}

/// Whether what it is attached to is there.
pub(super) fn is_there(view: &View, attachment: &volume_attachment::State, machine: &Name) -> bool {
    attachment.target().is_some_and(|target| has(view, machine, target.machine_effect))
}

/// Whether a machine has this instance, or nobody has said yet that it is gone.
fn has(view: &View, machine: &Name, effect: EffectId) -> bool {
    let Some(state) = view.machines.get(machine.as_str()).filter(|state| state.life.exists()) else { return false };
    match &state.instance {
        Instance::Running { instance, .. } => instance.effect == effect,
        Instance::Lost { .. } | Instance::Deleting { .. } => true,
        Instance::None | Instance::Creating(_) => false,
    }
}

/// A machine that goes does not wait for what goes with its instance.
pub(super) fn let_go(
    view: &View,
    attachment: &volume_attachment::State,
    machine: &Name,
    volume: &Name,
) -> Option<Order> {
    let folded = view.machines.folded(machine.as_str()).filter(|folded| folded.state.life == Life::Dying)?;
    let is_attached =
        attachment.is_external() && matches!(attachment.link, Link::Attached { .. } | Link::Detaching { .. });
    if !is_attached || !folded.state.attachments.contains(volume) {
        return None;
    }
    let command = machine::Command::ReleaseAttachment { volume: volume.clone() };
    let order = Order::Machine { machine: machine.clone(), command };
    view.orders.is_news(&order, version(&view.machines, machine)).then_some(order)
}
