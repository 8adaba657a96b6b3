//! The machine sets supervisor watches nothing but the journal.

use std::collections::BTreeSet;

use bailiwick_journal::{Position, StreamId};
use uuid::Uuid;

use super::{Command, State, View};
use crate::supervisor::{
    Order,
    shell::{Supervise, open},
};

impl Supervise for State {
    type Watch = ();

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        (!about.is_empty()).then(|| Command::Look { about: about.iter().cloned().collect() })
    }

    fn open_orders(view: &View) -> Vec<(Uuid, Order, Position)> {
        open(&view.orders)
    }
}
