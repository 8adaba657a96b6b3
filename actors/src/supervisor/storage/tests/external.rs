//! Volumes that clients of Juju's make with the instance of a machine, from their declaration to their end.

use std::collections::BTreeMap;

use super::*;
use crate::{
    machine::juju,
    ports::{CreatedAttachment, CreatedStorage, CreatedVolume},
};

fn effect_of_machine() -> EffectId {
    effect("machine/5", 2)
}

fn declared() -> Seen {
    let spec = machine::Spec::with_provider(name("external"));
    let volume = volume::Spec { provider: name("external"), size: SizeMib(64) };
    let attachment = volume_attachment::Spec { machine: name("5"), volume: name("0"), read_only: false };
    Seen::default()
        .then(
            "machine/5",
            stored([
                machine::Event::Declared { spec: spec.into() },
                machine::Event::CreateRequested { at: Timestamp(1) },
                machine::Event::AttachmentReserved { volume: name("0") },
            ]),
        )
        .then(
            "volume/0",
            stored([
                volume::Event::Declared { spec: volume },
                volume::Event::Own(volume::OwnEvent::WantedOn { machine: name("5") }),
                volume::Event::AttachmentReserved { machine: name("5") },
            ]),
        )
        .then("volume-attachment/5:0", stored([volume_attachment::Event::Declared { spec: attachment }]))
}

fn storage(persistent: bool) -> CreatedStorage {
    let volume = CreatedVolume { id: InstanceId("v-1".into()), size: SizeMib(65), hardware_id: None, persistent };
    let attachment = CreatedAttachment { device_name: "sdb".into(), ..CreatedAttachment::default() };
    CreatedStorage { volumes: [(name("0"), volume)].into(), attachments: [(name("0"), attachment)].into() }
}

/// A client has made the instance, with this storage.
fn provisioned(storage: CreatedStorage) -> Seen {
    let instance = MachineInstance {
        effect: effect_of_machine(),
        instance: InstanceId("i-1".into()),
        machine: name("5"),
        facts: BTreeMap::new(),
        status: InstanceStatus::Running,
    };
    let storage = Box::new(storage);
    declared().then(
        "machine/5",
        stored([
            machine::Event::Created { instance, at: Timestamp(2) },
            machine::Event::Client(juju::Event::StorageCreated { storage }),
        ]),
    )
}

/// Both are as the supervisor's orders made them.
fn attached(persistent: bool) -> Seen {
    let place =
        volume::Place { machine: name("5"), machine_effect: effect_of_machine(), instance: InstanceId("i-1".into()) };
    let made =
        ProvisionedVolume { effect: effect("volume/0", 4), volume_id: InstanceId("v-1".into()), size: SizeMib(65) };
    let facts = volume::VolumeFacts { hardware_id: None, persistent };
    let target = volume_attachment::Target {
        provider: name("external"),
        machine_effect: effect_of_machine(),
        instance: InstanceId("i-1".into()),
        volume_effect: made.effect,
        volume_id: made.volume_id.clone(),
    };
    let info = AttachmentInfo { path: "/dev/sdb".into(), read_only: false };
    provisioned(storage(persistent))
        .then(
            "volume/0",
            stored([
                volume::Event::Own(volume::OwnEvent::CameWith { place, made }),
                volume::Event::Own(volume::OwnEvent::Described { facts }),
            ]),
        )
        .then("volume-attachment/5:0", stored([volume_attachment::Event::TakenOver { target, info }]))
}

/// The client ended the machine, which did not wait for its volume.
fn ended(persistent: bool) -> Seen {
    let skipped = machine::Skipped::Attachment { volume: name("0") };
    attached(persistent).then(
        "machine/5",
        stored([
            machine::Event::RemovalBegan { at: Timestamp(4) },
            machine::Event::Skipped { what: skipped },
            machine::Event::Died,
            machine::Event::DeleteRequested { at: Timestamp(4) },
        ]),
    )
}

