//! What the earlier forms of volumes, filesystems and orders to them are read as. They are not written any more; their bytes
//! are those of the release that wrote them.

use std::{collections::BTreeMap, path::Path};

use bailiwick_actors::{
    attachment,
    contract::{Recorded, Stored},
    filesystem, filesystem_attachment,
    storage::{Reason, Rejection},
    supervisor::{Order, storage},
    testing::stored_forms::{Earlier, check_earlier, earlier},
    vocab::{FaultCode, Life, SkippedStorage, unhex},
    volume::{self, Where},
    volume_attachment,
};
use bailiwick_journal::Body;

use super::{
    AT, effect, fault, name,
    storage::{
        claimed_by, filesystem_claim, filesystem_declarations, filesystem_made, filesystem_spec, from_pool, owner,
        place, volume_claim, volume_commands, volume_declarations, volume_events, volume_made, volume_reports,
        volume_spec,
    },
};

fn golden() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}

fn volume_asked() -> Vec<(&'static str, volume::Command)> {
    use volume::{Command, Report};
    let [declared, on, imported, from, owned] = volume_declarations().map(Command::from);
    let [create, create_in, reserve, release, remove_with, returned, _] = volume_commands().map(Command::Own);
    let [made, lost, found, ..] = volume_reports().map(|report| Command::Report(Report::Own(report)));
    let machine = || name("web");
    vec![
        ("command.0.1", declared),
        ("command.1.1", Command::Remove),
        ("command.2.1", Command::RetryProvisioning),
        ("command.3.1", Command::ReserveAttachment { machine: machine() }),
        ("command.4.1", Command::ReleaseAttachment { machine: machine() }),
        ("command.5.1", Command::Wake { due: AT }),
        ("command.6.1", Command::Report(Report::Created { attempt: 1, made: volume_made() })),
        (
            "command.6.2",
            Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::ResourceExhausted) }),
        ),
        ("command.6.3", Command::Report(Report::Destroyed { attempt: 3 })),
        (
            "command.6.4",
            Command::Report(Report::DestroyFailed { attempt: 4, fault: fault(FaultCode::FailedPrecondition) }),
        ),
        ("command.6.5", made),
        ("command.6.6", lost),
        ("command.6.7", found),
        ("command.7.1", on),
        ("command.8.1", create),
        ("command.9.1", Command::Release),
        ("command.10.1", reserve),
        ("command.11.1", release),
        ("command.12.1", remove_with),
        ("command.13.1", imported),
        ("command.14.1", Command::RemoveForced),
        ("command.15.1", from),
        ("command.16.1", owned),
        ("command.17.1", create_in),
        ("command.18.1", returned),
        ("command.19.1", Command::Destroy),
        ("command.20.1", Command::Protect { on: true }),
        ("command.21.1", Command::Claim(Box::new(volume_claim()))),
        ("command.22.1", Command::Keep),
    ]
}

fn volume_happened() -> Vec<(&'static str, volume::Event)> {
    use volume::Event;
    let [wanted_on, described, attached, reserved, released, imported, lost, found, sited, returned, ..] =
        volume_events().map(Event::Own);
    let machine = || name("web");
    let skipped = |what| Event::Skipped { what };
    vec![
        ("event.0.1", Event::Declared { spec: volume_spec() }),
        ("event.1.1", Event::CreateRequested { base: Where::Anywhere, at: AT }),
        ("event.2.1", Event::Created { made: volume_made() }),
        ("event.3.1", Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::DataLoss) }),
        ("event.4.1", Event::CreateGivenUp { fault: fault(FaultCode::OutOfRange), again: None }),
        ("event.5.1", Event::DestroyRequested { at: AT }),
        ("event.6.1", Event::Destroyed),
        ("event.7.1", Event::DestroyRetryScheduled { until: AT, fault: fault(FaultCode::Unknown) }),
        ("event.8.1", Event::DestroyGivenUp { fault: fault(FaultCode::PermissionDenied) }),
        ("event.9.1", Event::AttemptBegun),
        ("event.10.1", Event::AttachmentReserved { machine: machine() }),
        ("event.11.1", Event::AttachmentReleased { machine: machine() }),
        ("event.12.1", Event::RemovalBegan),
        ("event.13.1", Event::Died),
        ("event.14.1", Event::Removed),
        ("event.15.1", wanted_on),
        ("event.16.1", Event::CreateRequested { base: Where::At(place()), at: AT }),
        ("event.17.1", described),
        ("event.18.1", attached),
        ("event.19.1", Event::ReleaseWanted),
        ("event.20.1", reserved),
        ("event.21.1", released),
        ("event.22.1", Event::CreateDropped),
        ("event.23.1", imported),
        ("event.24.1", skipped(SkippedStorage::Attachment { machine: machine() })),
        ("event.24.2", skipped(SkippedStorage::Filesystem { filesystem: name("files") })),
        ("event.24.3", skipped(SkippedStorage::Undoing { effect: effect(1) })),
        ("event.25.1", lost),
        ("event.26.1", found),
        ("event.27.1", Event::TakenFrom { pool: from_pool() }),
        ("event.28.1", Event::OwnedBy { owner: owner() }),
        ("event.29.1", sited),
        ("event.30.1", Event::Overdue { at: AT }),
        ("event.31.1", returned),
        ("event.32.1", Event::DestroyWanted),
        ("event.33.1", Event::Claimed { by: claimed_by() }),
        ("event.34.1", Event::Kept),
        ("event.35.1", Event::Protected { on: true }),
    ]
}

