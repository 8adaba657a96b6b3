//! The machine sets supervisor watches nothing but the journal.

use std::collections::BTreeSet;

use bailiwick_journal::StreamId;

use super::{Command, State, View};
use crate::supervisor::{Orders, shell::Supervise};

impl Supervise for State {
    type Watch = ();

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        (!about.is_empty()).then(|| Command::Look { about: about.iter().cloned().collect() })
    }

    fn woken_by(view: &View, stream: &StreamId) -> Vec<StreamId> {
        view.woken_by(stream)
    }

    /// A pass goes on when a machine has refused to be made or to go: nothing else might bring the next look.
    fn minds_refusals() -> bool {
        true
    }

    fn orders(view: &View) -> &Orders {
        &view.orders
    }
}
