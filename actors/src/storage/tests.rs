//! The reasons and rejections that volumes and filesystems share, and what holds along every walk: of both alike.

use bailiwick_journal::{StreamId, Version};

use super::{Command, Declaration, Effect, Event, Provisioned, Reason, Rejection, Report, State, Storage};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, Undoing, after, answer, case, hold, is_said_to_be_blocked_once, is_woken, walk},
    },
    filesystem::{self, Filesystem},
    policy::Document,
    ports::{ProvisionedFilesystem, ProvisionedVolume},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Name, SizeMib, SkippedStorage, Timestamp},
    volume::{self, OwnEvent, Volume, Where},
};

pub(crate) const NOW: Timestamp = Timestamp(100_000);

/// What is kept in these tests.
pub(crate) trait Sample: Provisioned {
    fn spec(size: u64) -> Self::Spec;

    fn base() -> Self::Base;

    /// What was made under the intent of this version.
    fn made_at(at: u64, size: u64) -> Self::Made;

    /// A machine of a set asks for it.
    fn asked(machine: &str) -> Self::Claim;

    /// What follows the declaration for a machine of a set, before its attachment is reserved.
    fn placed(machine: &str) -> Vec<Event<Self>>;

    fn stream() -> StreamId {
        StreamId::new(Self::KIND, "data").expect("a stream")
    }

    fn effect(at: u64) -> EffectId {
        EffectId::of(JOURNAL, &Self::stream(), Version(at))
    }
}

impl Sample for Volume {
    fn spec(size: u64) -> volume::Spec {
        volume::Spec { provider: name("local"), size: SizeMib(size) }
    }

    fn base() -> Where {
        Where::Anywhere
    }

    fn made_at(at: u64, size: u64) -> ProvisionedVolume {
        ProvisionedVolume { effect: Self::effect(at), volume_id: InstanceId("v-1".into()), size: SizeMib(size) }
    }

    fn asked(machine: &str) -> volume::Claim {
        let (by, owner) = (by(machine), Some(owner(machine)));
        volume::Claim { spec: Self::spec(64), pool: pool("fast"), by, owner, filesystem: None }
    }

    fn placed(machine: &str) -> Vec<Event<Self>> {
        vec![Event::Own(OwnEvent::WantedOn { machine: name(machine) })]
    }
}

impl Sample for Filesystem {
    fn spec(size: u64) -> filesystem::Spec {
        filesystem::Spec { provider: name("local"), size: SizeMib(size), backing: None, machine: None }
    }

    fn base() -> filesystem::Base {
        filesystem::Base { backing: None, over: [].into() }
    }

    fn made_at(at: u64, size: u64) -> ProvisionedFilesystem {
        ProvisionedFilesystem {
            effect: Self::effect(at),
            filesystem_id: InstanceId("fs-1".into()),
            size: SizeMib(size),
        }
    }

    fn asked(machine: &str) -> filesystem::Claim {
        let (by, owner) = (by(machine), Some(owner(machine)));
        filesystem::Claim { spec: Self::spec(64), pool: Some(pool("fast")), by, owner }
    }

    fn placed(_machine: &str) -> Vec<Event<Self>> {
        Vec::new()
    }
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

pub(crate) fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

pub(crate) fn pool(pool: &str) -> FromPool {
    let attributes = [("tier".to_owned(), "gold".to_owned())].into();
    FromPool { name: pool.parse().expect("a pool's name"), attributes }
}

pub(crate) fn owner(machine: &str) -> StreamId {
    format!("machine/{machine}").parse().expect("a stream")
}

pub(crate) fn by(machine: &str) -> ClaimedBy {
    ClaimedBy { machine: name(machine), is_persistent: true }
}

/// Something was declared, and an intent to make it is open.
pub(crate) fn creating<K: Sample>() -> Vec<Event<K>> {
    vec![Event::Declared { spec: K::spec(64) }, Event::CreateRequested { base: K::base(), at: Timestamp(1) }]
}

/// For machine `web-1`, with room for its attachment.
pub(crate) fn claimed<K: Sample>() -> Vec<Event<K>> {
    let mut events = vec![
        Event::Declared { spec: K::spec(64) },
        Event::TakenFrom { pool: pool("fast") },
        Event::OwnedBy { owner: owner("web-1") },
        Event::Claimed { by: by("web-1") },
    ];
    events.extend(K::placed("web-1"));
    events.push(Event::AttachmentReserved { machine: name("web-1") });
    events
}

pub(crate) fn provisioned<K: Sample>() -> Vec<Event<K>> {
    [creating(), vec![Event::Created { made: K::made_at(2, 64) }]].concat()
}

pub(crate) fn retry<K: Sample>(code: FaultCode, until: u64) -> Event<K> {
    Event::CreateRetryScheduled { until: Timestamp(until), fault: fault(code) }
}

pub(crate) fn waiting<K: Sample>(until: u64) -> Vec<Event<K>> {
    [creating(), vec![retry(FaultCode::Unavailable, until)]].concat()
}

pub(crate) fn reserved<K: Sample>() -> Vec<Event<K>> {
    [provisioned(), vec![Event::AttachmentReserved { machine: name("web") }]].concat()
}

pub(crate) fn dying<K: Sample>() -> Vec<Event<K>> {
    [reserved(), vec![Event::RemovalBegan]].concat()
}

pub(crate) fn dead<K: Sample>() -> Vec<Event<K>> {
    [provisioned(), vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: Timestamp(5) }]].concat()
}

