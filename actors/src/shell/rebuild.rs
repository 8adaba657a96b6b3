//! The state of everything, folded from the journal in one pass, without mailboxes.

use std::{collections::BTreeMap, ops::ControlFlow};

use bailiwick_journal::{EntryView, Filter, Journal, Position, ReadError, StreamId};
use uuid::Uuid;

use super::{Kind, TakenOver, Work};
use crate::{
    contract::{Decider, Decoded, DecodedEvents, Entity, NoView, PolicyInForce, StoredError, View},
    filesystem, filesystem_attachment, machine, machine_deployment, machine_set, policy, replica_set,
    supervisor::{machine_sets, machines, replica_sets, storage},
    vocab::Timestamp,
    volume, volume_attachment,
};

/// What a journal says is true, and what is owed.
#[derive(Debug)]
pub struct Rebuilt {
    /// Up to where it was read.
    pub position: Position,
    pub policy: PolicyInForce,
    /// The streams whose entities are owed work in the outside world.
    pub busy: Vec<StreamId>,
    /// The entities that wait, and until when.
    pub waiting: Vec<(StreamId, Timestamp)>,
    /// What another journal made.
    pub taken_over: TakenOver,
    pub machines_view: machines::View,
    pub machines_supervisor: Entity<machines::State>,
    pub storage_view: storage::View,
    pub storage_supervisor: Entity<storage::State>,
    pub replica_sets_view: replica_sets::View,
    pub replica_sets_supervisor: Entity<replica_sets::State>,
    pub machine_sets_view: machine_sets::View,
    pub machine_sets_supervisor: Entity<machine_sets::State>,
}

/// Why the state could not be rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    #[error("the journal cannot be read")]
    Read(#[from] ReadError),
    #[error("entry {position} of {stream} cannot be understood")]
    Stored { position: Position, stream: StreamId, source: StoredError },
}

#[derive(Default)]
struct Folds {
    machines: BTreeMap<StreamId, Entity<machine::State>>,
    volumes: BTreeMap<StreamId, Entity<volume::State>>,
    attachments: BTreeMap<StreamId, Entity<volume_attachment::State>>,
    filesystems: BTreeMap<StreamId, Entity<filesystem::State>>,
    filesystem_attachments: BTreeMap<StreamId, Entity<filesystem_attachment::State>>,
    policies: BTreeMap<StreamId, Entity<policy::State>>,
    replica_sets: BTreeMap<StreamId, Entity<replica_set::State>>,
    machine_sets: BTreeMap<StreamId, Entity<machine_set::State>>,
    machine_deployments: BTreeMap<StreamId, Entity<machine_deployment::State>>,
}

impl Folds {
    fn taken_over(&self, journal: Uuid, into: &mut TakenOver) {
        for (stream, entity) in &self.volumes {
            if let volume::Storage::Provisioned { intent, volume } = &entity.state().storage {
                into.note(journal, stream, *intent, volume.effect);
            }
        }
        for (stream, entity) in &self.filesystems {
            if let filesystem::Storage::Provisioned { intent, filesystem } = &entity.state().storage {
                into.note(journal, stream, *intent, filesystem.effect);
            }
        }
    }
}

/// Folds the whole journal.
///
/// # Errors
/// If an entry cannot be read or understood; the error names it.
pub fn rebuild(journal: &dyn Journal) -> Result<Rebuilt, RebuildError> {
    let position = journal.head().position;
    let supervisor = |name: &str| StreamId::new("supervisor", name).expect("a valid name");
    let mut folds = Folds::default();
    let mut rebuilt = Rebuilt {
        position,
        policy: PolicyInForce { reference: None, document: policy::Document::default() },
        busy: Vec::new(),
        waiting: Vec::new(),
        taken_over: TakenOver::default(),
        machines_view: machines::View::default(),
        machines_supervisor: Entity::new(supervisor(machines::View::NAME)),
        storage_view: storage::View::default(),
        storage_supervisor: Entity::new(supervisor(storage::View::NAME)),
        replica_sets_view: replica_sets::View::default(),
        replica_sets_supervisor: Entity::new(supervisor(replica_sets::View::NAME)),
        machine_sets_view: machine_sets::View::default(),
        machine_sets_supervisor: Entity::new(supervisor(machine_sets::View::NAME)),
    };
    fold_all(journal, position, &mut folds, &mut rebuilt)?;
    folds.taken_over(journal.id(), &mut rebuilt.taken_over);
    owed(journal.id(), &folds.volumes, &mut rebuilt);
    owed(journal.id(), &folds.machines, &mut rebuilt);
    owed(journal.id(), &folds.attachments, &mut rebuilt);
    owed(journal.id(), &folds.filesystems, &mut rebuilt);
    owed(journal.id(), &folds.filesystem_attachments, &mut rebuilt);
    owed(journal.id(), &folds.replica_sets, &mut rebuilt);
    owed(journal.id(), &folds.machine_sets, &mut rebuilt);
    owed(journal.id(), &folds.machine_deployments, &mut rebuilt);
    let default = folds.policies.iter().find(|(stream, _)| stream.name() == policy::default_name().as_str());
    if let Some((stream, entity)) = default {
        rebuilt.policy = entity.state().in_force(stream);
    }
    Ok(rebuilt)
}

