//! What each order of the replica sets supervisor rests on.

use bailiwick_journal::Cite;

use super::View;
use crate::{
    contract::Decider,
    machine, member,
    ports::replica_set::{Action, Change, Member, MemberId, Step, StepReason},
    replica_set::{self, Phase},
    supervisor::{Order, cites::Cites},
    vocab::{Fact, Life, Name},
};

/// The events that an order followed from.
pub(super) fn rests_on(view: &View, order: &Order) -> Vec<Cite> {
    let cites = Cites::default();
    match order {
        Order::ReplicaSet { set, command: replica_set::Command::TakeStep { step, .. } } => {
            let of_set: &[Fact] = match rests_on_spec(view, set, step) {
                true => &[Fact::Seen, Fact::Spec],
                false => &[Fact::Seen],
            };
            let cites = cites.fold(&view.sets, set.as_str(), of_set);
            let risen = rising(view, set, step).into_iter();
            let cites = risen.fold(cites, |cites, machine| made_way(view, set, machine, cites));
            concerned(view, set, &step.action)
                .into_iter()
                .fold(cites, |cites, machine| of_machine(view, machine, step.because, cites))
        }
        Order::ReplicaSet { set, command: replica_set::Command::Publish(_) } => {
            cites.fold(&view.sets, set.as_str(), &[Fact::Seen])
        }
        Order::Member { set, command, .. } => of_member(set, command, cites),
        Order::Machine { machine, command: machine::Command::Engage { set } } => {
            let cites = cites.fold(&view.sets, set.as_str(), &[standing(view, set)]);
            if has_member(view, set, machine.as_str()) { cites } else { made_way(view, set, machine.as_str(), cites) }
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

/// Whether a step would be another one if something else was declared. Whatever is, a member whose data is lost goes, and the first
/// seat has a member.
fn rests_on_spec(view: &View, set: &Name, step: &Step) -> bool {
    let is_first = |machine: &&str| place(view, set, machine) == Some(0);
    let rising = rising(view, set, step);
    step.because != StepReason::DataLost && (rising.is_empty() || !rising.iter().all(is_first))
}

/// The machines whose members join or get their votes by a step.
fn rising<'a>(view: &'a View, set: &Name, step: &'a Step) -> Vec<&'a str> {
    let Action::Write { changes } = &step.action else { return Vec::new() };
    let machine = |change: &'a Change| match change {
        Change::Join { member } => member.machine_tag(),
        Change::Promote { member } => machine_of(view, set, *member),
        _ => None,
    };
    changes.iter().filter_map(machine).collect()
}

/// The machine that a member of the configuration is on.
fn machine_of<'a>(view: &'a View, set: &Name, member: MemberId) -> Option<&'a str> {
    members(view, set).iter().find(|known| known.id == member)?.machine_tag()
}

fn members<'a>(view: &'a View, set: &Name) -> &'a [Member] {
    let seen = view.sets.get(set.as_str()).and_then(|state| state.seen.as_ref());
    seen.map_or(&[], |seen| &seen.configuration.members)
}

/// Which seat is on a machine, from 0.
fn place(view: &View, set: &Name, machine: &str) -> Option<usize> {
    let spec = view.sets.get(set.as_str())?.spec.as_ref()?;
    spec.seats.iter().position(|seat| seat.machine.as_str() == machine)
}

fn has_member(view: &View, set: &Name, machine: &str) -> bool {
    members(view, set).iter().any(|member| member.machine_tag() == Some(machine))
}

/// A seat behind as many as shall vote is taken because machines of seats before it are going.
fn made_way(view: &View, set: &Name, machine: &str, cites: Cites) -> Cites {
    let spec = view.sets.get(set.as_str()).and_then(|state| state.spec.as_ref());
    let (Some(spec), Some(place)) = (spec, place(view, set, machine)) else { return cites };
    if place < usize::try_from(spec.servers).unwrap_or(usize::MAX) {
        return cites;
    }
    let is_going = |name: &&str| view.machines.get(name).is_some_and(|machine| machine.life != Life::Alive);
    let before = spec.seats[..place].iter().map(|seat| seat.machine.as_str()).filter(is_going);
    before.fold(cites, |cites, name| cites.fold(&view.machines, name, &[Fact::Life]))
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
    let tag = |id| machine_of(view, set, id);
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

/// Who joins does so because its machine runs; who goes, because its machine does or its agent says that the data is gone.
fn of_machine(view: &View, machine: &str, because: StepReason, cites: Cites) -> Cites {
    let is_leaving = view.machines.get(machine).is_some_and(|state| state.life != Life::Alive);
    let fact = match because {
        StepReason::DataLost => Fact::Agent,
        _ if is_leaving => Fact::Life,
        _ => Fact::Effect,
    };
    cites.fold(&view.machines, machine, &[fact])
}
