//! Machine deployments: which sets belong to one, how many machines those have, and what it decided, carried out by orders to
//! the sets.
//!
//! A set says itself whose it is. One that nobody owns and that a selector matches is told so first, and made known to its
//! deployment next. Machines are counted when all sets have the sizes that were decided for them: a pass never decides on what
//! the last one has not begun yet.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{StreamId, Version};

use super::{Members, View};
use crate::{
    contract::{Decider, Folded},
    machine,
    machine_deployment::{Command, Counts, OwnedSet, Spec, State},
    machine_set,
    supervisor::Order,
    vocab::{Life, Name, Timestamp, Windows},
};

/// What follows for every deployment that is concerned, in the order of their names.
pub(super) fn orders(view: &View, windows: &Windows, now: Timestamp, about: &[StreamId]) -> Vec<Order> {
    let next = |name: Name| {
        Some(Deployment { view, windows, now, folded: view.deployments.folded(name.as_str())?, name: &name }.next())
    };
    concerned(view, about).into_iter().filter_map(next).flatten().collect()
}

fn concerned(view: &View, about: &[StreamId]) -> BTreeSet<Name> {
    // A machine that is gone does not say any more whose it was; but then the deployment is not complete yet.
    let mut concerned = view.owners.busy.clone();
    for stream in about {
        let Ok(name) = stream.name().parse::<Name>() else { continue };
        match stream.kind() {
            State::KIND => drop(concerned.insert(name)),
            machine_set::State::KIND => concerned.extend(of_set(view, &name)),
            machine::State::KIND => {
                concerned.extend(view.set_of(&name).and_then(|set| view.owner_of(set)).cloned());
            }
            _ => (),
        }
    }
    concerned
}

/// The deployment that a set belongs to, or the one that may take it.
fn of_set(view: &View, set: &Name) -> Option<Name> {
    view.owner_of(set).or_else(|| taker(view, set)).cloned()
}

/// The deployment that takes a set of nobody's: the first whose selector matches its machines.
fn taker<'a>(view: &'a View, set: &Name) -> Option<&'a Name> {
    let set = view.sets.get(set.as_str()).filter(|set| set.life == Life::Alive)?.spec.as_ref()?;
    if set.deployment.is_some() {
        return None;
    }
    view.owners.selecting.iter().find(|deployment| {
        let spec = view.deployments.get(deployment.as_str()).and_then(|state| state.spec.as_ref());
        spec.is_some_and(|spec| spec.selects(&set.template))
    })
}

/// A deployment, and everything around it.
struct Deployment<'a> {
    view: &'a View,
    /// Those of the policy.
    windows: &'a Windows,
    now: Timestamp,
    name: &'a Name,
    folded: &'a Folded<State>,
}