pub(crate) fn removed<K: Sample>() -> Vec<Event<K>> {
    [dead(), vec![Event::Destroyed, Event::Removed]].concat()
}

pub(crate) fn releasing<K: Sample>() -> Vec<Event<K>> {
    let going = [Event::ReleaseWanted, Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: Timestamp(5) }];
    [provisioned(), going.into()].concat()
}

fn protected<K: Sample>() -> Vec<Event<K>> {
    [creating(), vec![Event::Protected { on: true }]].concat()
}

fn from_pool<K: Sample>() -> Vec<Event<K>> {
    vec![Event::Declared { spec: K::spec(64) }, Event::TakenFrom { pool: pool("fast") }]
}

pub(crate) fn created<K: Sample>(attempt: u32, at: u64, size: u64) -> Command<K> {
    Command::Report(Report::Created { attempt, made: K::made_at(at, size) })
}

pub(crate) fn failed<K: Sample>(attempt: u32, code: FaultCode) -> Command<K> {
    Command::Report(Report::CreateFailed { attempt, fault: fault(code) })
}

pub(crate) fn not_undone<K: Sample>(attempt: u32, code: FaultCode) -> Command<K> {
    Command::Report(Report::DestroyFailed { attempt, fault: fault(code) })
}

/// The destruction is tried again in half a minute.
pub(crate) fn tried_on<K: Sample>(code: FaultCode) -> Result<(Reason, Vec<Event<K>>), Rejection> {
    Ok((Reason::WorthRetrying, vec![Event::DestroyRetryScheduled { until: NOW.after(30_000), fault: fault(code) }]))
}

fn declarations<K: Sample>() -> Vec<Case<State<K>>> {
    use Reason as R;
    let from =
        |pool_name: &str| Command::from(Declaration { pool: Some(pool(pool_name)), ..Declaration::of(K::spec(64)) });
    let immutable = |field: &str| Err(Rejection::Immutable { field: field.into() });
    vec![
        case(creating::<K>(), Command::declare(K::spec(64)), Ok((R::AlreadyAsDeclared, vec![]))),
        case(creating(), Command::declare(K::spec(65)), immutable("spec.size")),
        case(dead(), Command::declare(K::spec(64)), Err(Rejection::Leaving { life: Life::Dead })),
        case(from_pool(), from("fast"), Ok((R::AlreadyAsDeclared, vec![]))),
        case(from_pool(), from("slow"), immutable("spec.pool")),
        case(from_pool(), Command::declare(K::spec(64)), immutable("spec.pool")),
        // A machine of a set asks for it, in the name that nobody else has.
        case([], Command::Claim(Box::new(K::asked("web-1"))), Ok((R::MachineAsks, claimed()))),
        case(claimed(), Command::Claim(Box::new(K::asked("web-1"))), Ok((R::AlreadyAsDeclared, vec![]))),
        case(
            claimed(),
            Command::Claim(Box::new(K::asked("web-2"))),
            Err(Rejection::NotOfMachine { machine: name("web-2") }),
        ),
        case(
            provisioned(),
            Command::Claim(Box::new(K::asked("web-1"))),
            Err(Rejection::NotOfMachine { machine: name("web-1") }),
        ),
        case(dying(), Command::Claim(Box::new(K::asked("web-1"))), Err(Rejection::Leaving { life: Life::Dying })),
        case(claimed(), Command::Keep, Ok((R::MachineGoes, vec![Event::Kept]))),
        case(provisioned(), Command::Keep, Ok((R::NotClaimed, vec![]))),
        case([], Command::Keep, Err(Rejection::NotDeclared)),
        case(creating(), Command::Protect { on: true }, Ok((R::ProtectionAsked, vec![Event::Protected { on: true }]))),
        case(creating(), Command::Protect { on: false }, Ok((R::ProtectionKnown, vec![]))),
        case([], Command::Protect { on: true }, Err(Rejection::NotDeclared)),
        case(protected(), Command::Remove, Err(Rejection::Protected)),
        case(protected(), Command::RemoveForced, Err(Rejection::Protected)),
        case(protected(), Command::Release, Err(Rejection::Protected)),
        case(protected(), Command::Destroy, Err(Rejection::Protected)),
    ]
}

