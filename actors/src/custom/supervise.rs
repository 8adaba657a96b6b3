//! The supervisor of a custom kind, with a mailbox.

use std::collections::BTreeSet;

use bailiwick_journal::StreamId;

use super::{Command, Order, Rule, State, View};
use crate::{
    shell::{AnyCommand, Asked},
    supervisor::{Orders, shell::Supervise},
};

impl<K: Rule<Command: Asked>> Supervise for State<K> {
    const NAME: &'static str = K::KIND;

    type Order = Order<K>;
    type Watch = ();

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        Some(Command::Look { about: about.iter().cloned().collect() })
    }

    fn orders(view: &View<K>) -> &Orders<Order<K>> {
        &view.orders
    }
}

impl<K: Rule<Command: Asked>> From<Order<K>> for AnyCommand {
    fn from(order: Order<K>) -> Self {
        Self::from(order.command)
    }
}
