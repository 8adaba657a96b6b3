//! Every reason and rejection of a volume, and what holds along every walk.

mod endings;

use bailiwick_journal::{Cite, StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{
    AtCreation, Claim, Command, Effect, Event, Leftovers, Place, Reason, Rejection, Report, Spec, State, Storage,
    VolumeFacts,
};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, Undoing, after, answer, case, hold, is_said_to_be_blocked_once, is_woken, walk},
    },
    policy::Document,
    ports::{AttachmentInfo, ProvisionedVolume},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Name, SizeMib, SkippedStorage, Timestamp},
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "volume/data".parse().expect("a stream")
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn spec(size: u64) -> Spec {
    Spec { provider: name("local"), size: SizeMib(size) }
}

fn volume(at: u64, size: u64) -> ProvisionedVolume {
    let effect = EffectId::of(JOURNAL, &stream(), Version(at));
    ProvisionedVolume { effect, volume_id: InstanceId("v-1".into()), size: SizeMib(size) }
}

fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { spec: spec(64) }, Event::CreateRequested { at: Timestamp(1) }]
}

fn asked(machine: &str) -> Command {
    let by = ClaimedBy { machine: name(machine), is_persistent: false };
    let pool = FromPool { name: "local".parse().expect("a pool's name"), attributes: Default::default() };
    let owner = format!("machine/{machine}").parse().ok();
    Command::Claim(Box::new(Claim { spec: spec(64), pool, by, owner, filesystem: Some(name("files")) }))
}

/// For machine `web-1`, with room for its attachment and for a filesystem.
fn claimed() -> Vec<Event> {
    let machine = || name("web-1");
    vec![
        Event::Declared { spec: spec(64) },
        Event::TakenFrom {
            pool: FromPool { name: "local".parse().expect("a pool's name"), attributes: Default::default() },
        },
        Event::OwnedBy { owner: "machine/web-1".parse().expect("a stream") },
        Event::Claimed { by: ClaimedBy { machine: machine(), is_persistent: false } },
        Event::WantedOn { machine: machine() },
        Event::AttachmentReserved { machine: machine() },
        Event::FilesystemReserved { filesystem: name("files") },
    ]
}

fn provisioned() -> Vec<Event> {
    [declared(), vec![Event::Created { volume: volume(2, 64) }]].concat()
}

fn waiting(until: u64) -> Vec<Event> {
    let event = Event::CreateRetryScheduled { until: Timestamp(until), fault: fault(FaultCode::Unavailable) };
    [declared(), vec![event]].concat()
}

fn given_up() -> Vec<Event> {
    [declared(), vec![Event::CreateGivenUp { fault: fault(FaultCode::InvalidArgument), again: None }]].concat()
}

fn reserved() -> Vec<Event> {
    [provisioned(), vec![Event::AttachmentReserved { machine: name("web") }]].concat()
}

fn protected() -> Vec<Event> {
    [declared(), vec![Event::Protected { on: true }]].concat()
}

fn dying() -> Vec<Event> {
    [reserved(), vec![Event::RemovalBegan]].concat()
}

fn dead() -> Vec<Event> {
    [provisioned(), vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: Timestamp(5) }]].concat()
}

fn removed() -> Vec<Event> {
    [dead(), vec![Event::Destroyed, Event::Removed]].concat()
}

fn releasing() -> Vec<Event> {
    let going = [Event::ReleaseWanted, Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: Timestamp(5) }];
    [provisioned(), going.into()].concat()
}

fn lost() -> Vec<Event> {
    [reserved(), vec![Event::Lost { at: Timestamp(4) }]].concat()
}

fn not_undone(attempt: u32, code: FaultCode) -> Command {
    Command::Report(Report::DestroyFailed { attempt, fault: fault(code) })
}

fn shown(is_shown: bool, at: u64) -> Command {
    let effect = EffectId::of(JOURNAL, &stream(), Version(at));
    Command::Report(if is_shown { Report::Found { effect } } else { Report::Lost { effect } })
}

fn failed(attempt: u32, code: FaultCode) -> Command {
    Command::Report(Report::CreateFailed { attempt, fault: fault(code) })
}

fn created(attempt: u32, at: u64, size: u64) -> Command {
    Command::Report(Report::Created { attempt, volume: volume(at, size) })
}

/// It was destroyed, and is shown all the same.
fn returned() -> Command {
    Command::DestroyReturned { provider: name("local"), of: Version(2) }
}

