//! What the supervisor may be told, and what it answers. It keeps nothing but its orders.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{View, classes, deployments, names, rests::rests_on};
use crate::{
    contract::{Code, Decider, Decision, Facts, Folded, Stored, Touches, Verdict, reasons},
    machine::{self, Removal, RemovalReason},
    machine_set::{self, Change, Plan},
    policy::Overshoot,
    supervisor::{Order, order::ORDERS_MAX},
    vocab::{Call, Life, MachinePhase, Name},
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
        let Command::Look { about } = command;
        let mut all = deployments::orders(facts.view, &facts.policy.rollouts.windows, facts.now, about);
        // A set that gets another size plans its pass for that.
        let told: BTreeSet<StreamId> = all.iter().map(Order::target).collect();
        let of_sets = orders(facts.view, &facts.policy.reconciliation.overshoot, about);
        all.extend(of_sets.into_iter().filter(|order| !told.contains(&order.target())));
        let mut orders = all;
        orders.extend(classes::orders(facts.view, facts.journal, about));
        orders.truncate(ORDERS_MAX);
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

/// What follows for every set that is concerned, in the order of their names.
fn orders(view: &View, overshoot: &Overshoot, about: &[StreamId]) -> Vec<Order> {
    // A machine that is gone does not say any more whose it was; but then its set has a pass under way, or goes.
    let mut concerned: BTreeSet<Name> = view.busy.clone();
    for stream in about {
        let Ok(name) = stream.name().parse::<Name>() else { continue };
        match stream.kind() {
            machine_set::State::KIND => drop(concerned.insert(name)),
            machine::State::KIND => concerned.extend(view.set_of(&name).cloned()),
            _ => (),
        }
    }
    let of_set = |name: Name| {
        let set = Set { view, overshoot, folded: view.sets.folded(name.as_str())?, name: &name };
        // One order to a set at a time; its answer brings the next look.
        let is_free = set.folded.state.life.exists() && !view.orders.any_open(&set.order(set_gone()).target());
        is_free.then(|| set.next())
    };
    concerned.into_iter().filter_map(of_set).flatten().collect()
}

fn set_gone() -> machine_set::Command {
    machine_set::Command::ReportEmpty
}

/// A set, and everything around it.
struct Set<'a> {
    view: &'a View,
    overshoot: &'a Overshoot,
    name: &'a Name,
    folded: &'a Folded<machine_set::State>,
}

/// How an order to a machine stands.
enum Standing {
    New(Order),
    UnderWay,
    Refused,
}

impl Set<'_> {
    fn order(&self, command: machine_set::Command) -> Order {
        Order::MachineSet { set: self.name.clone(), command }
    }

    fn next(&self) -> Vec<Order> {
        let set = &self.folded.state;
        let (to_go, batch) = (set.to_go(), set.batch());
        if let Some(order) = self.number() {
            return vec![order];
        }
        match (set.is_at_rest(), batch.is_empty()) {
            (true, _) if set.rests_until.is_some() => Vec::new(),
            (true, _) => self.begin().into_iter().collect(),
            (false, false) => self.make(batch),
            (false, true) => self.tell(&to_go),
        }
    }

    /// How many machines it has, if that makes it stop, or go on.
    fn number(&self) -> Option<Order> {
        let machines = self.view.members(self.name).map_or(0, super::Members::number);
        let room = self.view.room(&self.folded.state);
        let is_worth_it = machine_set::is_worth_telling(&self.folded.state, machines, room, self.overshoot);
        let order = self.order(machine_set::Command::ReportMachines { machines, room });
        (is_worth_it && self.view.orders.is_news(&order, self.folded.version)).then_some(order)
    }

    /// The next pass; or nothing is left of a set that goes.
    fn begin(&self) -> Option<Order> {
        let set = &self.folded.state;
        let members = self.view.members(self.name);
        let is_cut_off = set.spec.as_ref().is_some_and(|spec| self.view.is_out(&spec.template.provider));
        let plan = match members {
            Some(members) => members.plan(set, is_cut_off, &self.view.machines),
            None => super::Members::default().plan(set, is_cut_off, &self.view.machines),
        };
        let order = match plan {
            Some(plan) => {
                let names = self.names(&plan);
                self.order(machine_set::Command::BeginPass { plan, names })
            }
            None if set.life == Life::Dying && members.is_none() => self.order(set_gone()),
            None => return None,
        };
        self.view.orders.is_news(&order, self.folded.version).then_some(order)
    }

    /// Names that the set never gave, and that nobody has; nor does anything like what their machines ask for.
    fn names(&self, plan: &Plan) -> Vec<Name> {
        let Change::Create(count) = plan.change else { return Vec::new() };
        let name = |number: u64| names::member_name(self.name, number);
        let claims = self.folded.state.spec.as_ref().map_or(&[][..], |spec| &spec.template.storage);
        let is_free = |name: &Name| self.view.is_free(name, claims);
        (self.folded.state.named + 1..).map(name).filter(is_free).take(count).collect()
    }

    /// The machines of the batch are declared; when all have answered, that is reported.
    fn make(&self, batch: &[Name]) -> Vec<Order> {
        let Some(spec) = &self.folded.state.spec else { return Vec::new() };
        let (mut orders, mut failed, mut is_waiting) = (Vec::new(), 0, false);
        for name in batch {
            if self.view.set_of(name) == Some(self.name) {
                continue;
            }
            match self.standing(name, machine::Command::Declare(spec.member(self.name, name))) {
                Standing::New(order) => orders.push(order),
                Standing::UnderWay => is_waiting = true,
                Standing::Refused => failed += 1,
            }
        }
        if orders.is_empty() && !is_waiting {
            orders.push(self.order(machine_set::Command::ReportBatch { failed }));
        }
        orders
    }

    /// Machines are told to go; what they answered is reported.
    fn tell(&self, to_go: &BTreeSet<String>) -> Vec<Order> {
        let (mut orders, mut told) = (Vec::new(), Vec::new());
        for name in to_go.iter().filter_map(|name| name.parse::<Name>().ok()) {
            let stays = self.view.machines.get(name.as_str()).is_some_and(|machine| machine.life == Life::Alive);
            if !stays {
                told.push((name, true));
                continue;
            }
            let removal = Removal { why: self.why(&name), ..Removal::default() };
            match self.standing(&name, machine::Command::RemoveWith(removal)) {
                Standing::New(order) => orders.push(order),
                Standing::UnderWay => (),
                Standing::Refused => told.push((name, false)),
            }
        }
        if !told.is_empty() {
            orders.push(self.order(machine_set::Command::ReportRemovals { told }));
        }
        orders
    }

    /// Why one of its machines goes.
    fn why(&self, machine: &Name) -> RemovalReason {
        let is_failed = |state: &machine::State| machine::phase(state) == MachinePhase::Failed;
        match self.folded.state.life {
            Life::Alive if self.view.machines.get(machine.as_str()).is_some_and(is_failed) => RemovalReason::Unhealthy,
            Life::Alive => RemovalReason::ScaleDown,
            _ => RemovalReason::SetDeleted,
        }
    }

    fn standing(&self, machine: &Name, command: machine::Command) -> Standing {
        let version = self.view.machines.folded(machine.as_str()).map_or(Version::ZERO, |folded| folded.version);
        let order = Order::Machine { machine: machine.clone(), command };
        if self.view.orders.any_open(&order.target()) {
            return Standing::UnderWay;
        }
        if self.view.orders.is_news(&order, version) { Standing::New(order) } else { Standing::Refused }
    }
}
