//! What the decision about a replica set costs: `cargo bench -p bailiwick-actors --bench peer_group`; with `-- fifty`
//! that of 50 machines only, as a profiler wants it; with `-- once N` it is made once for N machines, four of five of them
//! members, so that its instructions can be counted.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::{collections::BTreeMap, hint::black_box, time::Instant};

use bailiwick_actors::{
    supervisor::peer_group::{
        Address, EngineRules, MACHINE_TAG, Machine, Member, MemberId, MemberState, MemberStatus, PeerRules, Priority,
        Scope, Snapshot, Tags, decide,
    },
    vocab::Life,
};

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long one round is measured, in milliseconds, and how many there are: the fastest counts. Short ones, so that on a
/// busy machine some of them run undisturbed.
const ROUND_MS: u128 = 2;
const ROUNDS: usize = 100;

/// Rounds of 50 machines, for which there is a target: as many as take ten seconds, since others disturb for seconds on end.
const ROUNDS_OF_FIFTY: usize = 2_500;

/// A set with something to do: of `count` machines one in five has no member yet, one in seven wants no vote, one in ten
/// has moved, and one member is an orphan. Every other machine has two addresses, every third is reached by IPv6.
fn set(count: usize, members: usize) -> Snapshot {
    let machines: Vec<Machine> = (0..count).map(machine).collect();
    let peers = machines.iter().enumerate().filter(|(at, _)| at % 5 != 4).take(members - 1);
    let mut members: Vec<Member> = peers.map(|(at, machine)| member(at, machine)).collect();
    for member in members.iter_mut().skip(7) {
        (member.votes, member.priority) = (Some(0), Some(Priority::NONE));
    }
    let last = members.last().expect("a set has members");
    let orphan = Member { id: MemberId(last.id.0 + 1), tags: Tags::default(), ..last.clone() };
    members.push(Member { address: "10.255.0.1:37017".into(), ..orphan });
    let status = |(at, member): (usize, &Member)| {
        let state = if at == 0 { MemberState::Primary } else { MemberState::Secondary };
        MemberStatus { id: member.id, healthy: at % 11 != 10, state, lag_ms: Some(at as u64) }
    };
    let statuses = members.iter().enumerate().map(status).collect();
    Snapshot { machines, members, statuses, port: 37017, space: None, one_host: false }
}

fn machine(at: usize) -> Machine {
    let address = |value: String, scope| Address { value, scope, space: None, port: None };
    let value = if at.is_multiple_of(3) { format!("fd00::{at:x}") } else { format!("10.{}.{}.1", at / 250, at % 250) };
    let mut addresses = vec![address(value, Scope::LocalCloud)];
    if at.is_multiple_of(2) {
        addresses.push(address(format!("203.0.{}.{}", at / 250, at % 250), Scope::Public));
    }
    Machine { id: at.to_string().into(), wants_vote: at % 7 != 6, life: Life::Alive, addresses }
}

fn member(at: usize, machine: &Machine) -> Member {
    let moved = format!("10.200.{}.{}:37017", at / 250, at % 250);
    let address = if at % 10 == 3 { moved } else { machine.addresses[0].host_port(37017) };
    let address = address.into();
    let tags = [(MACHINE_TAG.to_owned(), machine.id.as_str().to_owned())].into();
    Member { id: MemberId(at as u64), address, tags, votes: None, priority: None, other: BTreeMap::new() }
}

/// The time of one decision in nanoseconds: the mean of one round.
fn round_ns(snapshot: &Snapshot, policy: PeerRules, rules: &EngineRules) -> u128 {
    let (begun, mut decisions) = (Instant::now(), 0);
    while begun.elapsed().as_millis() < ROUND_MS || decisions == 0 {
        black_box(decide(black_box(snapshot), policy, rules)).expect("a target");
        decisions += 1;
    }
    begun.elapsed().as_nanos() / decisions
}

/// The fastest round.
fn cost_ns(snapshot: &Snapshot, policy: PeerRules, rules: &EngineRules) -> u128 {
    (0..ROUNDS).map(|_| round_ns(snapshot, policy, rules)).min().expect("a round")
}

fn main() {
    let rules = EngineRules::mongodb();
    // Without the engine's limits, so that the set itself can grow.
    let no_limits = EngineRules { members_max: usize::MAX, member_id_max: u64::MAX, ..EngineRules::mongodb() };
    let mut arguments = std::env::args().skip_while(|argument| argument != "once");
    if let Some(count) = arguments.nth(1).and_then(|count| count.parse().ok()) {
        let desired = decide(&set(count, count * 4 / 5), PeerRules::Default, &no_limits).expect("a target");
        println!("{count} machines: {} members, {} steps", desired.members.len(), desired.steps.len());
        return;
    }
    let fifty = set(50, 40);
    let desired = decide(&fifty, PeerRules::Default, &rules).expect("a target");
    println!("50 machines: {} members, {} steps, held: {:?}", desired.members.len(), desired.steps.len(), desired.held);
    // In turn, so that both have the same quiet moments.
    let policies = [("default", PeerRules::Default), ("juju-2019", PeerRules::Juju2019)];
    let rounds: Vec<[u128; 2]> =
        (0..ROUNDS_OF_FIFTY).map(|_| policies.map(|(_, policy)| round_ns(&fifty, policy, &rules))).collect();
    for (at, (name, _)) in policies.iter().enumerate() {
        let mut costs: Vec<u128> = rounds.iter().map(|round| round[at]).collect();
        costs.sort_unstable();
        let [fastest, middle] = [costs[0], costs[costs.len() / 2]].map(|cost| cost as f64 / 1_000.0);
        println!("{name}, 50 machines: {fastest:.1} us (median of the rounds {middle:.1} us)");
    }
    if std::env::args().any(|argument| argument == "fifty") {
        return;
    }
    // The set itself grows; and with the engine's limits only the machines do.
    growth("default, four of five members", |count| set(count, count * 4 / 5), PeerRules::Default, &no_limits);
    growth("default, 40 members", |count| set(count, 40), PeerRules::Default, &rules);
    growth("juju-2019, four of five members", |count| set(count, count * 4 / 5), PeerRules::Juju2019, &rules);
}

/// Prints the cost for twice as many machines again and again, and how much more each is. Twice as much is linear; n log n
/// is 2.2 at first and 2.15 in the end.
fn growth(name: &str, set: impl Fn(usize) -> Snapshot, policy: PeerRules, rules: &EngineRules) {
    println!("{name}:");
    let (mut last, mut ratios): (Option<u128>, Vec<f64>) = (None, Vec::new());
    for count in [79, 157, 313, 625, 1_250, 2_500, 5_000, 10_000] {
        let cost = cost_ns(&set(count), policy, rules);
        let ratio = last.map(|last| cost as f64 / last as f64);
        println!(
            "  {count:>6} machines {:>9.1} us{}",
            cost as f64 / 1_000.0,
            ratio.map_or(String::new(), |ratio| format!("  x{ratio:.2}"))
        );
        ratios.extend(ratio);
        last = Some(cost);
    }
    let per_doubling = ratios.iter().product::<f64>().powf(1.0 / ratios.len() as f64);
    println!("  per doubling: x{per_doubling:.2}");
}
