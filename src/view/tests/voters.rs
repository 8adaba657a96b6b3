//! A replica set whose voters are all there, and one of which is down.

use bailiwick_actors::{
    contract::{Decider, Entity, Known, NoView, PolicyInForce, Request},
    member,
    ports::replica_set::{
        Configuration, EngineRules, MACHINE_TAG, Member, MemberId, MemberState, MemberStatus, Observation, Stamp,
    },
    replica_set::{self, Command, Report, Rhythm, Seat, Spec},
};
use bailiwick_journal::append_blocking;

use super::*;

/// Decides and writes as the shell does.
fn ask<D: Decider<View = NoView>>(journal: &dyn Journal, entity: &mut Entity<D>, command: D::Command) {
    let policy = Arc::new(PolicyInForce { reference: None, document: policy::Document::default() });
    let now = Timestamp(journal.head().time_ms);
    let known = Known { now, policy, view: &NoView, view_at: None, journal: journal.id() };
    let id = Uuid::from_u128(u128::from(journal.head().position.0));
    let request = Request { command, id, principal: "operator".into(), cause: None, cites: Vec::new() };
    let verdict = entity.decide(&request.command, &known);
    let draft = entity.draft(&request, &known, &verdict).expect("a small decision");
    let appended = append_blocking(journal, vec![draft]).expect("the journal takes it");
    entity.take_in(&appended.entries()[0]).expect("what was stored can be read");
}

fn spec() -> Spec {
    let seat = |number: u16| Seat::at(format!("m{number}").parse().expect("a name"), &format!("10.0.0.{number}"), 7, 8);
    Spec {
        engine: "e".parse().expect("a name"),
        servers: 3,
        seats: (1..=3).map(seat).collect(),
        one_host: false,
        rhythm: Rhythm::default(),
        space: None,
    }
}

fn voter(number: u64) -> Member {
    let tags = [(MACHINE_TAG.to_owned(), format!("m{number}"))].into();
    let address = format!("10.0.0.{number}:7").into();
    Member { id: MemberId(number), address, tags, votes: None, priority: None, other: Default::default() }
}

fn seen(down: u64) -> Observation {
    let members: Vec<Member> = (1..=3).map(voter).collect();
    let status = |member: &Member| {
        let state = match member.id.0 {
            number if number == down => MemberState::Down,
            1 => MemberState::Primary,
            _ => MemberState::Secondary,
        };
        MemberStatus { id: member.id, healthy: state != MemberState::Down, state, lag_ms: None }
    };
    let statuses = members.iter().map(status).collect();
    let configuration = Configuration { stamp: Stamp { term: 1, version: 1 }, committed: true, members };
    Observation { configuration, statuses, rules: EngineRules::etcd() }
}

#[test]
fn the_voter_that_is_down_is_named_and_waited_for() {
    // given: three voters on machines that run, of which the second is down
    let (journal, mut desk) = desk();
    for machine in ["m1", "m2", "m3"] {
        desk.declare_machine(machine);
    }
    desk.settle();
    let mut set = Entity::<replica_set::State>::new(stream("replica-set/db"));
    ask(&*journal, &mut set, Command::Declare(spec()));
    let round = set.state().phase_at;
    ask(&*journal, &mut set, Command::Report(Report::Seen { round, observation: seen(2) }));
    let mut second = Entity::<member::State>::new(stream("member/db:m2"));
    let sighting = Some(member::Sighting::of(&voter(2), None));
    let seat = Some("10.0.0.2:7".to_owned());
    let picture = member::Picture { as_of: set.version(), seat, seen: sighting, task: None, flagged: false };
    ask(&*journal, &mut second, member::Command::Follow(picture));
    // when
    let fleet = Fleet::at_head(&*journal).unwrap();
    let unmet = why_not(&fleet, &stream("replica-set/db"), "ready").and_then(|answer| answer.unmet).unwrap();
    // then
    assert_eq!(unmet.because, "member db:m2 is not healthy: its server was down when it was last read");
    assert_eq!(unmet.satisfied_by, "its server answers again, or machine/m2 is replaced");
    assert_eq!(unmet.blocked_by.as_deref(), Some("member/db:m2"));
}
