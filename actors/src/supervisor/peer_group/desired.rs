//! The target of policy `default`, and the verdict around it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    EngineRules,
    addresses::{self, AddressFault, HostPort},
    draft::{Goal, Newcomer},
    hosts::{self, Claim, Hosts, Numbers},
    juju, plan,
    roll::{Owner, Roll, Seat},
    snapshot::{Machine, Member, MemberId, Priority, Snapshot},
    verdict::{Desired, Finding, NotChosen, Refusal, Refused, StepReason, Verdict},
    votes::{self, Voters},
};
use crate::vocab::{
    Text,
    guard::{self, Guard},
    sort_by_key,
};

/// Everything that the target is put together from.
struct Target<'a> {
    snapshot: &'a Snapshot,
    rules: &'a EngineRules,
    roll: Roll<'a>,
    /// By machine: the address it gives for the member that it has, or for a new one.
    choice: Vec<Choice<'a>>,
    /// Of all addresses; by seat, that of its own.
    numbers: Numbers<'a>,
    now: Vec<usize>,
    voters: Voters,
    stay: Stay,
    hosts: Hosts<'a>,
    verdict: Desired,
}

/// The address that a machine gives.
type Choice<'a> = Result<Cow<'a, str>, AddressFault>;

/// Which members of the configuration stay in it.
struct Stay {
    /// By seat.
    seats: Vec<bool>,
    /// How many members without a vote there is still room for.
    room: usize,
}

pub(super) fn desired(snapshot: &Snapshot, rules: &EngineRules) -> Verdict {
    let refuse = |why| Err(Refused { why, machine_status: BTreeMap::new() });
    if snapshot.members.is_empty() {
        return refuse(Refusal::NoMembers);
    }
    if let Some(member) = twice(snapshot.members.iter().map(|member| member.id)) {
        return refuse(Refusal::MemberTwice { member });
    }
    let mut roll = Roll::new(snapshot);
    let mut verdict = Desired::default();
    report_members(&roll, &mut verdict.findings);
    let stranger = roll.seats.iter().find(|seat| seat.owner == Owner::Nobody && seat.member.is_voter());
    if let (Some(stranger), false) = (stranger, guard::holds(Guard::OrphansStopNothing)) {
        return refuse(Refusal::VotingOrphan { member: stranger.member.id });
    }
    let mut numbers = Numbers::default();
    let now: Vec<usize> = roll.seats.iter().map(|seat| numbers.of(HostPort::of(&seat.member.address))).collect();
    loop {
        if roll.seats.iter().all(|seat| seat.owner == Owner::Gone) {
            return refuse(Refusal::NobodyReachable);
        }
        let choice = choices(snapshot, &roll);
        let voters = votes::choose(&roll, rules, more_can_come(&roll, &choice));
        let stay = stay(&roll, rules, &voters);
        let claims = claims(&roll, &voters, &stay, &choice, &now, &mut numbers);
        let hosts = hosts::settle(claims, roll.seats.len(), &numbers);
        let is_without = |at: &usize| stay.seats[*at] && hosts.address[*at].is_none();
        let without: Vec<usize> = (0..roll.seats.len()).filter(is_without).collect();
        if without.is_empty() {
            let target = Target { snapshot, rules, roll, choice, numbers, now, voters, stay, hosts, verdict };
            return Ok(target.put_together());
        }
        // Each round somebody leaves, so there is a last one.
        without.into_iter().for_each(|at| roll.release(at));
    }
}

/// The first id that is there twice.
fn twice(ids: impl Iterator<Item = MemberId>) -> Option<MemberId> {
    let ids: Vec<MemberId> = ids.collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    if sorted.is_sorted_by(|id, next| id < next) {
        return None;
    }
    let mut seen = BTreeSet::new();
    ids.into_iter().find(|id| !seen.insert(*id))
}

