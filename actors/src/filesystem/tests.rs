//! Every reason and rejection of a filesystem, and what holds along every walk.

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{Claim, Command, Effect, Event, Reason, Rejection, Report, Spec, State, Storage};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, Undoing, after, case, hold, is_said_to_be_blocked_once, is_woken, walk},
    },
    policy::Document,
    ports::{Backing, BlockDevice, ProvisionedFilesystem},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Name, SizeMib, SkippedStorage, Timestamp},
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "filesystem/files".parse().expect("a stream")
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn spec(size: u64, backing: Option<&str>) -> Spec {
    Spec { provider: name("local"), size: SizeMib(size), backing: backing.map(name), machine: None }
}

fn backing(device: &str) -> Option<Backing> {
    let volume_effect = EffectId::of(JOURNAL, &"volume/data".parse().expect("a stream"), Version(2));
    let device = BlockDevice { name: device.into(), size: SizeMib(64), hardware_id: None };
    Some(Backing { volume: name("data"), volume_effect, device })
}

fn made(at: u64, size: u64) -> ProvisionedFilesystem {
    let effect = EffectId::of(JOURNAL, &stream(), Version(at));
    ProvisionedFilesystem { effect, filesystem_id: InstanceId("fs-1".into()), size: SizeMib(size) }
}

fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { spec: spec(64, None) }]
}

fn on_volume() -> Vec<Event> {
    vec![Event::Declared { spec: spec(64, Some("data")) }]
}

fn asked(machine: &str) -> Command {
    let by = ClaimedBy { machine: name(machine), is_persistent: true };
    Command::Claim(Box::new(Claim { spec: spec(64, Some("data")), pool: None, by, owner: None }))
}

/// For machine `web-1`, with room for its mount there.
fn claimed() -> Vec<Event> {
    let by = ClaimedBy { machine: name("web-1"), is_persistent: true };
    [on_volume(), vec![Event::Claimed { by }, Event::AttachmentReserved { machine: name("web-1") }]].concat()
}

fn creating() -> Vec<Event> {
    [declared(), vec![Event::CreateRequested { backing: None, over: [].into(), at: Timestamp(1) }]].concat()
}

fn undone_on_volume() -> Vec<Event> {
    let create = Event::CreateRequested { backing: backing("sdb"), over: [].into(), at: Timestamp(1) };
    let undo = [Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: Timestamp(1) }];
    [on_volume(), vec![create], undo.to_vec()].concat()
}

fn retry(code: FaultCode, until: u64) -> Event {
    Event::CreateRetryScheduled { until: Timestamp(until), fault: fault(code) }
}

fn waiting(until: u64) -> Vec<Event> {
    [creating(), vec![retry(FaultCode::Unavailable, until)]].concat()
}

fn provisioned() -> Vec<Event> {
    [creating(), vec![Event::Created { filesystem: made(2, 64) }]].concat()
}

fn provisioned_on_volume() -> Vec<Event> {
    let request = Event::CreateRequested { backing: backing("sdb"), over: [].into(), at: Timestamp(1) };
    [on_volume(), vec![request, Event::Created { filesystem: made(2, 64) }]].concat()
}

fn reserved(past: Vec<Event>) -> Vec<Event> {
    [past, vec![Event::AttachmentReserved { machine: name("web") }]].concat()
}

fn protected() -> Vec<Event> {
    [declared(), vec![Event::Protected { on: true }]].concat()
}

fn dying() -> Vec<Event> {
    [reserved(provisioned()), vec![Event::RemovalBegan]].concat()
}

fn dead() -> Vec<Event> {
    [provisioned(), vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: Timestamp(5) }]].concat()
}

fn removed() -> Vec<Event> {
    [dead(), vec![Event::Destroyed, Event::Removed]].concat()
}

fn created(attempt: u32, at: u64, size: u64) -> Command {
    Command::Report(Report::Created { attempt, filesystem: made(at, size) })
}

fn failed(attempt: u32, code: FaultCode) -> Command {
    Command::Report(Report::CreateFailed { attempt, fault: fault(code) })
}

