//! What others shipped, each as a story of its own: the failure, where it comes from, and the guard that makes it pass.
//! Without its guard each of them fails (`guards.rs`).

use bailiwick::providers::replica_model::Flavor;
use bailiwick_actors::{
    contract::Stored,
    machine,
    policy::PeerRules,
    ports::replica_set::{Action, Change, MemberId},
    replay::assert_replays,
    replica_set::{Phase, State},
    vocab::Fault,
};
use bailiwick_journal::{Entry, Journal, Version};

use crate::{
    lab::name,
    node::history,
    seeds::{Ended, Kept, Run, Trouble},
};

/// The steps that were begun, in short: `j` joins, `+` and `-` a vote, `x` removed, `m` moved, `>` steps down.
fn steps(run: &Run) -> Vec<String> {
    let change = |change: &Change| match change {
        Change::Join { member } => format!("j{}", member.machine_tag().unwrap_or("?")),
        Change::Move { member, .. } => format!("m{member}"),
        Change::Promote { member } => format!("+{member}"),
        Change::Demote { member } => format!("-{member}"),
        Change::Level { member } => format!("l{member}"),
        Change::Remove { member } => format!("x{member}"),
    };
    let mut steps = Vec::new();
    for (_, state, _) in history(&run.bench.journal) {
        let Phase::Stepping { step, .. } = state.phase else { continue };
        steps.push(match &step.action {
            Action::Write { changes } => changes.iter().map(change).collect::<Vec<String>>().join(" "),
            Action::StepDown { primary, successor } => format!("{primary}>{successor}"),
            Action::Initiate { .. } => "begin".into(),
        });
    }
    steps
}

/// Runs it to its end: everything settles, no step did harm, everybody who voted was flagged, and history replays.
pub fn settled(kept: Kept, script: &[(u64, Trouble)]) -> Run {
    let mut run = Run::scripted(kept, script);
    let ended = run.run();
    assert_eq!(ended, Ended::Settled, "{kept:?}: {}", run.story());
    let mut wrong = run.world.wrong();
    wrong.extend(run.unflagged());
    assert!(wrong.is_empty(), "{kept:?}: {wrong:?}\n{}", run.story());
    assert_replays(&run.bench.journal);
    run
}

fn place(steps: &[String], step: &str) -> usize {
    let found = steps.iter().position(|it| it == step);
    found.unwrap_or_else(|| panic!("{step} is not among {steps:?}"))
}

fn voting(run: &Run) -> Vec<String> {
    run.world.voting(&name("db")).iter().map(ToString::to_string).collect()
}

/// Juju 8625: a configuration without the primary's vote was written again and again.
/// Guard: the primary steps down before it loses its vote (`plan::take_votes`).
#[test]
pub fn the_machine_of_the_primary_is_removed() {
    for kept in Kept::ALL {
        let run = settled(kept, &[(300, Trouble::Remove(1))]);
        let steps = steps(&run);
        let down = steps.iter().position(|step| step.starts_with("1>")).expect("it steps down");
        let lost = steps.iter().position(|step| step == "-1" || step.contains("x1")).expect("it goes");
        assert!(down < lost, "{steps:?}");
        assert_eq!(voting(&run), ["m2", "m3", "m4"]);
    }
}

/// Juju 8660: with two voters left, the removal of the primary went round in circles.
/// Guard: only the number of voters at rest is odd, so the other one gets its vote first (`plan::write`).
#[test]
pub fn of_two_machines_the_primarys_goes() {
    let script = [
        (300, Trouble::Remove(5)),
        (310, Trouble::Remove(4)),
        (600, Trouble::RemoveAnyway(3)),
        (900, Trouble::RemoveAnyway(1)),
    ];
    for kept in Kept::ALL {
        let run = settled(kept, &script);
        assert_eq!(voting(&run), ["m2"], "{:?}", steps(&run));
    }
}

