//! Stored forms of what clients of Juju's Provisioner facade say of machines.

use bailiwick_actors::{
    machine::juju::{Command, Dependents, Event, Hardware, NewInstance, Provisioned, Refusal, Said, StatusOf},
    ports::{Address, CreatedAttachment, CreatedStorage, CreatedVolume, Device, Origin},
    vocab::{InstanceId, Name, SizeMib},
};

use super::AT;

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn said() -> Said {
    Said { status: "error".into(), info: "no room".into(), data: r#"{"transient":true}"#.into() }
}

fn hardware() -> Hardware {
    Hardware {
        arch: text("arm64"),
        memory_mib: Some(4096),
        root_disk_mib: Some(8192),
        root_disk_source: text("fast"),
        cores: Some(2),
        cpu_power: Some(100),
        tags: vec!["gpu".into()],
        zone: text("b"),
        virtualisation: text("virtual-machine"),
    }
}

pub(super) fn devices() -> Vec<Device> {
    let address = |origin| Address {
        value: "10.0.1.7".into(),
        cidr: "10.0.1.0/24".into(),
        config: "dhcp".into(),
        origin,
        provider_subnet: "subnet-1".into(),
    };
    vec![Device {
        name: "eth0".into(),
        kind: "ethernet".into(),
        parent: "br-eth0".into(),
        mac: "aa:bb:cc:dd:ee:ff".into(),
        mtu: 1500,
        port: "openvswitch".into(),
        provider_id: "nic-1".into(),
        origin: Origin::Provider,
        addresses: vec![address(Origin::Machine), address(Origin::Provider)],
    }]
}

pub(super) fn storage() -> Box<CreatedStorage> {
    let volume = CreatedVolume {
        id: InstanceId("vol-7".into()),
        size: SizeMib(64),
        hardware_id: text("serial-7"),
        persistent: true,
    };
    let attachment = CreatedAttachment {
        device_name: "sdb".into(),
        device_link: "/dev/disk/by-id/serial-7".into(),
        bus_address: "scsi@1:0.0.0".into(),
        read_only: true,
    };
    let name: Name = "7-0".parse().expect("a name");
    Box::new(CreatedStorage { volumes: [(name.clone(), volume)].into(), attachments: [(name, attachment)].into() })
}

fn statuses() -> [StatusOf; 3] {
    [StatusOf::Machine, StatusOf::Instance, StatusOf::Modification]
}

pub(super) fn commands() -> impl Iterator<Item = Command> {
    let dependents = Dependents {
        units: vec!["mysql/0".into()],
        containers: vec!["0/lxd/0".into()],
        storage: vec!["volume-0".into()],
    };
    let new = NewInstance {
        instance: InstanceId("i-7".into()),
        nonce: Some([7; 32]),
        display_name: "seven".into(),
        hardware: hardware(),
        profiles: vec!["default".into()],
        devices: devices(),
    };
    let others = [
        Command::SetPassword { salt: [1; 16], hash: [2; 32] },
        Command::SetInstance(Box::new(new.clone())),
        Command::EnsureDead { dependents },
        Command::Remove,
        Command::MarkForRemoval,
        Command::SetProfiles { profiles: vec!["default".into()] },
        Command::SetContainerTypes { types: vec!["lxd".into()] },
        Command::ObserveDevices { devices: devices() },
        Command::ReleaseAddresses,
        Command::SetInstanceAndStorage { instance: Box::new(new), storage: storage() },
    ];
    statuses().into_iter().map(|of| Command::SetStatus { of, said: said() }).chain(others)
}

pub(super) fn events() -> impl Iterator<Item = Event> {
    let provisioned = Provisioned {
        instance: InstanceId("i-7".into()),
        nonce: [7; 32],
        display_name: "seven".into(),
        hardware: hardware(),
    };
    let others = [
        Event::PasswordSet { salt: [1; 16], hash: [2; 32] },
        Event::Provisioned(Box::new(provisioned)),
        Event::MarkedForRemoval,
        Event::ProfilesSet { profiles: vec!["default".into()] },
        Event::ContainerTypesSet { types: vec!["lxd".into()] },
        Event::DevicesSet { devices: devices() },
        Event::StorageCreated { storage: storage() },
    ];
    statuses().into_iter().map(|of| Event::StatusSet { of, said: said(), at: AT }).chain(others)
}

pub(super) fn refusals() -> impl Iterator<Item = Refusal> {
    [
        Refusal::NoInstanceId,
        Refusal::AlreadyProvisioned,
        Refusal::NodeProvisions,
        Refusal::NotAlive,
        Refusal::Controller { voting: true },
        Refusal::Controller { voting: false },
        Refusal::HasUnits { units: vec!["mysql/0".into()] },
        Refusal::HostsContainers { containers: vec!["0/lxd/0".into()] },
        Refusal::HasStorage { storage: vec!["volume-0".into()] },
        Refusal::StillAlive,
        Refusal::NotDead,
        Refusal::NotProvisioned,
        Refusal::Dead,
        Refusal::StatusReserved { status: "down".into() },
        Refusal::StatusUnknown { status: "busy".into() },
        Refusal::ErrorWithoutInfo,
    ]
    .into_iter()
}
