//! Supervisors in words: what they saw, and whom they told what.

use std::collections::BTreeSet;

use bailiwick_actors::{
    filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    ports::InstanceStatus,
    replica_set,
    supervisor::{
        Order,
        machines::{self, Change, Withholding},
        replica_sets,
        storage::{self, VolumeChange},
    },
    vocab::{Name, Zone},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{Words, count};

/// More changes or names than this are counted, not listed.
const LISTED_MAX: usize = 3;

impl Words for machines::State {
    fn asked(command: &machines::Command) -> String {
        match command {
            machines::Command::Observe { provider, changes, .. } => {
                format!("provider {provider} reported: {}", changes_in_words(changes))
            }
            machines::Command::ReportListFailed { provider, fault } => {
                format!("listing provider {provider} failed: {fault}")
            }
            machines::Command::ReportListRecovered { provider } => {
                format!("provider {provider} answers again")
            }
            machines::Command::Look { machines } => {
                let names: Vec<String> = machines.iter().map(|machine| format!("machine/{machine}")).collect();
                format!("re-evaluate {}", listed(&names, "machine"))
            }
            machines::Command::ObserveZones { provider, zones } => {
                format!("provider {provider} reported {}", zones_in_words(zones))
            }
            machines::Command::ReportFound { provider, machines, .. } => found(provider, machines),
        }
    }

    fn happened(event: &machines::Event) -> String {
        match event {
            machines::Event::Observed { provider, changes, .. } => {
                format!("provider {provider} reported: {}", changes_in_words(changes))
            }
            machines::Event::ListFailed { provider, fault, .. } => {
                format!("listing provider {provider} failed: {fault}")
            }
            machines::Event::OutageBegan { provider, since, .. } => {
                format!("provider {provider} has not answered since {since}: none of its machines will be replaced")
            }
            machines::Event::ListRecovered { provider, .. } => format!("provider {provider} answers again"),
            machines::Event::Issued { order, .. } => ordered(order),
            machines::Event::Withheld { machine, why: why @ Withholding::NoZone } => {
                format!("did not create machine/{machine}: {}", withholding(why))
            }
            machines::Event::Withheld { machine, why } => {
                format!("did not replace machine/{machine}: {}", withholding(why))
            }
            machines::Event::ZonesListed { provider, zones } => {
                format!("provider {provider} reported {}", zones_in_words(zones))
            }
            machines::Event::Found { provider, machines, .. } => found(provider, machines),
            machines::Event::Released { machine } => format!("machine/{machine} may be replaced again"),
        }
    }
}

impl Words for storage::State {
    fn asked(command: &storage::Command) -> String {
        match command {
            storage::Command::Look { about } => format!("re-evaluate {}", entities(about)),
            storage::Command::Begin => "begin a new session".into(),
            storage::Command::Observe { changes } => {
                format!("agents reported: {}", devices_in_words(changes))
            }
            storage::Command::ObserveVolumes { changes } => {
                format!("providers reported: {}", volumes_in_words(changes))
            }
        }
    }

    fn happened(event: &storage::Event) -> String {
        match event {
            storage::Event::Issued { order, .. } => ordered(order),
            storage::Event::SessionBegan => "began a new session".into(),
            storage::Event::Observed { changes } => format!("agents reported: {}", devices_in_words(changes)),
            storage::Event::VolumesObserved { changes } => format!("providers reported: {}", volumes_in_words(changes)),
        }
    }
}

impl Words for replica_sets::State {
    fn asked(command: &replica_sets::Command) -> String {
        let replica_sets::Command::Look { about } = command;
        format!("re-evaluate {}", entities(about))
    }

    fn happened(event: &replica_sets::Event) -> String {
        let replica_sets::Event::Issued { order, .. } = event;
        ordered(order)
    }
}

pub(super) fn entities(about: &[StreamId]) -> String {
    let names: Vec<String> = about.iter().map(ToString::to_string).collect();
    listed(&names, "object")
}

fn volumes_in_words(changes: &[VolumeChange]) -> String {
    let words = changes.iter().map(|change| match change {
        VolumeChange::Missing { volume, .. } => format!("volume/{volume} missing"),
        VolumeChange::Back { volume, .. } => format!("volume/{volume} present again"),
        VolumeChange::Returned { volume, .. } => format!("volume/{volume} still present after its destruction"),
    });
    words.collect::<Vec<_>>().join("; ")
}

fn devices_in_words(changes: &[storage::DeviceChange]) -> String {
    use storage::DeviceChange;
    let word = |change: &DeviceChange| match change {
        DeviceChange::Seen { machine, backing } => {
            format!("volume {} is device {} on machine {machine}", backing.volume, backing.device.name)
        }
        DeviceChange::Gone { machine, volume } => format!("volume {volume} has no device on machine {machine}"),
    };
    let words: Vec<String> = changes.iter().map(word).collect();
    listed(&words, "change")
}

/// An order: "ordered machine/0: release volume data".
pub fn ordered(order: &Order) -> String {
    let asked = match order {
        Order::Machine { command, .. } => machine::State::asked(command),
        Order::Volume { command, .. } => volume::State::asked(command),
        Order::VolumeAttachment { command, .. } => volume_attachment::State::asked(command),
        Order::ReplicaSet { command, .. } => replica_set::State::asked(command),
        Order::MachineSet { command, .. } => machine_set::State::asked(command),
        Order::MachineDeployment { command, .. } => machine_deployment::State::asked(command),
        Order::MachineClass { command, .. } => machine_class::State::asked(command),
        Order::Filesystem { command, .. } => filesystem::State::asked(command),
        Order::FilesystemAttachment { command, .. } => filesystem_attachment::State::asked(command),
        Order::Member { command, .. } => member::State::asked(command),
    };
    let verb = if is_report(order) { "told" } else { "ordered" };
    format!("{verb} {}: {asked}", order.target())
}

/// Whether it asks for nothing, but says what was seen.
fn is_report(order: &Order) -> bool {
    use machine_deployment::Command as OfDeployment;
    use machine_set::Command as OfSet;
    match order {
        Order::Machine { command, .. } => matches!(command, machine::Command::Report(_)),
        Order::Volume { command, .. } => matches!(command, volume::Command::Report(_)),
        Order::VolumeAttachment { command, .. } => matches!(command, volume_attachment::Command::Report(_)),
        Order::Filesystem { command, .. } => matches!(command, filesystem::Command::Report(_)),
        Order::FilesystemAttachment { command, .. } => matches!(command, filesystem_attachment::Command::Report(_)),
        Order::ReplicaSet { command, .. } => matches!(command, replica_set::Command::Report(_)),
        Order::MachineSet { command, .. } => {
            matches!(
                command,
                OfSet::ReportRemovals { .. }
                    | OfSet::ReportBatch { .. }
                    | OfSet::ReportEmpty
                    | OfSet::ReportMachines { .. }
            )
        }
        Order::Member { command, .. } => matches!(command, member::Command::Follow(_)),
        Order::MachineDeployment { command, .. } => matches!(
            command,
            OfDeployment::Adopt { .. }
                | OfDeployment::Forget { .. }
                | OfDeployment::Observe { .. }
                | OfDeployment::ReportEmpty
        ),
        Order::MachineClass { .. } => false,
    }
}

/// Why a machine is not replaced now: "zone a is silent as a whole".
pub fn withholding(why: &Withholding) -> String {
    match why {
        Withholding::ZoneSilent { zone } => format!("all machines in zone {zone} are silent"),
        Withholding::AllSilent => "all machines in all zones are silent".into(),
        Withholding::ProviderOut { provider } => format!("provider {provider} does not answer"),
        Withholding::Asking { provider } => format!("asking provider {provider} about its instance"),
        Withholding::RunsThere { provider } => {
            format!("its instance still runs at provider {provider}; only its health reports stopped")
        }
        Withholding::BudgetSpent => "the replacement budget is used up".into(),
        Withholding::NoZone => "none of its allowed zones exists".into(),
    }
}

/// What a provider was asked about and has.
fn found(provider: &Name, machines: &[machines::Question]) -> String {
    let names: Vec<String> = machines.iter().map(|(machine, _)| format!("machine/{machine}")).collect();
    format!("provider {provider} still has the instance of {}", listed(&names, "machine"))
}

fn zones_in_words(zones: &BTreeSet<Zone>) -> String {
    let names: Vec<String> = zones.iter().map(|zone| format!("zone {zone}")).collect();
    if names.is_empty() { "no zones".into() } else { listed(&names, "zone") }
}

fn changes_in_words(changes: &[Change]) -> String {
    let (forgotten, others): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| matches!(change, Change::Forgotten { .. }));
    let mut words: Vec<String> = others.into_iter().map(change_in_words).collect();
    // They have no names any more: how many there are is all that can be told.
    match forgotten[..] {
        [] => (),
        [one] => words.push(change_in_words(one)),
        _ => words.push(format!("{} missing instances dropped", forgotten.len())),
    }
    listed(&words, "change")
}

fn change_in_words(change: &Change) -> String {
    match change {
        Change::Appeared { instance } => {
            format!("new instance {} of machine/{}", instance.instance, instance.machine)
        }
        Change::StatusChanged { status: InstanceStatus::Running, .. } => "an instance is running again".into(),
        Change::StatusChanged { status: InstanceStatus::Stopped, .. } => "an instance stopped".into(),
        Change::Vanished { machine, .. } => format!("instance of machine/{machine} missing"),
        Change::Forgotten { .. } => "a missing instance was dropped".into(),
        Change::Unclaimed { .. } => "an instance belongs to no machine".into(),
        Change::Returned { .. } => "an instance is still present after its deletion".into(),
        Change::Claimed { .. } => "an unknown instance now belongs to a machine".into(),
    }
}

fn listed(items: &[String], thing: &str) -> String {
    if items.len() > LISTED_MAX { count(items.len(), thing) } else { items.join(", ") }
}
