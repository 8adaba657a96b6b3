//! At least one example of every variant of every stored form.

use bailiwick_actors::{
    contract::{Recorded, Stored, StoredFacts},
    filesystem, filesystem_attachment, machine, policy,
    ports::{
        AttachmentInfo, Backing, BlockDevice, Condition, FilesystemAttachmentInfo, InstanceStatus, MachineInstance,
        ProvisionedFilesystem, ProvisionedVolume,
    },
    supervisor::{Order, machines, storage},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Name, SizeMib, Timestamp},
    volume, volume_attachment,
};
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
    use machine::{Command, Event, Reason, Rejection, Report, Spec, Workload};
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
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.provider".into() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
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
    use policy::{Command, Document, Event, Reason, Rejection, WhenLost};
    // Every setting has another value, so that none can change its place unnoticed.
    let document = Document {
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
    let mut all = vec![form("document".into(), &document), form("document.default".into(), &Document::default())];
    all.extend(forms("command", [Command::Revise(document.clone())]));
    all.extend(forms("event", [Event::Revised { document }]));
    let rejections = vec![
        Rejection::TooSmall { setting: "machines.poll".into(), least: 100 },
        Rejection::Reversed { setting: "machines.retryMax".into(), other: "machines.retryFirst".into() },
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
    use machines::{Change, Command, Event};
    let provider = || name("local");
    let changes = vec![
        Change::Appeared { instance: instance(InstanceStatus::Running) },
        Change::StatusChanged { effect: effect(1), status: InstanceStatus::Stopped },
        Change::Vanished { effect: effect(1), machine: name("web") },
        Change::Forgotten { effect: effect(1) },
    ];
    let mut all = forms(
        "machines.command",
        [
            Command::Observe { provider: provider(), as_of: AT, changes: changes.clone() },
            Command::ReportListFailed { provider: provider(), fault: fault(FaultCode::Unavailable) },
            Command::ReportListRecovered { provider: provider() },
            Command::Look { machines: vec![name("web"), name("db")] },
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
    for (number, reason) in storage::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<storage::Reason, storage::Rejection>::Decided(*reason);
        all.push(form(format!("storage.reason.{number}"), &verdict));
    }
    all
}

pub(super) fn facts() -> Forms {
    forms("facts", [StoredFacts::V1 { journal: Uuid::from_u128(7) }])
}
