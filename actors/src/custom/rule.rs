//! What entities of a custom kind are told because of the machines as they are: a supervisor, `supervisor/KIND`.

use std::{collections::BTreeSet, fmt, marker::PhantomData};

use bailiwick_journal::{Cite, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    contract::{
        self, Code, Decider, Decision, Decoded, Facts, Fold, Folded, NoView, Stored, StoredError, Touches, Verdict,
        reasons,
    },
    machine,
    supervisor::{Ordered, Orders, order::ORDERS_MAX},
    vocab::{Life, Name},
};

/// A kind whose entities follow machines.
pub trait Rule: Decider<View = NoView, Command: Sync + Eq> {
    /// What this one is to be told because of the machines that exist; none if it knows already.
    ///
    /// The same state and machines give the same answer for ever: every order is decided again from the journal.
    fn follows(&self, name: &Name, machines: &Fold<machine::State>) -> Option<Told<Self>>;
}

/// A command, and the events of machines that it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Told<K: Decider> {
    pub command: K::Command,
    /// As [`Fold::cite`] gives them.
    pub cites: Vec<Cite>,
}

/// The supervisor. It has no state of its own: everything it knows is in its view.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct State<K>(PhantomData<fn() -> K>);

/// What it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// These have changed: look whether something follows.
    Look { about: Vec<StreamId> },
}

/// What happened to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Event<K: Decider> {
    Issued {
        order: Order<K>,
        /// What it rests on.
        cites: Vec<Cite>,
    },
}

/// A command to one entity of the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Order<K: Decider> {
    pub name: Name,
    pub command: K::Command,
}

reasons! {
    /// Why.
    pub enum LookReason {
        OrdersFollow = "orders-follow", "the observed state requires it";
        NothingFollows = "nothing-follows", "the observed state requires nothing";
    }
}

/// It refuses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NoRejection {}

/// Machines and entities of the kind that exist, and the orders that wait for an answer.
#[derive(Clone, Debug)]
pub struct View<K: Decider> {
    pub machines: Fold<machine::State>,
    pub entities: Fold<K>,
    pub orders: Orders<Order<K>>,
}

impl Code for NoRejection {
    fn code(&self) -> &'static str {
        match *self {}
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
impl<K: Decider> Stored for Event<K> {
    const SCHEMA: u16 = 1;
}
impl Stored for NoRejection {
    const SCHEMA: u16 = 1;
}

impl<K: Rule> Ordered for Order<K> {
    fn target(&self) -> StreamId {
        StreamId::new(K::KIND, self.name.as_str()).expect("names and kinds are checked")
    }
}

// Derived, these would ask for more of the kind than they need.
impl<K> Clone for State<K> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}
impl<K> Default for State<K> {
    fn default() -> Self {
        Self(PhantomData)
    }
}
impl<K> PartialEq for State<K> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
impl<K> fmt::Debug for State<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}
impl<K: Decider> Default for View<K> {
    fn default() -> Self {
        Self { machines: Fold::default(), entities: Fold::default(), orders: Orders::default() }
    }
}

impl<K: Rule> Decider for State<K> {
    const KIND: &'static str = "supervisor";
    type Command = Command;
    type Event = Event<K>;
    type Reason = LookReason;
    type Rejection = NoRejection;
    type Effect = Uuid;
    type View = View<K>;

    fn decide(&self, _command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        let entities = facts.view.entities.iter();
        let orders: Vec<Event<K>> =
            entities.filter_map(|(name, folded)| facts.view.order(name, folded)).take(ORDERS_MAX).collect();
        if orders.is_empty() {
            return Ok(Decision::nothing(LookReason::NothingFollows));
        }
        Ok(Decision::because(LookReason::OrdersFollow, orders))
    }

    fn evolve(&mut self, _at: Version, _event: &Event<K>) {}

    fn touches(_event: &Event<K>) -> Touches {
        Touches::Some(&[])
    }

    fn pending(&self, view: &View<K>) -> BTreeSet<Uuid> {
        view.orders.open().map(|(command, _)| *command).collect()
    }
}

impl<K: Rule> View<K> {
    /// What is to be said to one of them now. One order at a time; its answer brings the next look.
    fn order(&self, name: &str, folded: &Folded<K>) -> Option<Event<K>> {
        let name: Name = name.parse().ok()?;
        let Told { command, cites } = folded.state.follows(&name, &self.machines)?;
        let order = Order { name, command };
        let is_free = !self.orders.any_open(&order.target()) && self.orders.is_news(&order, folded.version);
        is_free.then_some(Event::Issued { order, cites })
    }
}

impl<K: Rule> contract::View for View<K> {
    fn wants(kind: &str) -> bool {
        kind == machine::State::KIND || kind == K::KIND || kind == "supervisor"
    }

    fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        if stream.kind() == "supervisor" {
            if stream.name() == K::KIND {
                for (at, body) in entry.versioned_events() {
                    let Event::Issued { order, cites } = Event::<K>::load(body)?;
                    self.orders.issued(stream, at, entry.header.position, order, cites);
                }
            }
            return Ok(());
        }
        self.machines.apply_decoded(entry)?;
        self.entities.apply_decoded(entry)?;
        self.orders.answered(entry);
        let is_gone = |machine: &machine::State| machine.life == Life::Removed;
        if stream.kind() == machine::State::KIND && self.machines.get(stream.name()).is_some_and(is_gone) {
            self.machines.remove(stream.name());
        }
        Ok(())
    }
}
