//! What the members of a set are told: the picture that their set has of each.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::Version;

use super::View;
use crate::{
    contract::Folded,
    member::{self, Part, Picture, Sighting, Task},
    ports::replica_set::{Action, Change, Member, MemberId, Step},
    replica_set::{Phase, State as ReplicaSet},
    supervisor::Order,
    vocab::{Life, Name, sort_by_key},
};

/// The members of a set that are followed, by machine.
type Known<'a> = BTreeMap<Name, &'a Folded<member::State>>;

/// What the members of a set have to hear, by machine.
///
/// While the set is being read back nothing is told: what a step has done is known when it was read.
pub(super) fn tidings(view: &View, set: &Name, folded: &Folded<ReplicaSet>) -> Vec<Order> {
    let state = &folded.state;
    if state.life == Life::Alive && state.phase == Phase::Looking {
        return Vec::new();
    }
    let known = view.members_of(set);
    let pictures = pictures(state, folded.version, &known);
    let machines: BTreeSet<&Name> = pictures.keys().chain(known.keys()).collect();
    let order = |machine: &Name| {
        let present = known.get(machine);
        let command = match (pictures.get(machine), present) {
            (Some(picture), Some(present)) if !present.state.differs_from(picture) => return None,
            (Some(picture), _) => member::Command::Follow(picture.clone()),
            (None, Some(present)) if present.state.life == Life::Alive => {
                member::Command::Forget { as_of: folded.version }
            }
            (None, _) => return None,
        };
        let order = Order::Member { set: set.clone(), machine: machine.clone(), command };
        let version = present.map_or(Version::ZERO, |present| present.version);
        (!is_told(view, &order) && view.orders.is_news(&order, version)).then_some(order)
    };
    machines.into_iter().filter_map(order).collect()
}

/// Whether the same is on its way to it already, as of an earlier version.
fn is_told(view: &View, order: &Order) -> bool {
    let picture = |order: &Order| match order {
        Order::Member { command: member::Command::Follow(picture), .. } => {
            Some(Picture { as_of: Version::ZERO, ..picture.clone() })
        }
        _ => None,
    };
    let wanted = picture(order);
    wanted.is_some() && view.orders.open_to(&order.target()).any(|open| picture(open) == wanted)
}

/// A picture of everybody who has a seat, is in the configuration, or is about to be; none of a set that is not looked
/// after.
fn pictures(state: &ReplicaSet, as_of: Version, known: &Known<'_>) -> BTreeMap<Name, Picture> {
    let mut pictures: BTreeMap<Name, Picture> = BTreeMap::new();
    let Some(spec) = state.spec.as_ref().filter(|_| state.life == Life::Alive) else { return pictures };
    let blank = || Picture { as_of, seat: None, seen: None, task: None, flagged: false };
    for seat in &spec.seats {
        let place = seat.peer(spec.space.as_ref(), spec.one_host).ok();
        pictures.insert(seat.machine.clone(), Picture { seat: place, ..blank() });
    }
    let machine_of = machines(state);
    for (machine, member) in standing(state) {
        let picture = pictures.entry(machine).or_insert_with(blank);
        let status = state.seen.as_ref().and_then(|seen| seen.status(member.id));
        picture.seen = Some(Sighting::of(member, status));
    }
    if let Phase::Stepping { step, .. } = &state.phase {
        for (machine, task) in tasks(step, &machine_of) {
            pictures.entry(machine).or_insert_with(blank).task = Some(task);
        }
    }
    for machine in flagged(state, known) {
        pictures.entry(machine).or_insert_with(blank).flagged = true;
    }
    pictures
}

/// The machines that members of the configuration name, by id.
fn machines(state: &ReplicaSet) -> BTreeMap<MemberId, Name> {
    let members = state.seen.iter().flat_map(|seen| &seen.configuration.members);
    members.filter_map(|member| Some((member.id, machine(member)?))).collect()
}

/// The member that stands for each machine: of several one that votes, of these the one with the lowest id.
pub(super) fn standing(state: &ReplicaSet) -> BTreeMap<Name, &Member> {
    let mut members: Vec<&Member> = state.seen.iter().flat_map(|seen| &seen.configuration.members).collect();
    sort_by_key(&mut members, |member| (!member.is_voter(), member.id));
    let mut standing = BTreeMap::new();
    for member in members {
        if let Some(machine) = machine(member) {
            standing.entry(machine).or_insert(member);
        }
    }
    standing
}

fn machine(member: &Member) -> Option<Name> {
    member.machine_tag()?.parse().ok()
}

/// Whose part a step is, and which. Of several parts of one machine the last counts.
fn tasks(step: &Step, machine_of: &BTreeMap<MemberId, Name>) -> Vec<(Name, Task)> {
    let of = |id: &MemberId, part| Some((machine_of.get(id)?.clone(), part));
    let part = |change: &Change| match change {
        Change::Join { member } => Some((machine(member)?, Part::Join)),
        Change::Move { member, .. } => of(member, Part::Move),
        Change::Promote { member } => of(member, Part::Promote),
        Change::Demote { member } => of(member, Part::Demote),
        Change::Level { member } => of(member, Part::Level),
        Change::Remove { member } => of(member, Part::Remove),
    };
    let parts: Vec<Option<(Name, Part)>> = match &step.action {
        Action::Write { changes } => changes.iter().map(part).collect(),
        Action::StepDown { primary, successor } => {
            vec![of(primary, Part::StepDown), of(successor, Part::TakeOver)]
        }
        Action::Initiate { first } => vec![machine(first).map(|machine| (machine, Part::Begin))],
    };
    let task = |(machine, part)| (machine, Task { part, because: step.because });
    parts.into_iter().flatten().map(task).collect()
}

/// The machines on which a step puts a member, or gives one a vote.
pub(super) fn counted_on_by(step: &Step, state: &ReplicaSet) -> BTreeSet<Name> {
    let counts = |(_, task): &(Name, Task)| matches!(task.part, Part::Begin | Part::Join | Part::Promote);
    tasks(step, &machines(state)).into_iter().filter(counts).map(|(machine, _)| machine).collect()
}

/// The machines whose members vote or may vote. One that is in no configuration any more may vote all the same while that
/// configuration is not committed.
fn flagged(state: &ReplicaSet, known: &Known<'_>) -> BTreeSet<Name> {
    let present = standing(state).into_iter().map(|(machine, member)| (machine, member.id));
    let had = known.iter().filter_map(|(machine, folded)| Some((machine.clone(), folded.state.last_id?)));
    present.chain(had).filter(|(_, id)| state.flags.contains(id)).map(|(machine, _)| machine).collect()
}

/// The machines on which a set counts as it is: those of flagged members; those of all members while they are not going.
pub(super) fn counted_on(view: &View, set: &Name, state: &ReplicaSet) -> BTreeSet<Name> {
    if state.life != Life::Alive {
        return BTreeSet::new();
    }
    let is_alive = |machine: &Name| view.machines.get(machine.as_str()).is_some_and(|it| it.life == Life::Alive);
    let mut counted_on = flagged(state, &view.members_of(set));
    counted_on.extend(standing(state).into_keys().filter(is_alive));
    counted_on
}
