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
                volume::Event::WantedOn { machine: name("db") },
                volume::Event::CreateRequestedAt { place, at: Timestamp(2) },
                volume::Event::Created { volume: made },
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
