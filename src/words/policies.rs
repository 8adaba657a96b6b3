//! Policies in words.

use bailiwick_actors::{
    policy::{Command, Event, State},
    storage_rules::{PoolName, StorageKind},
};

use super::Words;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Revise(_) => "put these settings in force".into(),
            Command::CreatePool { name, settings } => {
                format!("have storage come from pool {name} of provider {}", settings.provider)
            }
            Command::RemovePool { name } => format!("have no more storage come from pool {name}"),
            Command::SetDefaultPool { kind, pool } => default_pool(*kind, pool.as_ref()),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Revised { .. } => "other settings are in force".into(),
            Event::PoolCreated { name, settings } => format!("pool {name} of provider {} is there", settings.provider),
            Event::PoolRemoved { name } => format!("pool {name} is gone"),
            Event::DefaultPoolSet { kind, pool } => default_pool(*kind, pool.as_ref()),
        }
    }
}

fn default_pool(kind: StorageKind, pool: Option<&PoolName>) -> String {
    let what = match kind {
        StorageKind::Block => "volumes",
        StorageKind::Filesystem => "filesystems",
    };
    match pool {
        Some(pool) => format!("{what} that name no pool come from {pool}"),
        None => format!("{what} that name no pool come from where they do everywhere"),
    }
}
