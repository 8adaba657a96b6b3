//! Which member stands for which machine, and how it is.

use super::snapshot::{Machine, MachineId, Member, MemberId, MemberState, MemberStatus, Snapshot};
use crate::vocab::{Life, sort_by, sort_by_key};

/// The machines in order, the members as they are in the configuration, and who belongs to whom.
#[derive(Debug)]
pub(super) struct Roll<'a> {
    /// By id. Of two entries with one id the first counts.
    pub machines: Vec<&'a Machine>,
    /// As in the configuration.
    pub seats: Vec<Seat<'a>>,
    /// By machine: the seat of the member that stands for it.
    pub seat_of: Vec<Option<usize>>,
    /// How many are said to be primary, members or not.
    pub primaries: usize,
}

/// A member of the configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat<'a> {
    pub member: &'a Member,
    pub owner: Owner,
    pub status: Option<&'a MemberStatus>,
}

/// Who stands behind a member. Machines are given by their place in the roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Machine(usize),
    /// A machine for which another member stands.
    SecondOf(usize),
    Nobody,
    /// It is reached at no address of its own, so it cannot stay.
    Gone,
}

impl<'a> Roll<'a> {
    /// Dead machines are not there. Of two members with one machine's tag the primary stands for it, else the one that
    /// votes, else the one with the lowest id.
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let machines = in_order(snapshot.machines.iter().filter(|machine| machine.life != Life::Dead));
        let statuses = Statuses::of(&snapshot.statuses);
        let seat = |member: &'a Member| {
            let owner = owner(&machines, member);
            Seat { member, owner, status: statuses.get(member.id) }
        };
        let mut seats: Vec<Seat<'a>> = snapshot.members.iter().map(seat).collect();
        let mut seat_of: Vec<Option<usize>> = vec![None; machines.len()];
        for at in 0..seats.len() {
            let Owner::Machine(machine) = seats[at].owner else { continue };
            let Some(other) = seat_of[machine] else {
                seat_of[machine] = Some(at);
                continue;
            };
            let rank = |seat: &Seat<'_>| (!seat.is_primary(), !seat.member.is_voter(), seat.member.id);
            let (kept, second) = if rank(&seats[at]) < rank(&seats[other]) { (at, other) } else { (other, at) };
            seat_of[machine] = Some(kept);
            seats[second].owner = Owner::SecondOf(machine);
        }
        let primaries = statuses.iter().filter(|status| status.state == MemberState::Primary).count();
        Self { machines, seats, seat_of, primaries }
    }

    /// The member does not stay; its machine is without one.
    pub(super) fn release(&mut self, seat: usize) {
        if let Owner::Machine(machine) = self.seats[seat].owner {
            self.seat_of[machine] = None;
        }
        self.seats[seat].owner = Owner::Gone;
    }
}

impl Seat<'_> {
    pub(super) fn is_ready(&self) -> bool {
        self.status.is_some_and(MemberStatus::is_ready)
    }

    /// Whether it votes and is said to be primary, healthy or not.
    pub(super) fn is_primary(&self) -> bool {
        self.member.is_voter() && self.status.is_some_and(|status| status.state == MemberState::Primary)
    }

    /// Unknown counts as none.
    pub(super) fn lag_ms(&self) -> u64 {
        self.status.and_then(|status| status.lag_ms).unwrap_or(0)
    }
}

/// Machines by id, each once.
pub(super) fn in_order<'a>(machines: impl Iterator<Item = &'a Machine>) -> Vec<&'a Machine> {
    let mut machines: Vec<&Machine> = machines.collect();
    sort_by(&mut machines, |one, other| one.id.cmp(&other.id));
    machines.dedup_by(|next, kept| next.id == kept.id);
    machines
}

/// The last status of each member, by its id.
pub(super) struct Statuses<'a>(Vec<&'a MemberStatus>);

impl<'a> Statuses<'a> {
    pub(super) fn of(statuses: &'a [MemberStatus]) -> Self {
        let mut last: Vec<&MemberStatus> = statuses.iter().rev().collect();
        sort_by_key(&mut last, |status| status.id);
        last.dedup_by_key(|status| status.id);
        Self(last)
    }

    pub(super) fn get(&self, member: MemberId) -> Option<&'a MemberStatus> {
        self.0.binary_search_by_key(&member, |status| status.id).ok().map(|at| self.0[at])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'a MemberStatus> {
        self.0.iter().copied()
    }
}

/// The place of the machine that a member names.
pub(super) fn place(machines: &[&Machine], member: &Member) -> Option<usize> {
    let beside = MachineId::beside(member.machine_tag()?);
    machines.binary_search_by(|machine| beside(&machine.id)).ok()
}

fn owner(machines: &[&Machine], member: &Member) -> Owner {
    place(machines, member).map_or(Owner::Nobody, Owner::Machine)
}
