//! A machine on which a replica set counts goes only when the set does without it.

use std::sync::Arc;

use super::{NOW, State, instance, name, spec};
use crate::{
    contract::given::{Case, case},
    machine::{Command, DrainOutcome, Event, Reason as R, Rejection, Removal, Skipped, Spec, TurnPlan, Workload},
    vocab::{Life, Timestamp},
};

fn engaged(set: &str) -> Event {
    Event::Engaged { set: name(set) }
}

fn disengaged(set: &str) -> Event {
    Event::Disengaged { set: name(set) }
}

/// It runs a server, its agent reports, and a set counts on it.
fn serving() -> Vec<Event> {
    let at = Timestamp(2);
    let server = Workload::new(name("server"), vec!["server".into()]);
    vec![
        Event::Declared { spec: Arc::new(Spec { workloads: vec![server], ..(*spec("local")).clone() }) },
        Event::CreateRequested { at },
        Event::Created { instance: instance(2), at },
        Event::NodeReported { conditions: Vec::new(), at },
        Event::BecameWell { at },
        engaged("db"),
    ]
}

/// The same without anything inside.
fn counted_on() -> Vec<Event> {
    let at = Timestamp(2);
    let made = Event::Created { instance: instance(2), at };
    vec![Event::Declared { spec: spec("local") }, Event::CreateRequested { at }, made, engaged("db")]
}

/// What is planned for its workload.
fn turns() -> Vec<TurnPlan> {
    vec![TurnPlan { workload: name("server"), volumes: [].into(), wave: 0, grace_ms: Workload::GRACE_MS }]
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

pub(super) fn table() -> Vec<Case<State>> {
    let engage = |set: &str| Command::Engage { set: name(set) };
    let disengage = |set: &str| Command::Disengage { set: name(set) };
    let dies = || [Event::Died, Event::DeleteRequested { at: NOW }];
    let (late, end) = (NOW.after(7_000_000), NOW.after(7_200_000));
    let drains = || Event::DrainBegan { at: NOW, until: end, turns: turns() };
    let dying = |past| then(past, [Event::RemovalBegan { at: NOW }]);
    let forced = Command::RemoveWith(Removal { force: true, ..Removal::default() });
    let skipped = || Event::Skipped { what: Skipped::Membership { set: name("db") } };
    let reserved = || Event::AttachmentReserved { volume: name("data") };
    let released = || Event::AttachmentReleased { volume: name("data") };
    let release = Command::ReleaseAttachment { volume: name("data") };
    let ended = || Event::DrainEnded { outcome: DrainOutcome::Empty };
    let drained = || Command::Report(crate::machine::Report::Drained { effect: super::effect(2) });
    vec![
        case([], engage("db"), Err(Rejection::NotDeclared)),
        case(
            then(counted_on(), [Event::RemovalBegan { at: NOW }, skipped(), Event::Died]),
            engage("db"),
            Err(Rejection::Leaving { life: Life::Dead }),
        ),
        case(counted_on(), engage("db"), Ok((R::EngagedAlready, vec![]))),
        case(counted_on(), engage("files"), Ok((R::MemberCounts, vec![engaged("files")]))),
        case(dying(counted_on()), engage("files"), Ok((R::MemberCounts, vec![engaged("files")]))),
        case(counted_on(), disengage("db"), Ok((R::MemberCountsNoMore, vec![disengaged("db")]))),
        case(counted_on(), disengage("files"), Ok((R::NotEngaged, vec![]))),
        // What runs inside is told to end only when no set counts on it any more.
        case(serving(), Command::Remove, Ok((R::RemovalWaitsForSet, vec![Event::RemovalBegan { at: NOW }]))),
        case(dying(serving()), disengage("db"), Ok((R::RemovalDrains, vec![disengaged("db"), drains()]))),
        // However long that took: the time of the drain counts from the removal's request.
        case(
            dying(serving()),
            disengage("db"),
            Ok((R::RemovalDrains, vec![disengaged("db"), Event::DrainBegan { at: late, until: end, turns: turns() }])),
        )
        .at(late),
        case(
            dying(serving()),
            disengage("db"),
            Ok((R::DrainTimedOut, vec![disengaged("db"), Event::Died, Event::DeleteRequested { at: end }])),
        )
        .at(end),
        case(dying(counted_on()), disengage("db"), Ok((R::RemovalAsked, then(vec![disengaged("db")], dies())))),
        case(dying(then(counted_on(), [reserved()])), disengage("db"), Ok((R::RemovalBlocked, vec![disengaged("db")]))),
        case(dying(then(counted_on(), [reserved()])), release, Ok((R::AttachmentGone, vec![released()]))),
        case(
            dying(then(counted_on(), [engaged("files")])),
            disengage("db"),
            Ok((R::MemberCountsNoMore, vec![disengaged("db")])),
        ),
        // One that was engaged while its workloads were ending is waited for all the same.
        case(
            then(serving(), [disengaged("db"), Event::RemovalBegan { at: NOW }, drains(), engaged("files")]),
            drained(),
            Ok((R::Drained, vec![ended()])),
        ),
        // A forced removal does not wait, and it is recorded what that may cost.
        case(
            counted_on(),
            forced,
            Ok((R::RemovalForced, then(vec![Event::RemovalBegan { at: NOW }, skipped()], dies()))),
        ),
    ]
}
