//! Several members, or machines, and one address: what is planned first must not change who gets it. `desired` plans anew
//! after every step, and fails where the target or a reason is another one then.

use super::*;

/// A member of a machine, reached where another one is too.
fn beside(member: Member, number: u8) -> Member {
    Member { address: voter(number).address, ..member }
}

fn reached_at(machine: Machine, number: u8) -> Machine {
    Machine { addresses: vec![address(&format!("10.0.0.{number}"))], ..machine }
}

#[test]
fn who_gets_an_address_follows_from_who_shall_vote() {
    // given a voter that is to lose its vote and a learner that is to get one, who both want to be where a stranger is
    let machines = [machine(1), reached_at(unwanted(2), 50), reached_at(machine(3), 50), machine(4)];
    let stranger = Member { tags: Tags::default(), ..beside(voter(9), 50) };
    // when it is decided, and decided again after each step
    let decided = desired(&healthy(&machines, &[voter(1), voter(2), learner(3), voter(4), stranger]));
    // then who shall vote gets it
    assert_eq!(voters(&decided), ["1", "3", "4"]);
    assert!(decided.findings.contains(&Finding::AddressTaken { machine: "2".into() }), "{decided:#?}");
    assert!(decided.members.iter().any(|member| member.id == MemberId(3) && member.address == "10.0.0.50:7"));
}

#[test]
fn nobody_steps_down_while_two_share_an_address() {
    // given a primary that is to go, and another voter at its address
    let machines = [machine(2), machine(3), machine(4), reached_at(unwanted(5), 2)];
    let mut shared = healthy(&machines, &[voter(2), voter(3), voter(4), beside(voter(5), 2)]);
    shared.statuses[0].state = MemberState::Secondary;
    shared.statuses[3].state = MemberState::Primary;
    // then nothing is done: no server takes a write, and another primary would not change that
    let decided = desired(&shared);
    assert_eq!((steps(&decided), decided.held), (Vec::new(), Some(Held::Malformed)));
}

#[test]
fn whoever_goes_for_its_address_goes_first() {
    // given two voters of etcd at one address, of which one goes for that; then the number is even, so the other goes too
    let nowhere = Machine { addresses: Vec::new(), ..machine(3) };
    let second = Member { tags: learner(3).tags, ..learner(4) };
    let machines = [machine(1), machine(2), nowhere];
    let alone = healthy(&machines, &[voter(1), voter(2), beside(voter(3), 2)]);
    let decided = desired_by(&alone, &EngineRules::etcd());
    assert_eq!(steps(&decided), ["x3", "x2", "j2"]);
    let reasons: Vec<StepReason> = decided.steps.iter().map(|step| step.because).collect();
    assert_eq!(reasons[..2], [StepReason::NoAddress, StepReason::OddCount]);
    // when the first has to wait for a second member of its machine, which no server lets go
    let held = healthy(&machines, &[voter(1), voter(2), beside(voter(3), 2), second]);
    // then the other one waits too
    let decided = desired_by(&held, &EngineRules::etcd());
    assert_eq!((steps(&decided), decided.held), (Vec::new(), Some(Held::Malformed)));
}

#[test]
fn second_members_go_first() {
    // given a machine that nobody wants, with two members
    let second = Member { tags: learner(3).tags, ..learner(4) };
    let twice = healthy(&[machine(1), unwanted(3)], &[voter(1), learner(3), second]);
    // then the one that does not stand for it goes first
    assert_eq!(steps(&desired_by(&twice, &EngineRules::etcd())), ["x4", "x3"]);
}