fn report_members(roll: &Roll<'_>, findings: &mut Vec<Finding>) {
    for seat in &roll.seats {
        let member = seat.member.id;
        match seat.owner {
            Owner::Nobody => findings.push(Finding::Orphan { member, votes: seat.member.is_voter() }),
            Owner::SecondOf(machine) => {
                let kept = roll.seat_of[machine].map_or(member, |at| roll.seats[at].member.id);
                findings.push(Finding::SecondOfMachine { machine: roll.machines[machine].id.clone(), member, kept });
            }
            Owner::Machine(_) | Owner::Gone => (),
        }
    }
    if roll.primaries > 1 {
        findings.push(Finding::SeveralPrimaries { members: roll.primaries });
    }
}

fn choices<'a>(snapshot: &Snapshot, roll: &Roll<'a>) -> Vec<Choice<'a>> {
    let present = |seat: &Option<usize>| seat.map(|at| roll.seats[at].member.address.as_str());
    let machines = roll.machines.iter().zip(&roll.seat_of);
    machines.map(|(machine, seat)| choice(snapshot, machine, present(seat))).collect()
}

fn choice<'a>(snapshot: &Snapshot, machine: &Machine, present: Option<&'a str>) -> Choice<'a> {
    addresses::choose(&machine.addresses, snapshot.port, snapshot.space.as_deref(), snapshot.one_host, present)
}

/// Whether somebody wanted is on the way: a member that has yet to catch up, or a machine that can join.
fn more_can_come(roll: &Roll<'_>, choice: &[Choice<'_>]) -> bool {
    roll.machines.iter().enumerate().filter(|(_, machine)| machine.wants_vote).any(|(at, _)| {
        let member = roll.seat_of[at].map(|seat| &roll.seats[seat]);
        member.map_or(choice[at].is_ok(), |seat| !seat.member.is_voter() && !seat.is_ready())
    })
}

/// Voters stay. Others stay while there is room: wanted before unwanted, those that never had a vote first. Where there is
/// no way from voter to member without a vote, only who is wanted and has no vote yet.
fn stay(roll: &Roll<'_>, rules: &EngineRules, voters: &Voters) -> Stay {
    let mut stay = Stay { seats: voters.votes.clone(), room: 0 };
    let votes = voters.votes.iter().filter(|votes| **votes).count();
    stay.room = rules.members_max.saturating_sub(votes).min(rules.learners_max.unwrap_or(usize::MAX));
    let mut others: Vec<(bool, bool, usize, usize)> = Vec::with_capacity(roll.seats.len());
    for (at, seat) in roll.seats.iter().enumerate().filter(|(at, _)| !voters.votes[*at]) {
        let Owner::Machine(machine) = seat.owner else { continue };
        let (is_wanted, is_voter) = (roll.machines[machine].wants_vote, seat.member.is_voter());
        if rules.can_demote || (is_wanted && !is_voter) {
            others.push((!is_wanted, is_voter, machine, at));
        }
    }
    others.sort_unstable();
    for (_, _, _, at) in others.into_iter().take(stay.room) {
        stay.seats[at] = true;
        stay.room -= 1;
    }
    stay
}

fn claims<'a>(
    roll: &Roll<'a>,
    voters: &Voters,
    stay: &Stay,
    choice: &[Choice<'a>],
    now: &[usize],
    numbers: &mut Numbers<'_>,
) -> Vec<Claim<'a>> {
    let mut claims = Vec::with_capacity(roll.seats.len());
    for (at, seat) in roll.seats.iter().enumerate().filter(|(at, _)| stay.seats[*at]) {
        let (order, given) = match seat.owner {
            Owner::Machine(machine) => (machine, choice[machine].as_ref().ok()),
            Owner::SecondOf(_) | Owner::Nobody | Owner::Gone => (usize::MAX, None),
        };
        let rank = (!voters.votes[at], order, seat.member.id);
        let present = seat.member.address.as_str();
        // Nearly everybody stays, and equal texts need no second look.
        let other = given.filter(|given| **given != present).map(|given| (given.clone(), numbers.of_text(given)));
        let wish = other.filter(|(_, host)| *host != now[at]);
        claims.push(Claim { who: at, rank, present, host: now[at], wish });
    }
    claims
}

impl<'a> Target<'a> {
    fn put_together(mut self) -> Desired {
        let goal = |(at, seat): (usize, &Seat<'_>)| Goal {
            member: self.stay.seats[at].then(|| self.member_of(at)),
            host: self.hosts.address[at].as_ref().map_or(0, |(_, host)| *host),
            why: self.why_it_goes(seat),
        };
        let goals: Vec<Goal> = self.roll.seats.iter().enumerate().map(goal).collect();
        let newcomers = self.newcomers();
        self.report();
        self.assemble(goals, newcomers)
    }

