//! Stored forms of volumes, filesystems, and what hangs on machines.

use bailiwick_actors::{
    attachment::Attached,
    filesystem,
    filesystem_attachment::{self, Filesystems},
    ports::{AttachmentInfo, Backing, BlockDevice, FilesystemAttachmentInfo, ProvisionedFilesystem, ProvisionedVolume},
    storage_rules::{ClaimForm, ClaimedBy, FromPool, StorageClaim},
    vocab::{FaultCode, InstanceId, Life, SizeMib, SkippedStorage, Zone},
    volume::{self, Leftovers},
    volume_attachment::{self, Volumes},
};
use bailiwick_journal::{Cite, StreamId, Version};

use super::{AT, effect, fault, name, verdicts};
use crate::{Forms, forms};

fn from_pool() -> FromPool {
    let attributes = [("volume-type".to_owned(), "ssd".to_owned())].into();
    FromPool { name: "fast".parse().expect("a pool's name"), attributes }
}

fn claimed_by() -> ClaimedBy {
    ClaimedBy { machine: name("web-1"), is_persistent: true }
}

/// One of each form.
pub(super) fn claims() -> Vec<StorageClaim> {
    let path = || Some("/srv/files".to_owned());
    let claim = |name: &str, form| StorageClaim {
        name: name.parse().expect("a name"),
        count: 2,
        size: SizeMib(64),
        provider: super::name("ebs"),
        pool: from_pool(),
        form,
        read_only: true,
        is_persistent: true,
    };
    let (own, on_volume) =
        (ClaimForm::Filesystem { path: path(), is_inside: true }, ClaimForm::OnVolume { path: None, is_inside: true });
    vec![claim("data", ClaimForm::Volume), claim("files", own), claim("more", on_volume)]
}

fn leaves() -> Leftovers {
    Leftovers { of: [Cite::new("filesystem/files".parse().expect("a stream"), Version(2))].into(), instead: true }
}

fn owner() -> StreamId {
    "machine/web".parse().expect("a stream")
}

pub(crate) fn volume() -> Forms {
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
            Command::ReleaseFilesystem { filesystem: filesystem(), leaves: leaves() },
            Command::RemoveWithFilesystem,
            Command::Import { spec: spec.clone(), volume_id: InstanceId("old.img".into()), machine: Some(machine()) },
            Command::RemoveForced,
            Command::DeclareFrom { spec: spec.clone(), machine: Some(machine()), pool: from_pool() },
            Command::DeclareFor {
                spec: spec.clone(),
                machine: Some(machine()),
                pool: Some(from_pool()),
                owner: owner(),
            },
            Command::CreateIn { place: place(), zone: Zone("a".into()) },
            Command::DestroyReturned { provider: name("local"), of: Version(2) },
            Command::Destroy,
            Command::Claim(Box::new(volume::Claim {
                spec: spec.clone(),
                pool: from_pool(),
                by: claimed_by(),
                owner: Some(owner()),
                filesystem: Some(filesystem()),
            })),
            Command::Keep,
            Command::Protect { on: true },
            Command::Report(Report::Lost { effect: effect(2) }),
            Command::Report(Report::Found { effect: effect(2) }),
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { spec },
            Event::CreateRequested { at: AT },
            Event::Created { volume: made },
            Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::DataLoss) },
            Event::CreateGivenUp { fault: fault(FaultCode::OutOfRange), again: None },
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
            Event::FilesystemReleased { filesystem: filesystem(), leaves: leaves() },
            Event::CreateDropped,
            Event::ImportWanted { volume_id: InstanceId("old.img".into()) },
            Event::Skipped { what: SkippedStorage::Attachment { machine: machine() } },
            Event::Skipped { what: SkippedStorage::Filesystem { filesystem: filesystem() } },
            Event::Skipped { what: SkippedStorage::Undoing { effect: effect(1) } },
            Event::Lost { at: AT },
            Event::Found,
            Event::TakenFrom { pool: from_pool() },
            Event::OwnedBy { owner: owner() },
            Event::SitedIn { zone: Zone("a".into()) },
            Event::Overdue { at: AT },
            Event::Returned { provider: name("local"), of: Version(2), at: AT },
            Event::DestroyWanted,
            Event::Claimed { by: claimed_by() },
            Event::Kept,
            Event::Protected { on: true },
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
        Rejection::BeingReleased,
        Rejection::BeingDestroyed,
        Rejection::NotOfMachine { machine: machine() },
        Rejection::Protected,
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

pub(super) fn target() -> volume_attachment::Target {
    volume_attachment::Target {
        provider: name("local"),
        machine_effect: effect(1),
        instance: InstanceId("i-1".into()),
        volume_effect: effect(2),
        volume_id: InstanceId("v-1".into()),
    }
}

