//! What must hold for every snapshot, and one test for each guard.

mod beside;
mod dice;
mod guards;
mod properties;
mod reached;
mod server;

use std::collections::BTreeMap;

use super::*;
use crate::{replica_set::flags, vocab::Life};

/// A machine `N` that wants a vote and is reached at `10.0.0.N`.
fn machine(number: u8) -> Machine {
    let addresses = vec![address(&format!("10.0.0.{number}"))];
    Machine { id: number.to_string().as_str().into(), wants_vote: true, life: Life::Alive, addresses }
}

fn unwanted(number: u8) -> Machine {
    Machine { wants_vote: false, ..machine(number) }
}

fn address(value: &str) -> Address {
    Address { value: value.into(), scope: Scope::LocalCloud, space: None, port: None }
}

/// The member `N` of machine `N`, with a vote.
fn voter(number: u8) -> Member {
    Member {
        id: MemberId(number.into()),
        address: format!("10.0.0.{number}:7").into(),
        tags: [(MACHINE_TAG.to_owned(), number.to_string())].into(),
        votes: None,
        priority: None,
        other: BTreeMap::new(),
    }
}

fn learner(number: u8) -> Member {
    Member { votes: Some(0), priority: Some(Priority::NONE), ..voter(number) }
}

fn status(number: u8, state: MemberState) -> MemberStatus {
    MemberStatus { id: MemberId(number.into()), healthy: true, state, lag_ms: None }
}

fn snapshot(machines: &[Machine], members: &[Member], statuses: &[MemberStatus]) -> Snapshot {
    Snapshot {
        machines: machines.into(),
        members: members.into(),
        statuses: statuses.into(),
        port: 7,
        space: None,
        one_host: false,
    }
}

/// Every member is a healthy secondary, but the first, which is primary.
fn healthy(machines: &[Machine], members: &[Member]) -> Snapshot {
    let mut statuses: Vec<MemberStatus> = members
        .iter()
        .map(|member| MemberStatus { id: member.id, healthy: true, state: MemberState::Secondary, lag_ms: None })
        .collect();
    statuses[0].state = MemberState::Primary;
    snapshot(machines, members, &statuses)
}

fn sick(mut snapshot: Snapshot, numbers: &[u64]) -> Snapshot {
    for status in snapshot.statuses.iter_mut().filter(|status| numbers.contains(&status.id.0)) {
        (status.healthy, status.state) = (false, MemberState::Down);
    }
    snapshot
}

/// The verdict of policy `default` for MongoDB, after every step was seen to be lawful.
fn desired(snapshot: &Snapshot) -> Desired {
    desired_by(snapshot, &EngineRules::mongodb())
}

fn desired_by(snapshot: &Snapshot, rules: &EngineRules) -> Desired {
    properties::check(snapshot, rules).expect("a target")
}

/// The machines that vote in the target.
fn voters(desired: &Desired) -> Vec<&str> {
    desired.voting.iter().filter(|(_, votes)| **votes).map(|(machine, _)| machine.as_str()).collect()
}

/// The steps in short: `+3` a vote given, `-3` taken, `x3` removed, `j3` joined, `m3` moved, `l3` put right, `1>2` a step
/// down; changes of one step stand together.
fn steps(desired: &Desired) -> Vec<String> {
    let change = |change: &Change| match change {
        Change::Join { member } => format!("j{}", member.machine_tag().unwrap_or("?")),
        Change::Move { member, .. } => format!("m{member}"),
        Change::Promote { member } => format!("+{member}"),
        Change::Demote { member } => format!("-{member}"),
        Change::Level { member } => format!("l{member}"),
        Change::Remove { member } => format!("x{member}"),
    };
    let step = |step: &Step| match &step.action {
        Action::Write { changes } => changes.iter().map(change).collect::<Vec<String>>().join(" "),
        Action::StepDown { primary, successor } => format!("{primary}>{successor}"),
        Action::Initiate { .. } => "begin".into(),
    };
    desired.steps.iter().map(step).collect()
}

const NONE: [&str; 0] = [];