fn filesystem_asked() -> Vec<(&'static str, filesystem::Command)> {
    use filesystem::{Command, OwnCommand, Report};
    let [declared, from, owned] = filesystem_declarations().map(Command::from);
    let machine = || name("web");
    vec![
        ("command.0.1", declared),
        ("command.1.1", Command::Remove),
        ("command.2.1", Command::Release),
        ("command.3.1", Command::RetryProvisioning),
        ("command.4.1", Command::ReserveAttachment { machine: machine() }),
        ("command.5.1", Command::ReleaseAttachment { machine: machine() }),
        ("command.6.1", Command::Own(OwnCommand::Create(super::storage::base()))),
        ("command.7.1", Command::Wake { due: AT }),
        ("command.8.1", Command::Report(Report::Created { attempt: 1, made: filesystem_made() })),
        (
            "command.8.2",
            Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::FailedPrecondition) }),
        ),
        ("command.8.3", Command::Report(Report::Destroyed { attempt: 3 })),
        ("command.8.4", Command::Report(Report::DestroyFailed { attempt: 4, fault: fault(FaultCode::Internal) })),
        ("command.9.1", Command::RemoveForced),
        ("command.10.1", from),
        ("command.11.1", owned),
        ("command.12.1", Command::Destroy),
        ("command.13.1", Command::Protect { on: true }),
        ("command.14.1", Command::Claim(Box::new(filesystem_claim()))),
        ("command.15.1", Command::Keep),
    ]
}

fn filesystem_happened() -> Vec<(&'static str, filesystem::Event)> {
    use filesystem::{Event, OwnEvent};
    let machine = || name("web");
    vec![
        ("event.0.1", Event::Declared { spec: filesystem_spec() }),
        ("event.1.1", Event::CreateRequested { base: super::storage::base(), at: AT }),
        ("event.2.1", Event::Own(OwnEvent::BackingChanged { backing: None })),
        ("event.3.1", Event::Created { made: filesystem_made() }),
        ("event.4.1", Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::DataLoss) }),
        ("event.5.1", Event::CreateGivenUp { fault: fault(FaultCode::OutOfRange), again: None }),
        ("event.6.1", Event::CreateDropped),
        ("event.7.1", Event::DestroyRequested { at: AT }),
        ("event.8.1", Event::Destroyed),
        ("event.9.1", Event::DestroyRetryScheduled { until: AT, fault: fault(FaultCode::Unknown) }),
        ("event.10.1", Event::DestroyGivenUp { fault: fault(FaultCode::PermissionDenied) }),
        ("event.11.1", Event::AttemptBegun),
        ("event.12.1", Event::AttachmentReserved { machine: machine() }),
        ("event.13.1", Event::AttachmentReleased { machine: machine() }),
        ("event.14.1", Event::ReleaseWanted),
        ("event.15.1", Event::RemovalBegan),
        ("event.16.1", Event::Died),
        ("event.17.1", Event::Removed),
        ("event.18.1", Event::Skipped { what: SkippedStorage::Undoing { effect: effect(1) } }),
        ("event.19.1", Event::TakenFrom { pool: from_pool() }),
        ("event.20.1", Event::OwnedBy { owner: owner() }),
        ("event.21.1", Event::Overdue { at: AT }),
        ("event.22.1", Event::DestroyWanted),
        ("event.23.1", Event::Claimed { by: claimed_by() }),
        ("event.24.1", Event::Kept),
        ("event.25.1", Event::Protected { on: true }),
    ]
}

