//! Policies in words.

use bailiwick_actors::policy::{Command, Event, State};

use super::Words;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::ReviseV1(_) | Command::Revise(_) => "put these settings in force".into(),
            Command::CreatePool { name, settings } => {
                format!("have storage come from pool {name} of provider {}", settings.provider)
            }
            Command::RemovePool { name } => format!("have no more storage come from pool {name}"),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::RevisedV1 { .. } | Event::Revised { .. } => "other settings are in force".into(),
            Event::PoolCreated { name, settings } => format!("pool {name} of provider {} is there", settings.provider),
            Event::PoolRemoved { name } => format!("pool {name} is gone"),
        }
    }
}