fn back() -> Event {
    Event::Returned { provider: name("local"), of: Version(2), at: NOW }
}

fn released_and_back() -> Vec<Event> {
    [releasing(), vec![Event::Destroyed, Event::Removed, back()]].concat()
}

fn table() -> Vec<Case<State>> {
    use Reason as R;
    let reserve = |machine| Command::ReserveAttachment { machine: name(machine) };
    let release = |machine| Command::ReleaseAttachment { machine: name(machine) };
    let scheduled = |code| Event::CreateRetryScheduled { until: Timestamp(130_000), fault: fault(code) };
    let begun = vec![Event::Declared { spec: spec(64) }, Event::CreateRequested { at: NOW }];
    let released = || Event::AttachmentReleased { machine: name("web") };
    vec![
        case(declared(), Command::Protect { on: true }, Ok((R::ProtectionAsked, vec![Event::Protected { on: true }]))),
        case(declared(), Command::Protect { on: false }, Ok((R::ProtectionKnown, vec![]))),
        case([], Command::Protect { on: true }, Err(Rejection::NotDeclared)),
        case(protected(), Command::Remove, Err(Rejection::Protected)),
        case(protected(), Command::RemoveForced, Err(Rejection::Protected)),
        case(protected(), Command::Release, Err(Rejection::Protected)),
        case(protected(), Command::Destroy, Err(Rejection::Protected)),
        case(protected(), Command::RemoveWithFilesystem, Err(Rejection::Protected)),
        case([], Command::Declare(spec(64)), Ok((R::NewlyDeclared, begun.clone()))),
        case(removed(), Command::Declare(spec(64)), Ok((R::NewlyDeclared, begun))),
        case(declared(), Command::Declare(spec(64)), Ok((R::AlreadyAsDeclared, vec![]))),
        case(declared(), Command::Declare(spec(65)), Err(Rejection::Immutable { field: "spec.size".into() })),
        case(dead(), Command::Declare(spec(64)), Err(Rejection::Leaving { life: Life::Dead })),
        case(declared(), created(1, 2, 64), Ok((R::StorageMade, vec![Event::Created { volume: volume(2, 64) }]))),
        case(declared(), created(2, 2, 64), Err(Rejection::UnknownAttempt { attempt: 2 })),
        // Less than was asked for is not what was asked for, and asking again does not make it more.
        case(
            declared(),
            created(1, 2, 63),
            Ok((
                R::NotRetryable,
                vec![Event::CreateGivenUp {
                    fault: Fault::new(FaultCode::OutOfRange, "the provider created only 63M of what was requested"),
                    again: None,
                }],
            )),
        ),
        case(provisioned(), created(1, 2, 64), Ok((R::StaleReport, vec![]))),
        // Who cannot be released can be destroyed, once no provider is being asked any more; and not the other way round.
        case(releasing(), Command::Destroy, Err(Rejection::BeingReleased)),
        case(
            [releasing(), vec![Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) }]].concat(),
            Command::Destroy,
            Ok((R::DestroyInstead, vec![Event::DestroyWanted, Event::DestroyRequested { at: NOW }])),
        ),
        // A machine of a set asks for it, in the name that nobody else has.
        case([], asked("web-1"), Ok((R::MachineAsks, claimed()))),
        case(claimed(), asked("web-1"), Ok((R::AlreadyAsDeclared, vec![]))),
        case(claimed(), asked("web-2"), Err(Rejection::NotOfMachine { machine: name("web-2") })),
        case(provisioned(), asked("web-1"), Err(Rejection::NotOfMachine { machine: name("web-1") })),
        case(dying(), asked("web-1"), Err(Rejection::Leaving { life: Life::Dying })),
        case(claimed(), Command::Keep, Ok((R::MachineGoes, vec![Event::Kept]))),
        case(provisioned(), Command::Keep, Ok((R::NotClaimed, vec![]))),
        case([], Command::Keep, Err(Rejection::NotDeclared)),
        case(dead(), Command::Release, Err(Rejection::BeingDestroyed)),
        case(dying(), Command::Release, Ok((R::ReleaseInstead, vec![Event::ReleaseWanted]))),
        case(
            [reserved(), vec![Event::ReleaseWanted, Event::RemovalBegan]].concat(),
            Command::Destroy,
            Ok((R::DestroyInstead, vec![Event::DestroyWanted])),
        ),
        // Whoever cannot let go of it is asked neither again nor to destroy it.
        case(
            releasing(),
            not_undone(1, FaultCode::Unimplemented),
            Ok((R::CannotRelease, vec![Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) }])),
        ),
        case(
            releasing(),
            not_undone(1, FaultCode::PermissionDenied),
            Ok((
                R::WorthRetrying,
                vec![Event::DestroyRetryScheduled {
                    until: NOW.after(30_000),
                    fault: fault(FaultCode::PermissionDenied),
                }],
            )),
        ),
        case(
            dead(),
            not_undone(1, FaultCode::Unimplemented),
            Ok((
                R::WorthRetrying,
                vec![Event::DestroyRetryScheduled { until: NOW.after(30_000), fault: fault(FaultCode::Unimplemented) }],
            )),
        ),
        case(releasing(), not_undone(2, FaultCode::Unimplemented), Ok((R::StaleReport, vec![]))),
        case(removed(), returned(), Ok((R::StorageReturned, vec![back()]))),
        case(provisioned(), returned(), Ok((R::DeclaredAnew, vec![]))),
        case(vec![], returned(), Err(Rejection::NotDeclared)),
        // What came back is destroyed, also where the one before was to be let go of.
        case(
            released_and_back(),
            not_undone(1, FaultCode::Unimplemented),
            Ok((
                R::WorthRetrying,
                vec![Event::DestroyRetryScheduled { until: NOW.after(30_000), fault: fault(FaultCode::Unimplemented) }],
            )),
        ),
        case(
            released_and_back(),
            Command::Report(Report::Destroyed { attempt: 1 }),
            Ok((R::StorageAbsent, vec![Event::Destroyed, Event::Removed])),
        ),
        case(provisioned(), shown(false, 2), Ok((R::StorageLost, vec![Event::Lost { at: NOW }]))),
        case(dying(), shown(false, 2), Ok((R::StorageLost, vec![Event::Lost { at: NOW }]))),
        case(provisioned(), shown(false, 1), Ok((R::StaleReport, vec![]))),
        case(declared(), shown(false, 2), Ok((R::StaleReport, vec![]))),
        case(lost(), shown(false, 2), Ok((R::StaleReport, vec![]))),
        case(lost(), shown(true, 2), Ok((R::StorageFound, vec![Event::Found]))),
        case(provisioned(), shown(true, 2), Ok((R::StaleReport, vec![]))),
        case(
            declared(),
            failed(1, FaultCode::Unavailable),
            Ok((R::WorthRetrying, vec![scheduled(FaultCode::Unavailable)])),
        ),
        case(declared(), failed(1, FaultCode::Aborted), Ok((R::OutcomeUnknown, vec![scheduled(FaultCode::Aborted)]))),
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
        case(declared(), Command::Wake { due: NOW }, Ok((R::NothingWaits, vec![]))),
        case(given_up(), Command::RetryProvisioning, Ok((R::OperatorRetries, vec![Event::AttemptBegun]))),
        case(declared(), Command::RetryProvisioning, Ok((R::NothingToRetry, vec![]))),
        case(removed(), Command::RetryProvisioning, Err(Rejection::NotDeclared)),
        case(
            dead(),
            Command::Report(Report::Destroyed { attempt: 1 }),
            Ok((R::StorageAbsent, vec![Event::Destroyed, Event::Removed])),
        ),
        case(
            dead(),
            Command::Report(Report::DestroyFailed { attempt: 1, fault: fault(FaultCode::FailedPrecondition) }),
            Ok((
                R::WorthRetrying,
                vec![Event::DestroyRetryScheduled {
                    until: Timestamp(130_000),
                    fault: fault(FaultCode::FailedPrecondition),
                }],
            )),
        ),
        case(
            provisioned(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }])),
        ),
        case(reserved(), Command::Remove, Ok((R::RemovalBlocked, vec![Event::RemovalBegan]))),
        case(dying(), Command::Remove, Ok((R::AlreadyGoing, vec![]))),
        case(removed(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case([], Command::Remove, Err(Rejection::NotDeclared)),
        case(
            declared(),
            reserve("web"),
            Ok((R::AttachmentWanted, vec![Event::AttachmentReserved { machine: name("web") }])),
        ),
        case(reserved(), reserve("web"), Err(Rejection::StillReserved)),
        case(reserved(), reserve("db"), Err(Rejection::AttachedElsewhere { machine: name("web") })),
        case(dying(), reserve("web"), Err(Rejection::Leaving { life: Life::Dying })),
        case(reserved(), release("web"), Ok((R::AttachmentGone, vec![released()]))),
        case(
            dying(),
            release("web"),
            Ok((R::LastAttachmentGone, vec![released(), Event::Died, Event::DestroyRequested { at: NOW }])),
        ),
        case(reserved(), release("db"), Ok((R::AttachmentUnknown, vec![]))),
        case([], declare_on("web"), Ok((R::WaitsForMachine, placed()))),
        case(placed(), declare_on("web"), Ok((R::AlreadyAsDeclared, vec![]))),
        case(placed(), declare_on("db"), Err(Rejection::Immutable { field: "spec.machine".into() })),
        case(
            placed(),
            Command::Create { place: place() },
            Ok((R::MachineReady, vec![Event::CreateRequestedAt { place: place(), at: NOW }])),
        ),
        case(declared(), Command::Create { place: place() }, Ok((R::AlreadyBegun, vec![]))),
        case(
            declared(),
            Command::Report(Report::Made {
                attempt: 1,
                volume: volume(2, 64),
                facts: told(),
                attached: Some(at_creation()),
            }),
            Ok((
                R::StorageMade,
                vec![
                    Event::Created { volume: volume(2, 64) },
                    Event::Described { facts: told() },
                    Event::AttachedAtCreation { at_creation: at_creation() },
                ],
            )),
        ),
        case(
            provisioned(),
            Command::Release,
            Ok((
                R::ReleaseAsked,
                vec![Event::ReleaseWanted, Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }],
            )),
        ),
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
        case(
            provisioned(),
            Command::ReserveFilesystem { filesystem: name("files") },
            Ok((R::FilesystemWanted, vec![Event::FilesystemReserved { filesystem: name("files") }])),
        ),
        case(holding(), Command::Remove, Err(Rejection::HoldsFilesystem { filesystem: name("files") })),
        case(
            holding(),
            Command::ReserveFilesystem { filesystem: name("more") },
            Err(Rejection::HoldsFilesystem { filesystem: name("files") }),
        ),
        case(
            holding(),
            Command::ReleaseFilesystem { filesystem: name("files"), leaves: Leftovers::default() },
            Ok((
                R::FilesystemGone,
                vec![Event::FilesystemReleased { filesystem: name("files"), leaves: Leftovers::default() }],
            )),
        ),
        case(
            holding(),
            Command::ReleaseFilesystem { filesystem: name("more"), leaves: Leftovers::default() },
            Ok((R::FilesystemUnknown, vec![])),
        ),
        case(holding(), Command::RemoveWithFilesystem, Ok((R::AwaitsFilesystem, vec![Event::RemovalBegan]))),
        case(
            provisioned(),
            Command::RemoveWithFilesystem,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: NOW }])),
        ),
        // It dies with the last that it waits for: the filesystem on it, or its attachment.
        case(
            [holding(), vec![Event::RemovalBegan]].concat(),
            Command::ReleaseFilesystem { filesystem: name("files"), leaves: Leftovers::default() },
            Ok((
                R::FilesystemGone,
                vec![
                    Event::FilesystemReleased { filesystem: name("files"), leaves: Leftovers::default() },
                    Event::Died,
                    Event::DestroyRequested { at: NOW },
                ],
            )),
        ),
        case(
            [dying(), vec![Event::FilesystemReserved { filesystem: name("files") }]].concat(),
            Command::ReleaseAttachment { machine: name("web") },
            Ok((R::AttachmentGone, vec![Event::AttachmentReleased { machine: name("web") }])),
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
        case(removed(), Command::RemoveForced, Ok((R::AlreadyGone, vec![]))),
        case([], Command::RemoveForced, Err(Rejection::NotDeclared)),
        case(
            [],
            import("old.img"),
            Ok((
                R::NewlyDeclared,
                vec![
                    Event::Declared { spec: spec(64) },
                    Event::ImportWanted { volume_id: InstanceId("old.img".into()) },
                    Event::CreateRequested { at: NOW },
                ],
            )),
        ),
        case(imported(), import("old.img"), Ok((R::AlreadyAsDeclared, vec![]))),
        case(
            [],
            declare_from("fast", None),
            Ok((
                R::NewlyDeclared,
                vec![
                    Event::Declared { spec: spec(64) },
                    Event::TakenFrom { pool: pool("fast") },
                    Event::CreateRequested { at: NOW },
                ],
            )),
        ),
        case(
            [],
            declare_from("fast", Some("web")),
            Ok((
                R::WaitsForMachine,
                vec![
                    Event::Declared { spec: spec(64) },
                    Event::TakenFrom { pool: pool("fast") },
                    Event::WantedOn { machine: name("web") },
                ],
            )),
        ),
        case(from_pool(), declare_from("fast", None), Ok((R::AlreadyAsDeclared, vec![]))),
        case(from_pool(), declare_from("slow", None), Err(Rejection::Immutable { field: "spec.pool".into() })),
        case(from_pool(), Command::Declare(spec(64)), Err(Rejection::Immutable { field: "spec.pool".into() })),
        case(imported(), import("other.img"), Err(Rejection::Immutable { field: "spec.import".into() })),
    ]
}

