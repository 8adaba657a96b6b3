//! One test for each guard of policy `default`: take the guard out, and its test fails.

use super::*;

#[test]
fn the_number_of_voters_is_odd() {
    let three = healthy(&[machine(1), machine(2), machine(3)], &[voter(1), learner(2), learner(3)]);
    assert_eq!(voters(&desired(&three)), ["1", "2", "3"]);
    let two = healthy(&[machine(1), machine(2)], &[voter(1), learner(2)]);
    let desired_two = desired(&two);
    assert_eq!(voters(&desired_two), ["1"]);
    assert_eq!(desired_two.not_chosen, [("2".into(), NotChosen::WouldBeEven)].into());
    let even = desired(&healthy(&[machine(1), machine(2)], &[voter(1), voter(2)]));
    assert_eq!(steps(&even), ["-2"]);
    assert_eq!(even.steps[0].because, StepReason::OddCount);
}

#[test]
fn no_more_voters_than_the_engine_takes() {
    let machines: Vec<Machine> = (1..=9).map(machine).collect();
    let members: Vec<Member> = (1..=5).map(voter).chain((6..=9).map(learner)).collect();
    let many = desired(&healthy(&machines, &members));
    assert_eq!(voters(&many), ["1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(many.not_chosen[&"9".into()], NotChosen::VotersFull { max: 7 });
    // Healthy voters go before newer ones with lower ids.
    let members: Vec<Member> = (1..=2).map(learner).chain((3..=9).map(voter)).collect();
    let mut late = healthy(&machines, &members);
    late.statuses[0].state = MemberState::Secondary;
    late.statuses[8].state = MemberState::Primary;
    assert_eq!(voters(&desired(&late)), ["3", "4", "5", "6", "7", "8", "9"]);
    assert_eq!(voters(&desired(&sick(late, &[3]))), ["1", "4", "5", "6", "7", "8", "9"]);
}

#[test]
fn at_the_limit_votes_are_taken_before_others_are_given() {
    let mut machines: Vec<Machine> = (1..=6).map(machine).collect();
    machines.extend([unwanted(7), machine(8)]);
    let members: Vec<Member> = (1..=7).map(voter).chain([learner(8)]).collect();
    assert_eq!(steps(&desired(&healthy(&machines, &members))), ["-7", "+8"]);
}

#[test]
fn the_last_voter_stays() {
    let nobody_wants = healthy(&[unwanted(1), unwanted(2), unwanted(3)], &[voter(1), voter(2), voter(3)]);
    let known = desired(&nobody_wants);
    assert_eq!(voters(&known), ["1"]);
    assert!(known.findings.contains(&Finding::LastVoterStays { member: MemberId(1) }));
    assert_eq!(steps(&known), ["-2", "-3"]);
    let mut unknown = nobody_wants;
    unknown.statuses.remove(0);
    let unknown = desired(&unknown);
    assert_eq!(voters(&unknown), ["2"], "who is healthy stays");
    assert_eq!((steps(&unknown), unknown.held), (Vec::new(), Some(Held::NoPrimary)));
    let orphan = Member { tags: Tags::default(), ..voter(1) };
    let alone = desired(&healthy(&[], std::slice::from_ref(&orphan)));
    assert_eq!(alone.members, [orphan]);
}

#[test]
fn no_more_members_than_the_engine_takes() {
    let machines: Vec<Machine> =
        (1..=55).map(|number| if number < 54 { machine(number) } else { unwanted(number) }).collect();
    let many = desired(&healthy(&machines, &[voter(1)]));
    assert_eq!(many.members.len(), 50);
    assert_eq!(many.not_chosen[&"51".into()], NotChosen::MembersFull { max: 50 });
    assert_eq!(many.not_chosen[&"55".into()], NotChosen::MembersFull { max: 50 });
}

#[test]
fn nobody_votes_before_it_is_ready() {
    let machines = [machine(1), machine(2), machine(3)];
    let mut behind = healthy(&machines, &[voter(1), learner(2), learner(3)]);
    behind.statuses[2].state = MemberState::Startup2;
    let behind = desired(&behind);
    assert_eq!(voters(&behind), ["1"]);
    assert_eq!(behind.not_chosen[&"3".into()], NotChosen::NotReady);
    let new = desired(&healthy(&machines, &[voter(1)]));
    assert_eq!(steps(&new), ["j2 j3"]);
    assert_eq!(voters(&new), ["1"]);
    assert_eq!(new.not_chosen, [("2".into(), NotChosen::Joins), ("3".into(), NotChosen::Joins)].into());
}

#[test]
fn the_primary_is_not_the_one_left_out() {
    let machines = [machine(1), machine(2), machine(3), machine(4)];
    let mut four = healthy(&machines, &[voter(1), voter(2), voter(3), voter(4)]);
    four.statuses[0].lag_ms = Some(1);
    let four = desired(&four);
    assert_eq!(voters(&four), ["1", "3", "4"]);
    assert_eq!(steps(&four), ["-2"]);
}

#[test]
fn the_sick_are_left_out_first() {
    let machines = [machine(1), machine(2), machine(3), machine(4)];
    let four = healthy(&machines, &[voter(1), voter(2), voter(3), voter(4)]);
    assert_eq!(voters(&desired(&sick(four.clone(), &[3]))), ["1", "2", "4"]);
    let mut behind = four;
    behind.statuses[3].lag_ms = Some(5_000);
    assert_eq!(voters(&desired(&behind)), ["1", "2", "3"]);
}

#[test]
fn no_step_without_a_healthy_majority_before() {
    let machines = [machine(1), machine(2), machine(3), unwanted(4), unwanted(5)];
    let five = healthy(&machines, &[voter(1), voter(2), voter(3), voter(4), voter(5)]);
    let lost = desired(&sick(five, &[3, 4, 5]));
    assert_eq!(voters(&lost), ["1", "2", "3"]);
    assert_eq!((steps(&lost), lost.held), (Vec::new(), Some(Held::NoHealthyMajority { voters: 5, ready: 2 })));
    // Not even to be rid of the primary.
    let machines = [unwanted(1), machine(2), machine(3), machine(4), machine(5)];
    let five = healthy(&machines, &[voter(1), voter(2), voter(3), voter(4), voter(5)]);
    let lost = desired(&sick(five, &[3, 4, 5]));
    assert_eq!((steps(&lost), lost.held), (Vec::new(), Some(Held::NoHealthyMajority { voters: 5, ready: 2 })));
}

#[test]
fn no_step_without_a_healthy_majority_after() {
    let machines = [machine(1), machine(2), machine(3), unwanted(4), unwanted(5)];
    let five = healthy(&machines, &[voter(1), voter(2), voter(3), voter(4), voter(5)]);
    let shrinking = desired(&sick(five, &[2, 3]));
    assert_eq!(steps(&shrinking), NONE);
    assert_eq!(shrinking.held, Some(Held::NoHealthyMajorityAfter { voters: 4, ready: 2 }));
}

#[test]
fn no_step_without_one_healthy_primary() {
    let machines = [machine(1), machine(2), machine(3)];
    let three = healthy(&machines, &[voter(1), learner(2), learner(3)]);
    assert_eq!(steps(&desired(&three)), ["+2", "+3"]);
    let held = |change: fn(&mut Vec<MemberStatus>)| {
        let mut changed = three.clone();
        change(&mut changed.statuses);
        let verdict = desired(&changed);
        assert_eq!(steps(&verdict), NONE);
        verdict.held
    };
    assert_eq!(held(|statuses| statuses[0].state = MemberState::Secondary), Some(Held::NoPrimary));
    assert_eq!(held(|statuses| statuses[0].healthy = false), Some(Held::NoPrimary));
    assert_eq!(held(|statuses| statuses[1].state = MemberState::Primary), Some(Held::SeveralPrimaries));
    assert_eq!(held(|statuses| statuses.push(status(9, MemberState::Primary))), Some(Held::SeveralPrimaries));
}

#[test]
fn the_primary_steps_down_before_it_loses_its_vote() {
    let machines = [unwanted(1), machine(2), machine(3), machine(4)];
    let leaving = desired(&healthy(&machines, &[voter(1), voter(2), voter(3), voter(4)]));
    assert!(leaving.step_down_primary);
    assert_eq!(steps(&leaving), ["1>2", "-1"]);
    let alone = desired(&healthy(&[unwanted(1), machine(2)], &[voter(1), learner(2)]));
    assert_eq!(steps(&alone), ["+2", "1>2", "-1"]);
    assert_eq!(voters(&alone), ["2"]);
}

#[test]
fn no_step_down_without_a_successor() {
    let machines = [unwanted(1), machine(2), machine(3), machine(4)];
    let four = healthy(&machines, &[voter(1), voter(2), voter(3), voter(4)]);
    let mut none = four.clone();
    none.members[1..].iter_mut().for_each(|member| member.priority = Some(Priority::NONE));
    let none = desired(&none);
    assert!(none.step_down_primary);
    assert_eq!((steps(&none), none.held), (Vec::new(), Some(Held::NoSuccessor)));
    // Sick, without a priority, far behind: the one that is none of it follows.
    let mut one = sick(four, &[2]);
    one.members[2].priority = Some(Priority::NONE);
    assert_eq!(steps(&desired(&one)), ["1>4", "-1"]);
    let machines = [unwanted(1), machine(2), unwanted(3), machine(4)];
    let mut behind = healthy(&machines, &[voter(1), voter(2), voter(4)]);
    behind.statuses[1].lag_ms = Some(9);
    assert_eq!(steps(&desired(&behind))[1..], ["-2", "1>4", "-1"]);
}

#[test]
fn a_step_down_is_not_sent_to_another() {
    let action = Action::StepDown { primary: MemberId(1), successor: MemberId(2) };
    let seen = |states: [(u8, MemberState); 3]| {
        let statuses: Vec<MemberStatus> = states.iter().map(|(number, state)| status(*number, *state)).collect();
        action.is_still_meant(&statuses)
    };
    use MemberState::{Down, Primary, Secondary};
    assert!(seen([(1, Primary), (2, Secondary), (3, Secondary)]));
    assert!(!seen([(1, Secondary), (2, Primary), (3, Secondary)]), "it has stepped down already");
    assert!(!seen([(1, Primary), (2, Secondary), (3, Primary)]));
    assert!(!seen([(1, Primary), (2, Down), (3, Secondary)]));
}

#[test]
fn one_vote_changes_at_a_time() {
    let machines: Vec<Machine> = (1..=5).map(machine).collect();
    let members: Vec<Member> = [voter(1)].into_iter().chain((2..=5).map(learner)).collect();
    let growing = healthy(&machines, &members);
    assert_eq!(steps(&desired(&growing)), ["+2", "+3", "+4", "+5"]);
    let old_server = EngineRules { voting_changes_per_step: 3, ..EngineRules::mongodb() };
    assert_eq!(steps(&desired_by(&growing, &old_server)), ["+2 +3 +4", "+5"]);
}

#[test]
fn votes_are_given_before_any_is_taken() {
    let machines = [machine(1), machine(2), unwanted(3), machine(4)];
    let members = [voter(1), voter(2), voter(3), learner(4)];
    assert_eq!(steps(&desired(&healthy(&machines, &members))), ["+4", "-3"]);
}

#[test]
fn others_go_before_the_primary_steps_down() {
    let machines = [unwanted(1), machine(2), machine(3), machine(4), unwanted(5)];
    let members = [voter(1), voter(2), voter(3), voter(4), voter(5)];
    assert_eq!(steps(&desired(&healthy(&machines, &members))), ["-5", "1>2", "-1"]);
}

#[test]
fn an_orphan_stops_nothing() {
    let orphan = Member { tags: Tags::default(), votes: Some(1), ..voter(9) };
    let machines = [machine(1), machine(2), machine(3)];
    let members = [voter(1), voter(2), learner(3), orphan];
    let verdict = desired(&healthy(&machines, &members));
    assert_eq!(voters(&verdict), ["1", "2", "3"]);
    assert_eq!(steps(&verdict), ["+3", "-9", "x9"]);
    assert!(verdict.findings.contains(&Finding::Orphan { member: MemberId(9), votes: true }));
    let dead = Machine { life: Life::Dead, ..machine(3) };
    let gone =
        desired(&healthy(&[machine(1), machine(2), dead, machine(4)], &[voter(1), voter(2), voter(3), learner(4)]));
    assert_eq!(steps(&gone), ["+4", "-3", "x3"]);
}

#[test]
fn the_second_member_of_a_machine_goes() {
    let twin = |number: u8| Member { tags: voter(1).tags, ..voter(number) };
    let mut primary_second = healthy(&[machine(1)], &[voter(1), twin(2), twin(3)]);
    primary_second.statuses[0].state = MemberState::Secondary;
    primary_second.statuses[1].state = MemberState::Primary;
    let kept = desired(&primary_second);
    assert_eq!(kept.members.iter().map(|member| member.id).collect::<Vec<MemberId>>(), [MemberId(2)]);
    assert!(kept.findings.contains(&Finding::SecondOfMachine {
        machine: "1".into(),
        member: MemberId(3),
        kept: MemberId(2)
    }));
    assert_eq!(steps(&kept), ["-1", "x1", "m2", "-3", "x3"], "its address is free once the other has gone");
    let voter_second =
        desired(&healthy(&[machine(1), machine(5)], &[voter(5), Member { id: MemberId(2), ..learner(1) }, twin(3)]));
    assert_eq!(voter_second.members.len(), 2);
    assert!(voter_second.members.iter().any(|member| member.id == MemberId(3)), "who votes goes before who does not");
}

#[test]
fn no_member_without_an_address() {
    let nowhere = Machine { addresses: Vec::new(), ..machine(2) };
    let several = Machine { addresses: vec![address("10.0.0.3"), address("10.0.0.33")], ..machine(3) };
    let machines = [machine(1), nowhere, several, machine(4)];
    let new = desired(&healthy(&machines, &[voter(1)]));
    assert_eq!(steps(&new), ["j4"], "the others are not stopped");
    let fault = |fault| NotChosen::Address { fault };
    assert_eq!(new.not_chosen[&"2".into()], fault(addresses::AddressFault::NoneUsable));
    assert_eq!(new.not_chosen[&"3".into()], fault(addresses::AddressFault::SeveralUsable));
    assert_eq!(new.machine_status, [("3".into(), StatusNote::SeveralAddresses)].into());
    let there = desired(&healthy(&machines, &[voter(1), learner(2), learner(3)]));
    assert_eq!(voters(&there), ["1", "2", "3"], "who is there keeps its address");
    let empty = desired(&healthy(&machines, &[voter(1), Member { address: "".into(), ..learner(2) }]));
    assert!(empty.findings.contains(&Finding::NoAddress { member: MemberId(2) }));
    assert_eq!(steps(&empty), ["x2 j4"]);
}

#[test]
fn no_two_members_at_one_address() {
    let second = Machine { addresses: machine(1).addresses, ..machine(2) };
    let new = desired(&healthy(&[machine(1), second.clone()], &[voter(1)]));
    assert_eq!(new.not_chosen[&"2".into()], NotChosen::AddressTaken);
    let there = desired(&healthy(&[machine(1), second], &[voter(1), learner(2)]));
    assert_eq!(there.members[1].address, "10.0.0.2:7", "it stays where it is");
    let spelled = Machine { addresses: vec![address("FD00:0::1")], ..machine(2) };
    let first = Machine { addresses: vec![address("fd00::1")], ..machine(1) };
    let present = Member { address: "[fd00::1]:7".into(), ..voter(1) };
    let new = desired(&healthy(&[first, spelled], &[present]));
    assert_eq!(new.not_chosen[&"2".into()], NotChosen::AddressTaken, "in any spelling");
}

#[test]
fn another_spelling_is_no_change() {
    let spelled = Machine { addresses: vec![address("2001:DB8::0:1")], ..machine(1) };
    let present = Member { address: "[2001:db8::1]:7".into(), ..voter(1) };
    assert!(!desired(&healthy(&[spelled], &[present])).changed);
}

#[test]
fn loopback_is_no_address() {
    let local = |value: &str, scope| Machine { addresses: vec![Address { scope, ..address(value) }], ..machine(2) };
    for machine_2 in
        [local("127.0.0.1", Scope::Public), local("10.0.0.2", Scope::LinkLocal), local("::1", Scope::Unknown)]
    {
        for space in [None, Some("ha".to_owned())] {
            let mut machine_2 = machine_2.clone();
            machine_2.addresses[0].space.clone_from(&space);
            let mut first = machine(1);
            first.addresses[0].space.clone_from(&space);
            let mut set = healthy(&[first, machine_2], &[voter(1)]);
            set.space = space;
            assert_eq!(desired(&set).members.len(), 1);
        }
    }
}

#[test]
fn an_address_changes_hands_in_two_steps() {
    let moved = |number: u8, to: u8| Machine { addresses: machine(to).addresses, ..machine(number) };
    let machines = [moved(1, 2), moved(2, 99), machine(3)];
    let handed = desired(&healthy(&machines, &[voter(1), voter(2), voter(3)]));
    assert_eq!(steps(&handed), ["m2", "m1"]);
    let without_votes =
        desired(&healthy(&[machine(3), moved(1, 2), moved(2, 99)], &[voter(3), learner(1), learner(2)]));
    assert_eq!(steps(&without_votes)[..2], ["m2", "m1"]);
    // An orphan's address is free once the orphan has gone.
    let orphan = Member { tags: Tags::default(), ..learner(2) };
    assert_eq!(steps(&desired(&healthy(&[machine(1), machine(2)], &[voter(1), orphan]))), ["x2", "j2"]);
}

#[test]
fn a_circle_of_addresses_is_left_alone() {
    let moved = |number: u8, to: u8| Machine { addresses: machine(to).addresses, ..machine(number) };
    let machines = [moved(1, 2), moved(2, 3), moved(3, 1), machine(4)];
    let circle = desired(&healthy(&machines, &[voter(1), voter(2), voter(3)]));
    assert_eq!(steps(&circle), ["j4"]);
    assert_eq!(circle.held, None);
    assert!(circle.findings.contains(&Finding::AddressTaken { machine: "1".into() }));
}

#[test]
fn ids_stay_in_range() {
    let last = Member { id: MemberId(255), ..voter(1) };
    let full = desired(&healthy(&[machine(1), machine(2), machine(3)], std::slice::from_ref(&last)));
    let ids = |verdict: &Desired| verdict.members.iter().map(|member| member.id.0).collect::<Vec<u64>>();
    assert_eq!(ids(&full), [255, 0, 1]);
    assert!(full.findings.contains(&Finding::IdUsedAgain { member: MemberId(1) }));
    let newer = EngineRules { member_id_max: u64::MAX, ..EngineRules::mongodb() };
    assert_eq!(ids(&desired_by(&healthy(&[machine(1), machine(2)], &[last]), &newer)), [255, 256]);
    assert_eq!(ids(&desired(&healthy(&[machine(2), machine(3), machine(7)], &[voter(7)]))), [8, 9, 7]);
}

#[test]
fn a_member_that_is_there_twice_is_refused() {
    let twice = healthy(&[machine(1)], &[voter(1), Member { address: "10.0.0.9:7".into(), ..voter(1) }]);
    let refused = decide(&twice, PeerRules::Default, &EngineRules::mongodb()).map_err(|refused| refused.why);
    assert_eq!(refused, Err(Refusal::MemberTwice { member: MemberId(1) }));
}

#[test]
fn votes_out_of_range_are_put_right_first() {
    let machines = [machine(1), machine(2), machine(3)];
    let many = Member { votes: Some(2), ..voter(2) };
    let uneven = Member { votes: Some(0), priority: None, ..voter(3) };
    let verdict = desired(&healthy(&machines, &[voter(1), many, uneven]));
    assert_eq!(steps(&verdict), ["l2 l3", "+3"]);
    let orphan = Member { votes: Some(2), tags: Tags::default(), ..voter(9) };
    assert_eq!(steps(&desired(&healthy(&[machine(1)], &[voter(1), orphan]))), ["l9", "-9", "x9"]);
}

#[test]
fn unknown_fields_and_priorities_are_carried_along() {
    let other = BTreeMap::from([("hidden".to_owned(), "true".to_owned())]);
    let special = Member { priority: Priority::new(2.5), other, ..voter(1) };
    let elsewhere = Machine { addresses: machine(99).addresses, ..machine(1) };
    let verdict = desired(&healthy(&[elsewhere], std::slice::from_ref(&special)));
    assert_eq!(verdict.members, [Member { address: "10.0.0.99:7".into(), ..special }]);
}

#[test]
fn a_voter_of_etcd_is_removed() {
    let rules = EngineRules::etcd();
    let machines = [unwanted(1), machine(2), machine(3), machine(4)];
    let leaving = desired_by(&healthy(&machines, &[voter(1), voter(2), voter(3), learner(4)]), &rules);
    assert_eq!(steps(&leaving), ["+4", "1>2", "x1"]);
    assert_eq!(leaving.members.len(), 3);
    // Who is left out for an odd count comes back as learner, under another id.
    let four = desired_by(&healthy(&[machine(1), machine(2)], &[voter(1), voter(2)]), &rules);
    assert_eq!(steps(&four), ["x2", "j2"]);
    assert_eq!(four.members[1].id, MemberId(3));
    let one_learner = desired_by(&healthy(&[machine(1), machine(2), machine(3)], &[voter(1)]), &rules);
    assert_eq!(steps(&one_learner), ["j2"]);
    assert_eq!(one_learner.not_chosen[&"3".into()], NotChosen::LearnersFull { max: 1 });
}

#[test]
fn etcd_waits_for_the_missing_voter() {
    let rules = EngineRules::etcd();
    let machines = [machine(1), machine(2), machine(3)];
    let growing = desired_by(&healthy(&machines, &[voter(1), learner(2)]), &rules);
    assert_eq!(steps(&growing), ["+2", "j3"]);
    assert!(growing.findings.contains(&Finding::EvenForNow { voters: 2 }));
    let alone = desired_by(&healthy(&machines[..2], &[voter(1), learner(2)]), &rules);
    assert_eq!(steps(&alone), NONE, "nobody else can come");
}

#[test]
fn flags_are_lowered_only_by_what_was_read_back() {
    let flagged = [MemberId(1), MemberId(3)].into();
    let action = Action::Write { changes: vec![Change::Promote { member: MemberId(2) }] };
    let raised = flags::before(&flagged, &Step { action, because: StepReason::ReadyToVote });
    assert_eq!(raised, [MemberId(1), MemberId(2), MemberId(3)].into());
    assert_eq!(flags::after(&raised, None), raised, "the answer was lost, and the write may have been taken");
    let committed = [voter(1), learner(2), learner(3)];
    assert_eq!(flags::after(&raised, Some(&committed)), [MemberId(1)].into());
}
