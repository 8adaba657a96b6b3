//! What machines are made from: a machine that names a class is made known to it, and then takes a copy of what it says.
//!
//! The class knows first, so that it cannot go in between; and it forgets a machine only after that has gone, or was made
//! from something else.

use std::collections::BTreeSet;

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::View;
use crate::{
    contract::{Decider, Folded},
    machine, machine_class,
    supervisor::Order,
    vocab::{Life, Name},
};

/// The most machines that one look says something about for each class; the answers bring the next look.
const AT_ONCE_MAX: usize = 64;

/// What follows for the classes that these streams have to do with, in the order of their names.
pub(super) fn orders(view: &View, journal: Uuid, about: &[StreamId]) -> Vec<Order> {
    let mut concerned: BTreeSet<Name> = BTreeSet::new();
    for stream in about {
        let Ok(name) = stream.name().parse::<Name>() else { continue };
        match stream.kind() {
            machine_class::State::KIND => drop(concerned.insert(name)),
            machine::State::KIND => concerned.extend(view.uses.of_machine(&name).cloned()),
            _ => (),
        }
    }
    let of_class = |class: Name| {
        let folded = view.classes.folded(class.as_str()).filter(|folded| folded.state.life.exists())?;
        Some(known(view, &class, folded).into_iter().chain(copies(view, journal, &class, folded)).collect::<Vec<_>>())
    };
    concerned.into_iter().filter_map(of_class).flatten().collect()
}

/// The class learns who uses it, or does so no more; one order at a time.
fn known(view: &View, class: &Name, folded: &Folded<machine_class::State>) -> Option<Order> {
    let is_open = folded.state.life == Life::Alive;
    let coming = some(view.uses.coming(class).filter(|_| is_open));
    let leaving = some(view.uses.leaving(class));
    let command = match (leaving.is_empty(), coming.is_empty()) {
        (false, _) => machine_class::Command::Release { machines: leaving },
        (true, false) => machine_class::Command::Use { machines: coming },
        (true, true) => return None,
    };
    let order = Order::MachineClass { class: class.clone(), command };
    let is_free = !view.orders.any_open(&order.target());
    (is_free && view.orders.is_news(&order, folded.version)).then_some(order)
}

/// As many as are told at once.
fn some<'a>(machines: impl Iterator<Item = &'a Name>) -> Vec<Name> {
    machines.take(AT_ONCE_MAX).cloned().collect()
}

/// Who waits for it takes a copy of what it says now.
fn copies(view: &View, journal: Uuid, class: &Name, folded: &Folded<machine_class::State>) -> Vec<Order> {
    let Some(copy) = folded.state.copy(class) else { return Vec::new() };
    let order = |machine: &Name| {
        let folded = view.machines.folded(machine.as_str())?;
        let stream = StreamId::new(machine::State::KIND, machine.as_str()).ok()?;
        let command =
            machine::Command::TakeClass { effect: folded.state.own(journal, &stream)?, copy: Box::new(copy.clone()) };
        let order = Order::Machine { machine: machine.clone(), command };
        let is_free = !view.orders.any_open(&stream);
        (is_free && view.orders.is_news(&order, folded.version)).then_some(order)
    };
    view.uses.waiting(class).filter_map(order).take(AT_ONCE_MAX).collect()
}