fn releasing() -> Vec<Event> {
    let going = [Event::ReleaseWanted, Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }];
    [provisioned(), going.into()].concat()
}

fn table() -> Vec<Case<State>> {
    use Reason as R;
    let create = |backing| Command::Create { backing, over: [].into() };
    let reserve = || Command::ReserveAttachment { machine: name("web") };
    let release = |machine| Command::ReleaseAttachment { machine: name(machine) };
    let released = || Event::AttachmentReleased { machine: name("web") };
    let on_device = || {
        let request = Event::CreateRequested { backing: backing("sdb"), over: [].into(), at: Timestamp(1) };
        [on_volume(), vec![request, retry(FaultCode::Unavailable, 5)]].concat()
    };
    vec![
        // A machine of a set asks for it, in the name that nobody else has.
        case([], asked("web-1"), Ok((R::MachineAsks, claimed()))),
        case(claimed(), asked("web-1"), Ok((R::AlreadyAsDeclared, vec![]))),
        case(declared(), asked("web-1"), Err(Rejection::NotOfMachine { machine: name("web-1") })),
        case(claimed(), Command::Keep, Ok((R::MachineGoes, vec![Event::Kept]))),
        case(declared(), Command::Keep, Ok((R::NotClaimed, vec![]))),
        case([], Command::Keep, Err(Rejection::NotDeclared)),
        case(declared(), Command::Protect { on: true }, Ok((R::ProtectionAsked, vec![Event::Protected { on: true }]))),
        case(declared(), Command::Protect { on: false }, Ok((R::ProtectionKnown, vec![]))),
        case([], Command::Protect { on: true }, Err(Rejection::NotDeclared)),
        case(protected(), Command::Remove, Err(Rejection::Protected)),
        case(protected(), Command::RemoveForced, Err(Rejection::Protected)),
        case(protected(), Command::Release, Err(Rejection::Protected)),
        case(protected(), Command::Destroy, Err(Rejection::Protected)),
        case([], Command::Declare(spec(64, None)), Ok((R::NewlyDeclared, declared()))),
        case(removed(), Command::Declare(spec(64, None)), Ok((R::NewlyDeclared, declared()))),
        case(declared(), Command::Declare(spec(64, None)), Ok((R::AlreadyAsDeclared, vec![]))),
        case(
            declared(),
            Command::Declare(spec(64, Some("data"))),
            Err(Rejection::Immutable { field: "spec.volume".into() }),
        ),
        case(dead(), Command::Declare(spec(64, None)), Err(Rejection::Leaving { life: Life::Dead })),
        case(
            on_volume(),
            create(backing("sdb")),
            Ok((R::NeedsMet, vec![Event::CreateRequested { backing: backing("sdb"), over: [].into(), at: NOW }])),
        ),
        case(
            on_device(),
            create(backing("sdc")),
            Ok((R::DeviceMoved, vec![Event::BackingChanged { backing: backing("sdc") }])),
        ),
        case(creating(), create(None), Ok((R::AlreadyBegun, vec![]))),
        case([], create(None), Err(Rejection::NotDeclared)),
        case(creating(), created(1, 2, 64), Ok((R::StorageMade, vec![Event::Created { filesystem: made(2, 64) }]))),
        case(creating(), created(2, 2, 64), Err(Rejection::UnknownAttempt { attempt: 2 })),
        case(provisioned(), created(1, 2, 64), Ok((R::StaleReport, vec![]))),
        case(
            creating(),
            failed(1, FaultCode::Unavailable),
            Ok((R::WorthRetrying, vec![retry(FaultCode::Unavailable, 130_000)])),
        ),
        case(
            creating(),
            failed(1, FaultCode::Aborted),
            Ok((R::OutcomeUnknown, vec![retry(FaultCode::Aborted, 130_000)])),
        ),
        case(
            creating(),
            failed(1, FaultCode::InvalidArgument),
            Ok((R::NotRetryable, vec![Event::CreateGivenUp { fault: fault(FaultCode::InvalidArgument), again: None }])),
        ),
        case(
            [waiting(5), vec![Event::AttemptBegun]].concat(),
            failed(2, FaultCode::Unavailable),
            Ok((
                R::RetriesExhausted,
                vec![Event::CreateGivenUp { fault: fault(FaultCode::Unavailable), again: Some(NOW.after(1_800_000)) }],
            )),
        ),
        case(waiting(100_000), Command::Wake { due: NOW }, Ok((R::RetryDue, vec![Event::AttemptBegun]))),
        case(waiting(100_001), Command::Wake { due: NOW }, Ok((R::NotDueYet, vec![]))),
        case(creating(), Command::Wake { due: NOW }, Ok((R::NothingWaits, vec![]))),
        case(waiting(5), Command::RetryProvisioning, Ok((R::OperatorRetries, vec![Event::AttemptBegun]))),
        case(creating(), Command::RetryProvisioning, Ok((R::NothingToRetry, vec![]))),
        case(
            dead(),
            Command::Report(Report::Destroyed { attempt: 1 }),
            Ok((R::StorageAbsent, vec![Event::Destroyed, Event::Removed])),
        ),
        case(
            provisioned(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }])),
        ),
        // It went while it was being made on a volume, and no machine has that any more.
        case(
            undone_on_volume(),
            Command::Report(Report::DestroyFailed { attempt: 1, fault: fault(FaultCode::Unavailable) }),
            Ok((R::GoesWithVolume, vec![Event::Destroyed, Event::Removed])),
        ),
        case(
            reserved(undone_on_volume()),
            Command::Report(Report::DestroyFailed { attempt: 1, fault: fault(FaultCode::Unavailable) }),
            Ok((
                R::WorthRetrying,
                vec![Event::DestroyRetryScheduled { until: NOW.after(30_000), fault: fault(FaultCode::Unavailable) }],
            )),
        ),
        // On a volume it is nothing but data there, and goes without a call.
        case(
            provisioned_on_volume(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::Died, Event::Removed])),
        ),
        case(
            provisioned(),
            Command::Release,
            Ok((
                R::ReleaseAsked,
                vec![Event::ReleaseWanted, Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }],
            )),
        ),
        case(releasing(), Command::Destroy, Err(Rejection::BeingReleased)),
        case(dying(), Command::Release, Ok((R::ReleaseInstead, vec![Event::ReleaseWanted]))),
        case(
            [releasing(), vec![Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) }]].concat(),
            Command::Destroy,
            Ok((R::DestroyInstead, vec![Event::DestroyWanted, Event::DestroyRequested { at: NOW }])),
        ),
        case(
            [provisioned(), vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }]].concat(),
            Command::Release,
            Err(Rejection::BeingDestroyed),
        ),
        // Whoever cannot let go of it is asked neither again nor to destroy it.
        case(
            releasing(),
            Command::Report(Report::DestroyFailed { attempt: 1, fault: fault(FaultCode::Unimplemented) }),
            Ok((R::CannotRelease, vec![Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) }])),
        ),
        case(
            releasing(),
            Command::Report(Report::DestroyFailed { attempt: 1, fault: fault(FaultCode::InvalidArgument) }),
            Ok((
                R::WorthRetrying,
                vec![Event::DestroyRetryScheduled {
                    until: NOW.after(30_000),
                    fault: fault(FaultCode::InvalidArgument),
                }],
            )),
        ),
        case(reserved(provisioned()), Command::Remove, Ok((R::RemovalBlocked, vec![Event::RemovalBegan]))),
        case(
            [provisioned(), vec![Event::RemovalBegan, Event::Died]].concat(),
            Command::Remove,
            Ok((R::StorageLeft, vec![Event::DestroyRequested { at: NOW }])),
        ),
        case(dying(), Command::Remove, Ok((R::AlreadyGoing, vec![]))),
        case(removed(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case(
            declared(),
            reserve(),
            Ok((R::AttachmentWanted, vec![Event::AttachmentReserved { machine: name("web") }])),
        ),
        case(reserved(declared()), reserve(), Err(Rejection::StillReserved)),
        case(reserved(declared()), release("web"), Ok((R::AttachmentGone, vec![released()]))),
        case(
            dying(),
            release("web"),
            Ok((R::LastAttachmentGone, vec![released(), Event::Died, Event::DestroyRequested { at: NOW }])),
        ),
        case(declared(), release("db"), Ok((R::AttachmentUnknown, vec![]))),
        case(
            dying(),
            Command::RemoveForced,
            Ok((
                R::RemovalForced,
                vec![
                    Event::Skipped { what: SkippedStorage::Attachment { machine: name("web") } },
                    Event::Died,
                    Event::DestroyRequested { at: NOW },
                ],
            )),
        ),
        case(
            dead(),
            Command::RemoveForced,
            Ok((
                R::RemovalForced,
                vec![
                    Event::Skipped {
                        what: SkippedStorage::Undoing { effect: EffectId::of(JOURNAL, &stream(), Version(2)) },
                    },
                    Event::Removed,
                ],
            )),
        ),
    ]
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    let mut policy = Document::default();
    policy.storage.attempts_max = 2;
    policy.retries.permanent_max = 1;
    let rejections = [
        "not-declared",
        "leaving",
        "immutable",
        "still-reserved",
        "unknown-attempt",
        "being-released",
        "being-destroyed",
        "not-of-machine",
        "protected",
    ];
    // What takes too long is so at a later time than all else.
    let deadline = Timestamp(5 + 15 * 60_000);
    let said = Ok((Reason::Overdue, vec![Event::Overdue { at: deadline }]));
    let overdue = case(dead(), Command::Wake { due: deadline }, said).at(deadline);
    let cases = table().into_iter().chain([overdue]).collect();
    hold(&stream(), NOW, &policy, cases, Reason::ALL, &rejections);
}

