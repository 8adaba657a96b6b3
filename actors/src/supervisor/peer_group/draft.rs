//! The set as it would be after some steps: who is there, votes, and is reached where.

use std::collections::BTreeMap;

use super::{
    EngineRules,
    lawful::Tally,
    roll::{Owner, Roll, Seat},
    snapshot::{Member, MemberId, MemberState, Priority},
    verdict::{Held, StepReason},
};

/// What becomes of a member of the configuration.
#[derive(Debug)]
pub(super) struct Goal {
    /// None if it is to go.
    pub member: Option<Member>,
    /// The number of its address.
    pub host: usize,
    /// Why it loses its vote or its place, if it does.
    pub why: StepReason,
}

/// A member for a machine that has none.
#[derive(Debug)]
pub(super) struct Newcomer {
    /// Its place.
    pub machine: usize,
    pub member: Member,
    /// The number of its address.
    pub host: usize,
}

impl Goal {
    pub(super) fn votes(&self) -> bool {
        self.member.as_ref().is_some_and(Member::is_voter)
    }
}

/// A member while the plan is made: as it is, or as it will be by then.
pub(super) struct Slot<'a> {
    pub id: MemberId,
    /// The place of its machine; who has none comes last.
    pub order: usize,
    /// None if it has yet to join.
    pub seat: Option<usize>,
    /// Another member stands for its machine.
    pub is_second: bool,
    pub goal: Option<&'a Member>,
    pub why: StepReason,
    pub ready: bool,
    pub secondary: bool,
    pub electable: bool,
    pub lag_ms: u64,
    /// The numbers of its address now, and in the end.
    pub host: usize,
    pub goal_host: usize,
    /// Other members of its machine, which go first: else they would stand for the machine in its place.
    pub waits_for: Vec<usize>,
    pub state: State,
}

/// What steps change about a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub present: bool,
    pub votes: u32,
    /// It has a priority although it has no vote.
    pub uneven: bool,
    pub moved: bool,
}

impl Slot<'_> {
    pub(super) fn votes(&self) -> bool {
        self.state.present && self.state.votes > 0
    }

    pub(super) fn keeps_vote(&self) -> bool {
        self.goal.is_some_and(Member::is_voter)
    }

    pub(super) fn host_now(&self, state: State) -> usize {
        if state.moved { self.goal_host } else { self.host }
    }

    /// Its address is to change: the target spells it the same where it is the same.
    pub(super) fn is_to_move(&self) -> bool {
        self.state.present && self.goal.is_some() && !self.state.moved && self.host != self.goal_host
    }

    pub(super) fn is_settled(&self) -> bool {
        match self.goal {
            None => !self.state.present,
            Some(goal) => {
                self.state.present && self.votes() == goal.is_voter() && !self.is_to_move() && !self.is_uneven()
            }
        }
    }

    pub(super) fn is_uneven(&self) -> bool {
        self.state.votes > 1 || self.state.uneven
    }
}

/// The set as it would be after the steps so far.
pub(super) struct Draft<'a> {
    pub rules: &'a EngineRules,
    pub slots: Vec<Slot<'a>>,
    /// By number of address: how many members are reached there.
    pub held: Vec<usize>,
    pub tally: Tally,
    pub primary: Result<usize, Held>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(
        roll: &'a Roll<'_>,
        hosts: usize,
        now: &[usize],
        goals: &'a [Goal],
        newcomers: &'a [Newcomer],
        rules: &'a EngineRules,
    ) -> Self {
        // In the order of machines, so that the order of the configuration makes no difference. Their places are sorted
        // before they are made: a slot is large.
        let known = goals.iter().enumerate().map(|(at, _)| (order_of(&roll.seats[at]), roll.seats[at].member.id, at));
        let new = newcomers.iter().zip(goals.len()..);
        let new = new.map(|(newcomer, at)| (newcomer.machine, newcomer.member.id, at));
        let mut places: Vec<(usize, MemberId, usize)> = known.chain(new).collect();
        places.sort_unstable();
        let slot = |(_, _, at): (usize, MemberId, usize)| match goals.get(at) {
            Some(goal) => present(at, &roll.seats[at], now[at], goal),
            None => joining(&newcomers[at - goals.len()]),
        };
        let mut slots: Vec<Slot<'a>> = places.into_iter().map(slot).collect();
        wait_for_others(&mut slots, roll);
        let primary = primary(roll).map(|id| slots.iter().position(|slot| slot.id == id).expect("it has a slot"));
        let held = vec![0; hosts + 1];
        let mut draft = Self { rules, slots, held, tally: Tally::default(), primary };
        for at in 0..draft.slots.len() {
            let state = draft.slots[at].state;
            draft.count(at, state, true);
        }
        draft
    }

    /// Whether no other member of its machine is there any more, of those that are to go.
    pub(super) fn is_alone(&self, at: usize) -> bool {
        self.slots[at].waits_for.iter().all(|other| !self.slots[*other].state.present)
    }

    /// Whether another one is reached at its address that goes because of that. That one goes first: alone with the
    /// address it would be the one to keep it.
    pub(super) fn shares_with_one_that_goes(&self, at: usize) -> bool {
        let slot = &self.slots[at];
        let host = slot.host_now(slot.state);
        let goes = |other: &Slot<'_>| {
            let is_there = other.state.present && other.host_now(other.state) == host;
            is_there && other.goal.is_none() && other.why == StepReason::NoAddress
        };
        self.held[host] > 1
            && !goes(slot)
            && self.slots.iter().enumerate().any(|(other, slot)| other != at && goes(slot))
    }

    /// Whether nobody has to go before it.
    pub(super) fn may_go(&self, at: usize) -> bool {
        self.is_alone(at) && !self.shares_with_one_that_goes(at)
    }

    pub(super) fn set(&mut self, at: usize, state: State) -> State {
        let old = self.slots[at].state;
        self.count(at, old, false);
        self.slots[at].state = state;
        self.count(at, state, true);
        old
    }

    /// Takes a member's state into the tally, or out of it.
    fn count(&mut self, at: usize, state: State, is_in: bool) {
        if !state.present {
            return;
        }
        let slot = &self.slots[at];
        let (host, votes) = (slot.host_now(state), state.votes > 0);
        let tally = &mut self.tally;
        let counts = [
            (&mut tally.members, true),
            (&mut tally.voters, votes),
            (&mut tally.ready_voters, votes && slot.ready),
            (&mut tally.learners, !votes),
            (&mut tally.clashes, host == 0),
            (&mut tally.uneven, state.votes > 1 || state.uneven),
        ];
        for (count, _) in counts.into_iter().filter(|(_, applies)| *applies) {
            if is_in { *count += 1 } else { *count -= 1 }
        }
        // The second at one address clashes, and so does every further one.
        if is_in {
            self.held[host] += 1;
            tally.clashes += usize::from(self.held[host] > 1);
        } else {
            tally.clashes -= usize::from(self.held[host] > 1);
            self.held[host] -= 1;
        }
    }
}

