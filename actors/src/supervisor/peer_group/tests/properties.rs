//! What must hold for every snapshot, however wild.
//!
//!     cargo test -p bailiwick-actors peer_group
//!     BAILIWICK_SNAPSHOTS=1000000 cargo test --release -p bailiwick-actors peer_group

use std::collections::BTreeSet;

use super::{
    dice::{self, Dice},
    server::Server,
    *,
};

/// How many snapshots a run looks at, if nobody says otherwise.
const SNAPSHOTS: u64 = 3_000;

fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("BAILIWICK_SNAPSHOTS").ok();
    0..asked.map_or(SNAPSHOTS, |text| text.parse().expect("a number of snapshots"))
}

/// Who is where in a target, whatever the numbers of the members.
fn picture(desired: &Desired) -> BTreeSet<(String, String, bool, Option<Priority>)> {
    let line = |member: &Member| {
        let who = member.machine_tag().map_or_else(|| format!("member {}", member.id), str::to_owned);
        (who, member.address.to_string(), member.is_voter(), member.priority)
    };
    desired.members.iter().map(line).collect()
}

/// The steps, whatever numbers newcomers get.
fn without_new_ids(steps: &[Step]) -> Vec<Step> {
    let mut steps = steps.to_vec();
    for step in &mut steps {
        let Action::Write { changes } = &mut step.action else { continue };
        for change in changes {
            if let Change::Join { member } = change {
                member.id = MemberId(0);
            }
        }
    }
    steps
}

/// Decides, checks everything that must hold of the verdict, and takes every step on a server that knows the rules.
///
/// # Errors
/// As `decide`.
///
/// # Panics
/// If anything does not hold.
pub(super) fn check(snapshot: &Snapshot, rules: &EngineRules) -> Verdict {
    let desired = decide(snapshot, PeerRules::Default, rules);
    assert_eq!(desired, decide(snapshot, PeerRules::Default, rules), "the same inputs give the same verdict");
    let Ok(desired) = desired else { return desired };
    target_is_sound(snapshot, &desired, rules);
    steps_are_sound(snapshot, &desired, rules);
    Ok(desired)
}

fn target_is_sound(snapshot: &Snapshot, desired: &Desired, rules: &EngineRules) {
    let voters = desired.members.iter().filter(|member| member.is_voter()).count();
    let even_for_now = desired.findings.contains(&Finding::EvenForNow { voters }) && !rules.can_demote;
    assert!(voters % 2 == 1 || even_for_now, "{voters} voters");
    assert!((1..=rules.voters_max).contains(&voters), "{voters} voters");
    assert!(desired.members.len() <= rules.members_max, "{} members", desired.members.len());
    let hosts: BTreeSet<String> = desired.members.iter().map(|member| member.address.to_lowercase()).collect();
    assert!(hosts.len() == desired.members.len() && !hosts.contains(""), "{hosts:?}");
    let ids: BTreeSet<MemberId> = desired.members.iter().map(|member| member.id).collect();
    assert_eq!(ids.len(), desired.members.len());
    let last_stays = desired.findings.iter().any(|finding| matches!(finding, Finding::LastVoterStays { .. }));
    for member in &desired.members {
        let old = snapshot.members.iter().find(|old| old.id == member.id);
        if old.is_none_or(|old| old.address != member.address) {
            let machine = snapshot.machines.iter().find(|it| Some(it.id.as_str()) == member.machine_tag());
            let usable = machine.into_iter().flat_map(|machine| &machine.addresses).filter(|it| !it.is_local());
            assert!(usable.map(|it| it.host_port(snapshot.port)).any(|host| member.address == host), "{member:?}");
        }
        let Some(old) = old else {
            assert!(!member.is_voter(), "a newcomer votes: {member:?}");
            assert!(member.id.0 <= rules.member_id_max);
            continue;
        };
        assert_eq!((&old.tags, &old.other), (&member.tags, &member.other), "something is lost");
        match (old.is_voter(), member.is_voter()) {
            (true, true) => assert_eq!(old.priority, member.priority, "a priority is lost"),
            (false, true) => {
                let status = snapshot.statuses.iter().rfind(|status| status.id == member.id);
                assert!(last_stays || status.is_some_and(MemberStatus::is_ready), "not ready: {member:?}");
            }
            (_, false) => assert_eq!(member.priority, Some(Priority::NONE)),
        }
    }
    for machine in snapshot.machines.iter().filter(|machine| machine.wants_vote && machine.life != Life::Dead) {
        let votes = desired.voting.get(&machine.id) == Some(&true);
        let is_said = desired.not_chosen.contains_key(&machine.id);
        let held_elsewhere = desired.findings.contains(&Finding::AddressTaken { machine: machine.id.clone() });
        assert!(votes || is_said || held_elsewhere, "nobody says why {} does not vote", machine.id);
    }
    let alike = |one: &Member, other: &Member| one.address == other.address && one.says_the_same_but_address(other);
    let same = |one: &[Member], other: &[Member]| {
        one.len() == other.len() && one.iter().all(|it| other.iter().any(|also| alike(it, also)))
    };
    assert_eq!(desired.changed, !same(&snapshot.members, &desired.members));
}

