//! At least one example of every variant of every stored form.

pub(super) mod members;

use bailiwick_actors::{
    contract::{Recorded, Stored, StoredFacts},
    filesystem, filesystem_attachment, machine, policy,
    ports::{
        AttachmentInfo, Backing, BlockDevice, Condition, FilesystemAttachmentInfo, InstanceStatus, MachineInstance,
        ProvisionedFilesystem, ProvisionedVolume,
        replica_set::{
            Action, Change, Configuration, EngineRules, Member, MemberId, MemberState, MemberStatus, Observation,
            Outcome, Priority, Stamp, Step, StepReason,
        },
    },
    replica_set, storage_rules,
    supervisor::{Order, machines, replica_sets, storage},
    vocab::{
        Address, EffectId, Fault, FaultCode, HarvestMode, InstanceId, Life, Name, Scope, SizeMib, SkippedStorage,
        Timestamp, Zone,
    },
    volume, volume_attachment,
};
use bailiwick_journal::Version;
use uuid::Uuid;

use super::{Forms, form, forms};

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn effect(number: u128) -> EffectId {
    EffectId(Uuid::from_u128(number))
}

fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

const AT: Timestamp = Timestamp(1_767_225_600_000);

fn instance(status: InstanceStatus) -> MachineInstance {
    MachineInstance {
        effect: effect(1),
        instance: InstanceId("i-1".into()),
        machine: name("web"),
        facts: [("pid".to_owned(), "7".to_owned())].into(),
        status,
    }
}

fn conditions() -> Vec<Condition> {
    vec![Condition { kind: "DiskPressure".into(), healthy: true, text: "fine".into() }]
}

/// Reasons and rejections stand in a verdict, and are pinned in it.
fn verdicts<R: Stored, J: Stored>(reasons: &[R], rejections: Vec<J>) -> Forms {
    let decided = reasons.iter().enumerate();
    let mut all: Forms = decided
        .map(|(number, reason)| form(format!("reason.{number}"), &Recorded::<R, J>::Decided(reason.clone())))
        .collect();
    let refused = rejections.into_iter().enumerate();
    all.extend(
        refused.map(|(number, rejection)| form(format!("rejection.{number}"), &Recorded::<R, J>::Refused(rejection))),
    );
    all
}

