//! What the supervisor may be told, and what it answers. It keeps nothing but its orders.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{View, engagements::engagements, members::tidings, plan::plan, publication::news, rests::rests_on};
use crate::{
    contract::{Code, Decider, Decision, Facts, Stored, Touches, Verdict, reasons},
    machine, member,
    policy::PeerRules,
    ports::replica_set::Step,
    replica_set,
    supervisor::Order,
    vocab::{Call, Name},
};

/// The supervisor has no state of its own: everything it knows is in its view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State;

/// What it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// These sets, machines and members have changed: look whether something follows.
    Look { about: Vec<StreamId> },
}

/// What happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Issued {
        order: Order,
        /// What it rests on.
        cites: Vec<Cite>,
    },
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
        OrdersFollow = "orders-follow", "the observed state requires it";
        NothingFollows = "nothing-follows", "the observed state requires nothing";
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
        let orders = match command {
            Command::Look { about } => orders(facts.view, about, facts.policy.replica_sets.rules),
        };
        if orders.is_empty() {
            return Ok(Decision::nothing(Reason::NothingFollows));
        }
        Ok(Decision::because(
            Reason::OrdersFollow,
            orders.into_iter().map(|order| Event::Issued { cites: rests_on(facts.view, &order), order }),
        ))
    }

    fn evolve(&mut self, _at: Version, _event: &Event) {}

    fn touches(_event: &Event) -> Touches {
        Touches::Some(&[])
    }

    fn calls_for(event: &Event) -> Option<Call> {
        let Event::Issued { order, .. } = event;
        order.calls_for()
    }

    fn pending(&self, view: &View) -> BTreeSet<Effect> {
        view.orders.open().map(|(command, _)| Effect::Send { command: *command }).collect()
    }
}

/// The sets that are concerned when these change, in the order of their names.
fn concerned(view: &View, about: &[StreamId]) -> BTreeSet<Name> {
    let mut concerned: BTreeSet<Name> = BTreeSet::new();
    for stream in about {
        match stream.kind() {
            replica_set::State::KIND => concerned.extend(stream.name().parse::<Name>()),
            machine::State::KIND => concerned.extend(view.sets_of(stream.name())),
            member::State::KIND => {
                let set = stream.name().split_once(':').map(|(set, _)| set.parse::<Name>());
                concerned.extend(set.and_then(Result::ok));
            }
            _ => (),
        }
    }
    concerned
}

/// The next step of a set.
fn next_step(view: &View, set: &Name, by: PeerRules) -> Option<Step> {
    plan(&view.machines, set, view.sets.get(set.as_str())?, by)?.next_step()
}

fn take(view: &View, set: &Name, step: Step) -> Option<Order> {
    let folded = view.sets.folded(set.as_str())?;
    let command = replica_set::Command::TakeStep { step, seen: folded.state.seen_at };
    let order = Order::ReplicaSet { set: set.clone(), command };
    view.orders.is_news(&order, folded.version).then_some(order)
}

/// For every set that is concerned: who hears what of it, and its next step, unless that waits for a machine.
fn orders(view: &View, about: &[StreamId], by: PeerRules) -> Vec<Order> {
    let mut orders = Vec::new();
    for set in concerned(view, about) {
        let Some(folded) = view.sets.folded(set.as_str()) else { continue };
        let next = next_step(view, &set, by);
        let engagements = engagements(view, &set, folded, next.as_ref());
        orders.extend(tidings(view, &set, folded));
        orders.extend(engagements.orders);
        orders.extend(news(&set, folded).filter(|order| view.orders.is_news(order, folded.version)));
        orders.extend(next.filter(|_| !engagements.awaited).and_then(|step| take(view, &set, step)));
    }
    orders
}