fn steps_are_sound(snapshot: &Snapshot, desired: &Desired, rules: &EngineRules) {
    let mut server = Server::of(snapshot);
    for (at, step) in desired.steps.iter().enumerate() {
        assert!(step.action.is_still_meant(&server.statuses), "{step:?}");
        if let Err(why) = server.take(&step.action, rules) {
            panic!("step {at} of {:#?}: {why}", desired.steps);
        }
        let again = decide(&server.seen(snapshot), PeerRules::Default, rules).expect("there is still a target");
        assert_eq!(picture(&again), picture(desired), "another target after step {at}");
        assert_eq!(without_new_ids(&again.steps), without_new_ids(&desired.steps[at + 1..]), "after step {at}");
        assert_eq!(again.held, desired.held, "after step {at}");
    }
    let rest = decide(&server.seen(snapshot), PeerRules::Default, rules).expect("there is still a target");
    assert_eq!(rest.changed, desired.held.is_some(), "{:?}", desired.held);
    assert!(rest.steps.is_empty());
    assert!(!rest.step_down_primary || desired.held.is_some());
}

/// Runs a check for one snapshot and says which one it was.
fn for_each_snapshot(check: impl Fn(u64, &Snapshot) + std::panic::RefUnwindSafe) {
    for seed in seeds() {
        let snapshot = dice::roll(seed);
        let outcome = std::panic::catch_unwind(|| check(seed, &snapshot));
        assert!(outcome.is_ok(), "snapshot {seed} breaks it: {snapshot:#?}");
    }
}

#[test]
fn verdicts_and_steps_are_sound() {
    for_each_snapshot(|_, snapshot| {
        if let Err(refused) = check(snapshot, &EngineRules::mongodb()) {
            let ids: BTreeSet<MemberId> = snapshot.members.iter().map(|member| member.id).collect();
            let explained = match refused.why {
                Refusal::NoMembers => snapshot.members.is_empty(),
                Refusal::MemberTwice { .. } => ids.len() < snapshot.members.len(),
                // Every member either has no address, or is no machine's.
                Refusal::NobodyReachable => snapshot.members.iter().any(|member| member.address.is_empty()),
                _ => false,
            };
            assert!(explained, "{refused:?}");
        }
    });
}

#[test]
fn verdicts_and_steps_are_sound_for_etcd() {
    for_each_snapshot(|_, snapshot| drop(check(snapshot, &EngineRules::etcd())));
}