pub(super) fn machine() -> Forms {
    use machine::{
        Cause, Command, DrainOutcome, Event, Leaving, Reason, Rejection, Removal, Report, Skipped, Spec, Step, Workload,
    };
    let workload = Workload {
        name: name("app"),
        command: vec!["sleep".into(), "1".into()],
        env: [("A".to_owned(), "b".to_owned())].into(),
    };
    let labels = [("tier".to_owned(), "front".to_owned())].into();
    let spec = Spec { provider: name("local"), workloads: vec![workload], labels };
    let volume = || name("data");
    let mut all = forms(
        "command",
        [
            Command::Declare(spec.clone()),
            Command::Remove,
            Command::RetryProvisioning,
            Command::ReserveAttachment { volume: volume() },
            Command::ReleaseAttachment { volume: volume() },
            Command::Wake { due: AT },
            Command::Report(Report::Created { attempt: 1, instance: instance(InstanceStatus::Running) }),
            Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::Unavailable) }),
            Command::Report(Report::Deleted { attempt: 3 }),
            Command::Report(Report::DeleteFailed { attempt: 4, fault: fault(FaultCode::NotFound) }),
            Command::Report(Report::Lost { effect: effect(1) }),
            Command::Report(Report::Node { effect: effect(1), conditions: conditions() }),
            Command::Report(Report::NodeSilent { effect: effect(1), last_seen: AT }),
            Command::Hold { reason: "looking at it".into(), until: Some(AT) },
            Command::Unhold,
            Command::RemoveWith(Removal { force: true, keep_instance: false }),
            Command::Adopt { provider: name("local"), instance: instance(InstanceStatus::Running) },
            Command::Disown,
            Command::RemoveStray { provider: name("local"), instance: instance(InstanceStatus::Stopped) },
            Command::GiveUp { effect: effect(1) },
            Command::Reprieve { effect: effect(1) },
            Command::Engage { set: name("db") },
            Command::Disengage { set: name("db") },
            Command::Report(Report::StrayDeleted { effect: effect(1), attempt: 5 }),
            Command::Report(Report::StrayDeleteFailed {
                effect: effect(1),
                attempt: 6,
                fault: fault(FaultCode::OutOfRange),
            }),
            Command::Report(Report::Drained { effect: effect(1) }),
            Command::ReserveMount { filesystem: name("files") },
            Command::ReleaseMount { filesystem: name("files") },
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { spec: spec.clone() },
            Event::SpecChanged { spec },
            Event::CreateRequested { at: AT },
            Event::Created { instance: instance(InstanceStatus::Stopped), at: AT },
            Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::Aborted) },
            Event::CreateGivenUp { fault: fault(FaultCode::InvalidArgument) },
            Event::DeleteRequested { at: AT },
            Event::Deleted,
            Event::DeleteRetryScheduled { until: AT, fault: fault(FaultCode::Internal) },
            Event::DeleteGivenUp { fault: fault(FaultCode::Unimplemented) },
            Event::AttemptBegun,
            Event::InstanceLost { at: AT },
            Event::NodeReported { conditions: conditions(), at: AT },
            Event::NodeWentStale { last_seen: AT },
            Event::AttachmentReserved { volume: volume() },
            Event::AttachmentReleased { volume: volume() },
            Event::RemovalBegan,
            Event::Died,
            Event::Removed,
            Event::Held { reason: "looking at it".into(), until: Some(AT), at: AT },
            Event::HoldEnded,
            Event::Withheld { step: Step::Attempt, at: AT },
            Event::Withheld { step: Step::Replace, at: AT },
            Event::Withheld { step: Step::Create, at: AT },
            Event::Withheld { step: Step::RemoveStray, at: AT },
            Event::InstanceToStay,
            Event::Skipped { what: Skipped::Attachment { volume: volume() } },
            Event::Skipped { what: Skipped::DeletionOf { effect: effect(1) } },
            Event::InstanceLeft { effect: effect(1), why: Leaving::OperatorKeeps },
            Event::InstanceLeft { effect: effect(1), why: Leaving::PolicySpares },
            Event::InstanceLeft { effect: effect(1), why: Leaving::Forced },
            Event::Adopted { instance: instance(InstanceStatus::Running), at: AT },
            Event::StrayFound {
                effect: effect(1),
                provider: name("local"),
                instance: Some(InstanceId("i-9".into())),
                at: AT,
            },
            Event::StrayGone { effect: effect(1) },
            Event::StrayRetryScheduled { effect: effect(1), until: AT, fault: fault(FaultCode::Internal) },
            Event::StrayGivenUp { effect: effect(1), fault: fault(FaultCode::Unimplemented) },
            Event::StrayAttemptBegun { effect: effect(1) },
            Event::Withheld { step: Step::GiveUp, at: AT },
            Event::JoinAwaited { until: AT, at: AT },
            Event::BecameWell { at: AT },
            Event::BecameSuspect { cause: Cause::NeverJoined, at: AT, until: AT },
            Event::BecameSuspect { cause: Cause::Unhealthy, at: AT, until: AT },
            Event::BecameSuspect { cause: Cause::Silent, at: AT, until: AT },
            Event::BecameOverdue { cause: Cause::Silent, at: AT },
            Event::GivenUp { cause: Cause::Silent, at: AT },
            Event::DrainBegan { at: AT, until: AT },
            Event::DrainEnded { outcome: DrainOutcome::Empty },
            Event::DrainEnded { outcome: DrainOutcome::TimedOut },
            Event::DrainEnded { outcome: DrainOutcome::Silent },
            Event::DrainEnded { outcome: DrainOutcome::Forced },
            Event::Engaged { set: name("db") },
            Event::Disengaged { set: name("db") },
            Event::Skipped { what: Skipped::Membership { set: name("db") } },
            Event::MountReserved { filesystem: name("files") },
            Event::MountReleased { filesystem: name("files") },
            Event::Skipped { what: Skipped::Mount { filesystem: name("files") } },
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.provider".into() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
        Rejection::Held { reason: "looking at it".into() },
        Rejection::BadHold,
        Rejection::HasInstance { instance: InstanceId("i-1".into()) },
        Rejection::NoInstance,
        Rejection::Busy,
        Rejection::NotItsName { machine: name("db") },
        Rejection::OtherProvider { provider: name("simulated") },
        Rejection::NotRunning,
        Rejection::BeingRemoved,
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

