//! Providers in words.

use bailiwick_actors::provider::{Command, Event, State};

use super::{Words, machines::until_in_words};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Hold { reason, until } => format!("hold{}: {reason}", until_in_words(*until)),
            Command::Unhold => "unhold".into(),
            Command::Wake { due } => format!("run the step that was due at {due}"),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Held { reason, until, .. } => format!("held{}, no call begins: {reason}", until_in_words(*until)),
            Event::HoldEnded => "hold ended, calls begin again".into(),
        }
    }
}
