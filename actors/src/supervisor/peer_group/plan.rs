//! From the configuration to the target: steps that are legal one by one.
//!
//! The plan asks again and again for the next step, and takes it in thought. Since the next step follows from where the
//! set stands and from nothing else, planning anew after any step goes on the same way.
//!
//! Order: what touches nobody's vote; addresses of voters; votes given; votes taken; the primary steps down. So votes are
//! given before any is taken, and when the primary steps down, hardly anybody can follow it who is to go too.

use std::{borrow::Cow, cmp::Reverse, collections::BTreeMap};

use super::{
    addresses::same_host,
    lawful::Tally,
    roll::{Owner, Roll, Seat},
    rules::EngineRules,
    snapshot::{Member, MemberId, MemberState},
    verdict::{Action, Change, Held, Step, StepReason},
};

/// What becomes of a member of the configuration.
#[derive(Debug)]
pub(super) struct Goal {
    /// None if it is to go.
    pub member: Option<Member>,
    /// Why it loses its vote or its place, if it does.
    pub why: StepReason,
}

impl Goal {
    pub(super) fn votes(&self) -> bool {
        self.member.as_ref().is_some_and(Member::is_voter)
    }
}

/// The steps, and why they end before the target if they do.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Whether the target is anything but what is.
    pub changed: bool,
    pub steps: Vec<Step>,
    pub held: Option<Held>,
}

/// What turns one configuration into another, by member id, in one go.
pub(super) fn difference(now: &[Member], then: &[Member]) -> Vec<Change> {
    let wanted: BTreeMap<MemberId, &Member> = then.iter().map(|member| (member.id, member)).collect();
    let mut present: BTreeMap<MemberId, &Member> = BTreeMap::new();
    let mut changes = Vec::new();
    for member in now {
        present.insert(member.id, member);
        let id = member.id;
        let Some(goal) = wanted.get(&id) else {
            changes.push(Change::Remove { member: id });
            continue;
        };
        match (member.is_voter(), goal.is_voter()) {
            (false, true) => changes.push(Change::Promote { member: id }),
            (true, false) => changes.push(Change::Demote { member: id }),
            _ if goal.says_the_same_but_address(member) => (),
            _ => changes.push(Change::Level { member: id }),
        }
        if member.address != goal.address {
            changes.push(Change::Move { member: id, address: goal.address.clone() });
        }
    }
    let joins = then.iter().filter(|member| !present.contains_key(&member.id));
    changes.extend(joins.map(|member| Change::Join { member: member.clone() }));
    changes
}

/// A member while the plan is made: as it is, or as it will be by then.
struct Slot<'a> {
    id: MemberId,
    /// The place of its machine; who has none comes last.
    order: usize,
    /// None if it has yet to join.
    seat: Option<usize>,
    /// Another member stands for its machine.
    is_second: bool,
    goal: Option<&'a Member>,
    why: StepReason,
    ready: bool,
    secondary: bool,
    electable: bool,
    lag_ms: u64,
    /// The numbers of its address now, and in the end.
    host: usize,
    goal_host: usize,
    /// Other members of its machine, which go first: else they would stand for the machine in its place.
    waits_for: Vec<usize>,
    state: State,
}

/// What steps change about a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    present: bool,
    votes: u32,
    /// It has a priority although it has no vote.
    uneven: bool,
    moved: bool,
}

impl Slot<'_> {
    fn votes(&self) -> bool {
        self.state.present && self.state.votes > 0
    }

    fn keeps_vote(&self) -> bool {
        self.goal.is_some_and(Member::is_voter)
    }

    fn host_now(&self, state: State) -> usize {
        if state.moved { self.goal_host } else { self.host }
    }

    /// Its address is to change: the target spells it the same where it is the same.
    fn is_to_move(&self) -> bool {
        self.state.present && self.goal.is_some() && !self.state.moved && self.host != self.goal_host
    }

    fn is_settled(&self) -> bool {
        match self.goal {
            None => !self.state.present,
            Some(goal) => {
                self.state.present && self.votes() == goal.is_voter() && !self.is_to_move() && !self.is_uneven()
            }
        }
    }

    fn is_uneven(&self) -> bool {
        self.state.votes > 1 || self.state.uneven
    }
}