#[test]
fn what_is_there_for_something_else_says_so_and_keeps_to_it() {
    let owner = |machine: &str| Some(format!("machine/{machine}").parse().expect("a stream"));
    let wanted = declare_from("fast", Some("web"));
    let answer = |given: &[Event], command: Command| {
        answer(&stream(), &after::<State>(given), &command, NOW, &Document::default())
    };
    let made = answer(&[], wanted.clone().owned_by(owner("web"))).expect("done");
    assert_eq!(made.events[1], Event::OwnedBy { owner: owner("web").expect("one") });
    assert_eq!(after::<State>(&made.events).0.owner, owner("web"));
    let asked = |machine| answer(&made.events, wanted.clone().owned_by(owner(machine)));
    assert_eq!(asked("web").expect("done").reason, Reason::AlreadyAsDeclared);
    assert_eq!(asked("db"), Err(Rejection::Immutable { field: "owner".into() }));
    assert_eq!(answer(&made.events, wanted.clone()).expect("done").reason, Reason::AlreadyAsDeclared);
    assert!(answer(&from_pool(), wanted.owned_by(owner("web"))).is_err(), "it was declared for its own sake");
}

fn pool(pool: &str) -> FromPool {
    let attributes = [("tier".to_owned(), "gold".to_owned())].into();
    FromPool { name: pool.parse().expect("a pool's name"), attributes }
}

