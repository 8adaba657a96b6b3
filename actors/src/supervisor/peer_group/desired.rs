//! The target of policy `default`, and the verdict around it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    addresses::{self, AddressFault},
    hosts::{self, Claim, Hosts},
    juju,
    plan::{self, Goal},
    roll::{Owner, Roll, Seat},
    rules::EngineRules,
    snapshot::{Member, MemberId, Priority, Snapshot},
    verdict::{Desired, Finding, NotChosen, Refusal, Refused, StepReason, Verdict},
    votes::{self, Voters},
};

/// Where the members of machines are to be reached.
struct Places {
    /// By machine.
    choice: Vec<Result<String, AddressFault>>,
    hosts: Hosts,
}

/// Everything that the target is put together from.
struct Target<'a> {
    snapshot: &'a Snapshot,
    rules: &'a EngineRules,
    roll: Roll<'a>,
    places: Places,
    voters: Voters,
    verdict: Desired,
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
    let (last, places) = loop {
        if roll.seats.iter().all(|seat| seat.owner == Owner::Gone) {
            return refuse(Refusal::NobodyReachable);
        }
        let last = votes::last_voter(&roll);
        let places = places(snapshot, rules, &roll, last);
        let staying = (0..roll.seats.len()).filter(|at| stays(&roll, rules, last, *at));
        let without: Vec<usize> = staying.filter(|at| !places.hosts.address.contains_key(at)).collect();
        if without.is_empty() {
            break (last, places);
        }
        // Each round somebody leaves, so there is a last one.
        without.into_iter().for_each(|at| roll.release(at));
    };
    let more_can_come = more_can_come(&roll, &places);
    let voters = votes::choose(&roll, rules, last, more_can_come);
    Ok(Target { snapshot, rules, roll, places, voters, verdict }.put_together(last))
}