    fn no_room(&self) -> NotChosen {
        match self.rules.learners_max {
            Some(max) if max < self.rules.members_max => NotChosen::LearnersFull { max },
            _ => NotChosen::MembersFull { max: self.rules.members_max },
        }
    }

    /// The member as it shall be; only what is meant to change differs from what it is.
    fn member_of(&self, seat: usize) -> Member {
        let mut member = self.roll.seats[seat].member.clone();
        if let Some((Cow::Owned(address), _)) = &self.hosts.address[seat] {
            member.address = address.as_str().into();
        }
        match (self.voters.votes[seat], member.is_voter()) {
            (true, false) => member.give_vote(),
            (false, true) => member.take_vote(),
            (true, true) => member.votes = member.votes.map(|votes| votes.min(1)),
            (false, false) => member.priority = Some(Priority::NONE),
        }
        member
    }

    /// Machines without a member that get one: by machine, wanted before unwanted.
    fn newcomers(&mut self) -> Vec<Newcomer> {
        let (roll, stay) = (&self.roll, &self.stay);
        let has_place = |machine: usize| roll.seat_of[machine].is_some_and(|at| stay.seats[at]);
        let mut machines: Vec<usize> = (0..roll.machines.len()).filter(|at| !has_place(*at)).collect();
        // Where there is no way from voter to member without a vote, who wants no vote is no member.
        machines.retain(|at| self.rules.can_demote || roll.machines[*at].wants_vote);
        sort_by_key(&mut machines, |at| !roll.machines[*at].wants_vote);
        let mut room = self.stay.room;
        let mut ids = Ids::of(self.snapshot, self.rules);
        let mut newcomers = Vec::new();
        for machine in machines {
            let id = self.roll.machines[machine].id.clone();
            // Who was a member before comes back like anybody else: what its member had is forgotten.
            let choice = match self.roll.seat_of[machine] {
                None => self.choice[machine].clone(),
                Some(_) => choice(self.snapshot, self.roll.machines[machine], None),
            };
            let address = match choice {
                Ok(address) => address,
                Err(fault) => {
                    self.verdict.not_chosen.insert(id, NotChosen::Address { fault });
                    continue;
                }
            };
            if room == 0 {
                self.verdict.not_chosen.insert(id, self.no_room());
                continue;
            }
            let host = self.numbers.of_text(&address);
            if self.hosts.admit(host) {
                room -= 1;
                let (member_id, is_used_again) = ids.next();
                if self.roll.machines[machine].wants_vote {
                    self.verdict.not_chosen.insert(id, NotChosen::Joins);
                }
                let address = Text::from(&*address);
                let member = Member { id: member_id, ..juju::newcomer(self.roll.machines[machine], address) };
                if is_used_again {
                    self.verdict.findings.push(Finding::IdUsedAgain { member: member_id });
                }
                newcomers.push(Newcomer { machine, member, host });
            } else {
                self.verdict.findings.push(Finding::AddressTaken { machine: id.clone() });
                self.verdict.not_chosen.insert(id, NotChosen::AddressTaken);
            }
        }
        newcomers
    }

    /// What is said about machines and votes.
    fn report(&mut self) {
        let (roll, verdict) = (&self.roll, &mut self.verdict);
        for (machine, why) in &self.voters.left_out {
            verdict.not_chosen.entry(roll.machines[*machine].id.clone()).or_insert_with(|| why.clone());
        }
        let space = addresses::space_set(self.snapshot.space.as_deref());
        for (machine, choice) in roll.machines.iter().zip(&self.choice) {
            let Err(fault) = choice else { continue };
            let machine = machine.id.clone();
            if *fault != AddressFault::NoneUsable {
                verdict.machine_status.insert(machine.clone(), juju::note(space));
            }
            verdict.findings.push(Finding::BadAddress { machine, fault: *fault });
        }
        for at in &self.hosts.refused {
            if let Owner::Machine(machine) = roll.seats[*at].owner {
                verdict.findings.push(Finding::AddressTaken { machine: roll.machines[machine].id.clone() });
            }
        }
        let gone = roll.seats.iter().filter(|seat| seat.owner == Owner::Gone);
        verdict.findings.extend(gone.map(|seat| Finding::NoAddress { member: seat.member.id }));
        if let Some(last) = self.voters.last {
            verdict.findings.push(Finding::LastVoterStays { member: roll.seats[last].member.id });
        }
        if self.voters.even_for_now {
            let voters = self.voters.votes.iter().filter(|votes| **votes).count();
            verdict.findings.push(Finding::EvenForNow { voters });
        }
    }

