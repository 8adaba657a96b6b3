//! Which volumes the block devices of a machine are.

use super::{DeviceChange, View};
use crate::{
    ports::{Backing, BlockDevice, ProvisionedVolume},
    vocab::{EffectId, Name},
    volume_attachment::Link,
};

/// A block device as a machine's agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighted {
    pub device: BlockDevice,
    /// The volume that it is, if that is certain: by the id that it was made under.
    pub volume: Option<EffectId>,
}

/// What has changed on a machine: the devices of the volumes that are attached there came, went, or are called otherwise.
///
/// A device is known by what it certainly is, or else by its serial number; a volume that fits more than one device is
/// seen as none. Names of devices say nothing: after the next start they are others. Nothing is said about an instance
/// that is not the one that runs.
pub fn changes(view: &View, machine: &Name, instance: EffectId, seen: &[Sighted]) -> Vec<DeviceChange> {
    if view.running(machine).is_none_or(|running| running.effect != instance) {
        return Vec::new();
    }
    let mut changes = Vec::new();
    let attached = view.machines.get(machine.as_str()).map(|state| state.attachments.clone()).unwrap_or_default();
    for volume in &attached {
        let found = provisioned(view, machine, volume, instance).and_then(|made| {
            let device = device_of(view, volume, made, seen)?;
            Some(Backing { volume: volume.clone(), volume_effect: made.effect, device: device.clone() })
        });
        match (found, view.device(machine, volume)) {
            (Some(backing), before) if before != Some(&backing) => {
                changes.push(DeviceChange::Seen { machine: machine.clone(), backing });
            }
            (None, Some(_)) => changes.push(DeviceChange::Gone { machine: machine.clone(), volume: volume.clone() }),
            (Some(_) | None, _) => (),
        }
    }
    let gone = view.volumes_seen_on(machine).filter(|volume| !attached.contains(*volume));
    changes.extend(gone.map(|volume| DeviceChange::Gone { machine: machine.clone(), volume: volume.clone() }));
    changes
}

/// The storage of a volume that is attached to this instance.
fn provisioned<'v>(view: &'v View, machine: &Name, volume: &Name, instance: EffectId) -> Option<&'v ProvisionedVolume> {
    let attachment = view.attachments.get(&format!("{machine}:{volume}"))?;
    let target = match &attachment.link {
        Link::Attached { target, .. } | Link::Attaching { target, earlier: Some(_), .. } => target,
        Link::Waiting | Link::Attaching { .. } | Link::Detaching { .. } => return None,
    };
    let made = view.volumes.get(volume.as_str())?.made()?;
    (target.machine_effect == instance).then_some(made)
}

fn device_of<'s>(view: &View, volume: &Name, made: &ProvisionedVolume, seen: &'s [Sighted]) -> Option<&'s BlockDevice> {
    let facts = view.volumes.get(volume.as_str()).and_then(|state| state.own.facts.as_ref());
    let serial = facts.and_then(|facts| facts.hardware_id.as_ref());
    let fits = |sighted: &&Sighted| match sighted.volume {
        Some(effect) => effect == made.effect,
        None => serial.is_some() && sighted.device.hardware_id.as_ref() == serial,
    };
    let mut fitting = seen.iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Some(&one.device),
        _ => None,
    }
}