/// In the order of their numbers then.
fn filesystem_verdicts() -> Vec<Earlier> {
    use Reason as R;
    let reasons = [
        R::NewlyDeclared,
        R::AlreadyAsDeclared,
        R::NeedsMet,
        R::DeviceMoved,
        R::AlreadyBegun,
        R::StorageMade,
        R::WorthRetrying,
        R::OutcomeUnknown,
        R::RetriesExhausted,
        R::NotRetryable,
        R::RetryDue,
        R::NotDueYet,
        R::NothingWaits,
        R::OperatorRetries,
        R::NothingToRetry,
        R::StaleReport,
        R::StorageAbsent,
        R::RemovalAsked,
        R::ReleaseAsked,
        R::RemovalBlocked,
        R::StorageLeft,
        R::AlreadyGoing,
        R::AlreadyGone,
        R::AttachmentWanted,
        R::AttachmentGone,
        R::LastAttachmentGone,
        R::AttachmentUnknown,
        R::RemovalForced,
        R::CannotRelease,
        R::Overdue,
        R::DestroyInstead,
        R::ReleaseInstead,
        R::MachineAsks,
        R::MachineGoes,
        R::NotClaimed,
        R::ProtectionAsked,
        R::ProtectionKnown,
        R::GoesWithVolume,
    ];
    let rejections = [
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dead },
        Rejection::Immutable { field: "spec.size".into() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
        Rejection::BeingReleased,
        Rejection::BeingDestroyed,
        Rejection::NotOfMachine { machine: name("web") },
        Rejection::Protected,
    ];
    type Verdict = Recorded<filesystem::State>;
    let decided = reasons.into_iter().map(Verdict::Decided).enumerate();
    let decided = decided.map(|(number, verdict)| earlier(&format!("reason.{number}"), verdict));
    let refused = rejections.into_iter().map(Verdict::Refused).enumerate();
    decided.chain(refused.map(|(number, verdict)| earlier(&format!("rejection.{number}"), verdict))).collect()
}

fn values<T: Stored>(values: Vec<(&'static str, T)>) -> impl Iterator<Item = Earlier> {
    values.into_iter().map(|(name, value)| earlier(name, value))
}

#[test]
fn earlier_forms_of_volumes_are_read_as_what_was_written() {
    let all: Vec<Earlier> = values(volume_asked()).chain(values(volume_happened())).collect();
    check_earlier(golden(), "volume", &all);
}

#[test]
fn earlier_forms_of_filesystems_are_read_as_what_was_written() {
    let asked = values(filesystem_asked()).chain(values(filesystem_happened()));
    check_earlier(golden(), "filesystem", &asked.chain(filesystem_verdicts()).collect::<Vec<_>>());
}

/// The commands of a kind as they were stored, by name.
fn written(kind: &str) -> BTreeMap<String, Vec<u8>> {
    let text = std::fs::read_to_string(golden().join(format!("{kind}.earlier.hex"))).expect("golden forms");
    let command = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next().filter(|name| name.starts_with("command"))?;
        Some((name.to_owned(), unhex(words.nth(1)?)?))
    };
    text.lines().filter_map(command).collect()
}

/// An order as the storage supervisor stored it: event, order, the target's name, the command, and no cites.
fn ordered(order: u32, target: &str, command: &[u8]) -> Vec<u8> {
    let mut bytes = [0_u32.to_le_bytes(), order.to_le_bytes()].concat();
    bytes.extend((target.len() as u64).to_le_bytes());
    bytes.extend(target.bytes());
    bytes.extend(command);
    bytes.extend(0_u64.to_le_bytes());
    bytes
}

#[test]
fn orders_with_commands_of_earlier_forms_are_read_as_what_was_written() {
    let read = |schema, bytes| storage::Event::load(&Body { schema, bytes }).expect("readable");
    let is = |order, bytes: Vec<u8>| {
        let issued = storage::Event::Issued { order, cites: Vec::new() };
        assert_eq!((read(1, bytes.clone()), read(2, bytes)), (issued.clone(), issued));
    };
    let (volumes, filesystems) = (written("volume"), written("filesystem"));
    // No supervisor has ever declared anything that no machine of a set asked for.
    for (form, command) in volume_asked() {
        if !matches!(command, volume::Command::Declare(_)) {
            is(Order::Volume { volume: name("data"), command }, ordered(1, "data", &volumes[form]));
        }
    }
    for (form, command) in filesystem_asked() {
        if !matches!(command, filesystem::Command::Declare(_)) {
            is(Order::Filesystem { filesystem: name("files"), command }, ordered(4, "files", &filesystems[form]));
        }
    }
}

#[test]
fn a_reason_that_mounts_and_volumes_had_under_one_number_is_read_as_that_of_each() {
    let body = Body { schema: 1, bytes: [0_u32.to_le_bytes(), 23_u32.to_le_bytes()].concat() };
    let of_mount = Recorded::<filesystem_attachment::State>::load(&body).expect("readable");
    assert_eq!(of_mount, Recorded::Decided(attachment::Reason::TargetMoved));
    let of_volume = Recorded::<volume_attachment::State>::load(&body).expect("readable");
    assert_eq!(of_volume, Recorded::Decided(attachment::Reason::AttachedAtCreation));
}
