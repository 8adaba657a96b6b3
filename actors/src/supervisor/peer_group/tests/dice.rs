//! Snapshots of all sorts, each from one number.

use super::*;

/// Chance that repeats itself: xorshift.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..4 {
            dice.next();
        }
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

const SPACES: [Option<&str>; 3] = [None, Some("ha"), Some("db")];
const STATES: [MemberState; 7] = [
    MemberState::Secondary,
    MemberState::Recovering,
    MemberState::Rollback,
    MemberState::Startup2,
    MemberState::Down,
    MemberState::Unknown,
    MemberState::Primary,
];

/// A snapshot. Some are as a well-kept set is, and some as nobody should ever see one.
pub(super) fn roll(seed: u64) -> Snapshot {
    let dice = &mut Dice::new(seed);
    // How wild it gets: with 0, only what servers let happen.
    let wild = [0, 0, 4, 25][dice.below(4) as usize];
    let count = if dice.percent(4) { dice.below(60) } else { dice.below(11) };
    let mut machines: Vec<Machine> = (0..count).map(|number| any_machine(dice, number, wild)).collect();
    let mut members = Vec::new();
    let mut id = [0, 1, 20, 252][dice.below(4) as usize];
    for machine in &machines {
        if dice.percent(70) && members.len() < 48 {
            id += 1 + u64::from(dice.percent(wild)) * dice.below(3);
            members.push(any_member(dice, machine, id, &machines, wild));
        }
    }
    orphans(dice, &mut members, &mut id, wild);
    limit_voters(dice, &mut members, wild);
    let statuses = any_statuses(dice, &members, wild);
    dice.shuffle(&mut machines);
    dice.shuffle(&mut members);
    let space = dice.percent(15).then(|| "ha".to_owned());
    Snapshot { machines, members, statuses, port: 7, space, one_host: false }
}

fn any_machine(dice: &mut Dice, number: u64, wild: u64) -> Machine {
    let id = match dice.below(100) {
        chance if chance < wild => format!("0{number}"),
        chance if chance < 2 * wild => format!("m{number}/lxd/1"),
        _ => number.to_string(),
    };
    let life = if dice.percent(3) { Life::Dead } else { Life::Alive };
    let mut addresses = vec![address(&host(dice, number))];
    if dice.percent(5 + wild) {
        addresses.clear();
    }
    for _ in 0..[0, 0, 0, 1, 3][dice.below(5) as usize] {
        let value = match dice.below(6) {
            0 => "127.0.0.1".to_owned(),
            1 => "fe80::1".to_owned(),
            2 if dice.percent(wild) => host(dice, number + 1),
            3 => format!("8.8.0.{number}"),
            _ => host(dice, number),
        };
        let scope = [Scope::Public, Scope::Unknown, Scope::LocalCloud, Scope::LocalFan, Scope::LocalMachine];
        let (scope, space) = (scope[dice.below(5) as usize], SPACES[dice.below(3) as usize].map(Into::into));
        addresses.push(Address { value, scope, space, port: None });
    }
    if dice.percent(80) {
        addresses.iter_mut().for_each(|address| address.space = Some("ha".to_owned()));
    }
    Machine { id: id.into(), wants_vote: dice.percent(70), life, addresses }
}

fn host(dice: &mut Dice, number: u64) -> String {
    let spelled = [format!("10.0.0.{number}"), format!("10.0.0.{number}"), format!("fd00::{number:x}")];
    spelled[dice.below(3) as usize].clone()
}

fn any_member(dice: &mut Dice, machine: &Machine, id: u64, machines: &[Machine], wild: u64) -> Member {
    let mut votes = [None, Some(1), Some(0)][dice.below(3) as usize];
    let priority = match votes {
        Some(0) if dice.percent(wild) => Priority::new(2.0),
        Some(0) => Some(Priority::NONE),
        _ => [None, None, Priority::new(0.5), Priority::new(7.0)][dice.below(4) as usize],
    };
    if votes == Some(1) && dice.percent(wild) {
        votes = Some(2);
    }
    let others = machines.get(dice.below(machines.len() as u64) as usize);
    let source = if dice.percent(wild) { others.unwrap_or(machine) } else { machine };
    let address = match (source.addresses.first(), dice.below(100)) {
        (_, chance) if chance < wild / 5 => String::new(),
        (Some(address), chance) if chance < 85 => address.host_port(7),
        _ => format!("10.9.{}.{}:7", id / 200, id % 200),
    };
    let mut tags = BTreeMap::from([(MACHINE_TAG.to_owned(), machine.id.as_str().to_owned())]);
    if dice.percent(20) {
        tags.insert("rack".to_owned(), "a".to_owned());
    }
    let other = if dice.percent(10) { [("hidden".to_owned(), "true".to_owned())].into() } else { BTreeMap::new() };
    Member { id: MemberId(id), address: address.into(), tags: tags.into(), votes, priority, other }
}

fn orphans(dice: &mut Dice, members: &mut Vec<Member>, id: &mut u64, wild: u64) {
    for _ in 0..[0, 0, 0, 1, 2][dice.below(5) as usize] {
        *id += 1;
        let mut tags = BTreeMap::new();
        let tagged = members.first().and_then(|member| member.machine_tag()).map(str::to_owned);
        match (dice.below(3), tagged) {
            (0, _) => drop(tags.insert(MACHINE_TAG.to_owned(), "gone".to_owned())),
            (1, Some(machine)) => drop(tags.insert(MACHINE_TAG.to_owned(), machine)),
            _ => (),
        }
        let votes = [Some(0), None, Some(1)][dice.below(3) as usize];
        let priority = (votes == Some(0)).then_some(Priority::NONE);
        let address = format!("10.8.0.{id}:7");
        members.push(Member {
            id: MemberId(*id),
            address: address.into(),
            tags: tags.into(),
            votes,
            priority,
            other: BTreeMap::new(),
        });
    }
    if dice.percent(wild / 5) {
        members.extend(members.first().cloned());
    }
}

/// A server has no more voters than it takes.
fn limit_voters(dice: &mut Dice, members: &mut [Member], wild: u64) {
    if dice.percent(wild) {
        return;
    }
    for member in members.iter_mut().filter(|member| member.is_voter()).skip(7) {
        (member.votes, member.priority) = (Some(0), Some(Priority::NONE));
    }
}

fn any_statuses(dice: &mut Dice, members: &[Member], wild: u64) -> Vec<MemberStatus> {
    let sick = [5, 5, 30, 60][dice.below(4) as usize];
    let mut statuses = Vec::new();
    for member in members {
        let state = if dice.percent(sick) { STATES[dice.below(6) as usize] } else { MemberState::Secondary };
        let lag_ms = dice.percent(20).then(|| dice.below(3) * 100);
        if !dice.percent(sick / 3) {
            statuses.push(MemberStatus { id: member.id, healthy: !dice.percent(sick), state, lag_ms });
        }
    }
    let electable: Vec<MemberId> = members.iter().filter(|it| it.is_electable()).map(|member| member.id).collect();
    let primaries = 1 + u64::from(dice.percent(wild)) - u64::from(dice.percent(8));
    for _ in 0..primaries {
        let Some(id) = electable.get(dice.below(electable.len().max(1) as u64) as usize) else { break };
        for status in statuses.iter_mut().filter(|status| status.id == *id) {
            status.state = MemberState::Primary;
            status.healthy |= !dice.percent(wild);
        }
    }
    dice.shuffle(&mut statuses);
    statuses
}
