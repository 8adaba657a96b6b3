//! Volumes that come with an instance: which are wanted, and which a client says that it has made. Source of the rules: Juju's
//! provisioning information and its instance information.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    machine,
    ports::{CreatedAttachment, CreatedStorage, CreatedVolume},
    vocab::{InstanceId, Life, Name, SizeMib},
    volume_attachment::{self, Link},
};

use super::{
    fault::{BAD_REQUEST, Fault, NOT_FOUND, NOT_PROVISIONED, NOT_SUPPORTED},
    seen::{Seen, instance_of, provider_and_rest},
    wire::{InstanceInfo, ToldAttachment, ToldVolume, VolumeAttachmentParams, VolumeParams},
};
use crate::juju::{MachineId, VolumeId};

/// What is made inside of a machine, by its agent, comes with no instance. Source: Juju.
const MADE_INSIDE: [&str; 3] = ["loop", "rootfs", "tmpfs"];

/// The volumes of clients that are there or wanted, by the machines that they are made or attached at.
pub(super) struct ByMachine(BTreeMap<Name, BTreeSet<VolumeId>>);

impl ByMachine {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let mut all: BTreeMap<Name, BTreeSet<VolumeId>> = BTreeMap::new();
        for (id, state) in seen.volumes().filter(|(_, state)| state.is_external()) {
            let wanted_on = state.own.wanted_on.iter().filter(|_| state.made().is_none());
            for machine in wanted_on.chain(&state.attached_to) {
                all.entry(machine.clone()).or_default().insert(id.clone());
            }
        }
        Self(all)
    }
}

/// What an instance is to be started with.
#[derive(Default)]
pub(super) struct Wanted {
    /// To be created with it.
    pub(super) volumes: Vec<VolumeParams>,
    /// There already, and to be attached to it.
    pub(super) attachments: Vec<VolumeAttachmentParams>,
}

/// The volumes that a machine's instance is to be started with, and that it does not have yet.
pub(super) fn wanted(seen: &Seen<'_>, all: &ByMachine, id: &MachineId, machine: &machine::State) -> Wanted {
    let mut wanted = Wanted::default();
    let Some(name) = id.name() else { return wanted };
    for volume in all.0.get(&name).into_iter().flatten() {
        let Some(state) = seen.volume(volume) else { continue };
        let pool = state.pool.as_ref().map(|pool| pool.attributes.clone());
        let (provider, attributes) = provider_and_rest(pool.unwrap_or_default());
        let attachment = seen.attachment(&name, volume).filter(|attachment| attachment.life == Life::Alive);
        if MADE_INSIDE.contains(&provider.as_str()) || attachment.is_some_and(is_attached) {
            continue;
        }
        let params = attachment.map(|attachment| VolumeAttachmentParams {
            volume_tag: volume.tag(),
            machine_tag: id.tag(),
            volume_id: state.made().map(|made| made.volume_id.to_string()).unwrap_or_default(),
            instance_id: instance_of(machine).unwrap_or_default().to_owned(),
            provider: provider.clone(),
            read_only: attachment.spec.as_ref().is_some_and(|spec| spec.read_only),
        });
        if state.made().is_some() {
            wanted.attachments.extend(params);
            continue;
        }
        wanted.volumes.push(VolumeParams {
            volume_tag: volume.tag(),
            size: state.spec.as_ref().map(|spec| spec.size.0).unwrap_or_default(),
            provider,
            attributes,
            tags: seen.resource_tags().into_iter().chain(state.own.tags.clone()).collect(),
            attachment: params,
        });
    }
    wanted
}

fn is_attached(attachment: &volume_attachment::State) -> bool {
    matches!(attachment.link, Link::Attached { .. })
}

