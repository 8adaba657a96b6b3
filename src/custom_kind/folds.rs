//! The entities of custom kinds, folded from a journal.

use std::{any::Any, collections::BTreeMap, fmt, marker::PhantomData};

use bailiwick_actors::{
    contract::{Fold, Stored, StoredError},
    custom::Kept,
    vocab::{Added, EffectId, Effort, Name},
};
use bailiwick_journal::{Body, Entry, StreamId};
use uuid::Uuid;

use super::CustomKind;

/// The entities of all registered kinds.
#[derive(Debug, Default)]
pub(crate) struct Folds(BTreeMap<&'static str, Box<dyn AnyFold>>);

/// The entities of one kind.
trait AnyFold: Any + fmt::Debug + Send + Sync {
    fn apply(&mut self, entry: &Entry) -> Result<(), StoredError>;
    fn copy(&self) -> Box<dyn AnyFold>;
    fn is(&self, other: &dyn Any) -> bool;
}

impl<K: CustomKind> AnyFold for Fold<K> {
    fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        Self::apply(self, entry)
    }

    fn copy(&self) -> Box<dyn AnyFold> {
        Box::new(self.clone())
    }

    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// Makes the fold of a kind.
struct NewFold {
    kind: &'static str,
    new: fn() -> Box<dyn AnyFold>,
}

static KINDS: Added<NewFold> = Added::new();

struct Of<K>(PhantomData<K>);

impl<K: CustomKind> Of<K> {
    const NEW: NewFold = NewFold { kind: K::KIND, new: || Box::new(Fold::<K>::default()) };
}

/// Entities of this kind are folded from now on.
pub(super) fn add<K: CustomKind>() {
    KINDS.add(&Of::<K>::NEW);
}

impl Folds {
    /// Takes an entry in if it is of a registered kind.
    ///
    /// # Errors
    /// If it cannot be decoded; nothing has changed then.
    pub(crate) fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        match KINDS.find(|kind| kind.kind == entry.header.stream.kind()) {
            Some(NewFold { kind, new }) => self.0.entry(kind).or_insert_with(new).apply(entry),
            None => Ok(()),
        }
    }

    /// The entities of a kind; none before the first of them.
    pub(crate) fn of<K: CustomKind>(&self) -> Option<&Fold<K>> {
        let fold: &dyn Any = &**self.0.get(K::KIND)?;
        fold.downcast_ref()
    }
}

impl Clone for Folds {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|(kind, fold)| (*kind, fold.copy())).collect())
    }
}

impl PartialEq for Folds {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().all(|(kind, fold)| other.0.get(kind).is_some_and(|other| fold.is(&**other)))
    }
}

/// What a provider keeps for an entity, or is asked to.
#[derive(Debug)]
pub(crate) struct Keeping<'f> {
    pub id: EffectId,
    /// Whose it is.
    pub stream: StreamId,
    pub provider: Name,
    pub work: Work<'f>,
    /// What was made, or will be if it is simulated; none while it is undone.
    pub made: Option<Body>,
}

/// How far that is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work<'f> {
    Making(&'f Effort),
    There,
    Undoing(&'f Effort),
}

/// What is kept for each entity of a kind.
pub(super) fn keepings<K: CustomKind>(folds: &Folds, journal: Uuid) -> Vec<Keeping<'_>> {
    let entities = folds.of::<K>().into_iter().flat_map(Fold::iter);
    entities.filter_map(|(name, folded)| keeping(&folded.state, name, journal)).collect()
}

fn keeping<'f, K: CustomKind>(state: &'f K, name: &str, journal: Uuid) -> Option<Keeping<'f>> {
    let stream = StreamId::new(K::KIND, name).ok()?;
    let id = EffectId::of(journal, &stream, state.kept().intent()?);
    let (work, made) = match state.kept() {
        Kept::None => return None,
        Kept::Making(effort) => (Work::Making(effort), K::simulated(id, &state.wish(name)).store().ok()),
        Kept::There { made, .. } => (Work::There, made.store().ok()),
        Kept::Undoing { effort, .. } => (Work::Undoing(effort), None),
    };
    Some(Keeping { id, stream, provider: state.provider()?.clone(), work, made })
}

/// The providers that the entities of a kind name.
pub(super) fn makers<K: CustomKind>(folds: &Folds) -> Vec<Name> {
    let entities = folds.of::<K>().into_iter().flat_map(Fold::iter);
    entities.filter_map(|(_, folded)| folded.state.provider().cloned()).collect()
}
