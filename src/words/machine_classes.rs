//! Machine classes in words.

use bailiwick_actors::{
    machine_class::{Command, Event, State},
    vocab::{ClassContent, Name},
};

use super::{Words, count};

/// More names than this are counted, not listed.
const LISTED_MAX: usize = 3;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(content) => format!("declare for provider {}{}", content.provider, secrets(content)),
            Command::Remove => "remove".into(),
            Command::RemoveOnceUnused => "remove once no machine uses it".into(),
            Command::Use { machines } => format!(
                "record that {} {} it",
                machines_in_words(machines),
                if machines.len() == 1 { "uses" } else { "use" }
            ),
            Command::Release { machines } => format!(
                "record that {} no longer {} it",
                machines_in_words(machines),
                if machines.len() == 1 { "uses" } else { "use" }
            ),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { content } => {
                format!("declared for provider {}{}", content.provider, secrets(content))
            }
            Event::Revised { content } => format!("declaration changed, for provider {}", content.provider),
            Event::Used { machines } => format!("now used by {}", machines_in_words(machines)),
            Event::Released { machines } => format!("no longer used by {}", machines_in_words(machines)),
            Event::RemovalBegan => "removal started".into(),
            Event::Removed => "removed".into(),
        }
    }
}

fn secrets(content: &ClassContent) -> String {
    let names: Vec<&str> = content.secrets().map(Name::as_str).collect();
    match names[..] {
        [] => String::new(),
        [one] => format!(", with secret {one}"),
        _ => format!(", with secrets {}", names.join(" and ")),
    }
}

fn machines_in_words(machines: &[Name]) -> String {
    match machines {
        [one] => format!("machine {one}"),
        _ if machines.len() > LISTED_MAX => count(machines.len(), "machine"),
        _ => format!("machines {}", machines.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")),
    }
}