/// The set as it would be after the steps so far.
struct Draft<'a> {
    rules: &'a EngineRules,
    slots: Vec<Slot<'a>>,
    /// By number of address: how many members are reached there.
    held: Vec<usize>,
    tally: Tally,
    primary: Result<usize, Held>,
}

/// The steps from what is to what shall be.
pub(super) fn plan(roll: &Roll<'_>, goals: &[Goal], newcomers: &[(usize, Member)], rules: &EngineRules) -> Plan {
    let mut draft = Draft::new(roll, goals, newcomers, rules);
    let mut plan = Plan { changed: !draft.slots.iter().all(Slot::is_settled), ..Plan::default() };
    // Every step settles something for good: a vote given is not taken again, and there is one step down.
    for _ in 0..4 * draft.slots.len() + 2 {
        match draft.next() {
            Ok(Some(step)) => plan.steps.push(step),
            Ok(None) => return plan,
            Err(held) => {
                plan.held = Some(held);
                return plan;
            }
        }
    }
    unreachable!("every step settles something")
}

impl<'a> Draft<'a> {
    fn new(roll: &'a Roll<'_>, goals: &'a [Goal], newcomers: &'a [(usize, Member)], rules: &'a EngineRules) -> Self {
        let mut hosts = Numbers::default();
        let present = roll.seats.iter().zip(goals).map(|(seat, goal)| present(seat, goal));
        let joining = newcomers.iter().map(|(order, member)| joining(*order, member));
        let mut slots: Vec<Slot<'a>> = present.chain(joining).collect();
        for (at, slot) in slots.iter_mut().enumerate() {
            slot.seat = (at < roll.seats.len()).then_some(at);
            let now = roll.seats.get(at).map(|seat| seat.member.address.as_str());
            let goal = slot.goal.map(|member| member.address.as_str());
            slot.host = hosts.of(now.or(goal).unwrap_or_default());
            slot.goal_host = goal.map_or(slot.host, |goal| hosts.of(goal));
        }
        // In the order of machines, so that the order of the configuration makes no difference.
        slots.sort_by_key(|slot| (slot.order, slot.id));
        wait_for_others(&mut slots, roll);
        let primary = primary(roll).map(|id| slots.iter().position(|slot| slot.id == id).expect("it has a slot"));
        let held = vec![0; hosts.count() + 1];
        let mut draft = Self { rules, slots, held, tally: Tally::default(), primary };
        for at in 0..draft.slots.len() {
            let state = draft.slots[at].state;
            draft.count(at, state, true);
        }
        draft
    }

    fn next(&mut self) -> Result<Option<Step>, Held> {
        if self.slots.iter().all(Slot::is_settled) {
            return Ok(None);
        }
        self.primary.clone()?;
        let mut held = None;
        let attempts = [Self::without_votes, Self::move_voter, Self::give_votes, Self::take_votes, Self::step_down];
        for attempt in attempts {
            match attempt(self) {
                Ok(Some(step)) => return Ok(Some(step)),
                Ok(None) => (),
                Err(why) => held = held.or(Some(why)),
            }
        }
        Err(held.unwrap_or(Held::AddressHeld))
    }