/// Juju 14402: a machine lost its flag before the set had taken its vote, was removed, and the set was stuck.
/// Guard: flags go down with the committed configuration only (`replica_set::evolve`); `settled` asks for it at every step.
#[test]
pub fn a_dying_member_stays_flagged_until_its_vote_is_gone() {
    for kept in Kept::BY_MONGODB {
        let run = settled(kept, &[(300, Trouble::Crash(3)), (301, Trouble::Remove(3))]);
        let history = history(&run.bench.journal);
        let is_lowered = |(_, state, _): &&(u64, State, _)| {
            let seen = state.seen.as_ref();
            seen.is_some_and(|seen| seen.configuration.members.len() >= 3) && !state.flags.iter().any(|id| id.0 == 3)
        };
        let first = history.iter().find(is_lowered).expect("it is lowered in the end");
        let members = &first.1.seen.as_ref().expect("it was seen").configuration.members;
        assert!(
            !members.iter().any(|member| member.id.0 == 3 && member.is_voter()),
            "it votes no more when it is lowered"
        );
    }
}

/// Juju 13535: two managers edited the set at once, each on its own view.
/// Guard: a step names what it was planned on (`decide::take_step`), and is not written on anything else (`shell::take`).
#[test]
pub fn somebody_else_edits_the_set_at_the_same_time() {
    for kept in Kept::BY_MONGODB {
        let script = [
            (300, Trouble::StrangerTakesVote(2)),
            (301, Trouble::StrangerComesBetween(3)),
            (302, Trouble::EnableHa(5)),
        ];
        let run = settled(kept, &script);
        assert_eq!(voting(&run).len(), 5, "what somebody took is given back: {:?}", steps(&run));
        let is_of_another = |fault: &Fault| fault.text.contains("has changed since");
        let refused = |(_, state, _): &(u64, State, _)| match &state.phase {
            Phase::Waiting { fault, .. } => is_of_another(fault),
            _ => false,
        };
        assert!(
            history(&run.bench.journal).iter().any(refused),
            "what was planned before is not written: {}",
            run.story()
        );
    }
}

/// Juju 13521: a member that was reached elsewhere was removed and added in one write, under the same id.
/// Guard: an address changes in place, alone (`plan::move_voter`).
#[test]
pub fn a_voter_is_reached_at_another_address() {
    for kept in Kept::ALL {
        let run = settled(kept, &[(300, Trouble::MoveTwo(2, 3))]);
        let steps = steps(&run);
        assert!(steps.contains(&"m2".to_owned()) && steps.contains(&"m3".to_owned()), "one by one: {steps:?}");
        assert!(!steps.iter().any(|step| step.contains('x')), "nobody was removed: {steps:?}");
    }
}

/// Juju 18965: after a step down the writes still went to the old primary.
/// Guard: after a step down everything is looked at again before anything else is done (`replica_set::decide`).
#[test]
pub fn after_a_step_down_everything_is_looked_at_again() {
    for kept in Kept::BY_MONGODB {
        let run = settled(kept, &[(300, Trouble::Remove(1))]);
        let history = history(&run.bench.journal);
        let phase = |at: usize| &history[at].1.phase;
        let down = (0..history.len()).find(
            |at| matches!(phase(*at), Phase::Stepping { step, .. } if matches!(step.action, Action::StepDown { .. })),
        );
        let down = down.expect("it steps down");
        let next = (down + 1..history.len()).find(|at| matches!(phase(*at), Phase::Stepping { .. }));
        let looked = (down..next.unwrap_or(history.len())).any(|at| *phase(at) == Phase::Looking);
        assert!(looked, "{}", run.story());
    }
}

/// Juju 8699: with an even number of voters the leader lost its vote, and a leader that went did not hand over.
/// Guard: the primary is not the one left out (`votes::leave_one_out`).
#[test]
pub fn with_an_even_number_of_machines_another_one_than_the_leader_has_no_vote() {
    for kept in Kept::BY_MONGODB {
        let run =
            settled(kept, &[(300, Trouble::Remove(5)), (400, Trouble::Remove(4)), (500, Trouble::RemoveAnyway(3))]);
        let steps = steps(&run);
        assert_eq!(voting(&run).len(), 1, "two voters survive no more than one: {steps:?}");
        assert_eq!(run.world.leader(&name("db")).map(|leader| leader.to_string()), voting(&run).pop());
        assert!(!steps.iter().any(|step| step.contains('>')), "the leader stays: {steps:?}");
    }
}