#[test]
fn the_order_of_the_inputs_makes_no_difference() {
    for_each_snapshot(|_, snapshot| {
        let mut turned = snapshot.clone();
        turned.machines.reverse();
        turned.members.reverse();
        let rules = EngineRules::mongodb();
        let (one, other) = (decide(snapshot, PeerRules::Default, &rules), decide(&turned, PeerRules::Default, &rules));
        let (Ok(one), Ok(other)) = (one, other) else { return };
        assert_eq!((one.members, one.steps, one.held), (other.members, other.steps, other.held));
    });
}

#[test]
fn an_orphan_voter_and_a_machine_without_address_change_nothing_for_others() {
    for_each_snapshot(|_, snapshot| {
        let rules = EngineRules::mongodb();
        let Ok(without) = decide(snapshot, PeerRules::Default, &rules) else { return };
        if without.findings.iter().any(|finding| matches!(finding, Finding::LastVoterStays { .. })) {
            return;
        }
        let mut with = snapshot.clone();
        let orphan = Member { id: MemberId(251), address: "orphan:7".into(), tags: Tags::default(), ..voter(1) };
        if with.members.iter().any(|member| member.id == orphan.id) {
            return;
        }
        with.members.push(orphan);
        with.machines.push(Machine { addresses: Vec::new(), id: "no-address".into(), ..machine(1) });
        let with = decide(&with, PeerRules::Default, &rules).expect("a target");
        assert_eq!(with.voting, without.voting);
        assert_eq!(picture(&with), picture(&without));
    });
}

/// Everybody gets well, newcomers catch up, and step by step the set comes to rest.
#[test]
fn a_healthy_set_comes_to_rest() {
    for_each_snapshot(|seed, snapshot| {
        for rules in [EngineRules::mongodb(), EngineRules::etcd()] {
            let mut server = Server::of(snapshot);
            get_well(&mut server, seed);
            let voters = server.members.iter().filter(|member| member.is_voter()).count();
            let takes_changes = server.members.iter().any(Member::is_electable);
            let within_limits = voters <= rules.voters_max && server.members.len() <= rules.members_max;
            let hosts: BTreeSet<String> = server.members.iter().map(|member| member.address.to_lowercase()).collect();
            let well_formed = hosts.len() == server.members.len() && !hosts.contains("");
            let can_level = rules.other_changes_per_step.is_none();
            let even = server.members.iter().all(|member| {
                member.votes.unwrap_or(1) < 2 && (member.is_voter() || member.priority == Some(Priority::NONE))
            });
            let learners = server.members.len() - voters;
            let fits = rules.learners_max.is_none_or(|max| learners <= max);
            if !(takes_changes && within_limits && well_formed && fits && (even || can_level)) {
                continue;
            }
            let mut rounds = 0;
            loop {
                let seen = server.seen(snapshot);
                let Ok(desired) = check(&seen, &rules) else { break };
                assert_eq!(desired.held, None, "{desired:#?}");
                if desired.steps.is_empty() {
                    assert!(!desired.changed);
                    break;
                }
                for step in &desired.steps {
                    server.take(&step.action, &rules).expect("lawful");
                }
                get_well(&mut server, seed);
                rounds += 1;
                assert!(rounds < 40, "no rest: {desired:#?}");
            }
        }
    });
}

/// Every member is a healthy secondary; one that can be primary is, the present one if there is one.
fn get_well(server: &mut Server, seed: u64) {
    let is_primary =
        |id: MemberId| server.statuses.iter().any(|status| status.id == id && status.state == MemberState::Primary);
    let electable: Vec<MemberId> =
        server.members.iter().filter(|member| member.is_electable()).map(|member| member.id).collect();
    let present = electable.iter().copied().find(|id| is_primary(*id));
    let any = electable.get(Dice::new(seed).below(electable.len().max(1) as u64) as usize).copied();
    let primary = present.or(any);
    let status = |member: &Member| {
        let state = if Some(member.id) == primary { MemberState::Primary } else { MemberState::Secondary };
        MemberStatus { id: member.id, healthy: true, state, lag_ms: None }
    };
    server.statuses = server.members.iter().map(status).collect();
}