fn attempts<K: Sample>() -> Vec<Case<State<K>>> {
    use Reason as R;
    let scheduled = |code| vec![retry(code, 130_000)];
    let given_up = |fault, again| vec![Event::CreateGivenUp { fault, again }];
    vec![
        case(
            creating::<K>(),
            created(1, 2, 64),
            Ok((R::StorageMade, vec![Event::Created { made: K::made_at(2, 64) }])),
        ),
        case(creating(), created(2, 2, 64), Err(Rejection::UnknownAttempt { attempt: 2 })),
        // Less than was asked for is not what was asked for, and asking again does not make it more.
        case(
            creating(),
            created(1, 2, 63),
            Ok((
                R::NotRetryable,
                given_up(
                    Fault::new(FaultCode::OutOfRange, "the provider created only 63M of what was requested"),
                    None,
                ),
            )),
        ),
        case(provisioned(), created(1, 2, 64), Ok((R::StaleReport, vec![]))),
        case(creating(), failed(1, FaultCode::Unavailable), Ok((R::WorthRetrying, scheduled(FaultCode::Unavailable)))),
        case(creating(), failed(1, FaultCode::Aborted), Ok((R::OutcomeUnknown, scheduled(FaultCode::Aborted)))),
        case(
            creating(),
            failed(1, FaultCode::InvalidArgument),
            Ok((R::NotRetryable, given_up(fault(FaultCode::InvalidArgument), None))),
        ),
        case(
            [waiting(5), vec![Event::AttemptBegun]].concat(),
            failed(2, FaultCode::Unavailable),
            Ok((R::RetriesExhausted, given_up(fault(FaultCode::Unavailable), Some(NOW.after(1_800_000))))),
        ),
        case(waiting(100_000), Command::Wake { due: NOW }, Ok((R::RetryDue, vec![Event::AttemptBegun]))),
        case(waiting(100_001), Command::Wake { due: NOW }, Ok((R::NotDueYet, vec![]))),
        case(creating(), Command::Wake { due: NOW }, Ok((R::NothingWaits, vec![]))),
        case(waiting(5), Command::RetryProvisioning, Ok((R::OperatorRetries, vec![Event::AttemptBegun]))),
        case(creating(), Command::RetryProvisioning, Ok((R::NothingToRetry, vec![]))),
        case(removed(), Command::RetryProvisioning, Err(Rejection::NotDeclared)),
        case(
            dead(),
            Command::Report(Report::Destroyed { attempt: 1 }),
            Ok((R::StorageAbsent, vec![Event::Destroyed, Event::Removed])),
        ),
        case(dead(), not_undone(1, FaultCode::FailedPrecondition), tried_on(FaultCode::FailedPrecondition)),
        // A provider that cannot let go of it is asked neither again nor to destroy it.
        case(
            releasing(),
            not_undone(1, FaultCode::Unimplemented),
            Ok((R::CannotRelease, vec![Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) }])),
        ),
        case(releasing(), not_undone(1, FaultCode::PermissionDenied), tried_on(FaultCode::PermissionDenied)),
        case(dead(), not_undone(1, FaultCode::Unimplemented), tried_on(FaultCode::Unimplemented)),
        case(releasing(), not_undone(2, FaultCode::Unimplemented), Ok((R::StaleReport, vec![]))),
    ]
}

