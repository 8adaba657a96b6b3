//! From the configuration to the target: steps that are legal one by one.
//!
//! The plan asks again and again for the next step, and takes it in thought. Since the next step follows from where the
//! set stands and from nothing else, planning anew after any step goes on the same way.
//!
//! Order: what touches nobody's vote; addresses of voters; votes given; votes taken; the primary steps down. So votes are
//! given before any is taken, and when the primary steps down, hardly anybody can follow it who is to go too.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    EngineRules,
    draft::{Draft, Goal, Newcomer, Slot, State},
    roll::Roll,
    snapshot::{Member, MemberId},
    verdict::{Action, Change, Held, Step, StepReason},
};
use crate::vocab::{
    guard::{self, Guard},
    sort_by_key,
};

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

/// The steps from what is to what shall be; `hosts` says how many addresses have a number.
pub(super) fn plan(
    roll: &Roll<'_>,
    hosts: usize,
    now: &[usize],
    goals: &[Goal],
    newcomers: &[Newcomer],
    rules: &EngineRules,
) -> Plan {
    let mut draft = Draft::new(roll, hosts, now, goals, newcomers, rules);
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

impl Draft<'_> {
    /// The next step towards what is not settled yet; nothing else is asked about.
    fn next(&mut self) -> Result<Option<Step>, Held> {
        let open: Vec<usize> = (0..self.slots.len()).filter(|at| !self.slots[*at].is_settled()).collect();
        if open.is_empty() {
            return Ok(None);
        }
        self.primary.clone()?;
        let mut held = None;
        let attempts = [Self::without_votes, Self::move_voter, Self::give_votes, Self::take_votes, Self::step_down];
        for attempt in attempts {
            match attempt(self, &open) {
                Ok(Some(step)) => return Ok(Some(step)),
                Ok(None) => (),
                Err(why) => held = held.or(Some(why)),
            }
        }
        Err(held.unwrap_or(Held::AddressHeld))
    }

    /// Members without a vote come, go and move, and what no server accepts is put right.
    fn without_votes(&mut self, open: &[usize]) -> Result<Option<Step>, Held> {
        let mut wanted: Vec<(usize, State)> = Vec::new();
        let (mut moves, mut joins) = (Vec::new(), Vec::new());
        let (mut room, mut full) = (self.rules.members_max.saturating_sub(self.tally.members), false);
        let can_join = !self.rules.joins_need_every_voter || self.tally.ready_voters == self.tally.voters;
        let mut sick = false;
        for at in open.iter().copied() {
            let slot = &self.slots[at];
            let state = slot.state;
            if state.present && slot.goal.is_none() && !slot.votes() {
                if !self.may_go(at) {
                    continue;
                }
                wanted.push((at, State { present: false, ..state }));
                room += 1;
            } else if state.present && slot.is_uneven() {
                wanted.push((at, State { votes: state.votes.min(1), uneven: false, ..state }));
            } else if slot.is_to_move()
                && !slot.votes()
                && self.held[slot.goal_host] == 0
                && !self.shares_with_one_that_goes(at)
            {
                moves.push((at, State { moved: true, ..state }));
            } else if !state.present && slot.goal.is_some() && self.held[slot.goal_host] == 0 && self.is_alone(at) {
                full |= room == 0;
                sick |= !can_join;
                if room > 0 && can_join {
                    room -= 1;
                    joins.push((at, State { present: true, ..state }));
                }
            }
        }
        wanted.append(&mut moves);
        wanted.append(&mut joins);
        wanted.truncate(self.rules.other_changes_per_step.unwrap_or(usize::MAX));
        if wanted.is_empty() && sick {
            return Err(Held::VoterSick);
        }
        if wanted.is_empty() {
            return if full { Err(Held::MembersFull { max: self.rules.members_max }) } else { Ok(None) };
        }
        self.write(&wanted, StepReason::NoVoteInvolved).map(Some)
    }

    /// One voter at a time is reached elsewhere, the primary last.
    fn move_voter(&mut self, open: &[usize]) -> Result<Option<Step>, Held> {
        let moves = |at: &usize| {
            let slot = &self.slots[*at];
            slot.is_to_move() && slot.votes() && !self.shares_with_one_that_goes(*at)
        };
        let mut places: Vec<usize> = open.iter().copied().filter(moves).collect();
        if places.is_empty() {
            return Ok(None);
        }
        sort_by_key(&mut places, |at| self.primary == Ok(*at));
        // An address that another one still has is refused as a clash.
        let mut held = Held::AddressHeld;
        if !guard::holds(Guard::OneAddressAtATime) {
            let moved = |at: &usize| (*at, State { moved: true, ..self.slots[*at].state });
            let all: Vec<(usize, State)> = places.iter().map(moved).collect();
            return self.write(&all, StepReason::AddressChanged).map(Some);
        }
        for at in places {
            let state = State { moved: true, ..self.slots[at].state };
            match self.write(&[(at, state)], StepReason::AddressChanged) {
                Ok(step) => return Ok(Some(step)),
                Err(why) => held = why,
            }
        }
        Err(held)
    }

    fn give_votes(&mut self, open: &[usize]) -> Result<Option<Step>, Held> {
        let lacks = |slot: &Slot<'_>| slot.state.present && !slot.votes() && slot.keeps_vote();
        let lacking: Vec<usize> = open.iter().copied().filter(|at| lacks(&self.slots[*at])).collect();
        if lacking.is_empty() {
            return Ok(None);
        }
        let voting = |at: usize| (at, State { votes: 1, uneven: false, ..self.slots[at].state });
        let wanted: Vec<(usize, State)> = lacking.into_iter().map(voting).collect();
        self.write_votes(wanted, StepReason::ReadyToVote)
    }

    fn take_votes(&mut self, open: &[usize]) -> Result<Option<Step>, Held> {
        let primary = self.primary.clone().ok();
        let loses = |at: &usize| {
            let slot = &self.slots[*at];
            let is_spared = Some(*at) == primary && guard::holds(Guard::PrimaryStepsDownFirst);
            let may_lose_it = if self.rules.can_demote { self.is_alone(*at) } else { self.may_go(*at) };
            slot.votes() && !slot.keeps_vote() && !is_spared && may_lose_it
        };
        let mut losing: Vec<usize> = open.iter().copied().filter(loses).collect();
        // Unwanted first, then who is not healthy, then who is furthest behind, then in the order of machines.
        sort_by_key(&mut losing, |at| {
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

    fn step_down(&mut self, _: &[usize]) -> Result<Option<Step>, Held> {
        let Ok(primary) = self.primary else { return Ok(None) };
        if self.slots[primary].keeps_vote() || !self.is_alone(primary) {
            return Ok(None);
        }
        self.tally.has_healthy_majority()?;
        // Where two share an address, one of them has to go first: which one must not follow from who leads.
        if self.tally.clashes > 0 {
            return Err(Held::Malformed);
        }
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
        let is_stuck = self.tally.voters != before.voters
            && self.tally.voters.is_multiple_of(2)
            && !guard::holds(Guard::EvenOnTheWay);
        let lawful = before.may_become(&self.tally, self.rules);
        if let Err(held) = if is_stuck { Err(Held::StepTooSmall) } else { lawful } {
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
}
