//! The machine sets supervisor watches nothing but the journal.

use std::collections::BTreeSet;

use bailiwick_journal::StreamId;

use super::{Command, State, View};
use crate::{
    contract::Decider,
    filesystem,
    supervisor::{Order, Orders, shell::Supervise},
    volume,
};

impl Supervise for State {
    const NAME: &'static str = View::NAME;

    type Order = Order;

    type Watch = ();

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        // Of storage it knows the names alone: nothing follows from those.
        let is_storage = |stream: &StreamId| matches!(stream.kind(), volume::State::KIND | filesystem::State::KIND);
        let about: Vec<StreamId> = about.iter().filter(|stream| !is_storage(stream)).cloned().collect();
        (!about.is_empty()).then_some(Command::Look { about })
    }

    fn woken_by(view: &View, stream: &StreamId) -> Vec<StreamId> {
        view.woken_by(stream)
    }

    fn orders(view: &View) -> &Orders {
        &view.orders
    }
}
