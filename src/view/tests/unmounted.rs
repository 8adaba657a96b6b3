//! What is told of a filesystem that nobody has attached any more.

use bailiwick_actors::{
    filesystem,
    ports::{Backing, BlockDevice},
    testing::name,
    vocab::{EffectId, SizeMib},
};

use super::*;

#[test]
fn a_filesystem_whose_attachment_went_between_two_attempts_waits_for_another_and_not_for_a_retry() {
    // given a filesystem on a volume, which could not be made where it was attached
    let (journal, mut desk) = desk();
    desk.declare_machine("keeper");
    desk.declare_volume("disk");
    desk.attach("keeper", "disk");
    desk.settle();
    let spec =
        filesystem::Spec { provider: name("desk"), size: SizeMib(1), backing: Some(name("disk")), machine: None };
    desk.filesystem("files", filesystem::Command::declare(spec));
    desk.filesystem("files", filesystem::Command::ReserveAttachment { machine: name("keeper") });
    let device = BlockDevice { name: "loop0".into(), size: SizeMib(64), hardware_id: None };
    let backing = Backing { volume: name("disk"), volume_effect: EffectId(Uuid::nil()), device };
    let base = filesystem::Base { backing: Some(backing), over: [].into() };
    desk.filesystem("files", filesystem::Command::Own(filesystem::OwnCommand::Create(base)));
    let fault = Fault::new(FaultCode::FailedPrecondition, "the device holds data");
    desk.filesystem("files", filesystem::Command::Report(filesystem::Report::CreateFailed { attempt: 1, fault }));
    let missing = || {
        let fleet = Fleet::at_head(&*journal).unwrap();
        why_not(&fleet, &stream("filesystem/files"), "ready").expect("it can be asked").unmet.expect("it is not there")
    };
    assert!(missing().because.contains("the device holds data"), "{:?}", missing());
    // when the attachment goes
    desk.filesystem("files", filesystem::Command::ReleaseAttachment { machine: name("keeper") });
    // then an attachment helps, and no retry
    let (because, by) = (missing().because, missing().satisfied_by);
    assert_eq!(
        (because.as_str(), by.as_str()),
        ("it is attached to no machine", "`bailiwick attach filesystem/files keeper`")
    );
}
