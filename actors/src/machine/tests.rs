//! Every reason and rejection of a machine, and what holds along every walk.

mod again;
mod class_snapshot;
mod diagnosis;
mod draining;
mod foreign_instance;
mod health;
mod juju;
mod membership;
mod operator;
mod ordered_drain;
mod patience;
mod placement;
mod progress;
mod protection;
mod starting;
mod volume_zones;

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{
    Command, Effect, Event, Instance, Node, NodeFacts, Reason, Rejection, Removal, RemovalReason, Report, Spec, State,
};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, after, answer, case, hold, walk},
    },
    policy::{Document, GiveUpBy, WhenLost},
    ports::{Condition, InstanceStatus, MachineInstance},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Name, Nonce, Outlook, Timestamp},
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "machine/web".parse().expect("a stream")
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn spec(provider: &str) -> Arc<Spec> {
    Arc::new(Spec::with_provider(name(provider)))
}

fn effect(at: u64) -> EffectId {
    EffectId::of(JOURNAL, &stream(), Version(at))
}

fn instance(at: u64) -> MachineInstance {
    MachineInstance {
        effect: effect(at),
        instance: InstanceId("i-1".into()),
        machine: name("web"),
        facts: BTreeMap::new(),
        status: InstanceStatus::Running,
    }
}

fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

fn condition(healthy: bool) -> Condition {
    Condition { kind: "DiskPressure".into(), healthy: healthy.into(), text: String::new() }
}

// The past, one step longer each. Versions: declared 1, create requested 2, then the next.

fn joining() -> Event {
    Event::JoinAwaited { until: NOW.after(1_200_000), at: NOW }
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { spec: spec("local") }, Event::CreateRequested { at: Timestamp(1) }]
}

fn running() -> Vec<Event> {
    [declared(), vec![Event::Created { instance: instance(2), at: Timestamp(2) }]].concat()
}

fn with_volume() -> Vec<Event> {
    [running(), vec![Event::AttachmentReserved { volume: name("data") }]].concat()
}

fn waiting(until: u64) -> Vec<Event> {
    let event = Event::CreateRetryScheduled { until: Timestamp(until), fault: fault(FaultCode::Unavailable) };
    [declared(), vec![event]].concat()
}

fn given_up() -> Vec<Event> {
    [declared(), vec![Event::CreateGivenUp { fault: fault(FaultCode::InvalidArgument), again: None }]].concat()
}

fn reporting() -> Vec<Event> {
    [running(), vec![Event::NodeReported { conditions: vec![condition(true)], at: Timestamp(3) }]].concat()
}

fn lost() -> Vec<Event> {
    [running(), vec![Event::InstanceLost { at: Timestamp(4) }]].concat()
}

fn replacing() -> Vec<Event> {
    [lost(), vec![Event::DeleteRequested { at: Timestamp(5) }]].concat()
}

fn dead() -> Vec<Event> {
    [running(), vec![Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: Timestamp(5) }]]
        .concat()
}

fn dying() -> Vec<Event> {
    [with_volume(), vec![Event::RemovalBegan { at: NOW }]].concat()
}

fn removed() -> Vec<Event> {
    [dead(), vec![Event::Deleted, Event::Removed]].concat()
}

fn failed(attempt: u32, code: FaultCode) -> Command {
    Command::Report(Report::CreateFailed { attempt, fault: fault(code) })
}