fn removals<K: Sample>() -> Vec<Case<State<K>>> {
    use Reason as R;
    let goes = || vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }];
    let refused = || [creating(), vec![retry(FaultCode::FailedPrecondition, 5)]].concat();
    let undoing = SkippedStorage::Undoing { effect: K::effect(2) };
    vec![
        case(provisioned::<K>(), Command::Remove, Ok((R::RemovalAsked, goes()))),
        case(reserved(), Command::Remove, Ok((R::RemovalBlocked, vec![Event::RemovalBegan]))),
        case(dying(), Command::Remove, Ok((R::AlreadyGoing, vec![]))),
        case(removed(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case([], Command::Remove, Err(Rejection::NotDeclared)),
        // What refused before it began has left nothing to destroy.
        case(
            refused(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::Died, Event::CreateDropped, Event::Removed])),
        ),
        case(
            [provisioned(), vec![Event::RemovalBegan, Event::Died]].concat(),
            Command::Remove,
            Ok((R::StorageLeft, vec![Event::DestroyRequested { at: NOW }])),
        ),
        case(provisioned(), Command::Release, Ok((R::ReleaseAsked, [vec![Event::ReleaseWanted], goes()].concat()))),
        // Who cannot be released can be destroyed, once no provider is being asked any more; and not the other way round.
        case(releasing(), Command::Destroy, Err(Rejection::BeingReleased)),
        case(
            [releasing(), vec![Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) }]].concat(),
            Command::Destroy,
            Ok((R::DestroyInstead, vec![Event::DestroyWanted, Event::DestroyRequested { at: NOW }])),
        ),
        case(dead(), Command::Release, Err(Rejection::BeingDestroyed)),
        case(dying(), Command::Release, Ok((R::ReleaseInstead, vec![Event::ReleaseWanted]))),
        case(
            [reserved(), vec![Event::ReleaseWanted, Event::RemovalBegan]].concat(),
            Command::Destroy,
            Ok((R::DestroyInstead, vec![Event::DestroyWanted])),
        ),
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
            Ok((R::RemovalForced, vec![Event::Skipped { what: undoing }, Event::Removed])),
        ),
        case(removed(), Command::RemoveForced, Ok((R::AlreadyGone, vec![]))),
        case([], Command::RemoveForced, Err(Rejection::NotDeclared)),
    ]
}

fn attachments<K: Sample>() -> Vec<Case<State<K>>> {
    use Reason as R;
    let reserve = |machine| Command::ReserveAttachment { machine: name(machine) };
    let release = |machine| Command::ReleaseAttachment { machine: name(machine) };
    let released = || Event::AttachmentReleased { machine: name("web") };
    vec![
        case(
            creating::<K>(),
            reserve("web"),
            Ok((R::AttachmentWanted, vec![Event::AttachmentReserved { machine: name("web") }])),
        ),
        case(reserved(), reserve("web"), Err(Rejection::StillReserved)),
        case(dying(), reserve("web"), Err(Rejection::Leaving { life: Life::Dying })),
        case(reserved(), release("web"), Ok((R::AttachmentGone, vec![released()]))),
        case(
            dying(),
            release("web"),
            Ok((R::LastAttachmentGone, vec![released(), Event::Died, Event::DestroyRequested { at: NOW }])),
        ),
        case(reserved(), release("db"), Ok((R::AttachmentUnknown, vec![]))),
    ]
}

/// The reasons of both.
const SHARED: &[Reason] = &[
    Reason::AlreadyAsDeclared,
    Reason::StorageMade,
    Reason::WorthRetrying,
    Reason::OutcomeUnknown,
    Reason::RetriesExhausted,
    Reason::NotRetryable,
    Reason::RetryDue,
    Reason::NotDueYet,
    Reason::NothingWaits,
    Reason::OperatorRetries,
    Reason::NothingToRetry,
    Reason::StaleReport,
    Reason::StorageAbsent,
    Reason::RemovalAsked,
    Reason::RemovalBlocked,
    Reason::AlreadyGoing,
    Reason::AlreadyGone,
    Reason::AttachmentWanted,
    Reason::AttachmentGone,
    Reason::LastAttachmentGone,
    Reason::AttachmentUnknown,
    Reason::ReleaseAsked,
    Reason::StorageLeft,
    Reason::RemovalForced,
    Reason::CannotRelease,
    Reason::Overdue,
    Reason::DestroyInstead,
    Reason::ReleaseInstead,
    Reason::MachineAsks,
    Reason::MachineGoes,
    Reason::NotClaimed,
    Reason::ProtectionAsked,
    Reason::ProtectionKnown,
];

