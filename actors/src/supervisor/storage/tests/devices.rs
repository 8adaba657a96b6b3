//! Block devices, and what is inside of machines.

use super::{
    super::{Sighted, changes},
    *,
};

fn seen_as(device: &str, volume: Option<EffectId>, serial: Option<&str>) -> Sighted {
    let hardware_id = serial.map(str::to_owned);
    Sighted { device: BlockDevice { name: device.into(), size: SizeMib(64), hardware_id }, volume }
}

fn backing_of(device: &str) -> Backing {
    let device = BlockDevice { name: device.into(), size: SizeMib(64), hardware_id: None };
    Backing { volume: name("data"), volume_effect: effect("volume/data", 2), device }
}

fn seen(device: &str) -> DeviceChange {
    DeviceChange::Seen { machine: name("web"), backing: backing_of(device) }
}

fn gone() -> DeviceChange {
    DeviceChange::Gone { machine: name("web"), volume: name("data") }
}

fn observed(changes: Vec<DeviceChange>) -> Vec<Body> {
    stored([Event::Observed { changes }])
}

fn changes_of(seen: &Seen, devices: &[Sighted]) -> Vec<DeviceChange> {
    changes(&seen.view, &name("web"), effect("machine/web", 2), devices)
}

#[test]
fn a_device_is_known_by_what_it_certainly_is() {
    let own = Some(effect("volume/data", 2));
    assert_eq!(changes_of(&attached(), &[seen_as("loop3", own, None)]), [seen("loop3")]);
    assert_eq!(changes_of(&attached(), &[seen_as("loop3", None, None)]), []);
    assert_eq!(changes_of(&attached(), &[seen_as("loop3", Some(effect("volume/other", 2)), None)]), []);
    // By serial number only where the volume has one.
    assert_eq!(changes_of(&attached(), &[seen_as("vdb", None, Some("serial-1"))]), []);
}

#[test]
fn only_what_is_news_is_said_and_what_is_not_seen_any_more_is_gone() {
    let own = Some(effect("volume/data", 2));
    let before = attached().then("supervisor/storage", observed(vec![seen("loop3")]));
    assert_eq!(changes_of(&before, &[seen_as("loop3", own, None)]), []);
    assert_eq!(changes_of(&before, &[seen_as("loop4", own, None)]), [seen("loop4")]);
    assert_eq!(changes_of(&before, &[]), [gone()]);
    let twice = [seen_as("loop3", own, None), seen_as("loop4", own, None)];
    assert_eq!(changes_of(&before, &twice), [gone()], "two that fit are none");
}

#[test]
fn a_volume_that_is_not_attached_there_is_seen_as_nothing() {
    let own = Some(effect("volume/data", 2));
    let declared = declared().then("machine/web", machine_runs()).then("volume/data", volume_made());
    assert_eq!(changes_of(&declared, &[seen_as("loop3", own, None)]), []);
    let released = attached()
        .then("supervisor/storage", observed(vec![seen("loop3")]))
        .then("machine/web", stored([machine::Event::AttachmentReleased { volume: name("data") }]));
    assert_eq!(changes_of(&released, &[seen_as("loop3", own, None)]), [gone()]);
}

#[test]
fn another_instance_says_nothing() {
    let own = Some(effect("volume/data", 2));
    let said = changes(&attached().view, &name("web"), effect("machine/web", 9), &[seen_as("loop3", own, None)]);
    assert_eq!(said, []);
}

#[test]
fn a_filesystem_inside_of_a_machine_waits_for_its_instance() {
    let spec =
        filesystem::Spec { provider: name("tmpfs"), size: SizeMib(4), backing: None, machine: Some(name("web")) };
    let waits = declared().then("filesystem/memory", stored([filesystem::Event::Declared { spec }]));
    assert_eq!(waits.look("filesystem/memory"), []);
    let command =
        filesystem::Command::Own(filesystem::OwnCommand::Create(filesystem::Base { backing: None, over: [].into() }));
    let create = Order::Filesystem { filesystem: name("memory"), command };
    assert!(waits.then("machine/web", machine_runs()).look("machine/web").contains(&create));
}

#[test]
fn a_machine_and_a_filesystem_let_go_of_a_mount_that_is_gone() {
    let spec = filesystem::Spec { provider: name("tmpfs"), size: SizeMib(4), backing: None, machine: None };
    let mount =
        filesystem_attachment::Spec { machine: name("web"), filesystem: name("memory"), path: None, read_only: false };
    let removed = declared()
        .then(
            "filesystem/memory",
            stored([
                filesystem::Event::Declared { spec },
                filesystem::Event::AttachmentReserved { machine: name("web") },
            ]),
        )
        .then("machine/web", stored([machine::Event::MountReserved { filesystem: name("memory") }]))
        .then(
            "filesystem-attachment/web:memory",
            stored([
                filesystem_attachment::Event::Declared { spec: mount },
                filesystem_attachment::Event::RemovalBegan,
                filesystem_attachment::Event::Removed,
            ]),
        );
    let command = machine::Command::ReleaseMount { filesystem: name("memory") };
    let of_machine = Order::Machine { machine: name("web"), command };
    let command = filesystem::Command::ReleaseAttachment { machine: name("web") };
    let of_filesystem = Order::Filesystem { filesystem: name("memory"), command };
    assert_eq!(removed.look("filesystem-attachment/web:memory"), [of_machine, of_filesystem.clone()]);
    // The one that has let go is not told again; the other one still is.
    let released = removed.then("machine/web", stored([machine::Event::MountReleased { filesystem: name("memory") }]));
    assert_eq!(released.look("filesystem-attachment/web:memory"), [of_filesystem]);
}
