//! The state of everything, folded from the journal in one pass, without mailboxes.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use bailiwick_journal::{EntryView, Filter, Journal, Position, ReadError, StreamId};

use super::{
    TakenOver,
    any::AnyEntity,
    table::{ADDED, KINDS, KindEntry},
};
use crate::{
    contract::{Decider, Decoded, DecodedEvents, Entity, PolicyInForce, StoredError},
    policy, provider,
    supervisor::{AnySupervision, Supervision, machine_sets, machines, replica_sets, storage},
    vocab::{Name, Timestamp},
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
    /// The providers that operators hold.
    pub held: BTreeSet<Name>,
    pub machines: Supervision<machines::State>,
    pub storage: Supervision<storage::State>,
    pub replica_sets: Supervision<replica_sets::State>,
    pub machine_sets: Supervision<machine_sets::State>,
    /// The supervisors of the kinds that a program has added.
    pub added: Vec<Box<dyn AnySupervision>>,
}

/// Why the state could not be rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    #[error("the journal cannot be read")]
    Read(#[from] ReadError),
    #[error("entry {position} of {stream} cannot be understood")]
    Stored { position: Position, stream: StreamId, source: StoredError },
}

/// The entities of a kind.
type Entities = BTreeMap<StreamId, Box<dyn AnyEntity>>;

struct Folds {
    /// Those that may be owed something, in the order in which a node takes their work up.
    kinds: Vec<&'static KindEntry>,
    /// As these.
    by_kind: Vec<Entities>,
    policies: BTreeMap<StreamId, Entity<policy::State>>,
    providers: BTreeMap<StreamId, Entity<provider::State>>,
}

impl Folds {
    fn new() -> Self {
        let added = ADDED.all().into_iter().map(|added| &added.kind);
        let kinds: Vec<&'static KindEntry> = KINDS.iter().chain(added).filter(|kind| kind.owes).collect();
        let by_kind = kinds.iter().map(|_| Entities::new()).collect();
        Self { kinds, by_kind, policies: BTreeMap::new(), providers: BTreeMap::new() }
    }

    fn take_in(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        let Some(number) = self.kinds.iter().position(|kind| kind.name == stream.kind()) else { return Ok(()) };
        let entities = &mut self.by_kind[number];
        if let Some(entity) = entities.get_mut(stream) {
            return entity.take_in(entry);
        }
        let empty = (self.kinds[number].empty)(stream.clone());
        entities.entry(stream.clone()).or_insert(empty).take_in(entry)
    }
}

/// Folds the whole journal.
///
/// # Errors
/// If an entry cannot be read or understood; the error names it.
pub fn rebuild(journal: &dyn Journal) -> Result<Rebuilt, RebuildError> {
    let position = journal.head().position;
    let mut folds = Folds::new();
    let mut rebuilt = Rebuilt {
        position,
        policy: PolicyInForce { reference: None, document: policy::Document::default() },
        busy: Vec::new(),
        waiting: Vec::new(),
        taken_over: TakenOver::default(),
        held: BTreeSet::new(),
        machines: Supervision::default(),
        storage: Supervision::default(),
        replica_sets: Supervision::default(),
        machine_sets: Supervision::default(),
        added: ADDED.all().into_iter().map(|kind| (kind.supervision)()).collect(),
    };
    fold_all(journal, position, &mut folds, &mut rebuilt)?;
    for (stream, entity) in folds.by_kind.iter().flatten() {
        entity.note_taken_over(journal.id(), &mut rebuilt.taken_over);
        let (calls, waits) = entity.owed(journal.id());
        rebuilt.waiting.extend(waits.into_iter().map(|due| (stream.clone(), due)));
        if calls {
            rebuilt.busy.push(stream.clone());
        }
    }
    let held = folds.providers.iter().filter(|(_, entity)| entity.state().hold.is_some());
    rebuilt.held = held.filter_map(|(stream, _)| stream.name().parse().ok()).collect();
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
    if stream.kind() == policy::State::KIND {
        let new = || Entity::new(stream.clone());
        folds.policies.entry(stream.clone()).or_insert_with(new).take_in_decoded(entry)?;
    } else {
        if stream.kind() == provider::State::KIND {
            let new = || Entity::new(stream.clone());
            folds.providers.entry(stream.clone()).or_insert_with(new).take_in_decoded(entry)?;
        }
        // Later releases add kinds; what is not known here is left alone.
        folds.take_in(entry)?;
    }
    rebuilt.machines.take_in(entry)?;
    rebuilt.storage.take_in(entry)?;
    rebuilt.replica_sets.take_in(entry)?;
    rebuilt.machine_sets.take_in(entry)?;
    rebuilt.added.iter_mut().try_for_each(|supervision| supervision.take_in(entry))
}
