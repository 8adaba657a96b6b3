//! Stored forms of volumes, filesystems, and what hangs on machines.

use bailiwick_actors::{
    attachment::{self, Attached},
    filesystem::{self, Base, Filesystem},
    filesystem_attachment::{self, Filesystems},
    ports::{AttachmentInfo, Backing, BlockDevice, FilesystemAttachmentInfo, ProvisionedFilesystem, ProvisionedVolume},
    storage::{Declaration, Provisioned},
    storage_rules::{ClaimForm, ClaimedBy, FromPool, StorageClaim},
    vocab::{FaultCode, InstanceId, Life, SizeMib, SkippedStorage, Zone},
    volume::{self, AtCreation, Leftovers, Place, Volume, VolumeFacts, Where},
    volume_attachment::{self, Volumes},
};
use bailiwick_journal::{Cite, StreamId, Version};

use bailiwick_actors::testing::stored_forms::whole;

use super::{AT, effect, fault, name, verdicts};
use crate::{Forms, forms};

pub(super) fn from_pool() -> FromPool {
    let attributes = [("volume-type".to_owned(), "ssd".to_owned())].into();
    FromPool { name: "fast".parse().expect("a pool's name"), attributes }
}

pub(super) fn claimed_by() -> ClaimedBy {
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

pub(super) fn leaves() -> Leftovers {
    Leftovers { of: [Cite::new("filesystem/files".parse().expect("a stream"), Version(2))].into(), instead: true }
}

pub(super) fn owner() -> StreamId {
    "machine/web".parse().expect("a stream")
}

/// What is stored of volumes and of filesystems, with what is of one kind only behind it.
struct Stored<K: Provisioned> {
    declarations: Vec<Declaration<K>>,
    claim: K::Claim,
    bases: Vec<K::Base>,
    made: K::Made,
    commands: Vec<K::OwnCommand>,
    reports: Vec<K::OwnReport>,
    events: Vec<K::OwnEvent>,
    skipped: Vec<SkippedStorage>,
}

fn storage<K: Provisioned>(stored: Stored<K>) -> Forms {
    use bailiwick_actors::storage::{Command, Event, Reason, Rejection, Report, State};
    let Stored { declarations, claim, bases, made, commands, reports, events, skipped } = stored;
    let machine = || name("web");
    let spec = declarations.first().expect("one").spec.clone();
    let mut asked: Vec<Command<K>> = declarations.into_iter().map(Command::from).collect();
    asked.extend([
        Command::Remove,
        Command::RetryProvisioning,
        Command::ReserveAttachment { machine: machine() },
        Command::ReleaseAttachment { machine: machine() },
        Command::Wake { due: AT },
        Command::Report(Report::Created { attempt: 1, made: made.clone() }),
        Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::ResourceExhausted) }),
        Command::Report(Report::Destroyed { attempt: 3 }),
        Command::Report(Report::DestroyFailed { attempt: 4, fault: fault(FaultCode::FailedPrecondition) }),
        Command::Release,
        Command::RemoveForced,
        Command::Destroy,
        Command::Protect { on: true },
        Command::Claim(Box::new(claim)),
        Command::Keep,
    ]);
    asked.extend(reports.into_iter().map(|report| Command::Report(Report::Own(report))));
    asked.extend(commands.into_iter().map(Command::Own));
    let mut all = forms("command", asked);

    let mut happened = vec![Event::<K>::Declared { spec }];
    happened.extend(bases.into_iter().map(|base| Event::CreateRequested { base, at: AT }));
    happened.extend([
        Event::Created { made },
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
        Event::ReleaseWanted,
        Event::CreateDropped,
    ]);
    happened.extend(skipped.into_iter().map(|what| Event::Skipped { what }));
    happened.extend([
        Event::TakenFrom { pool: from_pool() },
        Event::OwnedBy { owner: owner() },
        Event::Overdue { at: AT },
        Event::DestroyWanted,
        Event::Claimed { by: claimed_by() },
        Event::Kept,
        Event::Protected { on: true },
    ]);
    happened.extend(events.into_iter().map(Event::Own));
    all.extend(forms("event", happened));

    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dead },
        Rejection::Immutable { field: "spec.size".into() },
        Rejection::AttachedElsewhere { machine: machine() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
        Rejection::HoldsFilesystem { filesystem: name("files") },
        Rejection::BeingReleased,
        Rejection::BeingDestroyed,
        Rejection::NotOfMachine { machine: machine() },
        Rejection::Protected,
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<State<K>>(Reason::ALL, rejections));
    all
}

