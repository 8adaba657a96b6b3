//! What happens in a simulation, and when.

use std::collections::BTreeMap;

use bailiwick_actors::{
    document::{self, Content},
    filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, replica_set,
    shell::AnyCommand,
    vocab::{Name, Zone},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};

use super::{CrashKind, Observer};
use crate::{
    manifest::{Pooled, Wish},
    providers::simulated::Faults,
    words::count,
};

/// Something that happens at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// After the simulation began.
    pub at_ms: u64,
    pub what: Happening,
}

/// Something that happens to the node or in its world.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// An operator declares these, all or nothing.
    Apply(Vec<Wish>),
    /// An operator removes these, all or nothing.
    Remove(Vec<StreamId>),
    /// Somebody asks for these, all or nothing, as he did in some history.
    Asked { by: String, commands: Vec<(StreamId, AnyCommand)> },
    /// An operator has everything tried again that was given up.
    RetryFailed,
    /// An operator has nothing happen to a machine by itself, for this long or until he says otherwise.
    Hold { machine: Name, reason: String, for_ms: Option<u64> },
    /// An operator ends that.
    Unhold(Name),
    /// An operator has no call begin to a provider that changes something, for this long or until he says otherwise.
    HoldProvider { provider: Name, reason: String, for_ms: Option<u64> },
    /// An operator ends that.
    UnholdProvider(Name),
    /// An operator has a machine let go of its instance.
    Disown(Name),
    /// An operator has a machine take over an instance that bears its name.
    Adopt(Name),
    /// An operator protects something from deletion, or ends that.
    Protect { entity: StreamId, on: bool },
    /// An operator removes a machine in some way.
    RemoveWith { machine: Name, how: machine::Removal },
    /// Somebody makes an instance that bears a machine's name, and tells nobody.
    Stray { provider: Name, machine: Name },
    /// Nothing in a zone says anything for this long.
    Dark { zone: String, for_ms: u64 },
    /// What runs on a machine does not end when it is told to, until all is calm.
    Cling(Name),
    /// The instances of a machine stop running.
    Kill(Name),
    /// The instances of a machine are gone without a trace.
    Vanish(Name),
    /// The agents of a machine say nothing for this long.
    Silence { machine: Name, for_ms: u64 },
    /// The node ends without warning, and starts again.
    Crash(CrashKind),
    /// A provider cannot be reached for this long.
    Outage { provider: Name, for_ms: u64 },
    /// A provider has these zones from now on.
    Zones { provider: Name, zones: Vec<Zone> },
    /// A zone of a provider cannot be reached for this long.
    ZoneOutage { provider: Name, zone: Zone, for_ms: u64 },
    /// All instances in a zone of a provider stop running.
    KillZone { provider: Name, zone: Zone },
    /// A provider misbehaves from now on.
    Misbehave { provider: Name, faults: Box<Faults> },
    /// A secret holds these texts from now on; none means that it is gone.
    Secret { name: Name, holds: Option<BTreeMap<String, String>> },
    /// All providers behave from now on.
    Calm,
    /// Somebody sets the wall clock.
    Jump { by_ms: i64 },
    /// The host of the node sleeps for this long: time goes by, and nothing of the node runs.
    Suspend { for_ms: u64 },
    /// The node's disk is full, but for what is kept for its operators; or fails; or has room and works again.
    Disk(DiskSpace),
}

/// What is left on the node's disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiskSpace {
    Full,
    Free,
    /// Whatever is written to it fails.
    Failing,
}

impl Happening {
    /// How long it goes on, in milliseconds.
    pub(super) fn lasts_ms(&self) -> u64 {
        match self {
            Self::Dark { for_ms, .. }
            | Self::Silence { for_ms, .. }
            | Self::Outage { for_ms, .. }
            | Self::Suspend { for_ms }
            | Self::ZoneOutage { for_ms, .. } => *for_ms,
            Self::Hold { for_ms, .. } | Self::HoldProvider { for_ms, .. } => for_ms.unwrap_or(0),
            _ => 0,
        }
    }

