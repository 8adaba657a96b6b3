//! Juju's answers: what its peer grouper decided, rule by rule and weakness by weakness.
//!
//! A node is put under these rules by a policy (`replicaSets.rules`), and what they would have done is rehearsed with such
//! a policy; `default` is what we stand behind. They are a function of their own and no readings of ours: the original
//! counts votes, marks changes and writes everything at once in a way that only makes sense as a whole, and a choice of
//! ours that could be switched off for it (a limit, a majority, an address that nobody else has) would be no guard.
//!
//! Differences to the original: ids keep their spelling and their place in the order, where the original re-rendered
//! numbers while sorting.

use std::collections::BTreeMap;

use super::{
    PeerRules,
    addresses::{self, AddressFault},
    plan,
    roll::{Statuses, in_order, place},
    snapshot::{Machine, MachineId, Member, MemberId, MemberState, MemberStatus, Priority, Snapshot},
    verdict::{Action, Desired, Refusal, Refused, StatusNote, Step, StepReason, Verdict},
};
use crate::vocab::{Life, Text};

/// What stands for a machine in the calculation.
#[derive(Default)]
struct Peer<'a> {
    member: Option<&'a Member>,
    status: Option<&'a MemberStatus>,
}

impl Peer<'_> {
    fn is_primary(&self) -> bool {
        self.status.is_some_and(|status| status.state == MemberState::Primary)
    }

    fn is_ready(&self) -> bool {
        self.status.is_some_and(MemberStatus::is_ready)
    }

    fn votes(&self) -> bool {
        self.member.is_some_and(Member::is_voter)
    }
}

/// What is to happen to the votes, as places of machines in their order.
#[derive(Default)]
struct Votes {
    keep: Vec<usize>,
    add: Vec<usize>,
    remove: Vec<usize>,
    create_wanted: Vec<usize>,
    create_unwanted: Vec<usize>,
    step_down: bool,
}

pub(super) fn desired(snapshot: &Snapshot, policy: PeerRules) -> Verdict {
    let refuse = |why| Err(Refused { why, machine_status: BTreeMap::new() });
    if snapshot.members.is_empty() {
        return refuse(Refusal::NoMembers);
    }
    let is_there = |machine: &&Machine| policy != PeerRules::Juju3 || machine.life != Life::Dead;
    let machines = in_order(snapshot.machines.iter().filter(is_there));
    let mut peers: Vec<Peer<'_>> = machines.iter().map(|_| Peer::default()).collect();
    let statuses = Statuses::of(&snapshot.statuses);
    let mut changed = false;
    for member in &snapshot.members {
        let Some(at) = place(&machines, member) else {
            if let Some(why) = refusal_of_extra(member, policy) {
                return refuse(why);
            }
            changed = true;
            continue;
        };
        // The last member of a machine hides the earlier ones.
        peers[at].member = Some(member);
        peers[at].status = statuses.get(member.id).or(peers[at].status);
    }
    let votes = votes(&machines, &peers);
    changed |= !(votes.add.is_empty() && votes.remove.is_empty() && votes.create_wanted.is_empty());
    let mut members = members(snapshot, &machines, &peers, &votes);
    changed |= update_addresses(snapshot, &machines, &peers, &mut members)?;
    let voting = machines.iter().zip(&members).map(|(machine, member)| (machine.id.clone(), member.is_voter()));
    let mut desired = Desired {
        changed,
        step_down_primary: votes.step_down,
        voting: voting.collect(),
        members,
        ..Desired::default()
    };
    desired.steps = steps(snapshot, &desired, &peers, &votes);
    Ok(desired)
}

fn refusal_of_extra(member: &Member, policy: PeerRules) -> Option<Refusal> {
    if !member.is_voter() {
        return None;
    }
    match policy {
        PeerRules::Juju2019 | PeerRules::Default => Some(Refusal::VotingOrphan { member: member.id }),
        PeerRules::Juju29 | PeerRules::Juju3 if member.machine_tag().is_some() => None,
        PeerRules::Juju29 | PeerRules::Juju3 => Some(Refusal::VotingStranger { member: member.id }),
    }
}