/// Juju, 2019: a machine that was removed by force left a voting stranger behind, which blocked every change for ever.
/// Guard: an orphan is demoted and removed, and stops nothing (`roll`, `desired::stay`).
#[test]
pub fn a_voting_stranger_is_removed_and_stops_nothing() {
    for kept in Kept::BY_MONGODB {
        let script = [(300, Trouble::Crash(2)), (301, Trouble::RemoveByForce(2)), (310, Trouble::EnableHa(3))];
        let run = settled(kept, &script);
        let steps = steps(&run);
        assert!(place(&steps, "-2") < steps.iter().position(|step| step.contains("x2")).expect("it goes"), "{steps:?}");
        assert_eq!(voting(&run), ["m1", "m3", "m4"]);
    }
}

/// Under Juju's rules the same stranger blocks every change, until a policy says otherwise; then the set is looked at though
/// nothing about it has changed.
#[test]
fn a_policy_that_changes_is_followed_at_once() {
    let (since, until) = (400, 900);
    let script = [
        (300, Trouble::Rules(PeerRules::Juju2019)),
        (since, Trouble::RemoveByForce(2)),
        (until, Trouble::Rules(PeerRules::Default)),
    ];
    let run = settled(Kept::Model(Flavor::Mongodb), &script);
    let is_step = |(at, state, _): &(u64, State, _)| matches!(state.phase, Phase::Stepping { .. }).then_some(*at);
    let steps: Vec<u64> = history(&run.bench.journal).iter().filter_map(is_step).collect();
    // What was begun while the machine was only about to go is not taken back.
    assert!(!steps.iter().any(|at| (since * 1_000 + 1..until * 1_000).contains(at)), "{steps:?}");
    assert!(steps.iter().any(|at| *at >= until * 1_000), "{steps:?}");
    assert_eq!(voting(&run), ["m1", "m3", "m4"]);
}

/// Juju removes no machine that has a vote; where that is not so, the set misses a voter, and of two neither can do
/// without the other.
/// Guard: a machine waits for the sets that count on it (`replica_sets::engagements`, `machine::membership`).
#[test]
pub fn a_machine_goes_when_its_set_does_without_it() {
    for kept in Kept::ALL {
        let run = settled(kept, &[(300, Trouble::Remove(1))]);
        let machine = "machine/m1".parse().expect("a stream");
        let dies = |entry: &Entry| {
            let mut events = entry.events.iter().filter_map(|event| machine::Event::load(event).ok());
            events.any(|event| event == machine::Event::Died)
        };
        let entries = run.bench.journal.read_stream(&machine, Version::ZERO).map(|entry| entry.expect("in memory"));
        let died = entries.into_iter().find(|entry| dies(entry)).expect("it dies in the end").header.position;
        let history = history(&run.bench.journal);
        let before = history.iter().rfind(|(.., entry)| entry.header.position < died).expect("the set was seen");
        assert!(!before.1.flags.contains(&MemberId(1)), "it may vote when its machine goes: {}", run.story());
    }
}

/// etcd: a member whose data was lost was started again with an empty directory under its old identity.
/// Guard: it is removed and joins anew (`replica_sets::plan::has_lost_its_data`).
#[test]
pub fn a_member_that_lost_its_data_joins_anew_under_another_id() {
    let run = settled(Kept::Model(Flavor::Etcd), &[(300, Trouble::LoseData(3))]);
    let steps = steps(&run);
    let gone = place(&steps, "x3");
    assert!(steps[gone..].contains(&"jm3".to_owned()), "{steps:?}");
    assert_eq!(voting(&run), ["m1", "m2", "m3"]);
}