    /// In plain words.
    pub fn text(&self) -> String {
        let seconds = |ms: u64| format!("{}.{:03} s", ms / 1000, ms % 1000);
        match self {
            Self::Apply(wishes) => format!("an operator applies {}", count(wishes.len(), "declaration")),
            Self::Remove(streams) => {
                let names: Vec<&str> = streams.iter().map(StreamId::as_str).collect();
                format!("an operator removes {}", names.join(", "))
            }
            Self::Asked { by, commands } => {
                let first = commands.first().map(|(stream, _)| stream.as_str()).unwrap_or_default();
                let others = match commands.len() {
                    0 | 1 => String::new(),
                    all => format!(" and {}", count(all - 1, "other")),
                };
                format!("{by} asks for the same of {first}{others} as then")
            }
            Self::RetryFailed => "an operator retries everything that was given up".into(),
            Self::Hold { machine, reason, for_ms } => {
                let time = for_ms.map(|ms| format!(" for {}", seconds(ms))).unwrap_or_default();
                format!("an operator holds {machine}{time}: {reason}")
            }
            Self::UnholdProvider(provider) => format!("an operator ends the hold on provider {provider}"),
            Self::HoldProvider { provider, reason, for_ms } => {
                let time = for_ms.map(|ms| format!(" for {}", seconds(ms))).unwrap_or_default();
                format!("an operator holds provider {provider}{time}: {reason}")
            }
            Self::Unhold(machine) => format!("an operator ends the hold of {machine}"),
            Self::Protect { entity, on: true } => format!("an operator protects {entity}"),
            Self::Protect { entity, on: false } => format!("an operator ends the protection of {entity}"),
            Self::Disown(machine) => format!("an operator disowns the instance of {machine}"),
            Self::Adopt(machine) => format!("an operator assigns {machine} an instance"),
            Self::RemoveWith { machine, how } => {
                let forced = if how.force { " by force" } else { "" };
                let keeping = if how.keep_instance { " and keeps its instance" } else { "" };
                format!("an operator removes {machine}{forced}{keeping}")
            }
            Self::Stray { provider, machine } => format!("somebody creates an instance for {machine} with {provider}"),
            Self::Dark { zone, for_ms } => format!("zone {zone} is silent for {}", seconds(*for_ms)),
            Self::Cling(machine) => format!("what runs on {machine} no longer stops"),
            Self::Kill(machine) => format!("the instance of {machine} dies"),
            Self::Vanish(machine) => format!("the instance of {machine} vanishes"),
            Self::Silence { machine, for_ms } => format!("the agent of {machine} is silent for {}", seconds(*for_ms)),
            Self::Crash(CrashKind::Kill) => "the node is killed".into(),
            Self::Crash(CrashKind::PowerCut) => "the node loses power".into(),
            Self::Outage { provider, for_ms } => {
                format!("provider {provider} cannot be reached for {}", seconds(*for_ms))
            }
            Self::Zones { provider, zones } => {
                let names: Vec<&str> = zones.iter().map(|zone| zone.0.as_str()).collect();
                format!("provider {provider} has the zones {}", names.join(", "))
            }
            Self::ZoneOutage { provider, zone, for_ms } => {
                format!("zone {zone} of provider {provider} cannot be reached for {}", seconds(*for_ms))
            }
            Self::KillZone { provider, zone } => format!("all instances in zone {zone} of provider {provider} die"),
            Self::Misbehave { provider, .. } => format!("provider {provider} begins to misbehave"),
            Self::Secret { name, holds: Some(_) } => format!("secret {name} exists from now on"),
            Self::Secret { name, holds: None } => format!("secret {name} is gone"),
            Self::Calm => "all providers behave from now on".into(),
            Self::Suspend { for_ms } => format!("the node's host sleeps for {}", seconds(*for_ms)),
            Self::Disk(DiskSpace::Full) => "the node's disk is full".into(),
            Self::Disk(DiskSpace::Failing) => "the node's disk fails".into(),
            Self::Disk(DiskSpace::Free) => "the node's disk has room again".into(),
            Self::Jump { by_ms } => {
                let direction = if *by_ms < 0 { "back" } else { "forward" };
                format!("the wall clock is set {direction} by {}", seconds(by_ms.unsigned_abs()))
            }
        }
    }
}