impl Deployment<'_> {
    fn next(&self) -> Vec<Order> {
        match (self.folded.state.life, &self.folded.state.spec) {
            (Life::Alive, Some(spec)) => self.go_on(spec),
            (Life::Dying | Life::Dead, _) => self.leave(),
            _ => Vec::new(),
        }
    }

    fn go_on(&self, spec: &Spec) -> Vec<Order> {
        let mut orders = self.take();
        let steps: Vec<Step> = self.folded.state.sets.values().map(|set| self.carry_out(set)).collect();
        let is_settled = self.to_take().next().is_none() && steps.iter().all(|step| matches!(step, Step::Done));
        orders.extend(steps.into_iter().filter_map(Step::order));
        // One order to the deployment at a time; its answer brings the next look.
        if self.view.orders.any_open(&self.order(Command::ReportEmpty).target()) {
            return orders;
        }
        let own = self.adopt().or_else(|| self.forget()).or_else(|| is_settled.then(|| self.observe(spec)).flatten());
        orders.extend(own);
        orders
    }

    fn order(&self, command: Command) -> Order {
        Order::MachineDeployment { deployment: self.name.clone(), command }
    }

    fn to_set(&self, set: &Name, command: machine_set::Command) -> Option<Order> {
        let version = self.view.sets.folded(set.as_str()).map_or(Version::ZERO, |folded| folded.version);
        let order = Order::MachineSet { set: set.clone(), command };
        let is_free = !self.view.orders.any_open(&order.target());
        (is_free && self.view.orders.is_news(&order, version)).then_some(order)
    }

    fn set(&self, name: &Name) -> Option<&machine_set::State> {
        self.view.sets.get(name.as_str()).filter(|set| set.life.exists())
    }

    /// The sets of nobody's that it selects.
    fn to_take(&self) -> impl Iterator<Item = &Name> {
        self.view.owners.nobodys.iter().filter(|set| taker(self.view, set) == Some(self.name))
    }

    /// They become its own.
    fn take(&self) -> Vec<Order> {
        let order = |set: &Name| {
            let spec = self.set(set)?.spec.as_ref()?;
            let taken = machine_set::Spec { deployment: Some(self.name.clone()), ..spec.clone() };
            self.to_set(set, machine_set::Command::Declare(taken))
        };
        self.to_take().filter_map(order).collect()
    }

    /// It learns of a set that it owns.
    fn adopt(&self) -> Option<Order> {
        let known = &self.folded.state.sets;
        let unknown = self.view.owners.sets_of(self.name).find(|set| !known.contains_key(*set))?;
        let set = self.set(unknown).filter(|set| set.life == Life::Alive)?;
        let spec = set.spec.as_ref()?;
        let (template, created) = (spec.template.clone(), self.view.owners.since(unknown));
        let command = Command::Adopt { set: unknown.clone(), template, replicas: spec.replicas, created };
        self.news(command)
    }

    /// It learns that a set which it dropped is gone.
    fn forget(&self) -> Option<Order> {
        let mut dropped = self.folded.state.sets.values().filter(|set| set.leaves);
        let gone = dropped.find(|set| self.set(&set.name).is_none())?;
        self.news(Command::Forget { set: gone.name.clone() })
    }

    fn news(&self, command: Command) -> Option<Order> {
        let order = self.order(command);
        self.view.orders.is_news(&order, self.folded.version).then_some(order)
    }

    /// What was decided about a set is told to it.
    fn carry_out(&self, set: &OwnedSet) -> Step {
        let present = self.set(&set.name);
        let command = match (present, present.and_then(|present| present.spec.as_ref())) {
            (Some(present), _) if set.leaves && present.life == Life::Alive => machine_set::Command::RemoveOwned,
            _ if set.leaves => return Step::Done,
            (Some(_), Some(spec)) if spec.replicas == set.replicas && spec.deployment.as_ref() == Some(self.name) => {
                return Step::Done;
            }
            (_, spec) => machine_set::Command::Declare(machine_set::Spec {
                replicas: set.replicas,
                template: set.template.clone(),
                priorities: spec.map(|spec| spec.priorities.clone()).unwrap_or_default(),
                deployment: Some(self.name.clone()),
            }),
        };
        self.to_set(&set.name, command).map_or(Step::UnderWay, |order| Step::New(Box::new(order)))
    }

    /// It makes a pass, if there are other machines than in the last one or it wants one anyway.
    fn observe(&self, spec: &Spec) -> Option<Order> {
        let state = &self.folded.state;
        let (counts, again) = self.counts(spec);
        let is_same = |set: &OwnedSet| set.counts == counts.get(&set.name).copied().unwrap_or_default();
        let waits_well = !state.waits_in_vain(self.windows, self.now);
        if !state.wants_a_pass() && waits_well && state.again == again && state.sets.values().all(is_same) {
            return None;
        }
        self.news(Command::Observe { counts, free: self.free(), again })
    }

    fn counts(&self, spec: &Spec) -> (BTreeMap<Name, Counts>, Option<Timestamp>) {
        let mut counts = BTreeMap::new();
        let mut again: Option<Timestamp> = None;
        for name in self.folded.state.sets.keys() {
            let Some(set) = self.set(name) else { continue };
            let (counted, next) = match self.view.members(name) {
                Some(members) => members.counts(&self.view.machines, spec.min_ready_ms, self.now),
                None => Members::default().counts(&self.view.machines, 0, self.now),
            };
            let is_short = set.spec.as_ref().is_some_and(|spec| spec.replicas != counted.machines);
            let failure = set.failure.filter(|_| set.rests_until.is_some() || is_short);
            counts.insert(name.clone(), Counts { failure, ..counted });
            again = again.into_iter().chain(next).min();
        }
        (counts, again)
    }

    /// A name that it never gave, and that no set has.
    fn free(&self) -> Name {
        let name = |number: u64| super::names::member_name(self.name, number);
        let is_free = |name: &Name| self.set(name).is_none() && !self.folded.state.sets.contains_key(name);
        let mut names = (self.folded.state.named + 1..).map(name);
        names.find(is_free).expect("there are more numbers than sets")
    }

    /// Its sets go, and it after them.
    fn leave(&self) -> Vec<Order> {
        let mut owned = self.view.owners.sets_of(self.name).peekable();
        if owned.peek().is_some() {
            let alive = owned.filter(|set| self.set(set).is_some_and(|set| set.life == Life::Alive));
            return alive.filter_map(|set| self.to_set(set, machine_set::Command::RemoveOwned)).collect();
        }
        let empty = self.order(Command::ReportEmpty);
        let is_quiet = !self.view.orders.any_open(&empty.target())
            && self.folded.state.sets.keys().all(|set| !self.view.orders.any_open(&set_stream(set)));
        if is_quiet { self.news(Command::ReportEmpty).into_iter().collect() } else { Vec::new() }
    }
}

/// How what was decided about a set stands.
enum Step {
    Done,
    New(Box<Order>),
    /// It is told already, or cannot be told now.
    UnderWay,
}

impl Step {
    fn order(self) -> Option<Order> {
        match self {
            Self::New(order) => Some(*order),
            Self::Done | Self::UnderWay => None,
        }
    }
}

fn set_stream(set: &Name) -> StreamId {
    StreamId::new(machine_set::State::KIND, set.as_str()).expect("a name is a stream's name")
}