fn detaching(persistent: bool) -> Seen {
    let going =
        [volume_attachment::Event::RemovalBegan, volume_attachment::Event::DetachRequested { at: Timestamp(5) }];
    ended(persistent).then("volume-attachment/5:0", stored(going))
}

/// The instance is gone, and with it the attachment.
fn gone(persistent: bool) -> Seen {
    detaching(persistent)
        .then("machine/5", stored([machine::Event::Deleted, machine::Event::Removed]))
        .then(
            "volume-attachment/5:0",
            stored([volume_attachment::Event::WentWithInstance, volume_attachment::Event::Removed]),
        )
        .then("volume/0", stored([volume::Event::AttachmentReleased { machine: name("5") }]))
}

#[test]
fn it_is_made_by_nobody_but_the_client_that_makes_the_instance() {
    assert_eq!(declared().look("machine/5"), []);
    assert_eq!(provisioned(CreatedStorage::default()).look("machine/5"), [], "the client has made no volume");
}

#[test]
fn what_the_client_says_is_what_volume_and_attachment_are_told() {
    let orders = provisioned(storage(true)).look("machine/5");
    let [Order::Volume { command: volume::Command::Report(volume::Report::Own(report)), .. }] = &orders[..] else {
        panic!("{orders:?}")
    };
    let volume::OwnReport::CameWith { volume_id, size, facts, .. } = report else { panic!("{report:?}") };
    assert_eq!((volume_id.0.as_str(), *size, facts.persistent), ("v-1", SizeMib(65), true));

    let seen = attached(true);
    assert_eq!(seen.look("machine/5"), [], "both are done");
    let before = provisioned(storage(true)).then("volume/0", seen.events[&stream("volume/0")].split_at(3).1.to_vec());
    let orders = before.look("volume/0");
    let [Order::VolumeAttachment { command: volume_attachment::Command::TakeOver { info, .. }, .. }] = &orders[..]
    else {
        panic!("{orders:?}")
    };
    assert_eq!(info.path, "/dev/sdb");
}

#[test]
fn it_is_attached_until_the_instance_is_gone() {
    let remove = |command: &volume_attachment::Command| *command == volume_attachment::Command::Remove;
    let orders = ended(false).look("machine/5");
    assert!(matches!(&orders[..], [Order::VolumeAttachment { command, .. }] if remove(command)), "{orders:?}");
    assert_eq!(detaching(false).look("machine/5"), [], "the client has not said that the instance is gone");
    let removed = detaching(false).then("machine/5", stored([machine::Event::Deleted, machine::Event::Removed]));
    let orders = removed.look("machine/5");
    let noted = volume_attachment::Command::NoteGone { machine_effect: effect_of_machine() };
    assert!(matches!(&orders[..], [Order::VolumeAttachment { command, .. }] if *command == noted), "{orders:?}");
}

#[test]
fn a_machine_that_an_operator_removes_does_not_wait_for_it() {
    let going = attached(false).then("machine/5", stored([machine::Event::RemovalBegan { at: Timestamp(4) }]));
    let orders = going.look("machine/5");
    let release = machine::Command::ReleaseAttachment { volume: name("0") };
    let released = |order: &Order| matches!(order, Order::Machine { command, .. } if *command == release);
    assert!(orders.iter().any(released), "{orders:?}");
}

#[test]
fn it_goes_with_its_instance_unless_it_is_persistent_or_protected() {
    let orders = gone(false).look("volume/0");
    let went = volume::Command::Report(volume::Report::Own(volume::OwnReport::WentWith {
        machine_effect: effect_of_machine(),
    }));
    assert!(matches!(&orders[..], [Order::Volume { command, .. }] if *command == went), "{orders:?}");
    assert_eq!(gone(true).look("volume/0"), []);
    let protected = gone(false).then("volume/0", stored([volume::Event::Protected { on: true }]));
    assert_eq!(protected.look("volume/0"), []);
}

