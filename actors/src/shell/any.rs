//! Actors and entities of whatever kind, for those who need not know which.

use std::{fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use actix::{Addr, MailboxError};
use bailiwick_journal::{Entry, StreamId};
use uuid::Uuid;

use super::{
    Answer, AnyCommand, AskError, EntityActor, Kind, Origin, Recorded, Retire, Services, Snapshot, Submit, TakenOver,
    Work,
    entity_actor::{Proposal, propose_on, read_on},
};
use crate::{
    contract::{Decoded, Entity, Known, NoView, StoredError},
    vocab::Timestamp,
};

pub(super) type Later<T> = Pin<Box<dyn Future<Output = Result<T, MailboxError>>>>;

/// The address of an entity's actor.
pub(super) trait AnyAddr: fmt::Debug + Send + Sync {
    /// Hands a command over; none if it is for another kind.
    fn submit(&self, command: AnyCommand, origin: Origin) -> Option<Later<Result<Answer, AskError>>>;

    fn snapshot(&self) -> Later<Result<Box<dyn AnyEntity>, AskError>>;

    fn recorded(&self, entries: Vec<Arc<Entry>>) -> Later<Result<bool, AskError>>;

    fn retire(&self);

    fn connected(&self) -> bool;
}

impl<D: Kind> AnyAddr for Addr<EntityActor<D>> {
    fn submit(&self, command: AnyCommand, origin: Origin) -> Option<Later<Result<Answer, AskError>>> {
        let command = command.take::<D::Command>()?;
        let urgency = D::urgency(&command);
        Some(Box::pin(self.send(Submit { command, origin, urgency })))
    }

    fn snapshot(&self) -> Later<Result<Box<dyn AnyEntity>, AskError>> {
        let request = self.send(Snapshot::<D>(PhantomData));
        Box::pin(async move { Ok(request.await?.map(|entity| Box::new(entity) as Box<dyn AnyEntity>)) })
    }

    fn recorded(&self, entries: Vec<Arc<Entry>>) -> Later<Result<bool, AskError>> {
        Box::pin(self.send(Recorded { entries }))
    }

    fn retire(&self) {
        // It is idle, and nobody waits for an answer from it: a question to it is counted in its slot.
        drop(self.try_send(Retire));
    }

    fn connected(&self) -> bool {
        Addr::connected(self)
    }
}

/// An entity.
pub(super) trait AnyEntity: fmt::Debug {
    /// Takes in what the journal has and it has not seen.
    fn catch_up(&mut self, stream: &StreamId, services: &Services) -> Result<(), AskError>;

    /// What it would answer; it is then as it will be once that is recorded.
    fn propose(
        &mut self,
        stream: &StreamId,
        command: AnyCommand,
        origin: Origin,
        known: &Known<'_, NoView>,
    ) -> Result<Proposal, AskError>;

    fn take_in(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError>;

    /// Whether it is owed a call, and until when it waits.
    fn owed(&self, journal: Uuid) -> (bool, Vec<Timestamp>);

    /// Notes what another journal made of it.
    fn note_taken_over(&self, journal: Uuid, into: &mut TakenOver);
}

impl<D: Kind> AnyEntity for Entity<D> {
    fn catch_up(&mut self, stream: &StreamId, services: &Services) -> Result<(), AskError> {
        read_on(self, stream, services)
    }

    fn propose(
        &mut self,
        stream: &StreamId,
        command: AnyCommand,
        origin: Origin,
        known: &Known<'_, NoView>,
    ) -> Result<Proposal, AskError> {
        let command: D::Command = command.take().ok_or_else(|| AskError::Misdirected { stream: stream.clone() })?;
        let urgency = D::urgency(&command);
        propose_on(self, command, urgency, origin, known)
    }

    fn take_in(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        self.take_in_decoded(entry)
    }

    fn owed(&self, journal: Uuid) -> (bool, Vec<Timestamp>) {
        let (mut calls, mut waits) = (false, Vec::new());
        for effect in self.state().pending(&NoView) {
            match self.state().work(journal, self.stream(), &effect) {
                Work::WakeAt(due) => waits.push(due),
                Work::Call(_) => calls = true,
            }
        }
        (calls, waits)
    }

    fn note_taken_over(&self, journal: Uuid, into: &mut TakenOver) {
        if self.state().is_taken_over(journal, self.stream()) {
            into.extend(self.state().made().map(|(_, made)| made));
        }
    }
}