pub(super) fn volume_spec() -> volume::Spec {
    volume::Spec { provider: name("local"), size: SizeMib(64) }
}

pub(super) fn volume_made() -> ProvisionedVolume {
    ProvisionedVolume { effect: effect(2), volume_id: InstanceId("v-1".into()), size: SizeMib(65) }
}

pub(super) fn volume_claim() -> volume::Claim {
    let (spec, pool, by) = (volume_spec(), from_pool(), claimed_by());
    volume::Claim { spec, pool, by, owner: Some(owner()), filesystem: Some(name("files")) }
}

pub(super) fn place() -> Place {
    Place { machine: name("web"), machine_effect: effect(1), instance: InstanceId("i-1".into()) }
}

fn facts() -> VolumeFacts {
    VolumeFacts { hardware_id: Some("serial-1".into()), persistent: true }
}

fn at_creation() -> AtCreation {
    AtCreation { machine: name("web"), info: AttachmentInfo { path: "/dev/sda1".into(), read_only: true } }
}

/// Declared in each way that there was a command for: as it is, on a machine, imported, from a pool, for something else.
pub(super) fn volume_declarations() -> [volume::Declaration; 5] {
    let of = || volume::Declaration::of(volume_spec());
    let on = |import: Option<&str>| volume::Wanted {
        machine: Some(name("web")),
        import: import.map(|id| InstanceId(id.into())),
    };
    [
        of(),
        volume::Declaration { wanted: on(None), ..of() },
        volume::Declaration { wanted: on(Some("old.img")), ..of() },
        volume::Declaration { wanted: on(None), pool: Some(from_pool()), ..of() },
        volume::Declaration { wanted: on(None), pool: Some(from_pool()), owner: Some(owner()), ..of() },
    ]
}

fn tags() -> volume::Tags {
    [("team".to_owned(), "storage".to_owned())].into()
}

pub(super) fn volume_reports() -> [volume::OwnReport; 6] {
    use volume::OwnReport;
    [
        OwnReport::Made { attempt: 5, volume: volume_made(), facts: facts(), attached: Some(at_creation()) },
        OwnReport::Lost { effect: effect(2) },
        OwnReport::Found { effect: effect(2) },
        OwnReport::CameWith {
            place: place(),
            zone: Some(Zone("a".into())),
            volume_id: InstanceId("v-1".into()),
            size: SizeMib(64),
            facts: facts(),
        },
        OwnReport::WentWith { machine_effect: effect(2) },
        OwnReport::InstanceReplaced { machine_effect: effect(2) },
    ]
}

pub(super) fn volume_commands() -> [volume::OwnCommand; 7] {
    use volume::OwnCommand;
    [
        OwnCommand::Create { place: place() },
        OwnCommand::CreateIn { place: place(), zone: Zone("a".into()) },
        OwnCommand::ReserveFilesystem { filesystem: name("files") },
        OwnCommand::ReleaseFilesystem { filesystem: name("files"), leaves: leaves() },
        OwnCommand::RemoveWithFilesystem,
        OwnCommand::DestroyReturned { provider: name("local"), of: Version(2) },
        OwnCommand::DeclareTagged { declaration: Box::new(volume::Declaration::of(volume_spec())), tags: tags() },
    ]
}