#[test]
fn a_persistent_one_is_attached_to_the_next_machine_by_whoever_makes_that() {
    let spec = machine::Spec::with_provider(name("external"));
    let attachment = volume_attachment::Spec { machine: name("6"), volume: name("0"), read_only: false };
    let next = |storage: CreatedStorage| {
        let instance = MachineInstance {
            effect: effect("machine/6", 2),
            instance: InstanceId("i-2".into()),
            machine: name("6"),
            facts: BTreeMap::new(),
            status: InstanceStatus::Running,
        };
        gone(true)
            .then(
                "machine/6",
                stored([
                    machine::Event::Declared { spec: spec.clone().into() },
                    machine::Event::CreateRequested { at: Timestamp(6) },
                    machine::Event::AttachmentReserved { volume: name("0") },
                    machine::Event::Client(juju::Event::StorageCreated { storage: Box::new(storage) }),
                    machine::Event::Created { instance, at: Timestamp(7) },
                ]),
            )
            .then("volume/0", stored([volume::Event::AttachmentReserved { machine: name("6") }]))
            .then("volume-attachment/6:0", stored([volume_attachment::Event::Declared { spec: attachment.clone() }]))
    };
    assert_eq!(next(CreatedStorage::default()).look("volume-attachment/6:0"), [], "the client did not attach it");
    let orders = next(CreatedStorage { volumes: BTreeMap::new(), ..storage(true) }).look("volume-attachment/6:0");
    let taken_over = |order: &Order| {
        matches!(order, Order::VolumeAttachment { command: volume_attachment::Command::TakeOver { .. }, .. })
    };
    assert!(matches!(&orders[..], [order] if taken_over(order)), "{orders:?}");
}

/// The machine is its provider's own, which makes another instance of it; it came with the same volume, or with none.
fn made_anew(storage: CreatedStorage) -> Seen {
    let spec = machine::Spec::with_provider(name("cloud"));
    let instance = MachineInstance {
        effect: effect("machine/5", 9),
        instance: InstanceId("i-2".into()),
        machine: name("5"),
        facts: BTreeMap::new(),
        status: InstanceStatus::Running,
    };
    attached(false).then(
        "machine/5",
        stored([
            machine::Event::SpecChanged { spec: spec.into() },
            machine::Event::DeleteRequested { at: Timestamp(4) },
            machine::Event::Deleted,
            machine::Event::CreateRequested { at: Timestamp(5) },
            machine::Event::Created { instance, at: Timestamp(6) },
            machine::Event::Client(juju::Event::StorageCreated { storage: Box::new(storage) }),
        ]),
    )
}

#[test]
fn it_goes_with_an_instance_that_is_replaced_and_comes_with_the_next_one() {
    // Given a machine of a provider of the node's own, whose instance is another one by now
    let seen = made_anew(storage(false));
    // Then its volume and its attachment are told so
    let orders = seen.look("machine/5");
    let replaced = volume::Command::Report(volume::Report::Own(volume::OwnReport::InstanceReplaced {
        machine_effect: effect_of_machine(),
    }));
    let gone = volume_attachment::Command::NoteGone { machine_effect: effect_of_machine() };
    let is_told = |order: &Order| match order {
        Order::Volume { command, .. } => *command == replaced,
        Order::VolumeAttachment { command, .. } => *command == gone,
        _ => false,
    };
    assert!(orders.len() == 2 && orders.iter().all(is_told), "{orders:?}");
    // And once they were, the volume comes with the new one, or waits if it did not
    let waiting = |seen: Seen| {
        seen.then("volume/0", stored([volume::Event::Own(volume::OwnEvent::WentToComeAgain)]))
            .then("volume-attachment/5:0", stored([volume_attachment::Event::WentWithInstance]))
    };
    let orders = waiting(seen).look("machine/5");
    let [Order::Volume { command: volume::Command::Report(volume::Report::Own(report)), .. }] = &orders[..] else {
        panic!("{orders:?}")
    };
    let volume::OwnReport::CameWith { place, .. } = report else { panic!("{report:?}") };
    assert_eq!((place.instance.0.as_str(), place.machine_effect), ("i-2", effect("machine/5", 9)));
    assert_eq!(waiting(made_anew(CreatedStorage::default())).look("machine/5"), []);
}
