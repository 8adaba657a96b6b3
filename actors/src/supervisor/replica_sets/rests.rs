//! What each order of the replica sets supervisor rests on.

use bailiwick_journal::Cite;

use super::View;
use crate::{
    contract::Decider,
    machine, member,
    ports::replica_set::{Action, Change},
    replica_set::{self, Phase},
    supervisor::{Order, cites::Cites},
    vocab::{Fact, Life, Name},
};

/// The events that an order followed from.
pub(super) fn rests_on(view: &View, order: &Order) -> Vec<Cite> {
    let cites = Cites::default();
    match order {
        Order::ReplicaSet { set, command: replica_set::Command::TakeStep { step, .. } } => {
            let cites = cites.fold(&view.sets, set.as_str(), &[Fact::Seen, Fact::Spec]);
            concerned(view, set, &step.action)
                .into_iter()
                .fold(cites, |cites, machine| of_machine(view, machine, cites))
        }
        Order::ReplicaSet { set, command: replica_set::Command::Publish(_) } => {
            cites.fold(&view.sets, set.as_str(), &[Fact::Seen])
        }
        Order::Member { set, command, .. } => of_member(set, command, cites),
        Order::Machine { command: machine::Command::Engage { set }, .. } => {
            cites.fold(&view.sets, set.as_str(), &[standing(view, set)])
        }
        Order::Machine { command: machine::Command::Disengage { set }, .. } => {
            cites.fold(&view.sets, set.as_str(), &[standing(view, set)])
        }
        _ => cites,
    }
    .list()
}

/// The side of a set that says on whom it counts: what it saw, or that it is not looked after any more.
fn standing(view: &View, set: &Name) -> Fact {
    match view.sets.get(set.as_str()).map(|state| state.life) {
        Some(Life::Alive) => match view.sets.get(set.as_str()).map(|state| &state.phase) {
            Some(Phase::Stepping { .. }) => Fact::Step,
            _ => Fact::Seen,
        },
        _ => Fact::Life,
    }
}

/// What a member hears is what its set knew at a version.
fn of_member(set: &Name, command: &member::Command, cites: Cites) -> Cites {
    let as_of = match command {
        member::Command::Follow(picture) => picture.as_of,
        member::Command::Forget { as_of } => *as_of,
    };
    cites.event(replica_set::State::KIND, set.as_str(), Some(as_of))
}

/// The machines whose state decides that a step is taken.
fn concerned<'a>(view: &'a View, set: &Name, action: &'a Action) -> Vec<&'a str> {
    let members = view.sets.get(set.as_str()).and_then(|state| state.seen.as_ref());
    let tag = |id| {
        let members = members.map(|seen| &seen.configuration.members);
        members.and_then(|members| members.iter().find(|member| member.id == id)?.machine_tag())
    };
    match action {
        Action::Initiate { first } => first.machine_tag().into_iter().collect(),
        Action::StepDown { primary, .. } => tag(*primary).into_iter().collect(),
        Action::Write { changes } => {
            let machine = |change: &'a Change| match change {
                Change::Join { member } => member.machine_tag(),
                Change::Remove { member } | Change::Demote { member } => tag(*member),
                Change::Promote { .. } | Change::Move { .. } | Change::Level { .. } => None,
            };
            changes.iter().filter_map(machine).collect()
        }
    }
}

/// Who joins does so because it runs; who goes, because its machine does.
fn of_machine(view: &View, machine: &str, cites: Cites) -> Cites {
    let is_leaving = view.machines.get(machine).is_some_and(|state| state.life != Life::Alive);
    cites.fold(&view.machines, machine, &[if is_leaving { Fact::Life } else { Fact::Effect }])
}
