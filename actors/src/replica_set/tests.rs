//! Every reason and rejection of a replica set, and what holds along every walk.

mod declared;

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{
    Command, Effect, Event, Phase, Reason, Rejection, Report, Rhythm, Seat, Spec, State, enable_ha::EnableHaError,
};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, answer, case, hold, walk},
    },
    policy::Document,
    ports::replica_set::{
        Action, Change, Configuration, EngineRules, Member, MemberId, MemberState, MemberStatus, Observation, Outcome,
        Priority, Stamp, Step, StepReason, Tags,
    },
    vocab::{Fault, FaultCode, Timestamp},
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "replica-set/db".parse().expect("a stream")
}

fn seat(number: u16) -> Seat {
    let machine = format!("m{number}").parse().expect("a name");
    Seat::at(machine, "127.0.0.1", 7_000 + number, 8_000 + number)
}

fn spec(servers: u32) -> Spec {
    let rhythm = Rhythm::default();
    Spec {
        engine: "model".parse().expect("a name"),
        servers,
        seats: (1..=5).map(seat).collect(),
        one_host: true,
        rhythm,
        space: None,
    }
}

fn member(id: u64, votes: bool) -> Member {
    let (votes, priority) = if votes { (None, None) } else { (Some(0), Some(Priority::NONE)) };
    Member {
        id: MemberId(id),
        address: format!("a:{id}").into(),
        tags: Tags::default(),
        votes,
        priority,
        other: BTreeMap::new(),
    }
}

fn seen(version: u64, members: &[Member]) -> Observation {
    let status = |member: &Member| MemberStatus {
        id: member.id,
        healthy: true,
        state: MemberState::Secondary,
        lag_ms: Some(version),
    };
    Observation {
        configuration: Configuration { stamp: Stamp { term: 1, version }, committed: true, members: members.to_vec() },
        statuses: members.iter().map(status).collect(),
        rules: EngineRules::mongodb(),
    }
}

fn promote(id: u64) -> Step {
    let changes = vec![Change::Promote { member: MemberId(id) }];
    Step { action: Action::Write { changes }, because: StepReason::ReadyToVote }
}

fn initiate() -> Step {
    Step { action: Action::Initiate { first: member(1, true) }, because: StepReason::NotBegun }
}

fn step_down() -> Step {
    let action = Action::StepDown { primary: MemberId(1), successor: MemberId(2) };
    Step { action, because: StepReason::PrimaryIsToGo }
}

fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { spec: spec(3) }]
}

fn protected() -> Vec<Event> {
    [declared(), vec![Event::Protected { on: true }]].concat()
}

fn settled() -> Vec<Event> {
    [declared(), vec![Event::Seen { observation: seen(1, &[member(1, true), member(2, false)]) }]].concat()
}

fn begun(step: Step) -> Event {
    Event::StepBegun { step, base: Stamp { term: 1, version: 1 }, at: NOW }
}

fn stepping(step: Step) -> Vec<Event> {
    [settled(), vec![begun(step)]].concat()
}

fn refused() -> Vec<Event> {
    let event = Event::StepRefused { until: NOW, fault: fault(FaultCode::Unavailable) };
    [stepping(promote(2)), vec![event]].concat()
}

fn unknown() -> Vec<Event> {
    let event = Event::StepUnknown { until: NOW, fault: fault(FaultCode::Aborted) };
    [stepping(promote(2)), vec![event]].concat()
}

fn report(report: Report) -> Command {
    Command::Report(report)
}

fn stepped(round: u64, outcome: Outcome) -> Command {
    report(Report::Stepped { round: Version(round), outcome })
}

fn looked(round: u64, observation: Observation) -> Command {
    report(Report::Seen { round: Version(round), observation })
}

/// The first retry waits 2 s, less some jitter that follows from the stream.
fn first_retry() -> Timestamp {
    let state = after::<State>(&stepping(promote(2)));
    let verdict = answer(
        &stream(),
        &state,
        &stepped(3, Outcome::Refused(fault(FaultCode::Unavailable))),
        NOW,
        &Document::default(),
    );
    let Event::StepRefused { until, .. } = &verdict.expect("a decision").events[0] else { panic!("it was refused") };
    assert!(NOW.after(1_800) <= *until && *until <= NOW.after(2_000));
    *until
}

