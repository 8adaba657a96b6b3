//! What each order of the machine sets supervisor rests on.

use bailiwick_journal::Cite;

use super::View;
use crate::{
    machine, machine_class,
    machine_set::{Change, Command},
    supervisor::{Order, cites::Cites},
    vocab::{Fact, Name},
};

/// The events that an order followed from.
pub(super) fn rests_on(view: &View, order: &Order) -> Vec<Cite> {
    let cites = Cites::default();
    match order {
        Order::MachineSet { set, command } => of_set(view, set, command, cites),
        Order::Machine { machine, command: machine::Command::Declare(spec) } => match &spec.set {
            Some(set) if view.set_of(machine) != Some(set) => cites.fold(&view.sets, set.as_str(), &[Fact::Pass]),
            _ => cites,
        },
        Order::Machine { machine, command: machine::Command::Remove } => match view.set_of(machine) {
            Some(set) => cites.fold(&view.sets, set.as_str(), &[Fact::Pass]),
            None => cites,
        },
        Order::Machine { machine, command: machine::Command::TakeClass { copy, .. } } => cites
            .fold(&view.classes, copy.class.as_str(), &[Fact::Spec])
            .fold(&view.machines, machine.as_str(), &[Fact::Start]),
        Order::MachineClass { command: machine_class::Command::Use { machines }, .. } => {
            let spec = |cites: Cites, machine: &Name| cites.fold(&view.machines, machine.as_str(), &[Fact::Spec]);
            machines.iter().fold(cites, spec)
        }
        Order::MachineClass { command: machine_class::Command::Release { machines }, .. } => {
            machines.iter().fold(cites, |cites, machine| cites.cite(view.uses.left(machine)))
        }
        _ => cites,
    }
    .list()
}

fn of_set(view: &View, set: &Name, command: &Command, cites: Cites) -> Cites {
    match command {
        // What there are too many, or too few of, is a matter of what is declared and of who failed, or came, or went.
        Command::BeginPass { plan, .. } => {
            let failed = plan.stale.iter().take(CITED_MAX);
            let cites =
                failed.fold(cites, |cites, machine| cites.fold(&view.machines, machine, &[Fact::Health, Fact::Effect]));
            let is_going = view.sets.get(set.as_str()).is_some_and(|state| state.life != crate::vocab::Life::Alive);
            let side = if is_going { Fact::Life } else { Fact::Spec };
            let cites = cites.fold(&view.sets, set.as_str(), &[side]);
            match &plan.change {
                Change::Create(_) => cites.cite(view.left(set)),
                Change::Nothing | Change::HeldByFreeze | Change::Remove(_) => cites,
            }
        }
        Command::ReportBatch { .. } | Command::ReportRemovals { .. } => {
            cites.fold(&view.sets, set.as_str(), &[Fact::Pass])
        }
        Command::ReportEmpty => cites.fold(&view.sets, set.as_str(), &[Fact::Life]),
        _ => cites,
    }
}

/// Of many machines that failed at once, so many are cited.
const CITED_MAX: usize = 16;
