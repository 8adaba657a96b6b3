//! What clients of Juju's Provisioner facade tell of machines, in words.

use std::collections::BTreeSet;

use bailiwick_actors::{
    machine::juju::{Command, Event, Said, StatusOf},
    ports::CreatedStorage,
    vocab::Name,
};

use super::count;

pub(super) fn asked(command: &Command) -> String {
    match command {
        Command::SetPassword { .. } => "set its agent's password".into(),
        Command::SetStatus { of, said } => format!("set {}", status(*of, said)),
        Command::SetInstance(new) => format!("record instance {}", new.instance),
        Command::SetInstanceAndStorage { instance, storage } => {
            format!("record instance {} with {}", instance.instance, volumes(storage))
        }
        Command::EnsureDead { .. } => "end its life".into(),
        Command::Remove => "remove it: its instance is gone".into(),
        Command::MarkForRemoval => "clean it up at its provider".into(),
        Command::SetProfiles { profiles } => format!("set its profiles: {}", list(profiles)),
        Command::SetContainerTypes { types } => format!("set the containers it supports: {}", list(types)),
        Command::ObserveDevices { devices } => format!("record {}", count(devices.len(), "network device")),
        Command::ReleaseAddresses => "release its addresses".into(),
    }
}

pub(super) fn happened(event: &Event) -> String {
    match event {
        Event::PasswordSet { .. } => "agent has a new password".into(),
        Event::StatusSet { of, said, .. } => status(*of, said),
        Event::Provisioned(provisioned) => format!("client reported instance {}", provisioned.instance),
        Event::StorageCreated { storage } => format!("{} came with it", volumes(storage)),
        Event::MarkedForRemoval => "to be cleaned up at its provider".into(),
        Event::ProfilesSet { profiles } => format!("profiles: {}", list(profiles)),
        Event::ContainerTypesSet { types } => format!("supports containers: {}", list(types)),
        Event::DevicesSet { devices } => {
            let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
            format!("network devices: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
        }
    }
}

/// "volumes 0, 0-1": those that were created, and those that were only attached.
pub(super) fn volumes(storage: &CreatedStorage) -> String {
    let all: BTreeSet<&Name> = storage.volumes.keys().chain(storage.attachments.keys()).collect();
    let names: Vec<&str> = all.into_iter().map(Name::as_str).collect();
    match &names[..] {
        [] => "no volumes".to_owned(),
        [one] => format!("volume {one}"),
        more => format!("volumes {}", more.join(", ")),
    }
}

/// "instance status running: waiting for an address"
fn status(of: StatusOf, said: &Said) -> String {
    let of = match of {
        StatusOf::Machine => "status",
        StatusOf::Instance => "instance status",
        StatusOf::Modification => "modification status",
    };
    let info = if said.info.is_empty() { String::new() } else { format!(": {}", said.info) };
    format!("{of} {}{info}", said.status)
}

fn list(texts: &[String]) -> String {
    if texts.is_empty() { "none".into() } else { texts.join(", ") }
}
