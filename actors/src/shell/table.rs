//! The kinds of entities, each once. Code that handles an entity without knowing its kind finds it here.

use std::{marker::PhantomData, rc::Rc, sync::Arc};

use actix::{Actor, WeakAddr};
use bailiwick_journal::{Body, Entry, StreamId};

use super::{
    AnyCommand, AskError, EntityActor, Executor, Kind, Services,
    any::{AnyAddr, AnyEntity},
    entity_actor::verdict_text,
};
use crate::{
    contract::{Entity, Stored as _, StoredError},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, provider, replica_set,
    schedule::ScheduleActor,
    supervisor::{AnySupervision, Supervision, shell::Supervise},
    vocab::{Added, Timestamp},
    volume, volume_attachment,
};

/// A kind of entities. A new one has its line in [`KINDS`], or is added by a program ([`add`]).
pub(crate) struct KindEntry {
    pub(super) name: &'static str,
    /// Whether it is ever owed anything by the world, or waits for a time.
    pub(super) owes: bool,
    pub(crate) wake: fn(Timestamp) -> Option<AnyCommand>,
    /// A command of its own, as the journal holds it.
    pub(super) load: fn(&Body) -> Result<AnyCommand, StoredError>,
    /// The reason or rejection of an entry, in plain words.
    pub(super) verdict_text: fn(&Entry) -> Result<String, String>,
    /// One that nothing has happened to.
    pub(super) empty: fn(StreamId) -> Box<dyn AnyEntity>,
    /// Starts the actor of a stream from the journal.
    pub(super) start: Start,
}

type Start = fn(&StreamId, Around<'_>) -> Result<Arc<dyn AnyAddr>, AskError>;

/// What an actor works with.
pub(super) struct Around<'a> {
    pub(super) services: &'a Rc<Services>,
    pub(super) executor: WeakAddr<Executor>,
    pub(super) schedule: WeakAddr<ScheduleActor>,
}

/// A kind that a program adds, and its supervisor.
pub(super) struct AddedKind {
    pub kind: KindEntry,
    pub supervision: fn() -> Box<dyn AnySupervision>,
}

pub(super) static ADDED: Added<AddedKind> = Added::new();

struct Of<D, S>(PhantomData<(D, S)>);

impl<D: Kind, S: Supervise> Of<D, S> {
    const ENTRY: AddedKind = AddedKind { kind: entry::<D>(), supervision: || Box::new(Supervision::<S>::default()) };
}

/// Adds a kind with its supervisor.
pub(crate) fn add<D: Kind, S: Supervise>() {
    ADDED.add(&Of::<D, S>::ENTRY);
}

const fn entry<D: Kind>() -> KindEntry {
    KindEntry {
        name: D::KIND,
        owes: D::OWES,
        wake: |due| D::wake(due).map(AnyCommand::from),
        load: |body| D::Command::load(body).map(AnyCommand::from),
        verdict_text: verdict_text::<D>,
        empty: |stream| Box::new(Entity::<D>::new(stream)),
        start: start::<D>,
    }
}

fn start<D: Kind>(stream: &StreamId, around: Around<'_>) -> Result<Arc<dyn AnyAddr>, AskError> {
    let Around { services, executor, schedule } = around;
    let entity = EntityActor::<D>::load(stream, services)?;
    Ok(Arc::new(EntityActor::new(entity, services.clone(), executor, schedule).start()))
}

/// All built-in kinds but documents. A node that starts takes their work up in this order.
pub(super) static KINDS: [KindEntry; 12] = [
    entry::<volume::State>(),
    entry::<machine::State>(),
    entry::<volume_attachment::State>(),
    entry::<filesystem::State>(),
    entry::<filesystem_attachment::State>(),
    entry::<replica_set::State>(),
    entry::<machine_set::State>(),
    entry::<machine_deployment::State>(),
    entry::<machine_class::State>(),
    entry::<member::State>(),
    entry::<policy::State>(),
    entry::<provider::State>(),
];

/// Documents are of many kinds, and one in how they are handled.
static DOCUMENTS: KindEntry = entry::<document::State>();

/// The kind of that name; none for one that this release does not know.
pub(crate) fn kind(name: &str) -> Option<&'static KindEntry> {
    let built_in = KINDS.iter().find(|entry| entry.name == name);
    let added = || ADDED.find(|added| added.kind.name == name).map(|added| &added.kind);
    built_in.or_else(|| document::Kind::of(name).map(|_| &DOCUMENTS)).or_else(added)
}
