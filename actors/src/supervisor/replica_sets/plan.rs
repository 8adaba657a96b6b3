//! What shall become of a set, from what it has seen and how its machines are.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::Fold,
    machine::{self, Instance, Node},
    ports::Healthy,
    ports::replica_set::{Action, Change, MACHINE_TAG, Member, MemberId, MemberState, MemberStatus, Step, StepReason},
    replica_set::{Seat, Spec, State as ReplicaSet},
    supervisor::peer_group::{Address, Machine, PeerRules, Snapshot, Verdict, decide},
    vocab::{
        Life, Name,
        guard::{self, Guard},
    },
};

/// What follows for a set at this moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Something is under way, or waits: it is planned when that was read back.
    Later,
    /// There is no set yet. The step begins it, once the first machine runs.
    Begin(Option<Box<Step>>),
    /// This is to become of it.
    Desired(Box<Verdict>),
}

impl Plan {
    /// The step that is due.
    pub(super) fn next_step(self) -> Option<Step> {
        match self {
            Self::Later => None,
            Self::Begin(step) => step.map(|step| *step),
            Self::Desired(verdict) => verdict.ok()?.steps.into_iter().next(),
        }
    }
}

/// The condition by which a machine's agent says that the data of its member is gone.
pub fn data_lost_condition(set: &Name) -> String {
    format!("ReplicaSetDataLost/{set}")
}

/// What follows for a set by these rules, from what it knows and how the machines are; none if it is not looked after.
pub fn plan(machines: &Fold<machine::State>, set: &Name, state: &ReplicaSet, by: PeerRules) -> Option<Plan> {
    let spec = state.spec.as_ref().filter(|_| state.life == Life::Alive)?;
    if !state.is_settled() {
        return Some(Plan::Later);
    }
    let Some(seen) = &state.seen else {
        return Some(Plan::Begin(first(machines, spec).map(Box::new)));
    };
    let mut verdict = decide(&snapshot(machines, set, state), by, &seen.rules);
    if let Ok(desired) = &mut verdict {
        let lost = lost(machines, set, state);
        desired.steps.iter_mut().filter(|step| concerns_only(&step.action, &lost)).for_each(|step| {
            step.because = StepReason::DataLost;
        });
    }
    Some(Plan::Desired(Box::new(verdict)))
}

/// The members whose data is gone.
fn lost(machines: &Fold<machine::State>, set: &Name, state: &ReplicaSet) -> BTreeSet<MemberId> {
    let Some(seen) = &state.seen else { return BTreeSet::new() };
    let members = seen.configuration.members.iter();
    members.filter(|member| has_lost_its_data(machines, set, member, &seen.statuses)).map(|member| member.id).collect()
}

/// Whether a step takes votes or places from these members, and does nothing else.
fn concerns_only(action: &Action, members: &BTreeSet<MemberId>) -> bool {
    let Action::Write { changes } = action else { return false };
    let is_of_them = |change: &Change| match change {
        Change::Remove { member } | Change::Demote { member } => members.contains(member),
        _ => false,
    };
    !changes.is_empty() && changes.iter().all(is_of_them)
}

/// The seat that a set begins on, or will once its machine runs: the first whose machine is not gone for good.
pub fn begins_on<'s>(machines: &Fold<machine::State>, spec: &'s Spec) -> Option<&'s Seat> {
    let machine = |seat: &Seat| machines.get(seat.machine.as_str());
    let is_gone = |seat: &Seat| machine(seat).is_some_and(|it| matches!(it.life, Life::Dead | Life::Removed));
    spec.seats.iter().find(|seat| !is_gone(seat))
}

/// The set begins on its first seat, once the machine there runs; on the next one when that machine is gone for good.
///
/// While a machine may still come up, or is only about to go, another one must not begin: there would be two sets of one
/// name.
fn first(machines: &Fold<machine::State>, spec: &Spec) -> Option<Step> {
    let machine = |seat: &Seat| machines.get(seat.machine.as_str());
    let seat = begins_on(machines, spec).filter(|seat| machine(seat).is_some_and(is_running))?;
    let address = seat.peer(spec.space.as_ref(), spec.one_host).ok()?;
    // Source: Juju begins with member 1.
    let first = Member {
        id: MemberId(1),
        address: address.into(),
        tags: [(MACHINE_TAG.to_owned(), seat.machine.to_string())].into(),
        votes: None,
        priority: None,
        other: BTreeMap::new(),
    };
    Some(Step { action: Action::Initiate { first }, because: StepReason::NotBegun })
}

/// What the decision about a set is made from.
pub fn snapshot(machines: &Fold<machine::State>, set: &Name, state: &ReplicaSet) -> Snapshot {
    let Some(spec) = &state.spec else { return Snapshot::default() };
    let (mut members, mut statuses) = (Vec::new(), Vec::new());
    if let Some(seen) = &state.seen {
        members.clone_from(&seen.configuration.members);
        statuses.clone_from(&seen.statuses);
    }
    let lost = lost(machines, set, state);
    for member in members.iter_mut().filter(|member| lost.contains(&member.id)) {
        // Nothing stands behind it any more: it goes, and its machine gets a new member.
        member.tags = member.tags.without(MACHINE_TAG);
    }
    let port = spec.seats.first().map_or(0, |seat| seat.peer_port);
    let space = spec.space.as_ref().map(ToString::to_string);
    Snapshot { machines: candidates(machines, spec), members, statuses, port, space, one_host: spec.one_host }
}

/// The first seats whose machines are alive shall vote. A machine that does not run has no address, so that nobody joins
/// on it; a member that is there keeps its own.
fn candidates(machines: &Fold<machine::State>, spec: &Spec) -> Vec<Machine> {
    let mut wanted = usize::try_from(spec.servers).unwrap_or(usize::MAX);
    let mut candidates = Vec::new();
    for seat in &spec.seats {
        let Some(machine) = machines.get(seat.machine.as_str()) else { continue };
        let wants_vote = machine.life == Life::Alive && wanted > 0;
        wanted -= usize::from(wants_vote);
        let address = |address: &Address| Address { port: address.port.or(Some(seat.peer_port)), ..address.clone() };
        let is_there = is_running(machine);
        let addresses = seat.addresses.iter().filter(|_| is_there).map(address).collect();
        candidates.push(Machine { id: seat.machine.as_str().into(), wants_vote, life: machine.life, addresses });
    }
    candidates
}

fn is_running(machine: &machine::State) -> bool {
    machine.life == Life::Alive && matches!(machine.instance, Instance::Running { .. })
}

/// Only of a member that has started once and is not healthy now: one that answers has its data or is copying it, whatever an
/// agent says, and one that has never started had none. (The agent may still speak of the member that was there before: who joins
/// anew would be removed for it, and join anew, until the agent's next report.)
fn has_lost_its_data(machines: &Fold<machine::State>, set: &Name, member: &Member, statuses: &[MemberStatus]) -> bool {
    let status = statuses.iter().rfind(|status| status.id == member.id);
    let is_spared = status.is_some_and(|status| status.healthy || status.state == MemberState::Startup);
    let machine = member.machine_tag().and_then(|machine| machines.get(machine));
    let Some(Node::Reporting { conditions, .. }) = machine.map(|machine| &machine.node) else { return false };
    let says_so = conditions.get(&data_lost_condition(set)).is_some_and(|condition| condition.healthy == Healthy::No);
    says_so && !is_spared && guard::holds(Guard::LostDataJoinsAnew)
}
