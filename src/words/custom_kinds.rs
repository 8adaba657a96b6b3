//! The supervisors of custom kinds in words.

use bailiwick_actors::custom::{Command, Event, Order, Rule, State};

use super::{Words, supervisors::entities};

impl<K: Rule + Words> Words for State<K> {
    fn asked(command: &Command) -> String {
        let Command::Look { about } = command;
        format!("re-evaluate {}", entities(about))
    }

    fn happened(event: &Event<K>) -> String {
        let Event::Issued { order: Order { name, command }, .. } = event;
        format!("ordered {}/{name}: {}", K::KIND, K::asked(command))
    }
}
