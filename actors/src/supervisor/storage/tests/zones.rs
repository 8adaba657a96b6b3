//! What is made in one zone is not attached in another.

use std::collections::BTreeMap;

use super::*;
use crate::volume::Place;

fn in_zone(machine: &str, zone: Option<&str>) -> Vec<Body> {
    let stream_name = format!("machine/{machine}");
    let instance = MachineInstance {
        effect: effect(&stream_name, 2),
        instance: InstanceId(machine.into()),
        machine: name(machine),
        facts: zone.map(|zone| (MachineInstance::ZONE.to_owned(), zone.to_owned())).into_iter().collect(),
        status: InstanceStatus::Running,
    };
    let spec = machine::Spec::with_provider(name("cloud"));
    stored([
        machine::Event::Declared { spec: spec.into() },
        machine::Event::CreateRequested { at: Timestamp(1) },
        machine::Event::AttachmentReserved { volume: name("data") },
        machine::Event::Created { instance, at: Timestamp(2) },
    ])
}

/// The volume was made where machine `db` is, and is to be attached to `web`.
fn seen(db: Option<&str>, web: Option<&str>) -> Seen {
    let machine_effect = effect("machine/db", 2);
    let place = Place { machine: name("db"), machine_effect, instance: InstanceId("db".into()) };
    let spec = volume::Spec { provider: name("cloud"), size: SizeMib(1) };
    let made =
        ProvisionedVolume { effect: effect("volume/data", 3), volume_id: InstanceId("v-1".into()), size: SizeMib(1) };
    let attachment = volume_attachment::Spec { machine: name("web"), volume: name("data"), read_only: false };
    Seen::default()
        .then("machine/db", in_zone("db", db))
        .then("machine/web", in_zone("web", web))
        .then(
            "volume/data",
            stored([
                volume::Event::Declared { spec },
                volume::Event::Own(volume::OwnEvent::WantedOn { machine: name("db") }),
                volume::Event::CreateRequested { base: volume::Where::At(place), at: Timestamp(2) },
                volume::Event::Created { made },
                volume::Event::AttachmentReserved { machine: name("web") },
            ]),
        )
        .then("volume-attachment/web:data", stored([volume_attachment::Event::Declared { spec: attachment }]))
}

#[test]
fn a_volume_waits_for_a_machine_in_its_zone() {
    let cases = BTreeMap::from([
        ((Some("a"), Some("b")), false),
        ((Some("a"), Some("a")), true),
        ((None, Some("b")), true),
        ((Some("a"), None), true),
    ]);
    for ((db, web), is_attached) in cases {
        let orders = seen(db, web).look("volume-attachment/web:data");
        let attaches = |order: &Order| {
            matches!(order, Order::VolumeAttachment { command: volume_attachment::Command::Attach { .. }, .. })
        };
        assert_eq!(orders.iter().any(attaches), is_attached, "{db:?} {web:?}: {orders:?}");
    }
}

#[test]
fn a_volume_is_made_in_the_zone_of_its_machine_which_is_told() {
    let spec = volume::Spec { provider: name("cloud"), size: SizeMib(1) };
    let declared = [
        volume::Event::Declared { spec },
        volume::Event::Own(volume::OwnEvent::WantedOn { machine: name("web") }),
        volume::Event::AttachmentReserved { machine: name("web") },
    ];
    for (zone, is_told) in [(Some("a"), true), (None, false)] {
        let mut seen =
            Seen::default().then("machine/web", in_zone("web", zone)).then("volume/data", stored(declared.clone()));
        let orders = seen.look("volume/data");
        let [Order::Volume { command, .. }] = &orders[..] else { panic!("{orders:?}") };
        let events = match command {
            volume::Command::Own(volume::OwnCommand::CreateIn { place, zone }) if is_told => {
                vec![
                    volume::Event::CreateRequested { base: volume::Where::At(place.clone()), at: Timestamp(3) },
                    volume::Event::Own(volume::OwnEvent::SitedIn { zone: zone.clone() }),
                ]
            }
            volume::Command::Own(volume::OwnCommand::Create { place }) if !is_told => {
                vec![volume::Event::CreateRequested { base: volume::Where::At(place.clone()), at: Timestamp(3) }]
            }
            other => panic!("{other:?}"),
        };
        seen.write("volume/data", Uuid::nil(), Outcome::Done, stored(events));
        let attachment = volume_attachment::Spec { machine: name("web"), volume: name("data"), read_only: false };
        let seen =
            seen.then("volume-attachment/web:data", stored([volume_attachment::Event::Declared { spec: attachment }]));
        let orders = seen.look("volume-attachment/web:data");
        let notes =
            |order: &Order| matches!(order, Order::Machine { command: machine::Command::NoteVolume { .. }, .. });
        assert_eq!(orders.iter().any(notes), is_told, "{orders:?}");
    }
}

#[test]
fn where_a_volume_is_outlives_the_machine_that_it_was_made_for() {
    let spec = volume::Spec { provider: name("cloud"), size: SizeMib(1) };
    let attachment = volume_attachment::Spec { machine: name("web"), volume: name("data"), read_only: false };
    let place =
        Place { machine: name("db"), machine_effect: effect("machine/db", 2), instance: InstanceId("db".into()) };
    let made =
        ProvisionedVolume { effect: effect("volume/data", 2), volume_id: InstanceId("v-1".into()), size: SizeMib(1) };
    let seen = Seen::default()
        .then("machine/web", in_zone("web", Some("b")))
        .then(
            "volume/data",
            stored([
                volume::Event::Declared { spec },
                volume::Event::CreateRequested { base: volume::Where::At(place), at: Timestamp(2) },
                volume::Event::Own(volume::OwnEvent::SitedIn { zone: crate::vocab::Zone("a".into()) }),
                volume::Event::Created { made },
                volume::Event::AttachmentReserved { machine: name("web") },
            ]),
        )
        .then("volume-attachment/web:data", stored([volume_attachment::Event::Declared { spec: attachment }]));
    assert_eq!(seen.look("volume-attachment/web:data"), [], "it waits for a machine in its zone");
}
