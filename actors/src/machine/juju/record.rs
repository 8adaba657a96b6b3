//! What was told of a machine so far.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Event, Hardware, Said, State, StatusOf};
use crate::{
    ports::{CreatedStorage, Device},
    vocab::{InstanceId, Timestamp},
};

/// What clients have told of a machine since it was declared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Salt and hash of its agent's password; none before one was set, and then nobody logs in as it.
    pub password: Option<([u8; 16], [u8; 32])>,
    pub status: Option<Status>,
    pub instance_status: Option<Status>,
    pub modification: Option<Status>,
    pub provisioned: Option<Provisioned>,
    pub profiles: Vec<String>,
    /// The types of containers that it can hold; none before that was told.
    pub container_types: Option<Vec<String>>,
    pub devices: Vec<Device>,
    /// The volumes that came with its instance.
    pub storage: CreatedStorage,
    /// It is dead, and waits to be cleaned up at its provider.
    pub marked: bool,
}

/// A status, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub said: Said,
    pub since: Timestamp,
}

/// What was told of its instance when that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provisioned {
    pub instance: InstanceId,
    /// The BLAKE3 hash of the nonce.
    pub nonce: [u8; 32],
    pub display_name: String,
    pub hardware: Hardware,
}

static NOTHING: Record = Record {
    password: None,
    status: None,
    instance_status: None,
    modification: None,
    provisioned: None,
    profiles: Vec::new(),
    container_types: None,
    devices: Vec::new(),
    storage: CreatedStorage { volumes: BTreeMap::new(), attachments: BTreeMap::new() },
    marked: false,
};

impl Record {
    pub fn status(&self, of: StatusOf) -> Option<&Status> {
        match of {
            StatusOf::Machine => self.status.as_ref(),
            StatusOf::Instance => self.instance_status.as_ref(),
            StatusOf::Modification => self.modification.as_ref(),
        }
    }
}

impl State {
    /// What Juju's clients have told of it.
    pub fn record(&self) -> &Record {
        self.record.as_deref().unwrap_or(&NOTHING)
    }

    /// What its agent said last: `started`.
    pub(in crate::machine) fn said_status(&self) -> Option<&str> {
        self.record().status.as_ref().map(|status| status.said.status.as_str())
    }
}

pub(in crate::machine) fn evolve(state: &mut State, event: &Event) {
    let record = state.record.get_or_insert_default();
    match event {
        Event::PasswordSet { salt, hash } => record.password = Some((*salt, *hash)),
        Event::StatusSet { of, said, at } => {
            let status = Some(Status { said: said.clone(), since: *at });
            match of {
                StatusOf::Machine => record.status = status,
                StatusOf::Instance => record.instance_status = status,
                StatusOf::Modification => record.modification = status,
            }
        }
        Event::Provisioned(provisioned) => record.provisioned = Some((**provisioned).clone()),
        Event::MarkedForRemoval => record.marked = true,
        Event::ProfilesSet { profiles } => record.profiles.clone_from(profiles),
        Event::ContainerTypesSet { types } => record.container_types = Some(types.clone()),
        Event::DevicesSet { devices } => record.devices.clone_from(devices),
        Event::StorageCreated { storage } => record.storage.clone_from(storage),
    }
}