/// A newcomer waits until every earlier member of its machine has gone, and a member until every second one has.
fn wait_for_others(slots: &mut [Slot<'_>], roll: &Roll<'_>) {
    let mut going: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.goal.is_none()) {
        let tag = slot.seat.and_then(|seat| roll.seats[seat].member.machine_tag());
        tag.into_iter().for_each(|tag| going.entry(tag).or_default().push(at));
    }
    for at in 0..slots.len() {
        // By its tag: one that goes for its address stands for no machine any more.
        let tag = slots[at].seat.and_then(|seat| roll.seats[seat].member.machine_tag());
        let machine = tag.or_else(|| roll.machines.get(slots[at].order).map(|machine| machine.id.as_str()));
        let Some(machine) = machine.filter(|_| !going.is_empty()) else { continue };
        let others = going.get(machine).map(Vec::as_slice).unwrap_or_default();
        let (is_new, is_second) = (slots[at].seat.is_none(), slots[at].is_second);
        let goes_first = |other: &&usize| **other != at && (is_new || (slots[**other].is_second && !is_second));
        slots[at].waits_for = others.iter().filter(goes_first).copied().collect();
    }
}

/// The place of its machine; who has none comes last.
fn order_of(seat: &Seat<'_>) -> usize {
    match seat.owner {
        Owner::Machine(machine) | Owner::SecondOf(machine) => machine,
        Owner::Nobody | Owner::Gone => usize::MAX,
    }
}

fn present<'a>(at: usize, seat: &Seat<'_>, host: usize, goal: &'a Goal) -> Slot<'a> {
    let member = seat.member;
    let votes = member.votes.unwrap_or(1);
    let uneven = votes == 0 && member.priority != Some(Priority::NONE);
    Slot {
        id: member.id,
        order: order_of(seat),
        seat: Some(at),
        is_second: matches!(seat.owner, Owner::SecondOf(_)),
        goal: goal.member.as_ref(),
        why: goal.why,
        ready: seat.is_ready(),
        secondary: seat.status.is_some_and(|status| status.state == MemberState::Secondary),
        electable: member.is_electable() || (!member.is_voter() && goal.votes()),
        lag_ms: seat.lag_ms(),
        host,
        goal_host: if goal.member.is_some() { goal.host } else { host },
        waits_for: Vec::new(),
        state: State { present: true, votes, uneven, moved: false },
    }
}

fn joining(newcomer: &Newcomer) -> Slot<'_> {
    Slot {
        id: newcomer.member.id,
        order: newcomer.machine,
        seat: None,
        is_second: false,
        goal: Some(&newcomer.member),
        why: StepReason::NotWanted,
        ready: false,
        secondary: false,
        electable: false,
        lag_ms: 0,
        host: newcomer.host,
        goal_host: newcomer.host,
        waits_for: Vec::new(),
        state: State { present: false, votes: 0, uneven: false, moved: false },
    }
}

/// The one member that takes changes: said to be primary by one status only, healthy, and one that votes.
fn primary(roll: &Roll<'_>) -> Result<MemberId, Held> {
    if roll.primaries > 1 {
        return Err(Held::SeveralPrimaries);
    }
    let takes_changes = |seat: &&Seat<'_>| seat.is_primary() && seat.is_ready() && seat.member.is_electable();
    roll.seats.iter().find(takes_changes).map(|seat| seat.member.id).ok_or(Held::NoPrimary)
}
