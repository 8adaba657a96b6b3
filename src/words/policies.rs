//! Policies in words.

use bailiwick_actors::{
    policy::{Command, Event, State},
    storage_rules::{PoolName, StorageKind},
};

use super::Words;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Revise(_) => "apply these settings".into(),
            Command::CreatePool { name, settings } => {
                format!("create pool {name} with provider {}", settings.provider)
            }
            Command::RemovePool { name } => format!("remove pool {name}"),
            Command::SetDefaultPool { kind, pool } => format!("set the {}", default_pool(*kind, pool.as_ref())),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Revised { .. } => "settings changed".into(),
            Event::PoolCreated { name, settings } => format!("created pool {name} with provider {}", settings.provider),
            Event::PoolRemoved { name } => format!("removed pool {name}"),
            Event::DefaultPoolSet { kind, pool } => format!("set the {}", default_pool(*kind, pool.as_ref())),
        }
    }
}

fn default_pool(kind: StorageKind, pool: Option<&PoolName>) -> String {
    let what = match kind {
        StorageKind::Block => "volumes",
        StorageKind::Filesystem => "filesystems",
    };
    match pool {
        Some(pool) => format!("default pool for {what} to {pool}"),
        None => format!("default pool for {what} back to the built-in one"),
    }
}