    /// Members without a vote come, go and move, and what no server accepts is put right.
    fn without_votes(&mut self) -> Result<Option<Step>, Held> {
        let mut wanted: Vec<(usize, State)> = Vec::new();
        let (mut moves, mut joins) = (Vec::new(), Vec::new());
        let (mut room, mut full) = (self.rules.members_max.saturating_sub(self.tally.members), false);
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.is_settled() {
                continue;
            }
            let state = slot.state;
            if state.present && slot.goal.is_none() && !slot.votes() {
                wanted.push((at, State { present: false, ..state }));
                room += 1;
            } else if state.present && slot.is_uneven() {
                wanted.push((at, State { votes: state.votes.min(1), uneven: false, ..state }));
            } else if slot.is_to_move() && !slot.votes() && self.held[slot.goal_host] == 0 {
                moves.push((at, State { moved: true, ..state }));
            } else if !state.present && slot.goal.is_some() && self.held[slot.goal_host] == 0 && self.is_alone(at) {
                full |= room == 0;
                if room > 0 {
                    room -= 1;
                    joins.push((at, State { present: true, ..state }));
                }
            }
        }
        wanted.append(&mut moves);
        wanted.append(&mut joins);
        wanted.truncate(self.rules.other_changes_per_step.unwrap_or(usize::MAX));
        if wanted.is_empty() {
            return if full { Err(Held::MembersFull { max: self.rules.members_max }) } else { Ok(None) };
        }
        self.write(&wanted, StepReason::NoVoteInvolved).map(Some)
    }

    /// One voter at a time is reached elsewhere, the primary last.
    fn move_voter(&mut self) -> Result<Option<Step>, Held> {
        let movers = |slot: &Slot<'_>| slot.is_to_move() && slot.votes();
        let mut places: Vec<usize> = (0..self.slots.len()).filter(|at| movers(&self.slots[*at])).collect();
        if places.is_empty() {
            return Ok(None);
        }
        places.sort_by_key(|at| self.primary == Ok(*at));
        let free = |at: &usize| self.held[self.slots[*at].goal_host] == 0;
        let mut held = Held::AddressHeld;
        for at in places.into_iter().filter(free).collect::<Vec<usize>>() {
            let state = State { moved: true, ..self.slots[at].state };
            match self.write(&[(at, state)], StepReason::AddressChanged) {
                Ok(step) => return Ok(Some(step)),
                Err(why) => held = why,
            }
        }
        Err(held)
    }

    fn give_votes(&mut self) -> Result<Option<Step>, Held> {
        let lacks = |slot: &Slot<'_>| slot.state.present && !slot.votes() && slot.keeps_vote();
        let lacking: Vec<usize> = (0..self.slots.len()).filter(|at| lacks(&self.slots[*at])).collect();
        if lacking.is_empty() {
            return Ok(None);
        }
        let room = self.rules.voters_max.saturating_sub(self.tally.voters);
        if room == 0 {
            return Err(Held::VotersFull { max: self.rules.voters_max });
        }
        let voting = |at: usize| (at, State { votes: 1, uneven: false, ..self.slots[at].state });
        let wanted: Vec<(usize, State)> = lacking.into_iter().map(voting).take(room).collect();
        self.write_votes(wanted, StepReason::ReadyToVote)
    }

    fn take_votes(&mut self) -> Result<Option<Step>, Held> {
        let primary = self.primary.clone().ok();
        let loses = |at: &usize| {
            let slot = &self.slots[*at];
            slot.votes() && !slot.keeps_vote() && Some(*at) != primary && self.is_alone(*at)
        };
        let mut losing: Vec<usize> = (0..self.slots.len()).filter(loses).collect();
        // Unwanted first, then who is not healthy, then who is furthest behind, then in the order of machines.
        losing.sort_by_key(|at| {
            let slot = &self.slots[*at];
            let is_wanted = matches!(slot.why, StepReason::OddCount | StepReason::TooManyVoters);
            (is_wanted, slot.ready, Reverse(slot.lag_ms), *at)
        });
        let mut held = None;
        for at in losing {
            let slot = &self.slots[at];
            let left = if self.rules.can_demote {
                State { votes: 0, uneven: false, ..slot.state }
            } else {
                State { present: false, ..slot.state }
            };
            match self.write_votes(vec![(at, left)], slot.why) {
                Ok(step) => return Ok(step),
                Err(why) => held = held.or(Some(why)),
            }
        }
        held.map_or(Ok(None), Err)
    }

    fn step_down(&mut self) -> Result<Option<Step>, Held> {
        let Ok(primary) = self.primary else { return Ok(None) };
        if self.slots[primary].keeps_vote() || !self.is_alone(primary) {
            return Ok(None);
        }
        self.tally.has_healthy_majority()?;
        let can_follow = |at: &usize| {
            let slot = &self.slots[*at];
            *at != primary && slot.votes() && slot.keeps_vote() && slot.ready && slot.secondary && slot.electable
        };
        let followers = (0..self.slots.len()).filter(can_follow);
        let Some(successor) = followers.min_by_key(|at| (self.slots[*at].lag_ms, *at)) else {
            return Err(Held::NoSuccessor);
        };
        let action = Action::StepDown { primary: self.slots[primary].id, successor: self.slots[successor].id };
        self.slots[primary].secondary = true;
        self.slots[successor].secondary = false;
        self.primary = Ok(successor);
        Ok(Some(Step { action, because: StepReason::PrimaryIsToGo }))
    }

    /// Whether no other member of its machine is there any more, of those that are to go.
    fn is_alone(&self, at: usize) -> bool {
        self.slots[at].waits_for.iter().all(|other| !self.slots[*other].state.present)
    }

    /// As many changes of votes in one write as the engine takes, and as are legal together.
    fn write_votes(&mut self, mut wanted: Vec<(usize, State)>, because: StepReason) -> Result<Option<Step>, Held> {
        wanted.truncate(self.rules.voting_changes_per_step);
        let mut held = Held::StepTooSmall;
        while !wanted.is_empty() {
            match self.write(&wanted, because) {
                Ok(step) => return Ok(Some(step)),
                Err(why) => held = why,
            }
            wanted.pop();
        }
        Err(held)
    }

    /// Takes the changes in if they are lawful together; else leaves everything as it is.
    fn write(&mut self, wanted: &[(usize, State)], because: StepReason) -> Result<Step, Held> {
        let before = self.tally;
        let old: Vec<State> = wanted.iter().map(|(at, state)| self.set(*at, *state)).collect();
        if let Err(held) = before.may_become(&self.tally, self.rules) {
            for ((at, _), old) in wanted.iter().zip(&old) {
                self.set(*at, *old);
            }
            return Err(held);
        }
        let changes = wanted.iter().zip(&old).map(|((at, new), old)| self.change(*at, *old, *new)).collect();
        Ok(Step { action: Action::Write { changes }, because })
    }

    fn change(&self, at: usize, old: State, new: State) -> Change {
        let slot = &self.slots[at];
        let (member, goal) = (slot.id, slot.goal);
        match goal {
            Some(goal) if !old.present => Change::Join { member: goal.clone() },
            Some(goal) if old.moved != new.moved => Change::Move { member, address: goal.address.clone() },
            _ if old.present && !new.present => Change::Remove { member },
            _ if old.votes == 0 && new.votes > 0 => Change::Promote { member },
            _ if old.votes > 0 && new.votes == 0 => Change::Demote { member },
            _ => Change::Level { member },
        }
    }

    fn set(&mut self, at: usize, state: State) -> State {
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
        let Some(machine) = roll.machines.get(slots[at].order).filter(|_| !going.is_empty()) else { continue };
        let others = going.get(machine.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let (is_new, is_second) = (slots[at].seat.is_none(), slots[at].is_second);
        let goes_first = |other: &&usize| **other != at && (is_new || (slots[**other].is_second && !is_second));
        slots[at].waits_for = others.iter().filter(goes_first).copied().collect();
    }
}