#[test]
fn what_is_dying_is_not_made_any_more() {
    let dying = [reserved(waiting(5)), vec![Event::RemovalBegan]].concat();
    assert_eq!(after::<State>(&dying).0.pending(&NoView), [].into());
}

#[test]
fn the_next_one_is_made_over_what_was_destroyed_on_its_volume_and_not_over_what_was_released() {
    let again = |end: &[Event]| {
        let next =
            [on_volume(), vec![Event::CreateRequested { backing: backing("sda"), over: [].into(), at: Timestamp(9) }]]
                .concat();
        [provisioned_on_volume(), end.to_vec(), next].concat()
    };
    let destroyed = [Event::RemovalBegan, Event::Died, Event::Removed];
    let released = [vec![Event::ReleaseWanted], destroyed.to_vec()].concat();
    assert_eq!(after::<State>(&again(&destroyed)).0.destroyed, [Version(2)].into());
    assert_eq!(after::<State>(&again(&released)).0.destroyed, [].into());
    let made_anew = [again(&destroyed), vec![Event::Created { filesystem: made(7, 64) }]].concat();
    let made_anew = after::<State>(&made_anew).0;
    assert_eq!(
        (made_anew.destroyed, made_anew.was_made),
        ([].into(), true),
        "nothing is left of what it was made over"
    );
}

