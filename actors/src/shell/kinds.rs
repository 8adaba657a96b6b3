//! The kinds that the registry can start, and what their effects mean as work.

use bailiwick_journal::{Body, Intake, StreamId, Version};
use uuid::Uuid;

use super::{Call, Services};
use crate::{
    contract::{Decider, Entity, NoEffect, NoView, Stored, StoredError},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, replica_set,
    vocab::{EffectId, Timestamp},
    volume, volume_attachment,
};

/// A kind of entity, as the shell needs it.
pub trait Kind: Decider<View = NoView> + Unpin {
    /// What an effect means as work.
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Self::Effect) -> Work;

    /// The command that says that something is due; none for a kind that never waits.
    fn wake(due: Timestamp) -> Option<AnyCommand>;

    /// Whether it is ever owed anything by the world, or waits for a time.
    const OWES: bool = true;

    /// Its command, out of one for whatever kind; none if it is for another.
    fn command_of(any: AnyCommand) -> Option<Self::Command>;

    /// Whether a command reports how running work went.
    fn is_report(_command: &Self::Command) -> bool {
        false
    }

    /// When a command may be recorded although the disk is nearly full. The last of it is for what running work reports, for
    /// the operator who stops things or lets them go, and for all that this takes: what is leaving goes on until it is gone,
    /// and what it leaves lets go of it.
    fn urgency(command: &Self::Command) -> Urgency {
        if Self::is_report(command) { Urgency::Always } else { Urgency::WhileLeaving }
    }

    /// The intent that storage was made for, and the id that it was made under; none if none was.
    fn made(&self) -> Option<(Version, EffectId)> {
        None
    }

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

    /// As the journal holds it.
    ///
    /// # Errors
    /// If it is larger than a body may be.
    pub fn store(&self) -> Result<Body, StoredError> {
        match self {
            Self::Machine(command) => command.store(),
            Self::Volume(command) => command.store(),
            Self::VolumeAttachment(command) => command.store(),
            Self::Policy(command) => command.store(),
            Self::ReplicaSet(command) => command.store(),
            Self::Filesystem(command) => command.store(),
            Self::FilesystemAttachment(command) => command.store(),
            Self::Member(command) => command.store(),
            Self::MachineSet(command) => command.store(),
            Self::MachineDeployment(command) => command.store(),
            Self::MachineClass(command) => command.store(),
            Self::Document(command) => command.store(),
        }
    }

    /// Whether it reports how running work went.
    pub fn is_report(&self) -> bool {
        match self {
            Self::Machine(command) => machine::State::is_report(command),
            Self::Volume(command) => volume::State::is_report(command),
            Self::VolumeAttachment(command) => volume_attachment::State::is_report(command),
            Self::ReplicaSet(command) => replica_set::State::is_report(command),
            Self::Filesystem(command) => filesystem::State::is_report(command),
            Self::FilesystemAttachment(command) => filesystem_attachment::State::is_report(command),
            // Reports of supervisors are told again, as long as it takes.
            Self::MachineSet(_) | Self::MachineDeployment(_) | Self::MachineClass(_) => false,
            Self::Policy(_) | Self::Member(_) | Self::Document(_) => false,
        }
    }
}

impl Kind for document::State {
    const OWES: bool = false;

    fn command_of(any: AnyCommand) -> Option<document::Command> {
        match any {
            AnyCommand::Document(command) => Some(command),
            _ => None,
        }
    }

    fn work(&self, _journal: Uuid, _stream: &StreamId, effect: &NoEffect) -> Work {
        match *effect {}
    }

    fn wake(_due: Timestamp) -> Option<AnyCommand> {
        None
    }
}

impl Kind for policy::State {
    const OWES: bool = false;

    fn command_of(any: AnyCommand) -> Option<policy::Command> {
        match any {
            AnyCommand::Policy(command) => Some(command),
            _ => None,
        }
    }

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
