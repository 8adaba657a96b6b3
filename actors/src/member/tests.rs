//! Every reason of a member, and what holds along every walk.

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{Command, Event, Part, Picture, Reason, Sighting, State, Task};
use crate::{
    contract::given::{Case, JOURNAL, after, answer, case, hold, walk},
    policy::Document,
    ports::replica_set::{MemberId, MemberState, StepReason},
    vocab::{Life, Timestamp},
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "member/db:m2".parse().expect("a stream")
}

fn sighting(id: u64, votes: bool) -> Sighting {
    Sighting { id: MemberId(id), address: "10.0.0.2:7".into(), votes, state: MemberState::Secondary, healthy: true }
}

fn picture(as_of: u64) -> Picture {
    Picture { as_of: Version(as_of), seat: Some("10.0.0.2:7".into()), seen: None, task: None, flagged: false }
}

fn joins() -> Task {
    Task { part: Part::Join, because: StepReason::NoVoteInvolved }
}

fn seen(as_of: u64, id: u64, votes: bool) -> Picture {
    Picture { seen: Some(sighting(id, votes)), flagged: votes, ..picture(as_of) }
}

fn follow(picture: Picture) -> Command {
    Command::Follow(picture)
}

fn followed(as_of: u64) -> Event {
    Event::Followed { as_of: Version(as_of) }
}

// The past, one step longer each.

fn declared() -> Vec<Event> {
    vec![Event::Declared, followed(2), Event::Seated { seat: Some("10.0.0.2:7".into()) }]
}

fn joining() -> Vec<Event> {
    [declared(), vec![followed(3), Event::TaskBegan { task: joins() }]].concat()
}

fn learner() -> Vec<Event> {
    [joining(), vec![followed(5), Event::Joined { seen: sighting(2, false) }, Event::TaskEnded]].concat()
}

fn voter() -> Vec<Event> {
    [learner(), vec![followed(9), Event::Promoted, Event::Flagged]].concat()
}

fn removed() -> Vec<Event> {
    [declared(), vec![followed(4), Event::Removed]].concat()
}

#[test]
fn every_reason_has_a_case() {
    let forget = |as_of| Command::Forget { as_of: Version(as_of) };
    let cases: Vec<Case<State>> = vec![
        case(vec![], follow(picture(2)), Ok((Reason::NewlyDeclared, declared()))),
        case(vec![], forget(2), Ok((Reason::AlreadyGone, vec![]))),
        case(
            declared(),
            follow(Picture { task: Some(joins()), ..picture(3) }),
            Ok((Reason::StepUnderWay, vec![followed(3), Event::TaskBegan { task: joins() }])),
        ),
        case(joining(), follow(picture(4)), Ok((Reason::StepOver, vec![followed(4), Event::TaskEnded]))),
        case(
            joining(),
            follow(seen(5, 2, false)),
            Ok((Reason::HasJoined, vec![followed(5), Event::Joined { seen: sighting(2, false) }, Event::TaskEnded])),
        ),
        case(
            learner(),
            follow(seen(9, 2, true)),
            Ok((Reason::HasVote, vec![followed(9), Event::Promoted, Event::Flagged])),
        ),
        case(
            voter(),
            follow(seen(11, 2, false)),
            Ok((Reason::HasLostVote, vec![followed(11), Event::Demoted, Event::Unflagged])),
        ),
        case(
            learner(),
            follow(picture(11)),
            Ok((Reason::HasLeft, vec![followed(11), Event::Left { id: MemberId(2) }])),
        ),
        case(
            learner(),
            follow(Picture {
                seen: Some(Sighting { state: MemberState::Down, healthy: false, ..sighting(2, false) }),
                ..picture(6)
            }),
            Ok((Reason::SeenNew, vec![followed(6), Event::Said { state: MemberState::Down, healthy: false }])),
        ),
        case(
            learner(),
            follow(Picture {
                seen: Some(Sighting { address: "10.0.0.9:7".into(), ..sighting(2, false) }),
                ..picture(6)
            }),
            Ok((Reason::SeenNew, vec![followed(6), Event::Moved { address: "10.0.0.9:7".into() }])),
        ),
        case(
            declared(),
            follow(Picture { seat: None, ..picture(6) }),
            Ok((Reason::SeatChanged, vec![followed(6), Event::Seated { seat: None }])),
        ),
        case(
            learner(),
            follow(Picture { flagged: true, ..seen(6, 2, false) }),
            Ok((Reason::FlagChanged, vec![followed(6), Event::Flagged])),
        ),
        case(voter(), follow(seen(10, 2, true)), Ok((Reason::NothingNew, vec![]))),
        case(voter(), follow(picture(8)), Ok((Reason::OlderThanKnown, vec![]))),
        case(voter(), forget(8), Ok((Reason::OlderThanKnown, vec![]))),
        case(declared(), forget(4), Ok((Reason::NoPlace, vec![followed(4), Event::Removed]))),
        case(removed(), follow(picture(4)), Ok((Reason::OlderThanKnown, vec![]))),
    ];
    hold(&stream(), NOW, &Document::default(), cases, Reason::ALL, &[]);
}