/// The volumes that a client says came with an instance.
///
/// # Errors
/// If one of them is not there to come with it, or is not what was asked for.
pub(super) fn created(seen: &Seen<'_>, id: &MachineId, told: &InstanceInfo) -> Result<CreatedStorage, Fault> {
    let machine = id.name().ok_or_else(|| Fault::no_machine(id))?;
    let mut storage = CreatedStorage::default();
    for volume in &told.volumes {
        let of = VolumeId::of_tag(&volume.volume_tag).ok_or_else(|| no_volume_tag(&volume.volume_tag))?;
        let created = created_volume(seen, &machine, &of, volume)?;
        if storage.volumes.insert(of.name().clone(), created).is_some() {
            return Err(Fault::new(BAD_REQUEST, format!("{} is named twice", of.tag())));
        }
    }
    for (tag, attachment) in &told.volume_attachments {
        let of = VolumeId::of_tag(tag).ok_or_else(|| no_volume_tag(tag))?;
        let is_created = storage.volumes.contains_key(of.name());
        let created = created_attachment(seen, (id, &machine), &of, (attachment, is_created))?;
        storage.attachments.insert(of.name().clone(), created);
    }
    Ok(storage)
}

fn no_volume_tag(text: &str) -> Fault {
    Fault::plain(format!("{text:?} is not a valid volume tag"))
}

fn no_volume(of: &VolumeId) -> Fault {
    Fault::new(NOT_FOUND, format!("{} not found", of.tag()))
}

fn created_volume(seen: &Seen<'_>, machine: &Name, of: &VolumeId, told: &ToldVolume) -> Result<CreatedVolume, Fault> {
    let state = seen.volume(of).ok_or_else(|| no_volume(of))?;
    if !state.is_external() {
        let message =
            format!("{} is created by this node: only volumes of provider external come with an instance", of.tag());
        return Err(Fault::new(NOT_SUPPORTED, message));
    }
    if state.made().is_some() {
        return Err(Fault::plain(format!("{} is already provisioned", of.tag())));
    }
    if state.own.wanted_on.as_ref() != Some(machine) {
        return Err(Fault::plain(format!("{} is not wanted on this machine", of.tag())));
    }
    let info = &told.info;
    if info.volume_id.is_empty() || 255 < info.volume_id.len() {
        return Err(Fault::new(BAD_REQUEST, format!("{} needs a volume id of at most 255 bytes", of.tag())));
    }
    let asked = state.spec.as_ref().map(|spec| spec.size).unwrap_or_default();
    if info.size < asked.0 {
        let message = format!("{} has {} MiB: at least {} MiB were asked for", of.tag(), info.size, asked.0);
        return Err(Fault::new(BAD_REQUEST, message));
    }
    let hardware_id = [&info.hardware_id, &info.wwn].into_iter().find(|id| !id.is_empty()).cloned();
    Ok(CreatedVolume {
        id: InstanceId(info.volume_id.clone()),
        size: SizeMib(info.size),
        hardware_id,
        persistent: info.persistent,
    })
}

fn created_attachment(
    seen: &Seen<'_>,
    (id, machine): (&MachineId, &Name),
    of: &VolumeId,
    (told, is_created): (&ToldAttachment, bool),
) -> Result<CreatedAttachment, Fault> {
    let state = seen.volume(of).ok_or_else(|| no_volume(of))?;
    if !state.is_external() {
        return Err(Fault::new(NOT_SUPPORTED, format!("{} is attached by this node", of.tag())));
    }
    if seen.attachment(machine, of).is_none_or(|attachment| attachment.life != Life::Alive) {
        return Err(Fault::new(NOT_FOUND, format!("{} on machine {id} not found", of.tag())));
    }
    if !is_created && state.made().is_none() {
        return Err(Fault::new(NOT_PROVISIONED, format!("{} not provisioned", of.tag())));
    }
    // It may hold credentials, which no journal is to have.
    if !told.plan_info.is_empty() {
        return Err(Fault::new(NOT_SUPPORTED, format!("{}: plan-info is not recorded by this node", of.tag())));
    }
    Ok(CreatedAttachment {
        device_name: told.device_name.clone(),
        device_link: told.device_link.clone(),
        bus_address: told.bus_address.clone(),
        read_only: told.read_only,
    })
}

/// About how many bytes they take in the journal.
pub(super) fn bytes_of(told: &InstanceInfo) -> usize {
    let volumes = told.volumes.iter().map(|volume| {
        let info = &volume.info;
        volume.volume_tag.len() + info.volume_id.len() + info.hardware_id.len() + info.wwn.len() + 32
    });
    let attachments = told.volume_attachments.iter().map(|(tag, attachment)| {
        let ToldAttachment { device_name, device_link, bus_address, .. } = attachment;
        tag.len() + device_name.len() + device_link.len() + bus_address.len() + 32
    });
    volumes.chain(attachments).sum()
}
