//! What the supervisor may be told, and what it answers. It keeps nothing but its orders.

use std::collections::BTreeSet;

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{View, plan::plan};
use crate::{
    contract::{Code, Decider, Decision, Facts, Stored, Verdict, reasons},
    machine, replica_set,
    supervisor::Order,
    vocab::Name,
};

/// The supervisor has no state of its own: everything it knows is in its view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State;

/// What it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// These sets and machines have changed: look whether something follows.
    Look { about: Vec<StreamId> },
}

/// What happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Issued { order: Order },
}

/// An order that waits for its target's answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Send the order with this command id.
    Send { command: Uuid },
}

reasons! {
    /// Why.
    pub enum Reason {
        OrdersFollow = "orders-follow", "something follows from what is seen";
        NothingFollows = "nothing-follows", "nothing follows from what is seen";
    }
}

/// It refuses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match *self {}
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
impl Stored for Event {
    const SCHEMA: u16 = 1;
}
impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}

impl Decider for State {
    const KIND: &'static str = "supervisor";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = View;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        let Command::Look { about } = command;
        let orders = orders(facts.view, about);
        if orders.is_empty() {
            return Ok(Decision::nothing(Reason::NothingFollows));
        }
        Ok(Decision::because(Reason::OrdersFollow, orders.into_iter().map(|order| Event::Issued { order })))
    }

    fn evolve(&mut self, _at: Version, _event: &Event) {}

    fn pending(&self, view: &View) -> BTreeSet<Effect> {
        view.orders.open().map(|(command, _)| Effect::Send { command: *command }).collect()
    }
}

/// The next step of every set that is concerned, in the order of their names.
fn orders(view: &View, about: &[StreamId]) -> Vec<Order> {
    let mut concerned: BTreeSet<Name> = BTreeSet::new();
    for stream in about {
        match stream.kind() {
            replica_set::State::KIND => concerned.extend(stream.name().parse::<Name>()),
            machine::State::KIND => concerned.extend(view.sets_of(stream.name())),
            _ => (),
        }
    }
    let order = |set: Name| {
        let folded = view.sets.folded(set.as_str())?;
        let step = plan(&view.machines, &set, &folded.state)?.next_step()?;
        let command = replica_set::Command::TakeStep { step, seen: folded.state.seen_at };
        let order = Order::ReplicaSet { set, command };
        view.orders.is_news(&order, folded.version).then_some(order)
    };
    concerned.into_iter().filter_map(order).collect()
}