fn table() -> Vec<Case<State>> {
    use Reason as R;
    let silent = |last_seen| Command::Report(Report::NodeSilent { effect: effect(2), last_seen: Timestamp(last_seen) });
    let seen = |healthy| Command::Report(Report::Node { effect: effect(2), conditions: vec![condition(healthy)] });
    let reserve = || Command::ReserveAttachment { volume: name("data") };
    let release = || Command::ReleaseAttachment { volume: name("data") };
    let labelled = Arc::new(Spec { labels: [("a".to_owned(), "b".to_owned())].into(), ..(*spec("local")).clone() });
    let scheduled = |until, code| Event::CreateRetryScheduled { until: Timestamp(until), fault: fault(code) };
    let asked_again = vec![Event::Declared { spec: spec("local") }, Event::CreateRequested { at: NOW }];
    vec![
        case([], Command::Declare(spec("local")), Ok((R::NewlyDeclared, asked_again.clone()))),
        case(removed(), Command::Declare(spec("local")), Ok((R::NewlyDeclared, asked_again))),
        case(declared(), Command::Declare(spec("local")), Ok((R::AlreadyAsDeclared, vec![]))),
        case(
            running(),
            Command::Declare(labelled.clone()),
            Ok((R::SpecDiffers, vec![Event::SpecChanged { spec: labelled }])),
        ),
        case(running(), Command::Declare(spec("other")), Err(Rejection::Immutable { field: "spec.provider".into() })),
        case(dying(), Command::Declare(spec("local")), Err(Rejection::Leaving { life: Life::Dying })),
        case(
            declared(),
            Command::Report(Report::Created { attempt: 1, instance: instance(2) }),
            Ok((R::InstanceMade, vec![Event::Created { instance: instance(2), at: NOW }, joining()])),
        ),
        // The answer to an earlier attempt comes late: it is the same instance.
        case(
            waiting(200_000),
            Command::Report(Report::Created { attempt: 1, instance: instance(2) }),
            Ok((R::InstanceMade, vec![Event::Created { instance: instance(2), at: NOW }, joining()])),
        ),
        case(
            declared(),
            Command::Report(Report::Created { attempt: 2, instance: instance(2) }),
            Err(Rejection::UnknownAttempt { attempt: 2 }),
        ),
        case(
            running(),
            Command::Report(Report::Created { attempt: 1, instance: instance(2) }),
            Ok((R::StaleReport, vec![])),
        ),
        case(
            declared(),
            failed(1, FaultCode::Unavailable),
            Ok((R::WorthRetrying, vec![scheduled(110_000, FaultCode::Unavailable)])),
        ),
        case(
            declared(),
            failed(1, FaultCode::DeadlineExceeded),
            Ok((R::OutcomeUnknown, vec![scheduled(110_000, FaultCode::DeadlineExceeded)])),
        ),
        case(
            declared(),
            failed(1, FaultCode::InvalidArgument),
            Ok((R::NotRetryable, vec![Event::CreateGivenUp { fault: fault(FaultCode::InvalidArgument), again: None }])),
        ),
        case(
            [waiting(5), vec![Event::AttemptBegun, scheduled(6, FaultCode::Unavailable), Event::AttemptBegun]].concat(),
            failed(3, FaultCode::Unavailable),
            Ok((
                R::RetriesExhausted,
                vec![Event::CreateGivenUp { fault: fault(FaultCode::Unavailable), again: Some(NOW.after(1_800_000)) }],
            )),
        ),
        case(declared(), failed(2, FaultCode::Unavailable), Ok((R::StaleReport, vec![]))),
        case(waiting(100_000), Command::Wake { due: NOW }, Ok((R::RetryDue, vec![Event::AttemptBegun]))),
        case(waiting(100_001), Command::Wake { due: NOW }, Ok((R::NotDueYet, vec![]))),
        case(running(), Command::Wake { due: NOW }, Ok((R::NothingWaits, vec![]))),
        case(given_up(), Command::RetryProvisioning, Ok((R::OperatorRetries, vec![Event::AttemptBegun]))),
        case(waiting(200_000), Command::RetryProvisioning, Ok((R::OperatorRetries, vec![Event::AttemptBegun]))),
        case(lost(), Command::RetryProvisioning, Ok((R::OperatorRetries, vec![Event::DeleteRequested { at: NOW }]))),
        case(running(), Command::RetryProvisioning, Ok((R::NothingToRetry, vec![]))),
        case([], Command::RetryProvisioning, Err(Rejection::NotDeclared)),
        case(
            running(),
            Command::Report(Report::Lost { effect: effect(2) }),
            Ok((R::InstanceGone, vec![Event::InstanceLost { at: NOW }, Event::DeleteRequested { at: NOW }])),
        ),
        // Nobody is replaced on its way out.
        case(
            dying(),
            Command::Report(Report::Lost { effect: effect(2) }),
            Ok((R::InstanceGoneKept, vec![Event::InstanceLost { at: NOW }])),
        ),
        case(running(), Command::Report(Report::Lost { effect: effect(9) }), Ok((R::StaleReport, vec![]))),
        case(
            replacing(),
            Command::Report(Report::Deleted { attempt: 1 }),
            Ok((R::ReplacementDue, vec![Event::Deleted, Event::CreateRequested { at: NOW }])),
        ),
        case(
            dead(),
            Command::Report(Report::Deleted { attempt: 1 }),
            Ok((R::InstanceAbsent, vec![Event::Deleted, Event::Removed])),
        ),
        case(
            dead(),
            Command::Report(Report::DeleteFailed { attempt: 1, fault: fault(FaultCode::Internal) }),
            Ok((
                R::WorthRetrying,
                vec![Event::DeleteRetryScheduled { until: Timestamp(110_000), fault: fault(FaultCode::Internal) }],
            )),
        ),
        case(
            running(),
            seen(true),
            Ok((
                R::NodeSeen,
                vec![Event::NodeReported { conditions: vec![condition(true)], at: NOW }, Event::BecameWell { at: NOW }],
            )),
        ),
        case(reporting(), seen(true), Ok((R::NodeUnchanged, vec![]))),
        case(running(), joins(2), Ok((R::AgentJoined, vec![joined()]))),
        case(running(), joins(9), Ok((R::StaleReport, vec![]))),
        case([running(), vec![joined()]].concat(), joins(2), Ok((R::NodeUnchanged, vec![]))),
        case(
            reporting(),
            silent(50_000),
            Ok((R::NodeTooSilent, vec![Event::NodeWentStale { last_seen: Timestamp(50_000) }])),
        ),
        case(reporting(), silent(60_000), Ok((R::NodeNotSilentLongEnough, vec![]))),
        case(
            running(),
            Command::Remove,
            Ok((
                R::RemovalAsked,
                vec![Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: NOW }],
            )),
        ),
        case(with_volume(), Command::Remove, Ok((R::RemovalBlocked, vec![Event::RemovalBegan { at: NOW }]))),
        case(dying(), Command::Remove, Ok((R::AlreadyGoing, vec![]))),
        case(removed(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case(running(), reserve(), Ok((R::AttachmentWanted, vec![Event::AttachmentReserved { volume: name("data") }]))),
        case(with_volume(), reserve(), Err(Rejection::StillReserved)),
        case(
            with_volume(),
            release(),
            Ok((R::AttachmentGone, vec![Event::AttachmentReleased { volume: name("data") }])),
        ),
        case(
            dying(),
            release(),
            Ok((
                R::LastAttachmentGone,
                vec![
                    Event::AttachmentReleased { volume: name("data") },
                    Event::Died,
                    Event::DeleteRequested { at: NOW },
                ],
            )),
        ),
        case(running(), release(), Ok((R::AttachmentUnknown, vec![]))),
    ]
    .into_iter()
    .chain(operator::table())
    .chain(protection::table())
    .chain(diagnosis::table())
    .chain(health::table())
    .chain(placement::table())
    .chain(volume_zones::table())
    .chain(class_snapshot::table())
    .chain(starting::table())
    .chain(progress::table())
    .chain(draining::table())
    .chain(ordered_drain::table())
    .chain(membership::table())
    .chain(patience::table())
    .chain(foreign_instance::table())
    .chain(juju::table())
    .collect()
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    let mut policy = Document::default();
    policy.machines.attempts_max = 3;
    policy.retries.permanent_max = 1;
    policy.retries.give_up_by = GiveUpBy::Age;
    policy.reconciliation.drain.skip_after_ms = 50_000;
    policy.reconciliation.keep.failed_ms = 7_200_000;
    let rejections = [
        "not-declared",
        "leaving",
        "immutable",
        "still-reserved",
        "unknown-attempt",
        "held",
        "bad-hold",
        "hold-over",
        "has-instance",
        "no-instance",
        "busy",
        "not-its-name",
        "other-provider",
        "not-running",
        "being-removed",
        "class-of-other-provider",
        "volumes-apart",
        "volume-elsewhere",
        "other-nonce",
        "protected",
        "nothing-to-keep",
        "keep-over",
        "no-instance-id",
        "already-provisioned",
        "node-provisions",
        "not-alive",
        "voting-controller",
        "controller",
        "has-units",
        "hosts-containers",
        "has-storage",
        "still-alive",
        "not-dead",
        "not-provisioned",
        "dead",
        "status-reserved",
        "status-unknown",
        "error-without-info",
    ];
    hold(&stream(), NOW, &policy, table(), Reason::ALL, &rejections);
}

#[test]
fn a_lost_instance_stays_lost_if_the_policy_says_so() {
    let mut policy = Document::default();
    policy.machines.when_lost = WhenLost::Keep;
    let given = after::<State>(&running());
    let verdict = answer(&stream(), &given, &Command::Report(Report::Lost { effect: effect(2) }), NOW, &policy);
    let decision = verdict.expect("an answer");
    assert_eq!(decision.reason, Reason::InstanceGoneKept);
    assert_eq!(decision.events, [Event::InstanceLost { at: NOW }]);
}

#[test]
fn a_provider_that_answers_with_another_instance_has_failed() {
    let given = after::<State>(&declared());
    let command = Command::Report(Report::Created { attempt: 1, instance: instance(9) });
    let decision = answer(&stream(), &given, &command, NOW, &Document::default()).expect("an answer");
    assert_eq!(decision.reason, Reason::WorthRetrying);
}

fn node() -> Box<NodeFacts> {
    Box::new(NodeFacts { arch: "x86_64".into(), cores: 2, ..NodeFacts::default() })
}

fn joins(version: u64) -> Command {
    Command::Report(Report::Joined { effect: effect(version), token: "1f".into(), node: node() })
}

fn joined() -> Event {
    Event::AgentJoined { token: "1f".into(), node: node(), at: NOW }
}

#[test]
fn who_joined_is_forgotten_with_the_instance() {
    let here = [running(), vec![joined()]].concat();
    let (state, _) = after::<State>(&here);
    assert_eq!(state.joined.map(|joined| (joined.token, joined.since)), Some(("1f".to_owned(), NOW)));
    let lost = [here, vec![Event::InstanceLost { at: NOW }]].concat();
    assert_eq!(after::<State>(&lost).0.joined, None);
}

fn with_nonce(mut instance: MachineInstance, nonce: &str) -> MachineInstance {
    instance.facts.insert(MachineInstance::NONCE.to_owned(), nonce.to_owned());
    instance
}

#[test]
fn all_attempts_share_one_intent_and_a_new_one_opens_only_after_confirmed_absence() {
    let wanted = |events: &[Event]| after::<State>(events).0.pending(&NoView);
    let again = [waiting(5), vec![Event::AttemptBegun]].concat();
    assert_eq!(wanted(&declared()), [Effect::Create { intent: Version(2), attempt: 1 }].into());
    assert_eq!(wanted(&again), [Effect::Create { intent: Version(2), attempt: 2 }].into());
    assert_eq!(wanted(&replacing()), [Effect::Delete { of: Version(2), attempt: 1 }].into());
    let replaced = [replacing(), vec![Event::Deleted, Event::CreateRequested { at: NOW }]].concat();
    assert_eq!(wanted(&replaced), [Effect::Create { intent: Version(7), attempt: 1 }].into());
}

#[test]
fn an_attempt_after_giving_up_is_a_new_attempt() {
    let again = [given_up(), vec![Event::AttemptBegun]].concat();
    let given = after::<State>(&again);
    assert_eq!(given.0.pending(&NoView), [Effect::Create { intent: Version(2), attempt: 2 }].into());
    let late = answer(&stream(), &given, &failed(1, FaultCode::Unavailable), NOW, &Document::default());
    assert_eq!(late.expect("an answer").reason, Reason::StaleReport);
}

/// A command that makes sense in this state, or nearly.
fn command(state: &State, version: Version, kind: u8, value: u8) -> Command {
    let attempt = state.effort().map_or(1, |effort| effort.attempt) + u32::from(value.is_multiple_of(8));
    let intent = match &state.instance {
        Instance::Creating(effort) => effort.intent,
        Instance::Running { intent, .. } | Instance::Lost { intent, .. } => *intent,
        Instance::Deleting { of, .. } => *of,
        Instance::None => version,
    };
    let effect = EffectId::of(JOURNAL, &stream(), if value.is_multiple_of(7) { Version(1) } else { intent });
    let made = MachineInstance { effect, ..instance(2) };
    let volume = name(if value.is_multiple_of(2) { "data" } else { "logs" });
    let fault = fault(FaultCode::ALL[usize::from(value) % FaultCode::ALL.len()]);
    // Nobody bears an id that is still to come.
    let stranger =
        if state.own(JOURNAL, &stream()).is_some() && value.is_multiple_of(2) { made.clone() } else { instance(1_000) };
    let set = name(if value.is_multiple_of(2) { "db" } else { "files" });
    match kind % 30 {
        29 => Command::Report(Report::NodeChanged { effect, node: node() }),
        28 => {
            let nonce = if value.is_multiple_of(5) { Nonce::of(JOURNAL, effect).0 } else { "other:1".into() };
            Command::Report(Report::StartedByOther { effect, instance: made.instance, nonce })
        }
        26 => Command::Engage { set },
        27 => Command::Disengage { set },
        24 => Command::GiveUp { effect },
        25 => Command::Report(Report::NodeSilent { effect, last_seen: Timestamp(0) }),
        14 => Command::Hold { reason: "wait".into(), until: value.is_multiple_of(2).then_some(Timestamp(u64::MAX)) },
        15 => Command::Hold { reason: "soon".into(), until: Some(Timestamp(1_100_000 + u64::from(value) * 10_000)) },
        16 => Command::Unhold,
        17 => Command::Protect { on: value.is_multiple_of(2) },
        18 => Command::RemoveWith(Removal {
            force: value.is_multiple_of(2),
            keep_instance: value.is_multiple_of(3),
            why: RemovalReason::ALL[value as usize % 5],
        }),
        19 => Command::Disown,
        20 | 21 => Command::Adopt { provider: name("local"), instance: made },
        22 => Command::RemoveStray { provider: name("local"), instance: stranger },
        23 if value.is_multiple_of(2) => Command::Report(Report::StrayDeleted { effect, attempt }),
        23 => Command::Report(Report::StrayDeleteFailed { effect, attempt, fault }),
        0 | 1 => Command::Declare(spec(if value.is_multiple_of(5) { "other" } else { "local" })),
        2 => Command::Remove,
        3 => Command::RetryProvisioning,
        4 => Command::ReserveAttachment { volume },
        5 => Command::ReleaseAttachment { volume },
        6 => Command::Wake { due: Timestamp(0) },
        7 | 8 => Command::Report(Report::Created { attempt, instance: made }),
        9 => Command::Report(Report::CreateFailed { attempt, fault }),
        10 => Command::Report(Report::Deleted { attempt }),
        11 => Command::Report(Report::DeleteFailed { attempt, fault }),
        12 => Command::Report(Report::Lost { effect }),
        _ if value.is_multiple_of(2) => {
            Command::Report(Report::Node { effect, conditions: vec![condition(value.is_multiple_of(3))] })
        }
        _ => Command::Report(Report::NodeSilent { effect, last_seen: Timestamp(u64::from(value)) }),
    }
}

fn may_follow(from: Life, to: Life) -> bool {
    use Life::{Alive, Dead, Dying, Removed, Undeclared};
    from == to
        || matches!(
            (from, to),
            // Dying, dead and removed may come in one step when nothing is in the way.
            (Undeclared | Removed, Alive) | (Alive, Dying | Dead | Removed) | (Dying, Dead | Removed) | (Dead, Removed)
        )
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_machine_promises(dice in vec((any::<u8>(), any::<u8>(), 0..100_000u32), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, command, |before, state, _| {
            assert!(may_follow(before.life, state.life), "{} to {}", before.life, state.life);
            assert!(!matches!(state.life, Life::Dead | Life::Removed) || state.is_free(), "what hangs on it is not left");
            assert!(state.life != Life::Removed || state.instance == Instance::None);
            let waits = state.effort().and_then(|effort| match &effort.outlook {
                Outlook::Waiting { until, .. } => Some(Effect::WakeAt(*until)),
                Outlook::Trying | Outlook::GivenUp { .. } => None,
            });
            let owed = state.pending(&NoView);
            let noted = state.is_held_back();
            assert!(waits.is_none_or(|wake| noted || owed.contains(&wake)), "who waits is woken");
            assert!(owed.iter().filter(|effect| !matches!(effect, Effect::WakeAt(_))).count() <= 1, "one call at a time");
            let is_judged = state.life == Life::Alive && state.drain.is_none();
            let until = state.health.until().filter(|_| is_judged).map(Effect::WakeAt);
            assert!(until.is_none_or(|wake| owed.contains(&wake)), "whose time runs is woken when it is over");
            let own = state.own(JOURNAL, &stream());
            assert!(own.is_none_or(|own| !state.strays.contains_key(&own)), "its own instance is not a stray");
            assert!(state.strays.keys().all(|stray| !state.kept.contains(stray)), "what is kept is not removed");
            let is_sure = |effect: &Effect| matches!(effect, Effect::Delete { of, .. } if state.has_proof_of(*of));
            assert!(own.is_none_or(|own| !state.of_others.contains(&own) || !owed.iter().any(is_sure)), "no others' instance");
            assert!(state.strays.keys().all(|stray| !state.of_others.contains(stray)), "what is of others is left alone");
            // A new instance is asked for only where none can be.
            if let (Instance::Creating(now), was) = (&state.instance, &before.instance) {
                let fresh = matches!(was, Instance::Creating(then) if then.intent == now.intent);
                assert!(fresh || matches!(was, Instance::None | Instance::Deleting { .. }));
                // Only an operator's own word makes one while it is held.
                let asked = before.instance == Instance::None;
                assert!(fresh || state.hold.is_none() || asked, "nothing is made by itself while it is held");
            }
            assert!(matches!(state.instance, Instance::Running { .. }) || state.node == Node::Silent || !state.is_ready());
        });
    }

    #[test]
    fn no_command_breaks_a_machine(dice in vec((any::<u8>(), any::<u8>(), any::<u32>()), 0..40)) {
        let mut policy = Document::default();
        policy.machines.attempts_max = 1;
        policy.machines.when_lost = WhenLost::Keep;
        walk::<State>(&stream(), &policy, &dice, command, |_, _, _| ());
    }
}