fn declare_from(from: &str, machine: Option<&str>) -> Command {
    Command::declaration(spec(64), machine.map(name), Some(pool(from)))
}

fn from_pool() -> Vec<Event> {
    let mut events = declared();
    events.insert(1, Event::TakenFrom { pool: pool("fast") });
    events
}

fn import(volume_id: &str) -> Command {
    Command::Import { spec: spec(64), volume_id: InstanceId(volume_id.into()), machine: None }
}

fn imported() -> Vec<Event> {
    let mut events = declared();
    events.insert(1, Event::ImportWanted { volume_id: InstanceId("old.img".into()) });
    events
}

fn declare_on(machine: &str) -> Command {
    Command::DeclareOn { spec: spec(64), machine: name(machine) }
}

fn placed() -> Vec<Event> {
    vec![Event::Declared { spec: spec(64) }, Event::WantedOn { machine: name("web") }]
}

fn place() -> Place {
    let machine_effect = EffectId::of(JOURNAL, &"machine/web".parse().expect("a stream"), Version(2));
    Place { machine: name("web"), machine_effect, instance: InstanceId("i-1".into()) }
}

fn told() -> VolumeFacts {
    VolumeFacts { hardware_id: Some("serial-1".into()), persistent: true }
}

fn at_creation() -> AtCreation {
    AtCreation { machine: name("web"), info: AttachmentInfo { path: "/dev/sda1".into(), read_only: false } }
}