/// The commands of an operator who applies these wishes. An attachment that is new is reserved on both sides in the same
/// step.
pub fn commands_for(wishes: &[Wish], known: &Observer) -> Vec<(StreamId, AnyCommand)> {
    let mut commands = Vec::new();
    let mut attachments = Vec::new();
    let mut units: Vec<(Name, Name)> = Vec::new();
    for wish in wishes {
        let command = match wish {
            Wish::Machine { spec, .. } => AnyCommand::from(machine::Command::Declare(spec.clone())),
            Wish::Volume { spec, machine, pool, owner, tags, .. } => {
                let pool = Pooled::from_pool(pool.as_ref());
                let declaration = volume::Declaration {
                    spec: spec.clone(),
                    wanted: volume::Wanted { machine: machine.clone(), import: None },
                    pool,
                    owner: owner.clone(),
                };
                AnyCommand::from(volume::Command::declare_tagged(declaration, tags.clone()))
            }
            Wish::Policy { document, .. } => {
                AnyCommand::from(bailiwick_actors::policy::Command::Revise(document.clone()))
            }
            Wish::Filesystem { spec, pool, owner, .. } => {
                let pool = Pooled::from_pool(pool.as_ref());
                AnyCommand::from(filesystem::Command::from(filesystem::Declaration {
                    spec: spec.clone(),
                    wanted: filesystem::Wanted,
                    pool,
                    owner: owner.clone(),
                }))
            }
            Wish::FilesystemAttachment { .. } if known.has_mount(wish.stream().name()) => continue,
            Wish::FilesystemAttachment { spec } => {
                let declare = filesystem_attachment::Command::Declare(spec.clone());
                let of_filesystem = StreamId::new("filesystem", spec.filesystem.as_str()).expect("a name");
                let reserve = filesystem::Command::ReserveAttachment { machine: spec.machine.clone() };
                commands.push((of_filesystem, AnyCommand::from(reserve)));
                let of_machine = StreamId::new("machine", spec.machine.as_str()).expect("a name");
                let reserve = machine::Command::ReserveMount { filesystem: spec.filesystem.clone() };
                commands.push((of_machine, AnyCommand::from(reserve)));
                AnyCommand::from(declare)
            }
            Wish::MachineSet { spec, .. } => AnyCommand::from(machine_set::Command::Declare(spec.clone())),
            Wish::MachineDeployment { spec, .. } => {
                AnyCommand::from(machine_deployment::Command::Declare(spec.clone()))
            }
            Wish::MachineClass { content, .. } => AnyCommand::from(machine_class::Command::Declare(content.clone())),
            Wish::Custom(custom) => custom.command.clone(),
            Wish::ReplicaSet { spec, .. } => AnyCommand::from(replica_set::Command::Declare(spec.clone())),
            Wish::Document { name, content } => {
                if let Content::Application(application) = &**content {
                    units.extend(application.machines.iter().map(|machine| (machine.clone(), name.clone())));
                }
                AnyCommand::from(document::Command::Declare(content.clone()))
            }
            Wish::VolumeAttachment { spec } => {
                attachments.push((wish.stream(), spec));
                continue;
            }
        };
        commands.push((wish.stream(), command));
    }
    for (machine, application) in units {
        let of_machine = StreamId::new("machine", machine.as_str()).expect("a name");
        commands.push((of_machine, AnyCommand::from(machine::Command::Assign { application })));
    }
    for (stream, spec) in attachments {
        if !known.has_attachment(stream.name()) {
            let (machine, volume) = (spec.machine.clone(), spec.volume.clone());
            let of_machine = StreamId::new("machine", machine.as_str()).expect("a name");
            let of_volume = StreamId::new("volume", volume.as_str()).expect("a name");
            let zone = known.zone_of(&volume);
            let reserve = machine::Command::ReserveAttachment { volume: volume.clone() };
            commands.push((of_machine.clone(), AnyCommand::from(reserve)));
            let note = zone.map(|zone| AnyCommand::from(machine::Command::NoteVolume { volume, zone }));
            commands.extend(note.map(|note| (of_machine, note)));
            commands.push((of_volume, AnyCommand::from(volume::Command::ReserveAttachment { machine })));
        }
        let declare = volume_attachment::Command::Declare(spec.clone());
        commands.push((stream, AnyCommand::from(declare)));
    }
    commands
}
