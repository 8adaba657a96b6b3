//! Every reason and rejection of an attachment, and what holds along every walk: of volumes and of filesystems alike.

use bailiwick_journal::{Body, StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{Attached, Command, Effect, Event, Link, Reason, Rejection, Report, State};
use crate::{
    contract::{
        Decider, NoView, Stored, StoredError,
        given::{Case, JOURNAL, Undoing, after, case, hold, is_said_to_be_blocked_once, is_woken, walk},
    },
    filesystem_attachment::{self, Filesystems},
    policy::Document,
    ports::{AttachmentInfo, FilesystemAttachmentInfo},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Name, SkippedStorage, Timestamp},
    volume_attachment::{self, Volumes},
};

const NOW: Timestamp = Timestamp(100_000);

/// What is attached in these tests.
trait Sample: Attached {
    fn spec(read_only: bool) -> Self::Spec;

    /// What it is attached to, if the machine's instance was made at this version.
    fn target(at: u64) -> Self::Target;

    /// The same, known under another name.
    fn renamed(at: u64) -> Self::Target;

    /// The same, attached by a client of Juju's.
    fn external(at: u64) -> Self::Target;

    fn info() -> Self::Info;

    fn stream() -> StreamId {
        StreamId::new(Self::KIND, "web:data").expect("a stream")
    }
}

impl Sample for Volumes {
    fn spec(read_only: bool) -> volume_attachment::Spec {
        volume_attachment::Spec { machine: name("web"), volume: name("data"), read_only }
    }

    fn target(at: u64) -> volume_attachment::Target {
        volume_attachment::Target {
            provider: name("local"),
            machine_effect: effect("machine/web", at),
            instance: InstanceId("i-1".into()),
            volume_effect: effect("volume/data", 2),
            volume_id: InstanceId("v-1".into()),
        }
    }

    fn renamed(at: u64) -> volume_attachment::Target {
        volume_attachment::Target { volume_id: InstanceId("v-2".into()), ..Self::target(at) }
    }

    fn external(at: u64) -> volume_attachment::Target {
        volume_attachment::Target { provider: name("external"), ..Self::target(at) }
    }

    fn info() -> AttachmentInfo {
        AttachmentInfo { path: "/vol/data".into(), read_only: false }
    }
}

impl Sample for Filesystems {
    fn spec(read_only: bool) -> filesystem_attachment::Spec {
        filesystem_attachment::Spec { machine: name("web"), filesystem: name("data"), path: None, read_only }
    }

    fn target(at: u64) -> filesystem_attachment::Target {
        filesystem_attachment::Target {
            provider: name("local"),
            machine_effect: effect("machine/web", at),
            instance: InstanceId("i-1".into()),
            filesystem_effect: effect("filesystem/data", 2),
            filesystem_id: InstanceId("fs-1".into()),
            backing: None,
            path: Some("/srv/data".into()),
        }
    }

    fn renamed(at: u64) -> filesystem_attachment::Target {
        filesystem_attachment::Target { path: Some("/srv/files".into()), ..Self::target(at) }
    }

    fn external(at: u64) -> filesystem_attachment::Target {
        filesystem_attachment::Target { provider: name("external"), ..Self::target(at) }
    }