#[test]
fn one_on_a_volume_is_made_by_the_one_that_manages_them() {
    assert_eq!(after::<State>(&on_volume()).0.source(), Some(name("managed")));
    assert_eq!(after::<State>(&declared()).0.source(), Some(name("local")));
}

fn command(state: &State, version: Version, kind: u8, value: u8) -> Command {
    let attempt = state.effort().map_or(1, |effort| effort.attempt) + u32::from(value.is_multiple_of(8));
    let intent = match &state.storage {
        Storage::Creating { effort, .. } => effort.intent,
        Storage::Provisioned { intent, .. } => *intent,
        Storage::Destroying { of, .. } => *of,
        Storage::None => version,
    };
    let machine = name(if value.is_multiple_of(3) { "db" } else { "web" });
    let fault = fault(FaultCode::ALL[usize::from(value) % FaultCode::ALL.len()]);
    match kind % 16 {
        15 => Command::Destroy,
        14 => Command::RemoveForced,
        0 | 1 => Command::Declare(spec(64, value.is_multiple_of(5).then_some("data"))),
        2 => Command::Remove,
        3 => Command::RetryProvisioning,
        4 => Command::ReserveAttachment { machine },
        5 => Command::ReleaseAttachment { machine },
        6 => Command::Wake { due: Timestamp(0) },
        7 | 8 => created(attempt, if value.is_multiple_of(7) { 1 } else { intent.0 }, 60 + u64::from(value % 8)),
        9 => failed(attempt, fault.code),
        10 => Command::Report(Report::Destroyed { attempt }),
        11 => Command::Create { backing: value.is_multiple_of(2).then(|| backing("sdb")).flatten(), over: [].into() },
        12 => Command::Release,
        _ => Command::Report(Report::DestroyFailed { attempt, fault }),
    }
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_filesystem_promises(dice in vec((any::<u8>(), any::<u8>(), any::<u32>()), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, command, |before, state, _| {
            use Life::{Alive, Dead, Dying, Removed, Undeclared};
            let allowed = before.life == state.life || matches!(
                (before.life, state.life),
                (Undeclared | Removed, Alive) | (Alive, Dying | Dead | Removed) | (Dying, Dead | Removed) | (Dead, Removed)
            );
            assert!(allowed, "{} to {}", before.life, state.life);
            assert!(!matches!(state.life, Dead | Removed) || state.attached_to.is_empty(), "dead while attached");
            assert!(state.life != Removed || state.storage == Storage::None);
            let being_made = matches!(state.storage, Storage::Creating { .. });
            let waits = state.effort().filter(|_| !being_made || state.life == Alive);
            assert!(is_woken(state, (waits, state.undoing()), Effect::WakeAt), "who waits is woken");
        });
    }
}