fn votes(machines: &[&Machine], peers: &[Peer<'_>]) -> Votes {
    let mut votes = Votes::default();
    for (at, peer) in peers.iter().enumerate() {
        match (machines[at].wants_vote, peer.votes()) {
            (true, true) => votes.keep.push(at),
            (true, false) if peer.is_ready() => votes.add.push(at),
            (true, false) if peer.member.is_none() => votes.create_wanted.push(at),
            (false, true) => {
                votes.remove.push(at);
                votes.step_down |= peer.is_primary();
            }
            (false, false) if peer.member.is_none() => votes.create_unwanted.push(at),
            (_, false) => (),
        }
    }
    if votes.keep.is_empty() {
        votes.remove.retain(|at| !peers[*at].is_primary());
        votes.step_down = false;
    }
    // A spared primary does not count here, which is how the original came to even numbers.
    let total = votes.keep.len() + votes.add.len();
    if total % 2 == 0 && votes.add.pop().is_none() {
        votes.remove.extend(votes.keep.iter().find(|at| !peers[**at].is_primary()));
    }
    votes
}

fn members(snapshot: &Snapshot, machines: &[&Machine], peers: &[Peer<'_>], votes: &Votes) -> Vec<Member> {
    let mut ids = snapshot.members.iter().map(|member| member.id.0).max().unwrap_or(0);
    let mut members: Vec<Member> = peers
        .iter()
        .zip(machines)
        .map(|(peer, machine)| peer.member.cloned().unwrap_or_else(|| newcomer(machine, Text::default())))
        .collect();
    for at in votes.create_wanted.iter().chain(&votes.create_unwanted) {
        ids = ids.saturating_add(1);
        members[*at].id = MemberId(ids);
    }
    votes.add.iter().for_each(|at| members[*at].give_vote());
    votes.remove.iter().for_each(|at| members[*at].take_vote());
    members
}

/// A member for a machine: no vote, and no id yet.
pub(super) fn newcomer(machine: &Machine, address: Text) -> Member {
    Member {
        id: MemberId(0),
        address,
        tags: [(super::MACHINE_TAG.to_owned(), machine.id.as_str().to_owned())].into(),
        votes: Some(0),
        priority: Some(Priority::NONE),
        other: BTreeMap::new(),
    }
}

/// Whether any address changed.
fn update_addresses(
    snapshot: &Snapshot,
    machines: &[&Machine],
    peers: &[Peer<'_>],
    members: &mut [Member],
) -> Result<bool, Refused> {
    let (mut changed, mut at_fault, mut notes) = (false, Vec::<MachineId>::new(), BTreeMap::new());
    let space = addresses::space_set(snapshot.space.as_deref());
    for ((machine, peer), member) in machines.iter().zip(peers).zip(members) {
        let present = peer.member.map(|member| member.address.as_str());
        match addresses::as_juju(&machine.addresses, snapshot.port, space, present) {
            Ok(address) if member.address == *address => (),
            Ok(address) => (changed, member.address) = (true, address.into()),
            Err(AddressFault::NoneUsable) => (),
            Err(AddressFault::SeveralUsable | AddressFault::NoneInSpace) => {
                at_fault.push(machine.id.clone());
                notes.insert(machine.id.clone(), note(space));
            }
        }
    }
    if at_fault.is_empty() {
        return Ok(changed);
    }
    let why = match space {
        Some(space) => Refusal::NoneInSpace { space: space.to_owned(), machines: at_fault },
        None => Refusal::SeveralAddresses { machines: at_fault },
    };
    Err(Refused { why, machine_status: notes })
}

/// What the machine's status says about its addresses.
pub(super) fn note(space: Option<&str>) -> StatusNote {
    space.map_or(StatusNote::SeveralAddresses, |space| StatusNote::NoneInSpace { space: space.to_owned() })
}

/// The original asked the primary to step down and wrote nothing in that round, or wrote everything at once.
fn steps(snapshot: &Snapshot, desired: &Desired, peers: &[Peer<'_>], votes: &Votes) -> Vec<Step> {
    if votes.step_down {
        let primaries = votes.remove.iter().filter(|at| peers[**at].is_primary());
        let Some(primary) = primaries.filter_map(|at| peers[*at].member).next() else { return Vec::new() };
        let voter = desired.members.iter().find(|member| member.is_voter());
        let Some(successor) = voter.map(|member| member.id) else { return Vec::new() };
        let action = Action::StepDown { primary: primary.id, successor };
        return vec![Step { action, because: StepReason::AsJuju }];
    }
    let changes = plan::difference(&snapshot.members, &desired.members);
    if changes.is_empty() || !desired.changed {
        return Vec::new();
    }
    vec![Step { action: Action::Write { changes }, because: StepReason::AsJuju }]
}
