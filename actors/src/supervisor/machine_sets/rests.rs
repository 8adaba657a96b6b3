//! What each order of the machine sets supervisor rests on.

use bailiwick_journal::Cite;

use super::{Members, View, owners};
use crate::{
    machine, machine_class,
    machine_set::{Change, Command, State},
    supervisor::{Order, cites::Cites},
    vocab::{Fact, Name},
};

/// So many of a set's machines are cited one by one. Of a larger set it is the newest, and of what left it the last: the
/// others are counted, because nobody reads thousands of causes, and no decision of that size could be stored.
pub(super) const CITED_MAX: usize = 256;

/// The events that an order followed from.
pub(super) fn rests_on(view: &View, order: &Order) -> Vec<Cite> {
    let cites = Cites::default();
    match order {
        Order::MachineSet { set, command } => of_set(view, set, command, cites),
        Order::Machine { machine, command: machine::Command::Declare(spec) } => match &spec.set {
            Some(set) if view.set_of(machine) != Some(set) => cites.fold(&view.sets, set.as_str(), &[Fact::Pass]),
            _ => cites,
        },
        Order::Machine { machine, command: machine::Command::RemoveWith(_) } => match view.set_of(machine) {
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
        Order::MachineDeployment { deployment, command } => owners::rests_on(view, deployment, command, cites),
        _ => cites,
    }
    .list()
}

fn of_set(view: &View, set: &Name, command: &Command, cites: Cites) -> Cites {
    match command {
        // What there are too many, or too few of, is a matter of what is declared and of who failed, or came, or went.
        Command::BeginPass { plan, .. } => {
            let failed = plan.stale.iter();
            let cites =
                failed.fold(cites, |cites, machine| cites.fold(&view.machines, machine, &[Fact::Health, Fact::Effect]));
            let is_going = view.sets.get(set.as_str()).is_some_and(|state| state.life != crate::vocab::Life::Alive);
            let side = if is_going { Fact::Life } else { Fact::Spec };
            let cites = cites.fold(&view.sets, set.as_str(), &[side]);
            if plan.change == Change::Nothing {
                return cites;
            }
            // Who there is, and who was: another number would have been another change.
            let dropped: Vec<&Cite> = view.dropped(set).collect();
            let dropped = dropped.iter().rev().take(CITED_MAX);
            let cites = dropped.fold(cites, |cites, left| cites.cite(Some((*left).clone())));
            let members = view.members(set).map(|members| members.newest_of(CITED_MAX)).unwrap_or_default();
            members
                .into_iter()
                .fold(cites, |cites, machine| cites.fold(&view.machines, machine.as_str(), &[Fact::Life]))
        }
        Command::ReportBatch { .. } => {
            let batch = view.sets.get(set.as_str()).map(State::batch).unwrap_or_default();
            let cites = cites.fold(&view.sets, set.as_str(), &[Fact::Request]);
            batch.iter().fold(cites, |cites, machine| cites.fold(&view.machines, machine.as_str(), &[Fact::Life]))
        }
        Command::ReportRemovals { told } => {
            let cites = cites.fold(&view.sets, set.as_str(), &[Fact::Request]);
            told.iter().fold(cites, |cites, (machine, _)| cites.fold(&view.machines, machine.as_str(), &[Fact::Life]))
        }
        // That it thaws needs one machine less; that it freezes, one more.
        Command::ReportMachines { .. } => match view.sets.get(set.as_str()).and_then(|state| state.frozen) {
            Some(_) => cites.fold(&view.sets, set.as_str(), &[Fact::Freeze]).cite(view.left(set)),
            None => {
                let newest = view.members(set).and_then(Members::newest).map_or("", Name::as_str);
                let state = view.sets.get(set.as_str()).and_then(|state| state.spec.as_ref());
                let deployment = state.and_then(|spec| spec.deployment.as_ref()).map_or("", Name::as_str);
                let cites = cites.fold(&view.sets, set.as_str(), &[Fact::Spec]);
                cites.fold(&view.deployments, deployment, &[Fact::Spec]).fold(&view.machines, newest, &[Fact::Life])
            }
        },
        Command::ReportEmpty => cites.fold(&view.sets, set.as_str(), &[Fact::Life]).cite(view.left(set)),
        Command::Declare(_) | Command::RemoveOwned => owners::set_rests_on(view, set, command, cites),
        _ => cites,
    }
}