    fn assemble(self, goals: Vec<Goal>, newcomers: Vec<Newcomer>) -> Desired {
        let Self { rules, roll, numbers, now, mut verdict, .. } = self;
        let plan = plan::plan(&roll, numbers.count(), &now, &goals, &newcomers, rules);
        (verdict.changed, verdict.steps, verdict.held) = (plan.changed, plan.steps, plan.held);
        let loses_vote = |(seat, goal): (&Seat<'_>, &Goal)| seat.is_primary() && !goal.votes();
        verdict.step_down_primary = roll.seats.iter().zip(&goals).any(loses_vote);
        // A machine has one member at most, so each has its place and nothing needs to be sorted.
        let mut of_machine: Vec<Option<Member>> = roll.machines.iter().map(|_| None).collect();
        newcomers.into_iter().for_each(|newcomer| of_machine[newcomer.machine] = Some(newcomer.member));
        let mut of_none: Vec<Member> = Vec::new();
        for (seat, goal) in roll.seats.iter().zip(goals) {
            match (seat.owner, goal.member) {
                (_, None) => (),
                (Owner::Machine(machine), member) => of_machine[machine] = member,
                (Owner::SecondOf(_) | Owner::Nobody | Owner::Gone, Some(member)) => of_none.push(member),
            }
        }
        let vote = |(machine, member): (&&Machine, &Option<Member>)| {
            member.as_ref().map(|member| (machine.id.clone(), member.is_voter()))
        };
        verdict.voting = roll.machines.iter().zip(&of_machine).filter_map(vote).collect();
        verdict.members = of_machine.into_iter().flatten().chain(of_none).collect();
        verdict
    }

    /// Why a member loses its vote or its place.
    fn why_it_goes(&self, seat: &Seat<'_>) -> StepReason {
        match seat.owner {
            Owner::Nobody => StepReason::NoMachine,
            Owner::SecondOf(_) => StepReason::SecondOfMachine,
            Owner::Gone => StepReason::NoAddress,
            Owner::Machine(machine) => match self.voters.left_out.get(&machine) {
                Some(NotChosen::WouldBeEven) => StepReason::OddCount,
                Some(NotChosen::VotersFull { .. }) => StepReason::TooManyVoters,
                _ => StepReason::NotWanted,
            },
        }
    }
}

/// Ids for newcomers: one more than the highest, while the engine takes it; then the lowest that is free.
struct Ids<'a> {
    members: &'a [Member],
    /// The highest in the configuration, and the highest so far.
    first: u64,
    highest: u64,
    max: u64,
    /// Empty until the highest ids are used up.
    used: BTreeSet<u64>,
}

impl<'a> Ids<'a> {
    fn of(snapshot: &'a Snapshot, rules: &EngineRules) -> Self {
        let members = &snapshot.members;
        let first = members.iter().map(|member| member.id.0).max().unwrap_or(0);
        Self { members, first, highest: first, max: rules.member_id_max, used: BTreeSet::new() }
    }

    /// The id, and whether it may have been somebody else's once.
    fn next(&mut self) -> (MemberId, bool) {
        if let Some(id) = self.highest.checked_add(1).filter(|id| *id <= self.max) {
            self.highest = id;
            return (MemberId(id), false);
        }
        if self.used.is_empty() {
            self.used = self.members.iter().map(|member| member.id.0).chain(self.first..=self.highest).collect();
        }
        let id = (0..).find(|id| !self.used.contains(id)).unwrap_or(0);
        self.used.insert(id);
        (MemberId(id), true)
    }
}