    fn info() -> FilesystemAttachmentInfo {
        FilesystemAttachmentInfo { mount_point: "/vol/data".into(), read_only: false }
    }
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn effect(kind: &str, at: u64) -> EffectId {
    EffectId::of(JOURNAL, &kind.parse().expect("a stream"), Version(at))
}

fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

fn declared<A: Sample>() -> Vec<Event<A>> {
    vec![Event::Declared { spec: A::spec(false) }]
}

fn attaching<A: Sample>() -> Vec<Event<A>> {
    [declared(), vec![Event::AttachRequested { target: A::target(2), at: Timestamp(1) }]].concat()
}

fn attached<A: Sample>() -> Vec<Event<A>> {
    [attaching(), vec![Event::Attached { info: A::info() }]].concat()
}

fn pausing<A: Sample>(until: u64) -> Vec<Event<A>> {
    let event = Event::AttachRetryScheduled { until: Timestamp(until), fault: fault(FaultCode::Unavailable) };
    [attaching(), vec![event]].concat()
}

fn given_up<A: Sample>() -> Vec<Event<A>> {
    [attaching(), vec![Event::AttachGivenUp { fault: fault(FaultCode::InvalidArgument), again: None }]].concat()
}

fn letting_go<A: Sample>() -> Vec<Event<A>> {
    [attached(), vec![Event::DetachRequested { at: Timestamp(5) }]].concat()
}

fn dying<A: Sample>() -> Vec<Event<A>> {
    [attached(), vec![Event::RemovalBegan, Event::DetachRequested { at: Timestamp(5) }]].concat()
}

fn removed<A: Sample>() -> Vec<Event<A>> {
    [dying(), vec![Event::Detached, Event::Removed]].concat()
}

fn failed<A: Sample>(attempt: u32, code: FaultCode) -> Command<A> {
    Command::Report(Report::AttachFailed { attempt, fault: fault(code) })
}

fn came_with<A: Sample>() -> Vec<Event<A>> {
    [declared(), vec![Event::TakenOver { target: A::external(2), info: A::info() }]].concat()
}

/// It is attached with the instance of its machine, and detached with it.
fn of_clients<A: Sample>() -> Vec<Case<State<A>>> {
    use Reason as R;
    let gone = |at| Command::NoteGone { machine_effect: effect("machine/web", at) };
    let parting = || vec![Event::RemovalBegan, Event::DetachRequested { at: NOW }];
    vec![
        case(
            declared(),
            Command::TakeOver { target: Box::new(A::external(2)), info: A::info() },
            Ok((R::CameWithInstance, came_with().split_off(1))),
        ),
        case(came_with(), Command::Remove, Ok((R::RemovalAsked, parting()))),
        case(
            [came_with(), parting()].concat(),
            gone(2),
            Ok((R::GoneWithInstance, vec![Event::WentWithInstance, Event::Removed])),
        ),
        case(came_with(), gone(2), Ok((R::GoneWithInstance, vec![Event::WentWithInstance]))),
        case(came_with(), Command::Reattach, Ok((R::AlreadyConnected, vec![]))),
        case(came_with(), gone(9), Ok((R::NotConnectedThere, vec![]))),
        // What a provider attached, that provider detaches.
        case(attached(), gone(2), Ok((R::NotConnectedThere, vec![]))),
    ]
}

fn asks_nobody<A: Sample>() {
    let going = [Event::RemovalBegan, Event::DetachRequested { at: NOW }];
    let (state, _) = after::<State<A>>(&[came_with(), going.to_vec()].concat());
    assert_eq!((state.status(), state.may_be_attached()), ("detaching", true));
    // When it takes long, that is told.
    assert_eq!(state.pending(&NoView), [Effect::WakeAt(NOW.after(900_000))].into());
}

fn table<A: Sample>() -> Vec<Case<State<A>>> {
    use Reason as R;
    let scheduled = |code| Event::AttachRetryScheduled { until: Timestamp(130_000), fault: fault(code) };
    let detach = |at| Command::Detach { machine_effect: effect("machine/web", at) };
    vec![
        case([], Command::Declare(A::spec(false)), Ok((R::NewlyDeclared, declared()))),
        case(removed(), Command::Declare(A::spec(false)), Ok((R::NewlyDeclared, declared()))),
        case(attached(), Command::Declare(A::spec(false)), Ok((R::AlreadyAsDeclared, vec![]))),
        case(attached(), Command::Declare(A::spec(true)), Err(Rejection::Immutable { field: "spec.readOnly".into() })),
        case(dying(), Command::Declare(A::spec(false)), Err(Rejection::Leaving { life: Life::Dying })),
        case(
            declared(),
            Command::Attach { target: Box::new(A::target(2)) },
            Ok((R::BothReady, vec![Event::AttachRequested { target: A::target(2), at: NOW }])),
        ),
        case(attached(), Command::Attach { target: Box::new(A::target(2)) }, Ok((R::AlreadyConnected, vec![]))),
        case([], Command::Attach { target: Box::new(A::target(2)) }, Err(Rejection::NotDeclared)),
        case(
            attaching(),
            Command::Report(Report::Attached { attempt: 1, info: A::info() }),
            Ok((R::LinkMade, vec![Event::Attached { info: A::info() }])),
        ),
        case(
            attaching(),
            Command::Report(Report::Attached { attempt: 3, info: A::info() }),
            Err(Rejection::UnknownAttempt { attempt: 3 }),
        ),
        case(
            attached(),
            Command::Report(Report::Attached { attempt: 1, info: A::info() }),
            Ok((R::StaleReport, vec![])),
        ),
        case(
            attaching(),
            failed(1, FaultCode::Unavailable),
            Ok((R::WorthRetrying, vec![scheduled(FaultCode::Unavailable)])),
        ),
        case(
            attaching(),
            failed(1, FaultCode::Canceled),
            Ok((R::OutcomeUnknown, vec![scheduled(FaultCode::Canceled)])),
        ),
        case(
            attaching(),
            failed(1, FaultCode::InvalidArgument),
            Ok((R::NotRetryable, vec![Event::AttachGivenUp { fault: fault(FaultCode::InvalidArgument), again: None }])),
        ),
        case(
            [pausing(5), vec![Event::AttemptBegun]].concat(),
            failed(2, FaultCode::Unavailable),
            Ok((
                R::RetriesExhausted,
                vec![Event::AttachGivenUp { fault: fault(FaultCode::Unavailable), again: Some(NOW.after(1_800_000)) }],
            )),
        ),
        case(pausing(100_000), Command::Wake { due: NOW }, Ok((R::RetryDue, vec![Event::AttemptBegun]))),
        case(pausing(100_001), Command::Wake { due: NOW }, Ok((R::NotDueYet, vec![]))),
        case(attached(), Command::Wake { due: NOW }, Ok((R::NothingWaits, vec![]))),
        case(given_up(), Command::Retry, Ok((R::OperatorRetries, vec![Event::AttemptBegun]))),
        case(attached(), Command::Retry, Ok((R::NothingToRetry, vec![]))),
        case(removed(), Command::Retry, Err(Rejection::NotDeclared)),
        case(attached(), detach(2), Ok((R::MachineWent, vec![Event::DetachRequested { at: NOW }]))),
        case(attached(), detach(9), Ok((R::NotConnectedThere, vec![]))),
        case(
            letting_go(),
            Command::Report(Report::Detached { attempt: 1 }),
            Ok((R::LinkUndone, vec![Event::Detached])),
        ),
        case(
            dying(),
            Command::Report(Report::Detached { attempt: 1 }),
            Ok((R::LinkUndoneForGood, vec![Event::Detached, Event::Removed])),
        ),
        case(
            letting_go(),
            Command::Report(Report::DetachFailed { attempt: 1, fault: fault(FaultCode::Internal) }),
            Ok((
                R::WorthRetrying,
                vec![Event::DetachRetryScheduled { until: Timestamp(130_000), fault: fault(FaultCode::Internal) }],
            )),
        ),
        case(
            attached(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::DetachRequested { at: NOW }])),
        ),
        case(letting_go(), Command::Remove, Ok((R::RemovalAsked, vec![Event::RemovalBegan]))),
        case(declared(), Command::Remove, Ok((R::NeverConnected, vec![Event::RemovalBegan, Event::Removed]))),
        case(dying(), Command::Remove, Ok((R::AlreadyGoing, vec![]))),
        case(removed(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case([], Command::Remove, Err(Rejection::NotDeclared)),
        // What refused before it began has attached nothing.
        case(
            refused(),
            Command::Remove,
            Ok((R::NeverConnected, vec![Event::RemovalBegan, Event::AttachDropped, Event::Removed])),
        ),
        case(
            [attached(), vec![Event::RemovalBegan]].concat(),
            Command::Remove,
            Ok((R::LinkLeft, vec![Event::DetachRequested { at: NOW }])),
        ),
        case(
            declared(),
            Command::TakeOver { target: Box::new(A::target(2)), info: A::info() },
            Ok((R::AttachedAtCreation, vec![Event::TakenOver { target: A::target(2), info: A::info() }])),
        ),
        case(
            pausing(5),
            Command::Attach { target: Box::new(A::renamed(2)) },
            Ok((R::TargetMoved, vec![Event::Retargeted { target: A::renamed(2) }])),
        ),
        // On another instance it is something else: that has to be let go of first.
        case(pausing(5), Command::Attach { target: Box::new(A::target(3)) }, Ok((R::AlreadyConnected, vec![]))),
        case(attached(), Command::Reattach, Ok((R::NewSession, vec![Event::ReattachRequested { at: NOW }]))),
        case(attaching(), Command::Reattach, Ok((R::NotAttached, vec![]))),
        case(
            attached(),
            Command::RemoveForced,
            Ok((R::RemovalForced, vec![Event::RemovalBegan, left(), Event::Removed])),
        ),
        case(dying(), Command::RemoveForced, Ok((R::RemovalForced, vec![left(), Event::Removed]))),
        case(declared(), Command::RemoveForced, Ok((R::NeverConnected, vec![Event::RemovalBegan, Event::Removed]))),
    ]
}

fn left<A: Sample>() -> Event<A> {
    Event::Skipped { what: SkippedStorage::Undoing { effect: EffectId::of(JOURNAL, &A::stream(), Version(2)) } }
}

fn refused<A: Sample>() -> Vec<Event<A>> {
    let event = Event::AttachRetryScheduled { until: Timestamp(5), fault: fault(FaultCode::FailedPrecondition) };
    [attaching(), vec![event]].concat()
}

fn makes_sure<A: Sample>() {
    let again = [attached(), vec![Event::ReattachRequested { at: NOW }]].concat();
    let state = after::<State<A>>(&again).0;
    assert_eq!(state.pending(&NoView), [Effect::Attach { intent: Version(2), attempt: 1 }].into());
    let failed = Event::AttachRetryScheduled { until: Timestamp(5), fault: fault(FaultCode::FailedPrecondition) };
    let state = after::<State<A>>(&[again, vec![failed]].concat()).0;
    assert!(state.may_be_attached(), "it was attached before");
}

fn has_its_cases<A: Sample>() {
    let mut policy = Document::default();
    policy.storage.attempts_max = 2;
    policy.retries.permanent_max = 1;
    let rejections = ["not-declared", "leaving", "immutable", "unknown-attempt"];
    // Only an attempt that takes too long is decided at a later time.
    let deadline = Timestamp(5 + 15 * 60_000);
    let said = Ok((Reason::Overdue, vec![Event::Overdue { at: deadline }]));
    let overdue = case(dying::<A>(), Command::Wake { due: deadline }, said).at(deadline);
    let cases = table().into_iter().chain(of_clients()).chain([overdue]).collect();
    hold(&A::stream(), NOW, &policy, cases, Reason::ALL, &rejections);
}

fn is_detached_as_it_was_attached<A: Sample>() {
    let owed = |events: &[Event<A>]| after::<State<A>>(events).0.pending(&NoView);
    assert_eq!(owed(&attaching()), [Effect::Attach { intent: Version(2), attempt: 1 }].into());
    let detach = [Effect::Detach { of: Version(2), attempt: 1 }, Effect::WakeAt(Timestamp(900_005))];
    assert_eq!(owed(&letting_go()), detach.into());
    let again =
        [letting_go(), vec![Event::Detached, Event::AttachRequested { target: A::target(9), at: NOW }]].concat();
    assert_eq!(owed(&again), [Effect::Attach { intent: Version(6), attempt: 1 }].into());
}

fn command<A: Sample>(state: &State<A>, _version: Version, kind: u8, value: u8) -> Command<A> {
    let attempt = state.effort().map_or(1, |effort| effort.attempt) + u32::from(value.is_multiple_of(8));
    let fault = fault(FaultCode::ALL[usize::from(value) % FaultCode::ALL.len()]);
    let at = u64::from(value % 2);
    match kind % 18 {
        14 => Command::RemoveForced,
        15 => Command::TakeOver { target: Box::new(A::external(at)), info: A::info() },
        16 => Command::NoteGone { machine_effect: effect("machine/web", at) },
        11 => Command::Attach { target: Box::new(A::renamed(at)) },
        12 => Command::TakeOver { target: Box::new(A::target(at)), info: A::info() },
        13 => Command::Reattach,
        0 | 1 => Command::Declare(A::spec(value.is_multiple_of(5))),
        2 => Command::Remove,
        3 => Command::Retry,
        4 | 5 => Command::Attach { target: Box::new(A::target(at)) },
        6 => Command::Detach { machine_effect: effect("machine/web", at) },
        7 => Command::Wake { due: Timestamp(0) },
        8 => Command::Report(Report::Attached { attempt, info: A::info() }),
        9 => Command::Report(Report::AttachFailed { attempt, fault }),
        10 => Command::Report(Report::Detached { attempt }),
        _ => Command::Report(Report::DetachFailed { attempt, fault }),
    }
}

fn keeps_its_promises<A: Sample>(dice: &[(u8, u8, u32)]) {
    walk::<State<A>>(&A::stream(), &Document::default(), dice, command, |before, state, _| {
        use Life::{Alive, Dying, Removed, Undeclared};
        let allowed = before.life == state.life
            || matches!(
                (before.life, state.life),
                (Undeclared | Removed, Alive) | (Alive, Dying | Removed) | (Dying, Removed)
            );
        assert!(allowed, "{} to {}", before.life, state.life);
        assert!(state.life != Removed || state.link == Link::Waiting, "gone while connected");
        // What may be attached is let go of before anything else is attached.
        if let Link::Attaching { effort, .. } = &state.link {
            let same = match &before.link {
                Link::Attaching { effort: then, .. } => then.intent == effort.intent,
                Link::Attached { intent, .. } => *intent == effort.intent,
                _ => false,
            };
            assert!(same || before.link == Link::Waiting);
        }
        let being_made = matches!(state.link, Link::Attaching { .. });
        let waits = state.effort().filter(|_| !being_made || state.life == Alive);
        assert!(is_woken(state, (waits, state.undoing()), Effect::WakeAt), "who waits is woken");
    });
}

fn is_said_to_be_blocked<A: Sample>() {
    let undoing = Undoing::<State<A>> {
        past: dying(),
        wake: |due| Command::Wake { due },
        wake_at: Effect::WakeAt,
        pauses: |until| Event::DetachRetryScheduled { until, fault: fault(FaultCode::Unavailable) },
        overdue: |at| Event::Overdue { at },
        begins: Event::AttemptBegun,
        reasons: [Reason::Overdue, Reason::NothingWaits, Reason::NotDueYet],
        status: State::status,
    };
    is_said_to_be_blocked_once(&A::stream(), undoing);
}

#[test]
fn making_sure_shares_the_intent_and_is_undone_like_it() {
    makes_sure::<Volumes>();
    makes_sure::<Filesystems>();
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    has_its_cases::<Volumes>();
    has_its_cases::<Filesystems>();
}

#[test]
fn what_was_attached_under_one_intent_is_detached_under_it() {
    is_detached_as_it_was_attached::<Volumes>();
    is_detached_as_it_was_attached::<Filesystems>();
}

#[test]
fn what_takes_too_long_to_be_undone_is_said_to_be_blocked_once() {
    is_said_to_be_blocked::<Volumes>();
    is_said_to_be_blocked::<Filesystems>();
}

#[test]
fn nobody_is_asked_to_detach_what_came_with_an_instance() {
    asks_nobody::<Volumes>();
    asks_nobody::<Filesystems>();
}

proptest! {
    #[test]
    fn no_walk_leaves_what_an_attachment_promises(dice in vec((any::<u8>(), any::<u8>(), any::<u32>()), 0..60)) {
        keeps_its_promises::<Volumes>(&dice);
        keeps_its_promises::<Filesystems>(&dice);
    }
}

#[test]
fn a_mount_declared_with_another_path_differs_in_that_and_else_in_how_it_is_mounted() {
    let here = Filesystems::spec(false);
    let there = filesystem_attachment::Spec { path: Some("/srv".into()), ..Filesystems::spec(true) };
    let differs = |wanted: &filesystem_attachment::Spec| Filesystems::differs_in(&here, wanted);
    assert_eq!([differs(&there), differs(&Filesystems::spec(true))], ["spec.path", "spec.readOnly"]);
}

/// What is stored of something today, as it was in the first form: with another number of its variant.
fn first_form<T: Stored>(now: &T, variant: u8) -> Body {
    let mut body = now.store().expect("small");
    body.bytes[0] = variant;
    Body { schema: 1, ..body }
}

#[test]
fn mounts_that_were_stored_in_the_first_form_are_read_as_what_they_were() {
    let commands = [(Command::<Filesystems>::Remove, 1), (Command::Reattach, 7), (Command::RemoveForced, 8)];
    for (command, variant) in commands {
        assert_eq!(Command::load(&first_form(&command, variant)).expect("lifted"), command);
    }
    let renamed = Event::<Filesystems>::Retargeted { target: Filesystems::renamed(2) };
    for (event, variant) in [(Event::Removed, 11), (renamed, 12), (Event::AttachDropped, 14)] {
        assert_eq!(Event::load(&first_form(&event, variant)).expect("lifted"), event);
    }
    let later = Body { schema: 3, bytes: vec![1, 0, 0, 0] };
    let refused = Command::<Filesystems>::load(&later).expect_err("a later form");
    assert!(matches!(refused, StoredError::UnknownSchema { schema: 3, newest: 2 }), "{refused}");
    let refused = Command::<Volumes>::load(&later).expect_err("volumes have one form");
    assert!(matches!(refused, StoredError::UnknownSchema { schema: 3, newest: 1 }), "{refused}");
    Command::<Filesystems>::load(&Body { schema: 1, bytes: vec![7] }).expect_err("too few bytes");
}