#[test]
fn who_is_asked_to_join_is_no_member_yet() {
    let status = |past: Vec<Event>| after::<State>(&past).0.status();
    assert_eq!(status(vec![]), "undeclared");
    assert_eq!(status(declared()), "declared");
    assert_eq!(status(joining()), "joining");
    assert_eq!(status(learner()), "learner");
    assert_eq!(status(voter()), "voter");
    let leaves = Task { part: Part::Remove, because: StepReason::NotWanted };
    assert_eq!(status([voter(), vec![followed(10), Event::TaskBegan { task: leaves }]].concat()), "leaving");
    assert_eq!(status(removed()), "removed");
}

#[test]
fn an_older_picture_says_nothing() {
    let given = after::<State>(&voter());
    for as_of in 0..9 {
        let verdict = answer(&stream(), &given, &follow(picture(as_of)), NOW, &Document::default());
        assert_eq!(verdict.expect("it refuses nothing").reason, Reason::OlderThanKnown);
    }
}

#[test]
fn another_id_is_another_member() {
    let given = after::<State>(&learner());
    let verdict = answer(&stream(), &given, &follow(seen(9, 7, false)), NOW, &Document::default());
    let events = [followed(9), Event::Left { id: MemberId(2) }, Event::Joined { seen: sighting(7, false) }];
    assert_eq!(verdict.expect("it refuses nothing").events, events);
}

#[test]
fn a_voter_is_flagged_until_its_set_says_otherwise() {
    let given = after::<State>(&voter());
    let still = Picture { flagged: true, ..seen(11, 2, false) };
    let verdict = answer(&stream(), &given, &follow(still), NOW, &Document::default());
    assert_eq!(verdict.expect("it refuses nothing").events, [followed(11), Event::Demoted]);
}

#[test]
fn who_comes_back_is_another_one_in_the_same_stream() {
    let mut past = removed();
    let (before, _) = after::<State>(&past);
    let verdict = answer(&stream(), &after::<State>(&past), &follow(picture(9)), NOW, &Document::default());
    past.extend(verdict.expect("it refuses nothing").events);
    let (again, _) = after::<State>(&past);
    assert_eq!((again.life, again.as_of), (Life::Alive, Version(9)));
    assert_ne!(again.uid(JOURNAL, &stream()), before.uid(JOURNAL, &stream()));
}

proptest! {
    /// Whatever is told in whatever order, it knows in the end what the latest picture says.
    #[test]
    fn the_latest_picture_counts(dice in vec((0u8..10, any::<u8>(), 0u32..1_000), 0..60)) {
        let command = |_: &State, _: Version, kind: u8, value: u8| {
            let as_of = Version(u64::from(value % 16));
            match kind {
                0 => Command::Forget { as_of },
                1..=3 => follow(Picture { task: (value > 128).then(joins), ..picture(as_of.0) }),
                _ => follow(seen(as_of.0, u64::from(value % 3), value.is_multiple_of(2))),
            }
        };
        walk::<State>(&stream(), &Document::default(), &dice, command, |before, now, events| {
            assert!(before.life != Life::Alive || before.as_of <= now.as_of, "what is known never goes back");
            assert!(events.is_empty() || now.life == Life::Removed || now.life == Life::Alive);
            assert!(now.life == Life::Alive || (now.seen.is_none() && !now.flagged), "what is gone has nothing");
        });
    }
}