fn refused() -> Vec<Event> {
    let event = Event::CreateRetryScheduled { until: Timestamp(5), fault: fault(FaultCode::FailedPrecondition) };
    [declared(), vec![event]].concat()
}

fn holding() -> Vec<Event> {
    [provisioned(), vec![Event::FilesystemReserved { filesystem: name("files") }]].concat()
}

/// A call, and the time at which it is said to take too long.
fn owed(call: Effect, deadline: u64) -> std::collections::BTreeSet<Effect> {
    [call, Effect::WakeAt(Timestamp(deadline))].into()
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
        "attached-elsewhere",
        "still-reserved",
        "unknown-attempt",
        "holds-filesystem",
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
fn without_a_limit_it_is_tried_for_ever() {
    let mut events = declared();
    for _ in 0..100 {
        let retry = Event::CreateRetryScheduled { until: Timestamp(5), fault: fault(FaultCode::Unavailable) };
        events.extend([retry, Event::AttemptBegun]);
    }
    let given = after::<State>(&events);
    let decision = answer(&stream(), &given, &failed(101, FaultCode::Unavailable), NOW, &Document::default()).unwrap();
    let until = NOW.after(Document::default().storage.retry_max_ms);
    let fault = fault(FaultCode::Unavailable);
    assert_eq!(decision.events, [Event::CreateRetryScheduled { until, fault }]);
}

#[test]
fn all_attempts_share_one_intent() {
    let again = after::<State>(&[waiting(5), vec![Event::AttemptBegun]].concat());
    assert_eq!(again.0.pending(&NoView), [Effect::Create { intent: Version(2), attempt: 2 }].into());
    assert_eq!(
        after::<State>(&dead()).0.pending(&NoView),
        owed(Effect::Destroy { of: Version(2), attempt: 1 }, 900_005)
    );
}

fn command(state: &State, version: Version, kind: u8, value: u8) -> Command {
    let attempt = state.effort().map_or(1, |effort| effort.attempt) + u32::from(value.is_multiple_of(8));
    let intent = match &state.storage {
        Storage::Creating(effort) => effort.intent,
        Storage::Provisioned { intent, .. } => *intent,
        Storage::Destroying { of, .. } => *of,
        Storage::None => version,
    };
    let machine = name(if value.is_multiple_of(3) { "db" } else { "web" });
    let fault = fault(FaultCode::ALL[usize::from(value) % FaultCode::ALL.len()]);
    match kind % 23 {
        22 => Command::Destroy,
        21 => shown(value.is_multiple_of(2), intent.0),
        18 => Command::RemoveWithFilesystem,
        19 => Command::RemoveForced,
        20 => import(machine.as_str()),
        12 => declare_on(machine.as_str()),
        13 => Command::Create { place: place() },
        14 => Command::Release,
        15 => Command::ReserveFilesystem { filesystem: name("files") },
        16 => Command::ReleaseFilesystem { filesystem: name("files"), leaves: Leftovers::default() },
        17 => Command::Report(Report::Made {
            attempt,
            volume: volume(intent.0, 64),
            facts: told(),
            attached: value.is_multiple_of(2).then(at_creation),
        }),
        0 | 1 => Command::Declare(spec(if value.is_multiple_of(5) { 65 } else { 64 })),
        2 => Command::Remove,
        3 => Command::RetryProvisioning,
        4 => Command::ReserveAttachment { machine },
        5 => Command::ReleaseAttachment { machine },
        6 => Command::Wake { due: Timestamp(0) },
        7 | 8 => created(attempt, if value.is_multiple_of(7) { 1 } else { intent.0 }, 60 + u64::from(value % 8)),
        9 => Command::Report(Report::CreateFailed { attempt, fault }),
        10 => Command::Report(Report::Destroyed { attempt }),
        _ => Command::Report(Report::DestroyFailed { attempt, fault }),
    }
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_volume_promises(dice in vec((any::<u8>(), any::<u8>(), any::<u32>()), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, command, |before, state, _| {
            use Life::{Alive, Dead, Dying, Removed, Undeclared};
            let allowed = before.life == state.life || matches!(
                (before.life, state.life),
                (Undeclared | Removed, Alive) | (Alive, Dying | Dead | Removed) | (Dying, Dead | Removed) | (Dead, Removed)
            );
            assert!(allowed, "{} to {}", before.life, state.life);
            assert!(!matches!(state.life, Dead | Removed) || state.attached_to.is_none(), "dead while attached");
            assert!(state.life != Removed || state.storage == Storage::None);
            assert!(!matches!(state.life, Dead | Removed) || state.filesystem.is_none(), "gone before its filesystem");
            let being_made = matches!(state.storage, Storage::Creating(_));
            let waits = state.effort().filter(|_| !being_made || state.life == Alive);
            assert!(is_woken(state, (waits, state.undoing()), Effect::WakeAt), "who waits is woken");
        });
    }
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
