//! Stored forms of supervisors.

use bailiwick_actors::{
    contract::Recorded,
    filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set,
    ports::InstanceStatus,
    replica_set,
    supervisor::{Order, machine_sets, machines, replica_sets, storage},
    vocab::{FaultCode, Zone},
    volume, volume_attachment,
};
use bailiwick_journal::{Cite, Version};

use super::{
    AT, effect, fault, instance, members, name, replica_sets::steps, storage::backing, storage::mount_target,
    storage::target,
};
use crate::{Forms, form, forms};

fn orders() -> [Order; 5] {
    [
        Order::Machine { machine: name("web"), command: machine::Command::Remove },
        Order::Volume { volume: name("data"), command: volume::Command::Remove },
        Order::VolumeAttachment {
            machine: name("web"),
            volume: name("data"),
            command: volume_attachment::Command::Attach { target: Box::new(target()) },
        },
        Order::Filesystem { filesystem: name("files"), command: filesystem::Command::Remove },
        Order::FilesystemAttachment {
            machine: name("web"),
            filesystem: name("files"),
            command: filesystem_attachment::Command::Attach { target: Box::new(mount_target()) },
        },
    ]
}

fn cites() -> Vec<Cite> {
    ["machine/web@12", "volume/data@3"].map(|cite| cite.parse().expect("a cite")).into()
}

pub(crate) fn supervisor() -> Forms {
    use machines::{Change, Command, Event, Withholding};
    let provider = || name("local");
    let changes = vec![
        Change::Appeared { instance: instance(InstanceStatus::Running) },
        Change::StatusChanged { effect: effect(1), status: InstanceStatus::Stopped },
        Change::Vanished { effect: effect(1), machine: name("web") },
        Change::Forgotten { effect: effect(1) },
    ];
    let claims = vec![Change::Unclaimed { effect: effect(1) }, Change::Claimed { effect: effect(1) }];
    let returned = vec![Change::Returned { effect: effect(1) }];
    let mut all = forms(
        "machines.command",
        [
            Command::Observe { provider: provider(), as_of: AT, changes: changes.clone() },
            Command::ReportListFailed { provider: provider(), fault: fault(FaultCode::Unavailable) },
            Command::ReportListRecovered { provider: provider() },
            Command::Look { machines: vec![name("web"), name("db")] },
            Command::ObserveZones { provider: name("local"), zones: [Zone("a".into())].into() },
            Command::Observe { provider: provider(), as_of: AT, changes: claims },
            Command::Observe { provider: provider(), as_of: AT, changes: returned },
            Command::ReportFound { provider: provider(), as_of: AT, machines: vec![(name("web"), effect(2))] },
        ],
    );
    let [first, second, third, ..] = orders();
    all.extend(forms(
        "machines.event",
        [
            Event::Observed { provider: provider(), as_of: AT, changes },
            Event::ListFailed { provider: provider(), fault: fault(FaultCode::Unavailable), at: AT },
            Event::ListRecovered { provider: provider(), at: AT },
            Event::Issued { order: first, cites: cites() },
            Event::Issued { order: second, cites: cites() },
            Event::Issued { order: third, cites: Vec::new() },
            Event::Withheld { machine: name("web"), why: Withholding::ZoneSilent { zone: Zone("a".into()) } },
            Event::Withheld { machine: name("web"), why: Withholding::BudgetSpent },
            Event::Released { machine: name("web") },
            Event::Withheld { machine: name("web"), why: Withholding::NoZone },
            Event::ZonesListed { provider: name("local"), zones: [Zone("a".into())].into() },
            Event::OutageBegan { provider: provider(), since: AT, at: AT },
            Event::Withheld { machine: name("web"), why: Withholding::AllSilent },
            Event::Withheld { machine: name("web"), why: Withholding::ProviderOut { provider: provider() } },
            Event::Withheld { machine: name("web"), why: Withholding::Asking { provider: provider() } },
            Event::Withheld { machine: name("web"), why: Withholding::RunsThere { provider: provider() } },
            Event::Found { provider: provider(), as_of: AT, machines: vec![(name("web"), effect(2))] },
        ],
    ));
    let look = storage::Command::Look { about: vec!["volume/data".parse().expect("a stream")] };
    let changes = vec![
        storage::DeviceChange::Seen { machine: name("web"), backing: backing() },
        storage::DeviceChange::Gone { machine: name("web"), volume: name("data") },
    ];
    let begin = storage::Command::Begin;
    let volumes = vec![
        storage::VolumeChange::Missing { volume: name("data"), effect: effect(2), as_of: AT },
        storage::VolumeChange::Back { volume: name("data"), effect: effect(2) },
    ];
    let observe = storage::Command::Observe { changes: changes.clone() };
    let observe_volumes = storage::Command::ObserveVolumes { changes: volumes.clone() };
    let returned = vec![storage::VolumeChange::Returned { volume: name("data"), effect: effect(2), as_of: AT }];
    let observe_returned = storage::Command::ObserveVolumes { changes: returned };
    all.extend(forms("storage.command", [look, begin, observe, observe_volumes, observe_returned]));
    let mut events: Vec<storage::Event> = orders().map(|order| storage::Event::Issued { order, cites: cites() }).into();
    events.push(storage::Event::SessionBegan);
    events.push(storage::Event::Observed { changes });
    events.push(storage::Event::VolumesObserved { changes: volumes });
    all.extend(forms("storage.event", events));
    for (number, reason) in machines::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<machines::State>::Decided(*reason);
        all.push(form(format!("machines.reason.{number}"), &verdict));
    }
    let look = replica_sets::Command::Look { about: vec!["replica-set/db".parse().expect("a stream")] };
    all.extend(forms("replica-sets.command", [look]));
    let command = replica_set::Command::TakeStep { step: steps().remove(1), seen: Version(3) };
    let order = Order::ReplicaSet { set: name("db"), command };
    let told = Order::Member { set: name("db"), machine: name("web"), command: members::forget() };
    let issued = [order, told].map(|order| replica_sets::Event::Issued { order, cites: cites() });
    all.extend(forms("replica-sets.event", issued));
    for (number, reason) in replica_sets::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<replica_sets::State>::Decided(*reason);
        all.push(form(format!("replica-sets.reason.{number}"), &verdict));
    }
    let look = machine_sets::Command::Look { about: vec!["machine-set/web".parse().expect("a stream")] };
    all.extend(forms("machine-sets.command", [look]));
    let order = Order::MachineSet { set: name("web"), command: machine_set::Command::ReportEmpty };
    let command = machine_class::Command::Use { machines: vec![name("web")] };
    let of_class = Order::MachineClass { class: name("small"), command };
    let of_deployment =
        Order::MachineDeployment { deployment: name("web"), command: machine_deployment::Command::ReportEmpty };
    let issued = [order, of_class, of_deployment].map(|order| machine_sets::Event::Issued { order, cites: cites() });
    all.extend(forms("machine-sets.event", issued));
    for (number, reason) in machine_sets::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<machine_sets::State>::Decided(*reason);
        all.push(form(format!("machine-sets.reason.{number}"), &verdict));
    }
    for (number, reason) in storage::Reason::ALL.iter().enumerate() {
        let verdict = Recorded::<storage::State>::Decided(*reason);
        all.push(form(format!("storage.reason.{number}"), &verdict));
    }
    all
}