#[test]
fn one_from_a_pool_keeps_what_the_pool_said() {
    let pool = |name: &str| FromPool { name: name.parse().expect("a pool's name"), attributes: [].into() };
    let declare = |name: &str| Command::declaration(spec(64, None), Some(pool(name)));
    let given = [Event::Declared { spec: spec(64, None) }, Event::TakenFrom { pool: pool("fast") }];
    let answer = |given: &[Event], command: &Command| {
        crate::contract::given::answer(&stream(), &after::<State>(given), command, NOW, &Document::default())
    };
    let decision = answer(&[], &declare("fast")).expect("done");
    assert_eq!((decision.reason, decision.events.as_slice()), (Reason::NewlyDeclared, &given[..]));
    assert_eq!(answer(&given, &declare("fast")).expect("done").reason, Reason::AlreadyAsDeclared);
    for other in [declare("slow"), Command::Declare(spec(64, None))] {
        assert_eq!(answer(&given, &other), Err(Rejection::Immutable { field: "spec.pool".into() }));
    }
    assert_eq!(after::<State>(&given).0.pool, Some(pool("fast")));
}

#[test]
fn what_is_there_for_something_else_says_so_and_keeps_to_it() {
    let owner = |machine: &str| Some(format!("machine/{machine}").parse().expect("a stream"));
    let answer = |given: &[Event], command: Command| {
        crate::contract::given::answer(&stream(), &after::<State>(given), &command, NOW, &Document::default())
    };
    let wanted = Command::Declare(spec(64, None));
    let made = answer(&[], wanted.clone().owned_by(owner("web"))).expect("done");
    assert_eq!(after::<State>(&made.events).0.owner, owner("web"));
    let asked = |machine| answer(&made.events, wanted.clone().owned_by(owner(machine)));
    assert_eq!(asked("web").expect("done").reason, Reason::AlreadyAsDeclared);
    assert_eq!(asked("db"), Err(Rejection::Immutable { field: "owner".into() }));
}

#[test]
fn what_takes_too_long_to_be_undone_is_said_to_be_blocked_once() {
    let undoing = Undoing::<State> {
        past: dead(),
        wake: |due| Command::Wake { due },
        wake_at: Effect::WakeAt,
        pauses: |until| Event::DestroyRetryScheduled { until, fault: fault(FaultCode::Unavailable) },
        overdue: |at| Event::Overdue { at },
        begins: Event::AttemptBegun,
        reasons: [Reason::Overdue, Reason::NothingWaits, Reason::NotDueYet],
        status: State::status,
    };
    is_said_to_be_blocked_once(&stream(), undoing);
}
