//! The kinds that the registry can start, and what their effects mean as work.

use bailiwick_journal::{Intake, StreamId};
use uuid::Uuid;

use super::{Call, Services};
use crate::{
    contract::{Decider, Entity, NoEffect, NoView},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, replica_set,
    vocab::Timestamp,
    volume, volume_attachment,
};

/// A kind of entity, as the shell needs it.
pub trait Kind: Decider<View = NoView> + Unpin {
    /// What an effect means as work.
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Self::Effect) -> Work;

    /// The command that says that something is due; none for a kind that never waits.
    fn wake(due: Timestamp) -> Option<AnyCommand>;

    /// Whether it was removed and has not gone yet: what it still has to do gives something back, so it goes on while the
    /// disk is nearly full.
    fn is_leaving(&self) -> bool {
        false
    }

    /// Called after every recorded step.
    fn stepped(_entity: &Entity<Self>, _services: &Services) {}
}

/// Work that the shell can do.
#[derive(Clone, Debug)]
pub enum Work {
    /// Say when it is time.
    WakeAt(Timestamp),
    /// Call a provider.
    Call(Box<Call>),
}

/// When a command may be recorded although the disk is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    Always,
    /// If the entity was removed and has not gone yet.
    WhileLeaving,
    Never,
}

impl Urgency {
    /// How an entity's command is put to the journal.
    pub fn intake(self, is_leaving: bool) -> Intake {
        match self {
            Self::Always => Intake::Report,
            Self::WhileLeaving if is_leaving => Intake::Report,
            Self::WhileLeaving | Self::Never => Intake::Ordinary,
        }
    }
}

/// A command to any kind of entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyCommand {
    Machine(machine::Command),
    Volume(volume::Command),
    VolumeAttachment(volume_attachment::Command),
    Policy(policy::Command),
    ReplicaSet(replica_set::Command),
    Filesystem(filesystem::Command),
    FilesystemAttachment(filesystem_attachment::Command),
    Member(member::Command),
    MachineSet(machine_set::Command),
    MachineDeployment(machine_deployment::Command),
    MachineClass(machine_class::Command),
    Document(document::Command),
}

impl AnyCommand {
    /// The kind of stream that takes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Machine(_) => machine::State::KIND,
            Self::Volume(_) => volume::State::KIND,
            Self::VolumeAttachment(_) => volume_attachment::State::KIND,
            Self::Policy(_) => policy::State::KIND,
            Self::ReplicaSet(_) => replica_set::State::KIND,
            Self::Filesystem(_) => filesystem::State::KIND,
            Self::FilesystemAttachment(_) => filesystem_attachment::State::KIND,
            Self::Member(_) => member::State::KIND,
            Self::MachineSet(_) => machine_set::State::KIND,
            Self::MachineDeployment(_) => machine_deployment::State::KIND,
            Self::MachineClass(_) => machine_class::State::KIND,
            Self::Document(command) => command.kind().as_str(),
        }
    }

    /// When it may be recorded although the disk is nearly full. The last of it is for what running work reports, for the
    /// operator who stops things or lets them go, and for all that this takes: what is leaving goes on until it is gone, and
    /// what it leaves lets go of it. What agents say of themselves waits: they say it again.
    pub fn urgency(&self) -> Urgency {
        use machine::{Command, Report};
        let is_urgent = match self {
            Self::Machine(Command::Report(
                Report::Node { .. } | Report::Joined { .. } | Report::NodeChanged { .. },
            )) => return Urgency::Never,
            Self::Machine(
                Command::Hold { .. }
                | Command::Unhold
                | Command::Remove
                | Command::RemoveWith(_)
                | Command::Disown
                | Command::ReleaseAttachment { .. }
                | Command::ReleaseMount { .. }
                | Command::ReleaseContainer { .. }
                | Command::Unassign { .. }
                | Command::Disengage { .. },
            ) => true,
            Self::Volume(
                volume::Command::Remove
                | volume::Command::RemoveForced
                | volume::Command::RemoveWithFilesystem
                | volume::Command::Release
                | volume::Command::Destroy
                | volume::Command::ReleaseAttachment { .. }
                | volume::Command::ReleaseFilesystem { .. },
            ) => true,
            Self::VolumeAttachment(volume_attachment::Command::Remove | volume_attachment::Command::RemoveForced) => {
                true
            }
            Self::Filesystem(
                filesystem::Command::Remove
                | filesystem::Command::RemoveForced
                | filesystem::Command::Release
                | filesystem::Command::Destroy
                | filesystem::Command::ReleaseAttachment { .. },
            ) => true,
            Self::FilesystemAttachment(
                filesystem_attachment::Command::Remove | filesystem_attachment::Command::RemoveForced,
            ) => true,
            Self::MachineSet(machine_set::Command::Remove | machine_set::Command::RemoveOwned) => true,
            Self::MachineClass(machine_class::Command::Remove | machine_class::Command::Release { .. }) => true,
            Self::MachineDeployment(machine_deployment::Command::Remove | machine_deployment::Command::Pause) => true,
            Self::ReplicaSet(replica_set::Command::Remove) | Self::Member(member::Command::Forget { .. }) => true,
            other => other.is_report(),
        };
        if is_urgent { Urgency::Always } else { Urgency::WhileLeaving }
    }

    /// Whether it reports how running work went.
    pub fn is_report(&self) -> bool {
        match self {
            Self::Machine(command) => matches!(command, machine::Command::Report(_)),
            Self::Volume(command) => matches!(command, volume::Command::Report(_)),
            Self::VolumeAttachment(command) => matches!(command, volume_attachment::Command::Report(_)),
            Self::ReplicaSet(command) => matches!(command, replica_set::Command::Report(_)),
            Self::Policy(_) | Self::Member(_) | Self::Document(_) => false,
            Self::Filesystem(command) => matches!(command, filesystem::Command::Report(_)),
            Self::FilesystemAttachment(command) => matches!(command, filesystem_attachment::Command::Report(_)),
            // Its supervisor's reports are told again, as long as it takes.
            Self::MachineSet(_) | Self::MachineDeployment(_) | Self::MachineClass(_) => false,
        }
    }
}

impl Kind for document::State {
    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn wake(_due: Timestamp) -> Option<AnyCommand> {
        None
    }
}

impl Kind for policy::State {
    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn wake(_due: Timestamp) -> Option<AnyCommand> {
        None
    }

    fn stepped(entity: &Entity<Self>, services: &Services) {
        if entity.stream().name() == policy::default_name().as_str() {
            services.set_policy(entity.state().in_force(entity.stream()));
        }
    }
}