pub(super) fn volume() -> Forms {
    use volume::{AtCreation, Command, Event, Place, Reason, Rejection, Report, Spec, VolumeFacts};
    let spec = Spec { provider: name("local"), size: SizeMib(64) };
    let made = ProvisionedVolume { effect: effect(2), volume_id: InstanceId("v-1".into()), size: SizeMib(65) };
    let machine = || name("web");
    let filesystem = || name("files");
    let place = || Place { machine: machine(), machine_effect: effect(1), instance: InstanceId("i-1".into()) };
    let facts = || VolumeFacts { hardware_id: Some("serial-1".into()), persistent: true };
    let info = AttachmentInfo { path: "/dev/sda1".into(), read_only: true };
    let at_creation = || AtCreation { machine: machine(), info: info.clone() };
    let mut all = forms(
        "command",
        [
            Command::Declare(spec.clone()),
            Command::Remove,
            Command::RetryProvisioning,
            Command::ReserveAttachment { machine: machine() },
            Command::ReleaseAttachment { machine: machine() },
            Command::Wake { due: AT },
            Command::Report(Report::Created { attempt: 1, volume: made.clone() }),
            Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::ResourceExhausted) }),
            Command::Report(Report::Destroyed { attempt: 3 }),
            Command::Report(Report::DestroyFailed { attempt: 4, fault: fault(FaultCode::FailedPrecondition) }),
            Command::Report(Report::Made {
                attempt: 5,
                volume: made.clone(),
                facts: facts(),
                attached: Some(at_creation()),
            }),
            Command::DeclareOn { spec: spec.clone(), machine: machine() },
            Command::Create { place: place() },
            Command::Release,
            Command::ReserveFilesystem { filesystem: filesystem() },
            Command::ReleaseFilesystem { filesystem: filesystem() },
            Command::RemoveWithFilesystem,
            Command::Import { spec: spec.clone(), volume_id: InstanceId("old.img".into()), machine: Some(machine()) },
            Command::RemoveForced,
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { spec },
            Event::CreateRequested { at: AT },
            Event::Created { volume: made },
            Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::DataLoss) },
            Event::CreateGivenUp { fault: fault(FaultCode::OutOfRange) },
            Event::DestroyRequested { at: AT },
            Event::Destroyed,
            Event::DestroyRetryScheduled { until: AT, fault: fault(FaultCode::Unknown) },
            Event::DestroyGivenUp { fault: fault(FaultCode::PermissionDenied) },
            Event::AttemptBegun,
            Event::AttachmentReserved { machine: machine() },
            Event::AttachmentReleased { machine: machine() },
            Event::RemovalBegan,
            Event::Died,
            Event::Removed,
            Event::WantedOn { machine: machine() },
            Event::CreateRequestedAt { place: place(), at: AT },
            Event::Described { facts: facts() },
            Event::AttachedAtCreation { at_creation: at_creation() },
            Event::ReleaseWanted,
            Event::FilesystemReserved { filesystem: filesystem() },
            Event::FilesystemReleased { filesystem: filesystem() },
            Event::CreateDropped,
            Event::ImportWanted { volume_id: InstanceId("old.img".into()) },
            Event::Skipped { what: SkippedStorage::Attachment { machine: machine() } },
            Event::Skipped { what: SkippedStorage::Filesystem { filesystem: filesystem() } },
            Event::Skipped { what: SkippedStorage::Undoing { effect: effect(1) } },
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dead },
        Rejection::Immutable { field: "spec.size".into() },
        Rejection::AttachedElsewhere { machine: machine() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
        Rejection::HoldsFilesystem { filesystem: filesystem() },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

fn target() -> volume_attachment::Target {
    volume_attachment::Target {
        provider: name("local"),
        machine_effect: effect(1),
        instance: InstanceId("i-1".into()),
        volume_effect: effect(2),
        volume_id: InstanceId("v-1".into()),
    }
}

pub(super) fn volume_attachment() -> Forms {
    use volume_attachment::{Command, Event, Reason, Rejection, Report, Spec};
    let spec = Spec { machine: name("web"), volume: name("data"), read_only: true };
    let info = AttachmentInfo { path: "/vol/data".into(), read_only: true };
    let mut all = forms(
        "command",
        [
            Command::Declare(spec.clone()),
            Command::Remove,
            Command::Retry,
            Command::Attach { target: target() },
            Command::Detach { machine_effect: effect(1) },
            Command::Wake { due: AT },
            Command::Report(Report::Attached { attempt: 1, info: info.clone() }),
            Command::Report(Report::AttachFailed { attempt: 2, fault: fault(FaultCode::Canceled) }),
            Command::Report(Report::Detached { attempt: 3 }),
            Command::Report(Report::DetachFailed { attempt: 4, fault: fault(FaultCode::DeadlineExceeded) }),
            Command::TakeOver { target: target(), info: info.clone() },
            Command::Reattach,
            Command::RemoveForced,
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { spec },
            Event::AttachRequested { target: target(), at: AT },
            Event::Attached { info: info.clone() },
            Event::AttachRetryScheduled { until: AT, fault: fault(FaultCode::AlreadyExists) },
            Event::AttachGivenUp { fault: fault(FaultCode::Unauthenticated) },
            Event::DetachRequested { at: AT },
            Event::Detached,
            Event::DetachRetryScheduled { until: AT, fault: fault(FaultCode::Uninitialized) },
            Event::DetachGivenUp { fault: fault(FaultCode::Internal) },
            Event::AttemptBegun,
            Event::RemovalBegan,
            Event::Removed,
            Event::TakenOver { target: target(), info },
            Event::ReattachRequested { at: AT },
            Event::AttachDropped,
            Event::Skipped { what: SkippedStorage::Undoing { effect: effect(1) } },
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.readOnly".into() },
        Rejection::UnknownAttempt { attempt: 2 },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

fn backing() -> Backing {
    let device = BlockDevice { name: "sdb".into(), size: SizeMib(65), hardware_id: Some("serial-1".into()) };
    Backing { volume: name("data"), volume_effect: effect(2), device }
}

pub(super) fn filesystem() -> Forms {
    use filesystem::{Command, Event, Reason, Rejection, Report, Spec};
    let spec =
        Spec { provider: name("loop"), size: SizeMib(64), backing: Some(name("data")), machine: Some(name("web")) };
    let (filesystem_id, size) = (InstanceId("fs-1".into()), SizeMib(65));
    let made = ProvisionedFilesystem { effect: effect(3), filesystem_id, size };
    let machine = || name("web");
    let mut all = forms(
        "command",
        [
            Command::Declare(spec.clone()),
            Command::Remove,
            Command::Release,
            Command::RetryProvisioning,
            Command::ReserveAttachment { machine: machine() },
            Command::ReleaseAttachment { machine: machine() },
            Command::Create { backing: Some(backing()) },
            Command::Wake { due: AT },
            Command::Report(Report::Created { attempt: 1, filesystem: made.clone() }),
            Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::FailedPrecondition) }),
            Command::Report(Report::Destroyed { attempt: 3 }),
            Command::Report(Report::DestroyFailed { attempt: 4, fault: fault(FaultCode::Internal) }),
            Command::RemoveForced,
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { spec },
            Event::CreateRequested { backing: Some(backing()), at: AT },
            Event::BackingChanged { backing: None },
            Event::Created { filesystem: made },
            Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::DataLoss) },
            Event::CreateGivenUp { fault: fault(FaultCode::OutOfRange) },
            Event::CreateDropped,
            Event::DestroyRequested { at: AT },
            Event::Destroyed,
            Event::DestroyRetryScheduled { until: AT, fault: fault(FaultCode::Unknown) },
            Event::DestroyGivenUp { fault: fault(FaultCode::PermissionDenied) },
            Event::AttemptBegun,
            Event::AttachmentReserved { machine: machine() },
            Event::AttachmentReleased { machine: machine() },
            Event::ReleaseWanted,
            Event::RemovalBegan,
            Event::Died,
            Event::Removed,
            Event::Skipped { what: SkippedStorage::Undoing { effect: effect(1) } },
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dead },
        Rejection::Immutable { field: "spec.size".into() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

fn mount_target() -> filesystem_attachment::Target {
    filesystem_attachment::Target {
        provider: name("managed"),
        machine_effect: effect(1),
        instance: InstanceId("i-1".into()),
        filesystem_effect: effect(3),
        filesystem_id: InstanceId("fs-1".into()),
        backing: Some(backing()),
        path: Some("/srv/files".into()),
    }
}

pub(super) fn filesystem_attachment() -> Forms {
    use filesystem_attachment::{Command, Event, Reason, Rejection, Report, Spec};
    let path = Some("/srv/files".to_owned());
    let spec = Spec { machine: name("web"), filesystem: name("files"), path, read_only: true };
    let info = FilesystemAttachmentInfo { mount_point: "/srv/files".into(), read_only: true };
    let mut all = forms(
        "command",
        [
            Command::Declare(spec.clone()),
            Command::Remove,
            Command::Retry,
            Command::Attach { target: Box::new(mount_target()) },
            Command::Detach { machine_effect: effect(1) },
            Command::Wake { due: AT },
            Command::Report(Report::Attached { attempt: 1, info: info.clone() }),
            Command::Report(Report::AttachFailed { attempt: 2, fault: fault(FaultCode::Canceled) }),
            Command::Report(Report::Detached { attempt: 3 }),
            Command::Report(Report::DetachFailed { attempt: 4, fault: fault(FaultCode::DeadlineExceeded) }),
            Command::Reattach,
            Command::RemoveForced,
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { spec },
            Event::AttachRequested { target: mount_target(), at: AT },
            Event::Attached { info },
            Event::AttachRetryScheduled { until: AT, fault: fault(FaultCode::AlreadyExists) },
            Event::AttachGivenUp { fault: fault(FaultCode::Unauthenticated) },
            Event::DetachRequested { at: AT },
            Event::Detached,
            Event::DetachRetryScheduled { until: AT, fault: fault(FaultCode::Uninitialized) },
            Event::DetachGivenUp { fault: fault(FaultCode::Internal) },
            Event::AttemptBegun,
            Event::RemovalBegan,
            Event::Removed,
            Event::Retargeted { target: mount_target() },
            Event::ReattachRequested { at: AT },
            Event::AttachDropped,
            Event::Skipped { what: SkippedStorage::Undoing { effect: effect(1) } },
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.path".into() },
        Rejection::UnknownAttempt { attempt: 2 },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

pub(super) fn policy() -> Forms {
    use policy::{Command, Document, DocumentV1, Event, Reason, Rejection, WhenLost};
    // Every setting has another value, so that none can change its place unnoticed.
    let first = DocumentV1 {
        machines: policy::Machines {
            attempts_max: 1,
            retry_first_ms: 2,
            retry_max_ms: 3,
            call_timeout_ms: 4,
            poll_ms: 5,
            node_stale_ms: 6,
            restart_grace_ms: 7,
            when_lost: WhenLost::Keep,
        },
        storage: policy::Storage { attempts_max: 8, retry_first_ms: 9, retry_max_ms: 10, call_timeout_ms: 11 },
    };
    let harvest = policy::Harvest { mode: HarvestMode::Unknown, sightings_min: 12, grace_ms: 13 };
    let reconciliation = policy::Reconciliation {
        retry_short_ms: 14,
        retry_medium_ms: 15,
        retry_long_ms: 16,
        creation_timeout_ms: 17,
        health_timeout_ms: 18,
        health_recheck_ms: 19,
        node_conditions: vec!["DiskPressure".into()],
        ..policy::Reconciliation::gardener_0_49()
    };
    let document = Document { harvest, reconciliation, ..first.clone().into() };
    let mut all = vec![form("document".into(), &document), form("document.default".into(), &Document::default())];
    let revise = Command::Revise(Box::new(document.clone()));
    let pool: storage_rules::PoolName = "fast".parse().expect("a pool's name");
    let attributes = [("volume-type".to_owned(), "ssd".to_owned())].into();
    let settings = storage_rules::PoolSettings { provider: storage_rules::ProviderType::Ebs, attributes };
    let create = Command::CreatePool { name: pool.clone(), settings: settings.clone() };
    let remove = Command::RemovePool { name: pool.clone() };
    all.extend(forms("command", [Command::ReviseV1(first.clone()), revise, create, remove]));
    let revised = Event::Revised { document: Box::new(document) };
    let created = Event::PoolCreated { name: pool.clone(), settings };
    let removed = Event::PoolRemoved { name: pool.clone() };
    all.extend(forms("event", [Event::RevisedV1 { document: first }, revised, created, removed]));
    let rejections = vec![
        Rejection::TooSmall { setting: "machines.poll".into(), least: 100 },
        Rejection::Reversed { setting: "machines.retryMax".into(), other: "machines.retryFirst".into() },
        Rejection::PoolExists { name: pool.clone() },
        Rejection::NoSuchPool { name: pool },
        Rejection::BadPool { problem: "no".into() },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

fn orders() -> [Order; 5] {
    [
        Order::Machine { machine: name("web"), command: machine::Command::Remove },
        Order::Volume { volume: name("data"), command: volume::Command::Remove },
        Order::VolumeAttachment {
            machine: name("web"),
            volume: name("data"),
            command: volume_attachment::Command::Attach { target: target() },
        },
        Order::Filesystem { filesystem: name("files"), command: filesystem::Command::Remove },
        Order::FilesystemAttachment {
            machine: name("web"),
            filesystem: name("files"),
            command: filesystem_attachment::Command::Attach { target: Box::new(mount_target()) },
        },
    ]
}

pub(super) fn supervisor() -> Forms {
    use machines::{Change, Command, Event, Withholding};
    let provider = || name("local");
    let changes = vec![
        Change::Appeared { instance: instance(InstanceStatus::Running) },
        Change::StatusChanged { effect: effect(1), status: InstanceStatus::Stopped },
        Change::Vanished { effect: effect(1), machine: name("web") },
        Change::Forgotten { effect: effect(1) },
    ];
    let claims = vec![Change::Unclaimed { effect: effect(1) }, Change::Claimed { effect: effect(1) }];
    let mut all = forms(
        "machines.command",
        [
            Command::Observe { provider: provider(), as_of: AT, changes: changes.clone() },
            Command::ReportListFailed { provider: provider(), fault: fault(FaultCode::Unavailable) },
            Command::ReportListRecovered { provider: provider() },
            Command::Look { machines: vec![name("web"), name("db")] },
            Command::Observe { provider: provider(), as_of: AT, changes: claims },
        ],
    );
    let [first, second, third, ..] = orders();
    all.extend(forms(
        "machines.event",
        [
            Event::Observed { provider: provider(), as_of: AT, changes },
            Event::ListFailed { provider: provider(), fault: fault(FaultCode::Unavailable) },
            Event::ListRecovered { provider: provider() },
            Event::Issued { order: first },
            Event::Issued { order: second },
            Event::Issued { order: third },
            Event::Withheld { machine: name("web"), why: Withholding::ZoneSilent { zone: Zone("a".into()) } },
            Event::Withheld { machine: name("web"), why: Withholding::BudgetSpent },
            Event::Released { machine: name("web") },
        ],
    ));
    let look = storage::Command::Look { about: vec!["volume/data".parse().expect("a stream")] };
    let session = storage::Session {
        static_providers: [name("local")].into(),
        storage_dir: Some("/storage".into()),
        waits_for_policy: true,
    };
    let changes = vec![
        storage::DeviceChange::Seen { machine: name("web"), backing: backing() },
        storage::DeviceChange::Gone { machine: name("web"), volume: name("data") },
    ];
    let begin = storage::Command::Begin { session: session.clone() };
    all.extend(forms("storage.command", [look, begin, storage::Command::Observe { changes: changes.clone() }]));
    let mut events: Vec<storage::Event> = orders().map(|order| storage::Event::Issued { order }).into();
    events.push(storage::Event::SessionBegan { session });
    events.push(storage::Event::Observed { changes });
    events.push(storage::Event::PutOff { about: vec!["volume/data".parse().expect("a stream")] });
    events.push(storage::Event::TakenUp);
    all.extend(forms("storage.event", events));
    for (number, reason) in machines::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<machines::Reason, machines::Rejection>::Decided(*reason);
        all.push(form(format!("machines.reason.{number}"), &verdict));
    }
    let look = replica_sets::Command::Look { about: vec!["replica-set/db".parse().expect("a stream")] };
    let about = vec!["member/db:web".parse().expect("a stream")];
    all.extend(forms("replica-sets.command", [look, replica_sets::Command::LookAfter { about }]));
    let command = replica_set::Command::TakeStep { step: steps().remove(1), seen: Version(3) };
    let order = Order::ReplicaSet { set: name("db"), command };
    let told = Order::Member { set: name("db"), machine: name("web"), command: members::forget() };
    let issued = [order, told].map(|order| replica_sets::Event::Issued { order });
    all.extend(forms("replica-sets.event", issued));
    for (number, reason) in replica_sets::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<replica_sets::Reason, replica_sets::Rejection>::Decided(*reason);
        all.push(form(format!("replica-sets.reason.{number}"), &verdict));
    }
    for (number, reason) in storage::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<storage::Reason, storage::Rejection>::Decided(*reason);
        all.push(form(format!("storage.reason.{number}"), &verdict));
    }
    all
}

fn member(id: u64) -> Member {
    Member {
        id: MemberId(id),
        address: "10.0.0.1:7".into(),
        tags: [("rack".to_owned(), "r1".to_owned())].into(),
        votes: Some(0),
        priority: Priority::new(0.5),
        other: [("hidden".to_owned(), "true".to_owned())].into(),
    }
}

/// Every state of a member, so that none can change its place unnoticed.
fn observation() -> Observation {
    use MemberState as S;
    let states = [
        S::Startup,
        S::Primary,
        S::Secondary,
        S::Recovering,
        S::Startup2,
        S::Unknown,
        S::Arbiter,
        S::Down,
        S::Rollback,
        S::Removed,
    ];
    let status = |(id, state)| MemberStatus { id: MemberId(id), healthy: true, state, lag_ms: Some(5) };
    let rules = EngineRules {
        can_demote: true,
        learners_max: Some(1),
        voting_changes_per_step: 2,
        other_changes_per_step: Some(3),
        voters_max: 4,
        members_max: 5,
        member_id_max: 6,
        joins_need_every_voter: true,
    };
    let stamp = Stamp { term: 7, version: 8 };
    let configuration = Configuration { stamp, committed: true, members: vec![member(1)] };
    Observation { configuration, statuses: (0..).zip(states).map(status).collect(), rules }
}

fn replica_set_spec() -> replica_set::Spec {
    let address =
        |(value, scope): (&str, Scope)| Address { value: value.into(), scope, space: Some("ha".into()), port: Some(9) };
    // Every scope, so that none can change its place unnoticed.
    let addresses = [
        ("10.0.0.1", Scope::Unknown),
        ("10.0.0.2", Scope::Public),
        ("10.0.0.3", Scope::LocalCloud),
        ("10.0.0.4", Scope::LocalFan),
        ("127.0.0.1", Scope::LocalMachine),
        ("fe80::1", Scope::LinkLocal),
    ];
    let addresses = addresses.into_iter().map(address).collect();
    let seat = replica_set::Seat { machine: name("web"), addresses, peer_port: 7, client_port: 8 };
    let (engine, seats, rhythm) = (name("etcd"), vec![seat], rhythm());
    replica_set::Spec { engine, servers: 1, seats, one_host: true, rhythm, space: Some(name("ha")) }
}

fn rhythm() -> replica_set::Rhythm {
    replica_set::Rhythm { poll_ms: 1, retry_first_ms: 2, retry_max_ms: 3, initiate_every_ms: 4, initiate_for_ms: 5 }
}

/// As it was declared when a seat had one address.
fn replica_set_spec_v1() -> replica_set::SpecV1 {
    let seat = replica_set::SeatV1 { machine: name("web"), address: "10.0.0.1".into(), peer_port: 7, client_port: 8 };
    let (engine, seats, rhythm) = (name("etcd"), vec![seat], rhythm());
    replica_set::SpecV1 { engine, servers: 1, seats, one_host: true, rhythm }
}

fn endpoints() -> replica_set::Endpoints {
    let endpoint =
        replica_set::Endpoint { addresses: ["10.0.0.1:8".to_owned()].into(), internal: Some("10.0.0.1:7".into()) };
    replica_set::Endpoints { servers: [(name("web"), endpoint)].into() }
}

/// A step with every change, and one for every other action and every reason.
fn steps() -> Vec<Step> {
    use StepReason as R;
    let id = MemberId(3);
    let changes = vec![
        Change::Join { member: member(2) },
        Change::Move { member: id, address: "b:2".into() },
        Change::Promote { member: id },
        Change::Demote { member: id },
        Change::Level { member: id },
        Change::Remove { member: id },
    ];
    let actions = [
        Action::Write { changes },
        Action::StepDown { primary: id, successor: MemberId(4) },
        Action::Initiate { first: member(1) },
    ];
    let reasons = R::ALL.iter().map(|because| Step { action: actions[1].clone(), because: *because });
    let actions = actions.iter().map(|action| Step { action: action.clone(), because: R::ReadyToVote });
    actions.chain(reasons).collect()
}

pub(super) fn replica_set() -> Forms {
    use replica_set::{Command, Event, Reason, Rejection, Report, enable_ha::EnableHaError};
    let round = Version(9);
    let outcomes = [
        Outcome::Done,
        Outcome::Refused(fault(FaultCode::FailedPrecondition)),
        Outcome::Unknown(fault(FaultCode::Aborted)),
    ];
    let reports = [
        Report::Seen { round, observation: observation() },
        Report::NotBegun { round },
        Report::LookFailed { round, fault: fault(FaultCode::Unavailable) },
    ];
    let mut commands = vec![
        Command::DeclareV1(replica_set_spec_v1()),
        Command::Declare(replica_set_spec()),
        Command::Publish(endpoints()),
        Command::EnableHa { servers: 3 },
        Command::Remove,
        Command::RetryNow,
        Command::Wake { due: AT },
    ];
    commands.extend(steps().into_iter().map(|step| Command::TakeStep { step, seen: round }));
    commands.extend(reports.map(Command::Report));
    commands.extend(outcomes.map(|outcome| Command::Report(Report::Stepped { round, outcome })));
    let mut all = forms("command", commands);
    let step = steps().remove(0);
    all.extend(forms(
        "event",
        [
            Event::DeclaredV1 { spec: replica_set_spec_v1() },
            Event::SpecChangedV1 { spec: replica_set_spec_v1() },
            Event::Declared { spec: replica_set_spec() },
            Event::SpecChanged { spec: replica_set_spec() },
            Event::Published { endpoints: endpoints() },
            Event::ServersWanted { servers: 3 },
            Event::LookBegun,
            Event::Seen { observation: observation() },
            Event::SeenSame,
            Event::SeenNotBegun,
            Event::LookFailed { until: AT, fault: fault(FaultCode::Unavailable) },
            Event::StepBegun { step, base: Stamp { term: 1, version: 2 }, at: AT },
            Event::StepDone,
            Event::SteppedDown { until: AT },
            Event::StepRefused { until: AT, fault: fault(FaultCode::FailedPrecondition) },
            Event::StepUnknown { until: AT, fault: fault(FaultCode::Unknown) },
            Event::Removed,
        ],
    ));
    let problems = [
        EnableHaError::Negative { asked: -1 },
        EnableHaError::Even { asked: 2 },
        EnableHaError::TooMany { asked: 9, max: 7 },
        EnableHaError::FewerThanVoters { asked: 3, voters: 5 },
    ];
    let mut rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.engine".into() },
        Rejection::Invalid { field: "spec.seats[0]".into(), problem: "no".into() },
        Rejection::TooFewSeats { asked: 3, seats: 1 },
        Rejection::Busy,
        Rejection::PlanOutdated,
        Rejection::AlreadyBegun,
    ];
    rejections.extend(problems.map(|problem| Rejection::Servers { problem }));
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

pub(super) fn facts() -> Forms {
    forms("facts", [StoredFacts::V1 { journal: Uuid::from_u128(7) }])
}