pub(crate) fn volume_attachment() -> Forms {
    let spec = volume_attachment::Spec { machine: name("web"), volume: name("data"), read_only: true };
    let info = AttachmentInfo { path: "/vol/data".into(), read_only: true };
    attachment::<Volumes>(&spec, &target(), &info)
}

/// What attachments of both kinds store.
fn attachment<A: Attached>(spec: &A::Spec, target: &A::Target, info: &A::Info) -> Forms {
    use bailiwick_actors::attachment::{Command, Event, Reason, Rejection, Report};
    let mut all = forms(
        "command",
        [
            Command::<A>::Declare(spec.clone()),
            Command::Remove,
            Command::Retry,
            Command::Attach { target: Box::new(target.clone()) },
            Command::Detach { machine_effect: effect(1) },
            Command::Wake { due: AT },
            Command::Report(Report::Attached { attempt: 1, info: info.clone() }),
            Command::Report(Report::AttachFailed { attempt: 2, fault: fault(FaultCode::Canceled) }),
            Command::Report(Report::Detached { attempt: 3 }),
            Command::Report(Report::DetachFailed { attempt: 4, fault: fault(FaultCode::DeadlineExceeded) }),
            Command::TakeOver { target: Box::new(target.clone()), info: info.clone() },
            Command::Reattach,
            Command::RemoveForced,
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::<A>::Declared { spec: spec.clone() },
            Event::AttachRequested { target: target.clone(), at: AT },
            Event::Attached { info: info.clone() },
            Event::AttachRetryScheduled { until: AT, fault: fault(FaultCode::AlreadyExists) },
            Event::AttachGivenUp { fault: fault(FaultCode::Unauthenticated), again: None },
            Event::DetachRequested { at: AT },
            Event::Detached,
            Event::DetachRetryScheduled { until: AT, fault: fault(FaultCode::Uninitialized) },
            Event::DetachGivenUp { fault: fault(FaultCode::Internal) },
            Event::AttemptBegun,
            Event::RemovalBegan,
            Event::Removed,
            Event::TakenOver { target: target.clone(), info: info.clone() },
            Event::ReattachRequested { at: AT },
            Event::AttachDropped,
            Event::Skipped { what: SkippedStorage::Undoing { effect: effect(1) } },
            Event::Overdue { at: AT },
            Event::Retargeted { target: target.clone() },
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

pub(super) fn backing() -> Backing {
    let device = BlockDevice { name: "sdb".into(), size: SizeMib(65), hardware_id: Some("serial-1".into()) };
    Backing { volume: name("data"), volume_effect: effect(2), device }
}

pub(crate) fn filesystem() -> Forms {
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
            Command::Create { backing: Some(backing()), over: leaves().of },
            Command::Wake { due: AT },
            Command::Report(Report::Created { attempt: 1, filesystem: made.clone() }),
            Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::FailedPrecondition) }),
            Command::Report(Report::Destroyed { attempt: 3 }),
            Command::Report(Report::DestroyFailed { attempt: 4, fault: fault(FaultCode::Internal) }),
            Command::RemoveForced,
            Command::DeclareFrom { spec: spec.clone(), pool: from_pool() },
            Command::DeclareFor { spec: spec.clone(), pool: Some(from_pool()), owner: owner() },
            Command::Destroy,
            Command::Claim(Box::new(filesystem::Claim {
                spec: spec.clone(),
                pool: Some(from_pool()),
                by: claimed_by(),
                owner: Some(owner()),
            })),
            Command::Keep,
            Command::Protect { on: true },
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { spec },
            Event::CreateRequested { backing: Some(backing()), over: leaves().of, at: AT },
            Event::BackingChanged { backing: None },
            Event::Created { filesystem: made },
            Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::DataLoss) },
            Event::CreateGivenUp { fault: fault(FaultCode::OutOfRange), again: None },
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
            Event::TakenFrom { pool: from_pool() },
            Event::OwnedBy { owner: owner() },
            Event::Overdue { at: AT },
            Event::DestroyWanted,
            Event::Claimed { by: claimed_by() },
            Event::Kept,
            Event::Protected { on: true },
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dead },
        Rejection::Immutable { field: "spec.size".into() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
        Rejection::BeingReleased,
        Rejection::BeingDestroyed,
        Rejection::NotOfMachine { machine: machine() },
        Rejection::Protected,
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts(Reason::ALL, rejections));
    all
}

pub(super) fn mount_target() -> filesystem_attachment::Target {
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

pub(crate) fn filesystem_attachment() -> Forms {
    let path = Some("/srv/files".to_owned());
    let spec = filesystem_attachment::Spec { machine: name("web"), filesystem: name("files"), path, read_only: true };
    let info = FilesystemAttachmentInfo { mount_point: "/srv/files".into(), read_only: true };
    attachment::<Filesystems>(&spec, &mount_target(), &info)
}