/// One pass, for which blocks are fetched ahead while those before them are folded.
fn fold_all(
    journal: &dyn Journal,
    position: Position,
    folds: &mut Folds,
    rebuilt: &mut Rebuilt,
) -> Result<(), RebuildError> {
    let mut broken = None;
    let mut take = |view: &EntryView<'_>| {
        let folded = match view.entry() {
            Ok(entry) => take_in(folds, rebuilt, &Decoded::new(&entry, &DecodedEvents::default())).map_err(|source| {
                RebuildError::Stored { position: entry.header.position, stream: entry.header.stream.clone(), source }
            }),
            Err(problem) => Err(ReadError::Damaged { position: view.position(), problem: problem.to_owned() }.into()),
        };
        match folded {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                broken = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    journal.pass(Position(1), position, &Filter::all(), &mut take)?;
    broken.map_or(Ok(()), Err)
}

fn take_in(folds: &mut Folds, rebuilt: &mut Rebuilt, entry: &Decoded<'_>) -> Result<(), StoredError> {
    let stream = &entry.header.stream;
    let kind = stream.kind();
    match kind {
        machine::State::KIND => fold(&mut folds.machines, entry)?,
        volume::State::KIND => fold(&mut folds.volumes, entry)?,
        volume_attachment::State::KIND => fold(&mut folds.attachments, entry)?,
        policy::State::KIND => fold(&mut folds.policies, entry)?,
        filesystem::State::KIND => fold(&mut folds.filesystems, entry)?,
        filesystem_attachment::State::KIND => fold(&mut folds.filesystem_attachments, entry)?,
        replica_set::State::KIND => fold(&mut folds.replica_sets, entry)?,
        machine_set::State::KIND => fold(&mut folds.machine_sets, entry)?,
        machine_deployment::State::KIND => fold(&mut folds.machine_deployments, entry)?,
        "supervisor" if stream.name() == machines::View::NAME => rebuilt.machines_supervisor.take_in_decoded(entry)?,
        "supervisor" if stream.name() == storage::View::NAME => rebuilt.storage_supervisor.take_in_decoded(entry)?,
        "supervisor" if stream.name() == replica_sets::View::NAME => {
            rebuilt.replica_sets_supervisor.take_in_decoded(entry)?
        }
        "supervisor" if stream.name() == machine_sets::View::NAME => {
            rebuilt.machine_sets_supervisor.take_in_decoded(entry)?
        }
        // Later releases add kinds; what is not known here is left alone.
        _ => (),
    }
    if machines::View::wants(kind) {
        rebuilt.machines_view.apply_decoded(entry)?;
    }
    if storage::View::wants(kind) {
        rebuilt.storage_view.apply_decoded(entry)?;
    }
    if replica_sets::View::wants(kind) {
        rebuilt.replica_sets_view.apply_decoded(entry)?;
    }
    if machine_sets::View::wants(kind) {
        rebuilt.machine_sets_view.apply_decoded(entry)?;
    }
    Ok(())
}

fn fold<D: Decider>(entities: &mut BTreeMap<StreamId, Entity<D>>, entry: &Decoded<'_>) -> Result<(), StoredError> {
    let stream = &entry.header.stream;
    if !entities.contains_key(stream) {
        entities.insert(stream.clone(), Entity::new(stream.clone()));
    }
    entities.get_mut(stream).expect("it was just put there").take_in_decoded(entry)
}

fn owed<D: Kind>(journal: Uuid, entities: &BTreeMap<StreamId, Entity<D>>, rebuilt: &mut Rebuilt) {
    for (stream, entity) in entities {
        let state = entity.state();
        let mut calls = false;
        for effect in state.pending(&NoView) {
            match state.work(journal, stream, &effect) {
                Work::WakeAt(due) => rebuilt.waiting.push((stream.clone(), due)),
                Work::Call(_) => calls = true,
            }
        }
        if calls {
            rebuilt.busy.push(stream.clone());
        }
    }
}