pub(super) fn volume_events() -> [volume::OwnEvent; 13] {
    use volume::OwnEvent;
    [
        OwnEvent::WantedOn { machine: name("web") },
        OwnEvent::Described { facts: facts() },
        OwnEvent::AttachedAtCreation { at_creation: at_creation() },
        OwnEvent::FilesystemReserved { filesystem: name("files") },
        OwnEvent::FilesystemReleased { filesystem: name("files"), leaves: leaves() },
        OwnEvent::ImportWanted { volume_id: InstanceId("old.img".into()) },
        OwnEvent::Lost { at: AT },
        OwnEvent::Found,
        OwnEvent::SitedIn { zone: Zone("a".into()) },
        OwnEvent::Returned { provider: name("local"), of: Version(2), at: AT },
        OwnEvent::CameWith { place: place(), made: volume_made() },
        OwnEvent::Tagged { tags: tags() },
        OwnEvent::WentToComeAgain,
    ]
}

pub(crate) fn volume() -> Forms {
    whole("command.own", volume_commands());
    whole("report.own", volume_reports());
    whole("event.own", volume_events());
    storage::<Volume>(Stored {
        declarations: volume_declarations().into(),
        claim: volume_claim(),
        bases: vec![Where::Anywhere, Where::At(place())],
        made: volume_made(),
        commands: volume_commands().into(),
        reports: volume_reports().into(),
        events: volume_events().into(),
        skipped: vec![
            SkippedStorage::Attachment { machine: name("web") },
            SkippedStorage::Filesystem { filesystem: name("files") },
            SkippedStorage::Undoing { effect: effect(1) },
        ],
    })
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
            Command::NoteGone { machine_effect: effect(2) },
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
            Event::WentWithInstance,
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.readOnly".into() },
        Rejection::UnknownAttempt { attempt: 2 },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<attachment::State<A>>(Reason::ALL, rejections));
    all
}

pub(super) fn backing() -> Backing {
    let device = BlockDevice { name: "sdb".into(), size: SizeMib(65), hardware_id: Some("serial-1".into()) };
    Backing { volume: name("data"), volume_effect: effect(2), device }
}

pub(super) fn filesystem_spec() -> filesystem::Spec {
    filesystem::Spec {
        provider: name("loop"),
        size: SizeMib(64),
        backing: Some(name("data")),
        machine: Some(name("web")),
    }
}

pub(super) fn filesystem_made() -> ProvisionedFilesystem {
    ProvisionedFilesystem { effect: effect(3), filesystem_id: InstanceId("fs-1".into()), size: SizeMib(65) }
}

pub(super) fn filesystem_claim() -> filesystem::Claim {
    let (spec, pool) = (filesystem_spec(), Some(from_pool()));
    filesystem::Claim { spec, pool, by: claimed_by(), owner: Some(owner()) }
}

pub(super) fn base() -> Base {
    Base { backing: Some(backing()), over: leaves().of }
}

/// Declared in each way that there was a command for: as it is, from a pool, for something else.
pub(super) fn filesystem_declarations() -> [filesystem::Declaration; 3] {
    let of = || filesystem::Declaration::of(filesystem_spec());
    [
        of(),
        filesystem::Declaration { pool: Some(from_pool()), ..of() },
        filesystem::Declaration { pool: Some(from_pool()), owner: Some(owner()), ..of() },
    ]
}

pub(crate) fn filesystem() -> Forms {
    let (commands, events) =
        ([filesystem::OwnCommand::Create(base())], [filesystem::OwnEvent::BackingChanged { backing: None }]);
    whole("command.own", commands.clone());
    whole("event.own", events.clone());
    storage::<Filesystem>(Stored {
        declarations: filesystem_declarations().into(),
        claim: filesystem_claim(),
        bases: vec![base()],
        made: filesystem_made(),
        commands: commands.into(),
        reports: Vec::new(),
        events: events.into(),
        skipped: vec![SkippedStorage::Undoing { effect: effect(1) }],
    })
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