/// The first id that is there twice.
fn twice(ids: impl Iterator<Item = MemberId>) -> Option<MemberId> {
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

/// Whether a member of the configuration stays in it.
fn stays(roll: &Roll<'_>, rules: &EngineRules, last: Option<usize>, seat: usize) -> bool {
    match roll.seats[seat].owner {
        _ if last == Some(seat) => true,
        Owner::Machine(machine) => rules.can_demote || roll.machines[machine].wants_vote,
        Owner::SecondOf(_) | Owner::Nobody | Owner::Gone => false,
    }
}

fn places(snapshot: &Snapshot, rules: &EngineRules, roll: &Roll<'_>, last: Option<usize>) -> Places {
    let space = snapshot.space.as_deref();
    let present = |machine: usize| roll.seat_of[machine].map(|at| roll.seats[at].member.address.as_str());
    let choice: Vec<Result<String, AddressFault>> = roll
        .machines
        .iter()
        .enumerate()
        .map(|(at, machine)| addresses::choose(machine, snapshot.port, space, present(at)))
        .collect();
    let mut claims = Vec::new();
    for (at, seat) in roll.seats.iter().enumerate() {
        if !stays(roll, rules, last, at) {
            continue;
        }
        let (order, wish) = match seat.owner {
            Owner::Machine(machine) => (machine, choice[machine].as_ref().ok().cloned()),
            _ => (usize::MAX, None),
        };
        let rank = (!seat.is_primary(), !seat.member.is_voter(), order);
        claims.push(Claim { who: at, rank, present: &seat.member.address, wish });
    }
    let hosts = hosts::settle(&claims);
    Places { choice, hosts }
}

/// Whether somebody wanted is on the way: a member that has yet to catch up, or a machine that can join.
fn more_can_come(roll: &Roll<'_>, places: &Places) -> bool {
    roll.machines.iter().enumerate().any(|(at, machine)| {
        machine.wants_vote
            && match roll.seat_of[at].map(|seat| &roll.seats[seat]) {
                Some(seat) => !seat.member.is_voter() && !seat.is_ready(),
                None => places.choice[at].as_ref().is_ok_and(|address| !places.hosts.is_taken(address)),
            }
    })
}

impl<'a> Target<'a> {
    fn put_together(mut self, last: Option<usize>) -> Desired {
        let mut goals: Vec<Goal> = self.roll.seats.iter().map(|seat| Goal::gone(self.why_it_goes(seat))).collect();
        let voters = self.voters.votes.iter().filter(|votes| **votes).count();
        let mut learners = self.rules.members_max.saturating_sub(voters);
        learners = self.rules.learners_max.map_or(learners, |max| learners.min(max));
        for at in 0..goals.len() {
            if self.voters.votes[at] {
                goals[at].member = Some(self.member_of(at));
            }
        }
        for at in self.staying_learners(last) {
            if learners == 0 {
                self.leave_out(at);
                continue;
            }
            learners -= 1;
            goals[at].member = Some(self.member_of(at));
        }
        let newcomers = self.newcomers(learners);
        self.report(last);
        self.assemble(goals, newcomers)
    }

    /// Members without a vote that keep their place: wanted before unwanted, those that never had a vote first.
    fn staying_learners(&self, last: Option<usize>) -> Vec<usize> {
        let mut seats: Vec<(bool, bool, usize, usize)> = Vec::new();
        for (at, seat) in self.roll.seats.iter().enumerate() {
            let Owner::Machine(machine) = seat.owner else { continue };
            let loses_place = !self.rules.can_demote && seat.member.is_voter();
            if !self.voters.votes[at] && stays(&self.roll, self.rules, last, at) && !loses_place {
                seats.push((!self.roll.machines[machine].wants_vote, seat.member.is_voter(), machine, at));
            }
        }
        seats.sort_unstable();
        seats.into_iter().map(|(_, _, _, at)| at).collect()
    }

    fn leave_out(&mut self, seat: usize) {
        if let Owner::Machine(machine) = self.roll.seats[seat].owner {
            let why = self.no_room();
            self.verdict.not_chosen.insert(self.roll.machines[machine].id.clone(), why);
        }
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
        if let Some(address) = self.places.hosts.address.get(&seat) {
            member.address.clone_from(address);
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
    fn newcomers(&mut self, mut learners: usize) -> Vec<(usize, Member)> {
        let roll = &self.roll;
        let has_place = |machine: usize| {
            let seat = roll.seat_of[machine];
            seat.is_some_and(|at| self.rules.can_demote || !roll.seats[at].member.is_voter() || self.voters.votes[at])
        };
        let mut machines: Vec<usize> = (0..roll.machines.len()).filter(|at| !has_place(*at)).collect();
        // Where there is no way from voter to member without a vote, who wants no vote is no member.
        machines.retain(|at| self.rules.can_demote || roll.machines[*at].wants_vote);
        machines.sort_by_key(|at| !roll.machines[*at].wants_vote);
        let mut ids = Ids::of(self.snapshot, self.rules);
        let mut newcomers = Vec::new();
        for machine in machines {
            let id = self.roll.machines[machine].id.clone();
            let (address, returns) = match (&self.places.choice[machine], self.roll.seat_of[machine]) {
                (_, Some(seat)) => (self.places.hosts.address.get(&seat).cloned(), true),
                (Ok(address), None) => (Some(address.clone()), false),
                (Err(fault), None) => {
                    self.verdict.not_chosen.insert(id, NotChosen::Address { fault: *fault });
                    continue;
                }
            };
            let Some(address) = address else { continue };
            if learners == 0 {
                self.verdict.not_chosen.insert(id, self.no_room());
            } else if returns || self.places.hosts.admit(&address) {
                learners -= 1;
                let (member_id, is_used_again) = ids.next();
                let member = Member { id: member_id, address, ..juju::newcomer(self.roll.machines[machine]) };
                if is_used_again {
                    self.verdict.findings.push(Finding::IdUsedAgain { member: member_id });
                }
                newcomers.push((machine, member));
            } else {
                self.verdict.findings.push(Finding::AddressTaken { machine: id.clone() });
                self.verdict.not_chosen.insert(id, NotChosen::AddressTaken);
            }
        }
        newcomers
    }

    /// What is said about machines and votes.
    fn report(&mut self, last: Option<usize>) {
        let (roll, verdict) = (&self.roll, &mut self.verdict);
        for (machine, why) in &self.voters.left_out {
            verdict.not_chosen.entry(roll.machines[*machine].id.clone()).or_insert_with(|| why.clone());
        }
        let space = addresses::space_set(self.snapshot.space.as_deref());
        for (machine, choice) in roll.machines.iter().zip(&self.places.choice) {
            let Err(fault) = choice else { continue };
            let machine = machine.id.clone();
            if *fault != AddressFault::NoneUsable {
                verdict.machine_status.insert(machine.clone(), juju::note(space));
            }
            verdict.findings.push(Finding::BadAddress { machine, fault: *fault });
        }
        for at in &self.places.hosts.refused {
            if let Owner::Machine(machine) = roll.seats[*at].owner {
                verdict.findings.push(Finding::AddressTaken { machine: roll.machines[machine].id.clone() });
            }
        }
        let gone = roll.seats.iter().filter(|seat| seat.owner == Owner::Gone);
        verdict.findings.extend(gone.map(|seat| Finding::NoAddress { member: seat.member.id }));
        if let Some(last) = last {
            verdict.findings.push(Finding::LastVoterStays { member: roll.seats[last].member.id });
        }
        if self.voters.even_for_now {
            let voters = self.voters.votes.iter().filter(|votes| **votes).count();
            verdict.findings.push(Finding::EvenForNow { voters });
        }
    }

    fn assemble(self, goals: Vec<Goal>, newcomers: Vec<(usize, Member)>) -> Desired {
        let Self { rules, roll, mut verdict, .. } = self;
        let plan = plan::plan(&roll, &goals, &newcomers, rules);
        (verdict.changed, verdict.steps, verdict.held) = (plan.changed, plan.steps, plan.held);
        let loses_vote = |(seat, goal): (&Seat<'_>, &Goal)| seat.is_primary() && !goal.votes();
        verdict.step_down_primary = roll.seats.iter().zip(&goals).any(loses_vote);
        let mut members: Vec<(usize, Member)> = newcomers;
        for (seat, goal) in roll.seats.iter().zip(goals) {
            let place = if let Owner::Machine(machine) = seat.owner { machine } else { usize::MAX };
            members.extend(goal.member.map(|member| (place, member)));
        }
        members.sort_by_key(|(place, _)| *place);
        let is_machine = |(place, _): &&(usize, Member)| *place != usize::MAX;
        let vote = |(place, member): &(usize, Member)| (roll.machines[*place].id.clone(), member.is_voter());
        verdict.voting = members.iter().filter(is_machine).map(vote).collect();
        verdict.members = members.into_iter().map(|(_, member)| member).collect();
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
struct Ids {
    highest: u64,
    max: u64,
    used: BTreeSet<u64>,
}

impl Ids {
    fn of(snapshot: &Snapshot, rules: &EngineRules) -> Self {
        let used: BTreeSet<u64> = snapshot.members.iter().map(|member| member.id.0).collect();
        Self { highest: used.last().copied().unwrap_or(0), max: rules.member_id_max, used }
    }

    /// The id, and whether it may have been somebody else's once.
    fn next(&mut self) -> (MemberId, bool) {
        let following = self.highest.checked_add(1).filter(|id| *id <= self.max);
        let id = match following {
            Some(id) => id,
            None => (0..).find(|id| !self.used.contains(id)).unwrap_or(0),
        };
        self.highest = self.highest.max(id);
        self.used.insert(id);
        (MemberId(id), following.is_none())
    }
}