/// Two attempts at most, and a permanent fault is believed at once.
pub(crate) fn short_of_patience() -> Document {
    let mut policy = Document::default();
    policy.storage.attempts_max = 2;
    policy.retries.permanent_max = 1;
    policy
}

fn every_shared_reason_has_its_case<K: Sample>() {
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
    // Only an attempt that takes too long is decided at a later time.
    let deadline = Timestamp(5 + 15 * 60_000);
    let said = Ok((Reason::Overdue, vec![Event::Overdue { at: deadline }]));
    let overdue = case(dead(), Command::Wake { due: deadline }, said).at(deadline);
    let parts = [declarations::<K>(), attempts(), removals(), attachments(), vec![overdue]];
    let cases = parts.into_iter().flatten().collect();
    hold(&K::stream(), NOW, &short_of_patience(), cases, SHARED, &rejections);
}

#[test]
fn every_shared_reason_and_rejection_has_its_case() {
    every_shared_reason_has_its_case::<Volume>();
    every_shared_reason_has_its_case::<Filesystem>();
}

#[test]
fn every_reason_is_shared_or_has_its_case_where_its_kind_is() {
    let own = volume::tests::OWN.iter().chain(filesystem::tests::OWN);
    let all: std::collections::BTreeSet<_> = SHARED.iter().chain(own).copied().collect();
    assert_eq!(all, Reason::ALL.iter().copied().collect());
}

fn what_is_there_for_something_else<K: Sample>() {
    let answer = |given: &[Event<K>], command: &Command<K>| {
        answer(&K::stream(), &after::<State<K>>(given), command, NOW, &Document::default())
    };
    let wanted = |machine: Option<&str>| {
        let owner = machine.map(owner);
        Command::from(Declaration { owner, pool: Some(pool("fast")), ..Declaration::of(K::spec(64)) })
    };
    let made = answer(&[], &wanted(Some("web"))).expect("done");
    let state = after::<State<K>>(&made.events).0;
    assert_eq!((state.owner, state.pool), (Some(owner("web")), Some(pool("fast"))));
    let asked = |machine| answer(&made.events, &wanted(machine));
    assert_eq!(asked(Some("web")).expect("done").reason, Reason::AlreadyAsDeclared);
    assert_eq!(asked(Some("db")), Err(Rejection::Immutable { field: "owner".into() }));
    assert_eq!(asked(None).expect("done").reason, Reason::AlreadyAsDeclared);
    assert!(answer(&from_pool(), &wanted(Some("web"))).is_err(), "it was declared for its own sake");
}

#[test]
fn what_is_there_for_something_else_says_so_and_keeps_to_it() {
    what_is_there_for_something_else::<Volume>();
    what_is_there_for_something_else::<Filesystem>();
}

#[test]
fn without_a_limit_it_is_tried_for_ever() {
    let mut events = creating::<Volume>();
    for _ in 0..100 {
        events.extend([retry(FaultCode::Unavailable, 5), Event::AttemptBegun]);
    }
    let given = after::<State<Volume>>(&events);
    let policy = Document::default();
    let decision = answer(&Volume::stream(), &given, &failed(101, FaultCode::Unavailable), NOW, &policy).unwrap();
    let until = NOW.after(policy.storage.retry_max_ms);
    assert_eq!(decision.events, [Event::CreateRetryScheduled { until, fault: fault(FaultCode::Unavailable) }]);
}

/// A call, and the time at which it is said to take too long.
pub(crate) fn owed(call: Effect, deadline: u64) -> std::collections::BTreeSet<Effect> {
    [call, Effect::WakeAt(Timestamp(deadline))].into()
}

fn what_is_owed<K: Sample>() {
    let owes = |events: &[Event<K>]| after::<State<K>>(events).0.pending(&NoView);
    let again = [waiting(5), vec![Event::AttemptBegun]].concat();
    assert_eq!(
        owes(&again),
        [Effect::Create { intent: Version(2), attempt: 2 }].into(),
        "all attempts share one intent"
    );
    assert_eq!(owes(&dead()), owed(Effect::Destroy { of: Version(2), attempt: 1 }, 900_005));
    assert_eq!(owes(&releasing()), owed(Effect::Release { of: Version(2), attempt: 1 }, 900_005));

    let reserved = Event::AttachmentReserved { machine: name("web") };
    let dying = [waiting(5), vec![reserved, Event::RemovalBegan]].concat();
    assert_eq!(owes(&dying), [].into(), "what is dying is not made any more");
    // The failure was none that left nothing for certain.
    let dead = [dying, vec![Event::Died, Event::DestroyRequested { at: NOW }]].concat();
    assert_eq!(owes(&dead), owed(Effect::Destroy { of: Version(2), attempt: 1 }, 1_000_000));

    let given_up = Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) };
    let (state, _) = after::<State<K>>(&[releasing(), vec![given_up]].concat());
    assert_eq!((state.status(), state.pending(&NoView)), ("failed", [].into()), "nothing is asked for any more");
}

