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
            Command::Declare(content) => format!("be declared for provider {}{}", content.provider, secrets(content)),
            Command::Remove => "be removed".into(),
            Command::RemoveOnceUnused => "be removed as soon as no machine uses it".into(),
            Command::Use { machines } => format!("note that {} made from it", are(machines)),
            Command::Release { machines } => format!("note that {} made from it no more", are(machines)),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { content } => {
                format!("it was declared for provider {}{}", content.provider, secrets(content))
            }
            Event::Revised { content } => format!("it says something else now, for provider {}", content.provider),
            Event::Used { machines } => format!("{} made from it", are(machines)),
            Event::Released { machines } => format!("{} made from it no more", are(machines)),
            Event::RemovalBegan => "its removal began".into(),
            Event::Removed => "it was removed".into(),
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

fn are(machines: &[Name]) -> String {
    match machines {
        [one] => format!("machine {one} is"),
        _ if machines.len() > LISTED_MAX => format!("{} are", count(machines.len(), "machine")),
        _ => format!("machines {} are", machines.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")),
    }
}
