//! Policies in words.

use bailiwick_actors::policy::{Command, Event, State};

use super::Words;

impl Words for State {
    fn asked(command: &Command) -> String {
        let (Command::ReviseV1(_) | Command::Revise(_)) = command;
        "put these settings in force".into()
    }

    fn happened(event: &Event) -> String {
        let (Event::RevisedV1 { .. } | Event::Revised { .. }) = event;
        "other settings are in force".into()
    }
}
