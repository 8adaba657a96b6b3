//! Actors and entities of whatever kind.

use std::{future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use actix::{Addr, MailboxError};
use bailiwick_journal::{Entry, StreamId};

use super::{
    Answer, AnyCommand, AskError, EntityActor, Kind, Origin, Recorded, Retire, Services, Snapshot, Submit,
    entity_actor::{Proposal, propose_on, read_on, verdict_text},
};
use crate::{
    contract::{Decider, Entity, Known, NoView},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, replica_set, volume, volume_attachment,
};

/// The address of an entity's actor, of whatever kind.
#[derive(Clone, Debug)]
pub(super) enum AnyAddr {
    Machine(Addr<EntityActor<machine::State>>),
    Volume(Addr<EntityActor<volume::State>>),
    VolumeAttachment(Addr<EntityActor<volume_attachment::State>>),
    Policy(Addr<EntityActor<policy::State>>),
    ReplicaSet(Addr<EntityActor<replica_set::State>>),
    Filesystem(Addr<EntityActor<filesystem::State>>),
    FilesystemAttachment(Addr<EntityActor<filesystem_attachment::State>>),
    Member(Addr<EntityActor<member::State>>),
    MachineSet(Addr<EntityActor<machine_set::State>>),
    MachineDeployment(Addr<EntityActor<machine_deployment::State>>),
    MachineClass(Addr<EntityActor<machine_class::State>>),
    Document(Addr<EntityActor<document::State>>),
}

/// The state of an entity, of whatever kind, for deciding about several in one step.
#[derive(Debug)]
pub(super) enum AnyEntity {
    Machine(Box<Entity<machine::State>>),
    Volume(Entity<volume::State>),
    VolumeAttachment(Entity<volume_attachment::State>),
    Policy(Entity<policy::State>),
    ReplicaSet(Box<Entity<replica_set::State>>),
    Filesystem(Entity<filesystem::State>),
    FilesystemAttachment(Entity<filesystem_attachment::State>),
    Member(Entity<member::State>),
    MachineSet(Entity<machine_set::State>),
    MachineDeployment(Box<Entity<machine_deployment::State>>),
    MachineClass(Entity<machine_class::State>),
    Document(Box<Entity<document::State>>),
}

impl AnyEntity {
    /// Takes in what the journal has and it has not seen.
    pub(super) fn catch_up(&mut self, stream: &StreamId, services: &Services) -> Result<(), AskError> {
        match self {
            Self::Machine(entity) => read_on(entity, stream, services),
            Self::Volume(entity) => read_on(entity, stream, services),
            Self::VolumeAttachment(entity) => read_on(entity, stream, services),
            Self::Policy(entity) => read_on(entity, stream, services),
            Self::ReplicaSet(entity) => read_on(entity, stream, services),
            Self::Filesystem(entity) => read_on(entity, stream, services),
            Self::FilesystemAttachment(entity) => read_on(entity, stream, services),
            Self::Member(entity) => read_on(entity, stream, services),
            Self::MachineSet(entity) => read_on(entity, stream, services),
            Self::MachineDeployment(entity) => read_on(entity, stream, services),
            Self::MachineClass(entity) => read_on(entity, stream, services),
            Self::Document(entity) => read_on(entity, stream, services),
        }
    }

    /// What it would answer; it is then as it will be once that is recorded.
    pub(super) fn propose(
        &mut self,
        stream: &StreamId,
        command: AnyCommand,
        origin: Origin,
        known: &Known<'_, NoView>,
    ) -> Result<Proposal, AskError> {
        let urgency = command.urgency();
        match (self, command) {
            (Self::Machine(entity), AnyCommand::Machine(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::Volume(entity), AnyCommand::Volume(command)) => propose_on(entity, command, urgency, origin, known),
            (Self::VolumeAttachment(entity), AnyCommand::VolumeAttachment(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::Policy(entity), AnyCommand::Policy(command)) => propose_on(entity, command, urgency, origin, known),
            (Self::ReplicaSet(entity), AnyCommand::ReplicaSet(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::Filesystem(entity), AnyCommand::Filesystem(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::Member(entity), AnyCommand::Member(command)) => propose_on(entity, command, urgency, origin, known),
            (Self::MachineSet(entity), AnyCommand::MachineSet(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::MachineDeployment(entity), AnyCommand::MachineDeployment(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::MachineClass(entity), AnyCommand::MachineClass(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::Document(entity), AnyCommand::Document(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            (Self::FilesystemAttachment(entity), AnyCommand::FilesystemAttachment(command)) => {
                propose_on(entity, command, urgency, origin, known)
            }
            _ => Err(AskError::Misdirected { stream: stream.clone() }),
        }
    }
}

pub(super) type Later<T> = Pin<Box<dyn Future<Output = Result<T, MailboxError>>>>;

/// Runs the same expression for whatever kind the address is of.
macro_rules! each_kind {
    ($addr:expr, $inner:ident => $run:expr) => {
        match $addr {
            AnyAddr::Machine($inner) => $run,
            AnyAddr::Volume($inner) => $run,
            AnyAddr::VolumeAttachment($inner) => $run,
            AnyAddr::Policy($inner) => $run,
            AnyAddr::ReplicaSet($inner) => $run,
            AnyAddr::Filesystem($inner) => $run,
            AnyAddr::FilesystemAttachment($inner) => $run,
            AnyAddr::Member($inner) => $run,
            AnyAddr::MachineSet($inner) => $run,
            AnyAddr::MachineDeployment($inner) => $run,
            AnyAddr::MachineClass($inner) => $run,
            AnyAddr::Document($inner) => $run,
        }
    };
}

impl AnyAddr {
    pub(super) fn submit(&self, command: AnyCommand, origin: Origin) -> Option<Later<Result<Answer, AskError>>> {
        let urgency = command.urgency();
        Some(match (self, command) {
            (Self::Machine(addr), AnyCommand::Machine(command)) => later(addr, Submit { command, origin, urgency }),
            (Self::Volume(addr), AnyCommand::Volume(command)) => later(addr, Submit { command, origin, urgency }),
            (Self::VolumeAttachment(addr), AnyCommand::VolumeAttachment(command)) => {
                later(addr, Submit { command, origin, urgency })
            }
            (Self::Policy(addr), AnyCommand::Policy(command)) => later(addr, Submit { command, origin, urgency }),
            (Self::Member(addr), AnyCommand::Member(command)) => later(addr, Submit { command, origin, urgency }),
            (Self::Filesystem(addr), AnyCommand::Filesystem(command)) => {
                later(addr, Submit { command, origin, urgency })
            }
            (Self::FilesystemAttachment(addr), AnyCommand::FilesystemAttachment(command)) => {
                later(addr, Submit { command, origin, urgency })
            }
            (Self::MachineDeployment(addr), AnyCommand::MachineDeployment(command)) => {
                later(addr, Submit { command, origin, urgency })
            }
            (Self::MachineSet(addr), AnyCommand::MachineSet(command)) => {
                later(addr, Submit { command, origin, urgency })
            }
            (Self::MachineClass(addr), AnyCommand::MachineClass(command)) => {
                later(addr, Submit { command, origin, urgency })
            }
            (Self::Document(addr), AnyCommand::Document(command)) => later(addr, Submit { command, origin, urgency }),
            (Self::ReplicaSet(addr), AnyCommand::ReplicaSet(command)) => {
                later(addr, Submit { command, origin, urgency })
            }
            _ => return None,
        })
    }

    pub(super) fn snapshot(&self) -> Later<Result<AnyEntity, AskError>> {
        macro_rules! of_kind {
            ($addr:expr, $variant:expr) => {{
                let request = $addr.send(Snapshot(PhantomData));
                Box::pin(async move { Ok(request.await?.map($variant)) })
            }};
        }
        match self {
            Self::Machine(addr) => of_kind!(addr, |entity| AnyEntity::Machine(Box::new(entity))),
            Self::Volume(addr) => of_kind!(addr, AnyEntity::Volume),
            Self::VolumeAttachment(addr) => of_kind!(addr, AnyEntity::VolumeAttachment),
            Self::Policy(addr) => of_kind!(addr, AnyEntity::Policy),
            Self::ReplicaSet(addr) => of_kind!(addr, |entity| AnyEntity::ReplicaSet(Box::new(entity))),
            Self::Filesystem(addr) => of_kind!(addr, AnyEntity::Filesystem),
            Self::FilesystemAttachment(addr) => of_kind!(addr, AnyEntity::FilesystemAttachment),
            Self::Member(addr) => of_kind!(addr, AnyEntity::Member),
            Self::MachineSet(addr) => of_kind!(addr, AnyEntity::MachineSet),
            Self::MachineDeployment(addr) => of_kind!(addr, |entity| AnyEntity::MachineDeployment(Box::new(entity))),
            Self::MachineClass(addr) => of_kind!(addr, AnyEntity::MachineClass),
            Self::Document(addr) => of_kind!(addr, |entity| AnyEntity::Document(Box::new(entity))),
        }
    }

    pub(super) fn recorded(&self, entries: Vec<Arc<Entry>>) -> Later<Result<bool, AskError>> {
        each_kind!(self, addr => Box::pin(addr.send(Recorded { entries })))
    }

    pub(super) fn retire(&self) {
        // It is idle, and nobody waits for an answer of it: whoever asks it is counted in its slot.
        each_kind!(self, addr => drop(addr.try_send(Retire)));
    }

    pub(super) fn connected(&self) -> bool {
        each_kind!(self, addr => addr.connected())
    }
}

fn later<D: Kind>(addr: &Addr<EntityActor<D>>, submit: Submit<D>) -> Later<Result<Answer, AskError>> {
    Box::pin(addr.send(submit))
}

/// The reason or rejection of an entity's entry, in plain words.
pub(super) fn any_verdict_text(entry: &Entry) -> Result<String, String> {
    match entry.header.stream.kind() {
        machine::State::KIND => verdict_text::<machine::State>(entry),
        volume::State::KIND => verdict_text::<volume::State>(entry),
        volume_attachment::State::KIND => verdict_text::<volume_attachment::State>(entry),
        policy::State::KIND => verdict_text::<policy::State>(entry),
        replica_set::State::KIND => verdict_text::<replica_set::State>(entry),
        filesystem::State::KIND => verdict_text::<filesystem::State>(entry),
        filesystem_attachment::State::KIND => verdict_text::<filesystem_attachment::State>(entry),
        member::State::KIND => verdict_text::<member::State>(entry),
        machine_set::State::KIND => verdict_text::<machine_set::State>(entry),
        machine_deployment::State::KIND => verdict_text::<machine_deployment::State>(entry),
        machine_class::State::KIND => verdict_text::<machine_class::State>(entry),
        kind if document::Kind::of(kind).is_some() => verdict_text::<document::State>(entry),
        kind => Err(format!("{kind} is not a kind of object")),
    }
}