fn table() -> Vec<Case<State>> {
    use Reason as R;
    let until = first_retry();
    let unavailable = || fault(FaultCode::Unavailable);
    let aborted = || fault(FaultCode::Aborted);
    let not_begun = || [declared(), vec![Event::SeenNotBegun]].concat();
    let removed = || [settled(), vec![Event::Removed]].concat();
    let take = |step: Step, seen: u64| Command::TakeStep { step, seen: Version(seen) };
    let mut other_engine = spec(3);
    other_engine.engine = "other".parse().expect("a name");
    let mut nowhere = spec(3);
    nowhere.seats[1].addresses[0].value = String::new();
    let again = seen(1, &[member(1, true), member(2, false)]);
    let mut later = again.clone();
    later.statuses[0].lag_ms = Some(77);
    let more = seen(2, &[member(1, true), member(2, true)]);
    vec![
        case(declared(), Command::Protect { on: true }, Ok((R::ProtectionAsked, vec![Event::Protected { on: true }]))),
        case(declared(), Command::Protect { on: false }, Ok((R::ProtectionKnown, vec![]))),
        case(protected(), Command::Remove, Err(Rejection::Protected)),
        case(protected(), Command::Declare(spec(1)), Err(Rejection::Protected)),
        case([], Command::Declare(spec(3)), Ok((R::NewlyDeclared, declared()))),
        case(declared(), Command::Declare(spec(3)), Ok((R::AlreadyAsDeclared, vec![]))),
        case(declared(), Command::Declare(spec(5)), Ok((R::SpecDiffers, vec![Event::SpecChanged { spec: spec(5) }]))),
        case(declared(), Command::Declare(other_engine), Err(Rejection::Immutable { field: "spec.engine".into() })),
        case([], Command::Declare(spec(2)), Err(Rejection::Servers { problem: EnableHaError::Even { asked: 2 } })),
        case([], Command::Declare(spec(7)), Err(Rejection::TooFewSeats { asked: 7, seats: 5 })),
        case(
            [],
            Command::Declare(nowhere),
            Err(Rejection::Invalid { field: "spec.seats[1].address".into(), problem: "\"\" is not an address".into() }),
        ),
        case(settled(), Command::EnableHa { servers: 5 }, Ok((R::HaAsked, vec![Event::ServersWanted { servers: 5 }]))),
        case(settled(), Command::EnableHa { servers: 0 }, Ok((R::HaAlready, vec![]))),
        case([], Command::EnableHa { servers: 3 }, Err(Rejection::NotDeclared)),
        case(settled(), take(promote(2), 2), Ok((R::StepPlanned, vec![begun(promote(2))]))),
        case(settled(), take(promote(2), 1), Err(Rejection::PlanOutdated)),
        case(stepping(promote(2)), take(promote(2), 2), Err(Rejection::Busy)),
        case(refused(), take(promote(2), 2), Err(Rejection::Busy)),
        case(settled(), take(initiate(), 2), Err(Rejection::AlreadyBegun)),
        case(
            not_begun(),
            take(initiate(), 2),
            Ok((R::StepPlanned, vec![Event::StepBegun { step: initiate(), base: Stamp::default(), at: NOW }])),
        ),
        case(declared(), looked(1, again.clone()), Ok((R::SeenNew, vec![Event::Seen { observation: again.clone() }]))),
        case(settled(), looked(2, more.clone()), Ok((R::SeenNew, vec![Event::Seen { observation: more }]))),
        case(settled(), looked(2, later), Ok((R::NothingNew, vec![]))),
        case(
            [stepping(promote(2)), vec![Event::StepDone]].concat(),
            looked(4, again.clone()),
            Ok((R::SeenAgain, vec![Event::SeenSame])),
        ),
        case(stepping(promote(2)), looked(2, again), Ok((R::StaleReport, vec![]))),
        case(declared(), report(Report::NotBegun { round: Version(1) }), Ok((R::NoSetYet, vec![Event::SeenNotBegun]))),
        case(
            declared(),
            report(Report::LookFailed { round: Version(1), fault: unavailable() }),
            Ok((R::LookWorthRetrying, vec![Event::LookFailed { until, fault: unavailable() }])),
        ),
        case(stepping(promote(2)), stepped(3, Outcome::Done), Ok((R::StepTaken, vec![Event::StepDone]))),
        case(
            stepping(step_down()),
            stepped(3, Outcome::Done),
            Ok((R::PrimaryGaveWay, vec![Event::SteppedDown { until }])),
        ),
        case(
            stepping(promote(2)),
            stepped(3, Outcome::Refused(unavailable())),
            Ok((R::StepWorthRetrying, vec![Event::StepRefused { until, fault: unavailable() }])),
        ),
        case(
            stepping(promote(2)),
            stepped(3, Outcome::Unknown(aborted())),
            Ok((R::OutcomeUnknown, vec![Event::StepUnknown { until, fault: aborted() }])),
        ),
        case(refused(), Command::Wake { due: NOW }, Ok((R::RetryDue, vec![Event::LookBegun]))),
        case(settled(), Command::Wake { due: NOW }, Ok((R::NothingWaits, vec![]))),
        case(
            [stepping(promote(2)), vec![Event::StepRefused { until: NOW.after(1), fault: unavailable() }]].concat(),
            Command::Wake { due: NOW },
            Ok((R::NotDueYet, vec![])),
        ),
        case(refused(), Command::RetryNow, Ok((R::OperatorRetries, vec![Event::LookBegun]))),
        case(settled(), Command::RetryNow, Ok((R::NothingToRetry, vec![]))),
        case(settled(), Command::Remove, Ok((R::RemovalAsked, vec![Event::Removed]))),
        case(removed(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case([], Command::Remove, Err(Rejection::NotDeclared)),
    ]
}

#[test]
fn every_answer_has_a_case() {
    let rejections = [
        "not-declared",
        "immutable",
        "invalid",
        "servers",
        "too-few-seats",
        "busy",
        "plan-outdated",
        "already-begun",
        "protected",
    ];
    let cases = table().into_iter().chain(declared::table()).collect();
    hold::<State>(&stream(), NOW, &Document::default(), cases, Reason::ALL, &rejections);
}

fn ids(numbers: &[u64]) -> BTreeSet<MemberId> {
    numbers.iter().copied().map(MemberId).collect()
}

#[test]
fn a_second_step_waits_for_the_first() {
    for past in [stepping(promote(2)), refused(), unknown(), [stepping(promote(2)), vec![Event::StepDone]].concat()] {
        let state = after::<State>(&past);
        let second = Command::TakeStep { step: promote(2), seen: Version(2) };
        assert_eq!(answer(&stream(), &state, &second, NOW, &Document::default()), Err(Rejection::Busy));
    }
}

#[test]
fn a_plan_on_an_older_view_is_refused() {
    let past = [settled(), vec![Event::Seen { observation: seen(2, &[member(1, true)]) }]].concat();
    let plan = Command::TakeStep { step: promote(2), seen: Version(2) };
    let verdict = answer(&stream(), &after::<State>(&past), &plan, NOW, &Document::default());
    assert_eq!(verdict, Err(Rejection::PlanOutdated));
}

#[test]
fn an_unknown_outcome_is_read_back() {
    let (state, _) = after::<State>(&unknown());
    assert_eq!(state.pending(&NoView), [Effect::WakeAt(NOW)].into());
    let (state, _) = after::<State>(&[unknown(), vec![Event::LookBegun]].concat());
    assert_eq!(state.pending(&NoView), [Effect::Look { round: Version(5) }].into(), "read back, not repeated");
}

#[test]
fn a_doubtful_vote_stays_flagged() {
    let without = || Event::Seen { observation: seen(1, &[member(1, true), member(2, false)]) };
    let read_back = [unknown(), vec![Event::LookBegun, without()]].concat();
    let (state, _) = after::<State>(&read_back);
    assert_eq!(state.flags, ids(&[1, 2]), "the write may still come");
    let later = [read_back, vec![begun(step_down()), Event::StepDone, without()]].concat();
    let (state, _) = after::<State>(&later);
    assert_eq!(state.flags, ids(&[1]), "it came before the later one, or never");
}

#[test]
fn flags_follow_only_what_is_committed() {
    let mut uncommitted = seen(2, &[member(2, true)]);
    uncommitted.configuration.committed = false;
    let past = [settled(), vec![Event::Seen { observation: uncommitted.clone() }]].concat();
    assert_eq!(after::<State>(&past).0.flags, ids(&[1, 2]));
    uncommitted.configuration.committed = true;
    let past = [past, vec![Event::Seen { observation: uncommitted }]].concat();
    assert_eq!(after::<State>(&past).0.flags, ids(&[2]));
}

#[test]
fn a_set_that_was_seen_is_not_begun_again() {
    let state = after::<State>(&settled());
    let report = report(Report::NotBegun { round: Version(2) });
    let decision = answer(&stream(), &state, &report, NOW, &Document::default()).expect("a decision");
    assert!(matches!(&decision.events[..], [Event::LookFailed { fault, .. }] if fault.code == FaultCode::DataLoss));
}

#[test]
fn a_set_is_begun_every_five_seconds_for_a_minute_and_then_as_any_other_step() {
    let begun = |at: u64| Event::StepBegun { step: initiate(), base: Stamp::default(), at: Timestamp(at) };
    let past = [declared(), vec![Event::SeenNotBegun, begun(100_000)]].concat();
    let state = after::<State>(&past);
    let fails = stepped(3, Outcome::Refused(fault(FaultCode::Unavailable)));
    let until = |now: u64| match &answer(&stream(), &state, &fails, Timestamp(now), &Document::default()) {
        Ok(decision) => match &decision.events[..] {
            [Event::StepRefused { until, .. }] => until.0 - now,
            other => panic!("{other:?}"),
        },
        Err(rejection) => panic!("{rejection}"),
    };
    assert_eq!(until(100_000), 5_000);
    assert_eq!(until(159_999), 5_000);
    assert!(until(160_000) <= 2_000, "from here on as any other step");
}

/// A command that fits the state, or nearly.
fn any_command(state: &State, version: Version, kind: u8, value: u8) -> Command {
    let members: Vec<Member> = (1..=3).map(|id| member(id, value >> id & 1 == 1 || id == 1)).collect();
    let round = if value.is_multiple_of(7) { version } else { state.phase_at };
    let mut observation = seen(u64::from(value % 5), &members);
    observation.configuration.committed = !value.is_multiple_of(3);
    match kind % 10 {
        0 => Command::Declare(spec(if value.is_multiple_of(2) { 3 } else { 5 })),
        1 => Command::TakeStep { step: promote(u64::from(value % 4)), seen: state.seen_at },
        2 => Command::TakeStep { step: initiate(), seen: state.seen_at },
        3 => stepped(round.0, Outcome::Done),
        4 => stepped(round.0, Outcome::Unknown(fault(FaultCode::Unknown))),
        5 => stepped(round.0, Outcome::Refused(fault(FaultCode::Unavailable))),
        6 | 7 => looked(round.0, observation),
        8 => Command::Wake { due: NOW },
        _ => report(Report::LookFailed { round, fault: fault(FaultCode::Unavailable) }),
    }
}

proptest! {
    #[test]
    fn flags_cover_every_voter(dice in vec((any::<u8>(), any::<u8>(), 0..400_000u32), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, any_command, |before, after, events| {
            let voters = after.seen.iter().flat_map(|seen| &seen.configuration.members).filter(|member| member.is_voter());
            for voter in voters {
                assert!(after.flags.contains(&voter.id), "{:?} votes and is not flagged", voter.id);
            }
            if let Phase::Stepping { step, .. } = &after.phase {
                assert!(step.action.promoted().all(|id| after.flags.contains(&id)), "it may vote any time now");
                assert_eq!(after.pending(&NoView).len(), 1, "one step in flight");
            }
            assert!(after.doubtful.is_subset(&after.flags));
            let lowered = before.flags.difference(&after.flags).next().is_some();
            let committed = after.seen.as_ref().is_some_and(|seen| seen.configuration.committed);
            let anew = events.iter().any(|event| matches!(event, Event::Declared { .. }));
            assert!(!lowered || committed || anew, "flags are lowered by what was read as committed");
        });
    }
}