#[test]
fn what_is_owed_follows_from_the_life_and_the_way_out() {
    what_is_owed::<Volume>();
    what_is_owed::<Filesystem>();
}

/// A command that all storage can be asked, made from dice.
pub(crate) fn command<K: Sample>(state: &State<K>, version: Version, kind: u8, value: u8) -> Command<K> {
    let attempt = attempt(state, value);
    let intent = state.intent().unwrap_or(version);
    let machine = name(if value.is_multiple_of(3) { "db" } else { "web" });
    let code = FaultCode::ALL[usize::from(value) % FaultCode::ALL.len()];
    match kind % 16 {
        0 | 1 => Command::declare(K::spec(if value.is_multiple_of(5) { 65 } else { 64 })),
        2 => Command::Remove,
        3 => Command::RetryProvisioning,
        4 => Command::ReserveAttachment { machine },
        5 => Command::ReleaseAttachment { machine },
        6 => Command::Wake { due: Timestamp(0) },
        7 | 8 => created(attempt, if value.is_multiple_of(7) { 1 } else { intent.0 }, 60 + u64::from(value % 8)),
        9 => failed(attempt, code),
        10 => Command::Report(Report::Destroyed { attempt }),
        11 => Command::RemoveForced,
        12 => Command::Destroy,
        13 => Command::Release,
        14 => Command::Claim(Box::new(K::asked("web-1"))),
        _ => not_undone(attempt, code),
    }
}

/// The present attempt, or one that nobody knows.
pub(crate) fn attempt<K: Sample>(state: &State<K>, value: u8) -> u32 {
    state.effort().map_or(1, |effort| effort.attempt) + u32::from(value.is_multiple_of(8))
}

/// Walks of which some steps are of its kind only.
pub(crate) fn promises_are_kept<K: Sample>(
    dice: &[(u8, u8, u32)],
    own: impl Fn(&State<K>, Version, u8, u8) -> Option<Command<K>>,
) {
    let command = |state: &State<K>, version, kind, value| {
        own(state, version, kind, value).unwrap_or_else(|| command(state, version, kind, value))
    };
    walk::<State<K>>(&K::stream(), &Document::default(), dice, command, |before, state, _| {
        use Life::{Alive, Dead, Dying, Removed, Undeclared};
        let allowed = before.life == state.life
            || matches!(
                (before.life, state.life),
                (Undeclared | Removed, Alive)
                    | (Alive, Dying | Dead | Removed)
                    | (Dying, Dead | Removed)
                    | (Dead, Removed)
            );
        assert!(allowed, "{} to {}", before.life, state.life);
        let is_gone = matches!(state.life, Dead | Removed);
        assert!(!is_gone || state.attached_to.is_empty(), "dead while attached");
        assert!(!is_gone || K::holds(state).is_none(), "gone before what it holds");
        assert!(state.life != Removed || state.storage == Storage::None);
        let being_made = matches!(state.storage, Storage::Creating { .. });
        let waits = state.effort().filter(|_| !being_made || state.life == Alive);
        assert!(is_woken(state, (waits, state.undoing()), Effect::WakeAt), "who waits is woken");
    });
}

fn said_to_be_blocked_once<K: Sample>() {
    let undoing = Undoing::<State<K>> {
        past: dead(),
        wake: |due| Command::Wake { due },
        wake_at: Effect::WakeAt,
        pauses: |until| Event::DestroyRetryScheduled { until, fault: fault(FaultCode::Unavailable) },
        overdue: |at| Event::Overdue { at },
        begins: Event::AttemptBegun,
        reasons: [Reason::Overdue, Reason::NothingWaits, Reason::NotDueYet],
        status: State::status,
    };
    is_said_to_be_blocked_once(&K::stream(), undoing);
}

#[test]
fn what_takes_too_long_to_be_undone_is_said_to_be_blocked_once() {
    said_to_be_blocked_once::<Volume>();
    said_to_be_blocked_once::<Filesystem>();
}