fn present<'a>(seat: &Seat<'_>, goal: &'a Goal) -> Slot<'a> {
    let member = seat.member;
    let votes = member.votes.unwrap_or(1);
    let uneven = votes == 0 && member.priority != Some(super::Priority::NONE);
    Slot {
        id: member.id,
        order: match seat.owner {
            Owner::Machine(machine) | Owner::SecondOf(machine) => machine,
            Owner::Nobody | Owner::Gone => usize::MAX,
        },
        seat: None,
        is_second: matches!(seat.owner, Owner::SecondOf(_)),
        goal: goal.member.as_ref(),
        why: goal.why,
        ready: seat.is_ready(),
        secondary: seat.status.is_some_and(|status| status.state == MemberState::Secondary),
        electable: member.is_electable() || (!member.is_voter() && goal.votes()),
        lag_ms: seat.lag_ms(),
        host: 0,
        goal_host: 0,
        waits_for: Vec::new(),
        state: State { present: true, votes, uneven, moved: false },
    }
}

fn joining(order: usize, member: &Member) -> Slot<'_> {
    Slot {
        id: member.id,
        order,
        seat: None,
        is_second: false,
        goal: Some(member),
        why: StepReason::NotWanted,
        ready: false,
        secondary: false,
        electable: false,
        lag_ms: 0,
        host: 0,
        goal_host: 0,
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

/// A number for each address, whatever its spelling; 0 is that of an empty one.
#[derive(Default)]
struct Numbers<'a>(BTreeMap<Cow<'a, str>, usize>);

impl<'a> Numbers<'a> {
    fn of(&mut self, host_port: &'a str) -> usize {
        if host_port.is_empty() {
            return 0;
        }
        let next = self.0.len() + 1;
        *self.0.entry(same_host(host_port)).or_insert(next)
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}
