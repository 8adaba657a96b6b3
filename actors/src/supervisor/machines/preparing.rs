//! A machine that waits for what it is started with is told, or told what is missing; and machines that stand in other ones go with
//! these.

use std::collections::BTreeSet;

use super::{
    Event, View,
    facts::Facts,
    rests::issued,
    seen::Seen,
    starting::{Asked, instance_config, start_parameters},
};
use crate::{
    contract::Folded,
    machine::{self, Command, Instance, Node, Removal, RemovalReason, Report, StartHost, Unstartable},
    supervisor::Order,
    vocab::{EffectId, Life, Name},
};

/// The orders that follow for these machines.
pub(super) fn preparations(seen: &Seen<'_>, facts: &Facts<'_>, machines: &BTreeSet<&Name>) -> Vec<Event> {
    let view = facts.view;
    let waiting = machines.iter().filter(|name| view.unprepared.contains(**name));
    let told = waiting.filter_map(|name| preparation(view, name));
    let gone = view.leaving.keys().map(|(host, container)| {
        let command = Command::ReleaseContainer { container: container.clone() };
        Order::Machine { machine: host.clone(), command }
    });
    let contained = machines.iter().flat_map(|name| contained(view, name, machines));
    let orders = told.chain(gone).chain(contained).filter(|order| is_news(view, order));
    orders.map(|order| issued(seen, facts, order)).collect()
}

fn is_news(view: &View, order: &Order) -> bool {
    let Order::Machine { machine, .. } = order else { return false };
    view.machines.folded(machine.as_str()).is_some_and(|folded| view.orders.is_news(order, folded.version))
}

/// What is to be told to a machine that waits for what it is started with; or to its host.
fn preparation(view: &View, name: &Name) -> Option<Order> {
    let folded = view.machines.folded(name.as_str())?;
    let state = &folded.state;
    let (spec, asked) = (state.spec.as_deref()?, state.start_asked()?);
    let of_machine = |command| Order::Machine { machine: name.clone(), command };
    let refuse = |why: Unstartable, cited| {
        let is_known = state.unstartable().is_some_and(|(known, _)| *known == why);
        (!is_known).then(|| of_machine(Command::RefuseStart { asked, why, cited }))
    };
    let host = match spec.parent.as_ref().map(|parent| (parent, host(view, parent, name))) {
        None => None,
        Some((_, Ok(host))) => Some(host),
        Some((_, Err(NotYet::Refused(why)))) => return refuse(why, Vec::new()),
        Some((parent, Err(NotYet::NoRoom))) => {
            let command = Command::ReserveContainer { container: name.clone() };
            return Some(Order::Machine { machine: parent.clone(), command });
        }
    };
    let wanted = Asked { machine: name, spec, units: &state.units, volumes: &state.attachments, host: host.as_ref() };
    match start_parameters(&wanted, &view.documents) {
        (Ok(parameters), cited) => {
            let config = instance_config(&view.documents).map(Box::new);
            Some(of_machine(Command::Prepare { asked, parameters: Box::new(parameters), config, cited }))
        }
        (Err(why), cited) => refuse(why, cited),
    }
}

/// Why a machine cannot be made in its host now.
enum NotYet {
    Refused(Unstartable),
    /// The host has to keep room for it first: from then on it does not go before this one.
    NoRoom,
}

/// The host, as it is now: it keeps room, it runs, and its agent reports.
fn host(view: &View, parent: &Name, container: &Name) -> Result<StartHost, NotYet> {
    let host = || parent.clone();
    let state = view.machines.get(parent.as_str()).filter(|state| state.life.exists());
    let state = state.ok_or_else(|| NotYet::Refused(Unstartable::NoHost { host: host() }))?;
    if state.life != Life::Alive {
        return Err(NotYet::Refused(Unstartable::HostLeaving { host: host() }));
    }
    if !state.containers.contains(container) {
        return Err(NotYet::NoRoom);
    }
    match (&state.instance, &state.node) {
        (Instance::Running { instance, .. }, Node::Reporting { .. }) => Ok(StartHost {
            machine: host(),
            effect: instance.effect,
            instance: instance.instance.clone(),
            zone: instance.zone(),
        }),
        _ => Err(NotYet::Refused(Unstartable::HostNotThere { host: host() })),
    }
}

/// What follows for the machines that stand in one, and for one that stands in another: they go with their host, and what
/// was made in an instance is lost with it.
fn contained(view: &View, name: &Name, machines: &BTreeSet<&Name>) -> Vec<Order> {
    let its = view.children.get(name).into_iter().flatten().map(|container| (name, container));
    // Where its host is looked at, too, that says it.
    let own = view.parent_of(name).filter(|host| !machines.contains(host)).map(|host| (host, name));
    let order = |(host, container): (&Name, &Name)| {
        let folded = view.machines.folded(container.as_str())?;
        let command = follows(view.machines.folded(host.as_str()), folded)?;
        Some(Order::Machine { machine: container.clone(), command })
    };
    its.chain(own).filter_map(order).collect()
}

fn follows(host: Option<&Folded<machine::State>>, container: &Folded<machine::State>) -> Option<Command> {
    let host = host.map(|folded| &folded.state);
    let is_leaving = host.is_some_and(|host| matches!(host.life, Life::Dying | Life::Dead));
    if is_leaving && container.state.life == Life::Alive {
        return Some(Command::RemoveWith(Removal { why: RemovalReason::HostDeleted, ..Removal::default() }));
    }
    let made_in = container.state.parameters()?.host.as_ref()?.effect;
    let effect = container.state.running_effect()?;
    let is_there = host.is_some_and(|host| stands(host, made_in));
    (!is_there).then_some(Command::Report(Report::Lost { effect }))
}

/// Whether an instance still stands: a machine has it, or an operator keeps it.
fn stands(host: &machine::State, effect: EffectId) -> bool {
    host.running_effect() == Some(effect) || host.kept.contains(&effect)
}
