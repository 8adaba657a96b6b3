//! How each kind of entity is shown: found, listed, described, explained. A new kind has its implementation in a file of
//! this folder, and its line in [`KINDS`].

mod custom_kinds;
mod machines;
mod others;
mod past;
mod storage;

use std::{collections::BTreeMap, marker::PhantomData};

use bailiwick_actors::{
    contract::{Fold, Folded, NoView},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy,
    ports::CallKind,
    provider, replica_set,
    shell::{Kind, Work},
    vocab::{Added, Effort, Life, Name, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::{Journal, StreamId};
use serde_json::Value;

use super::{
    AgentRow, ConditionRow, Fleet, FleetError, MemberRow,
    portrait::{CustomRow, Row},
    told::Told,
    unmet::Unmet,
};
use crate::custom_kind::CustomKind;

use past::{Past, past};

/// A kind of entity that is shown.
pub(super) trait Shown: Kind {
    /// Every status that one can be listed with; none where the kind has none.
    const STATUSES: &'static [&'static str] = &[];

    /// What one can be asked about by `why-not`; none where there is no answer.
    const GOALS: &'static [&'static str] = &[];

    /// All that something was ever heard of, gone ones included; none if nothing was heard of any.
    fn fold<'f>(fleet: &'f Fleet, kind: &str) -> Option<&'f Fold<Self>>;

    /// One of them.
    fn find<'f>(fleet: &'f Fleet, stream: &StreamId) -> Option<&'f Folded<Self>> {
        Self::fold(fleet, stream.kind())?.folded(stream.name())
    }

    fn life(&self) -> Life;

    fn is_protected(&self) -> bool {
        false
    }

    /// Its work in the outside world.
    fn effort(&self) -> Option<&Effort> {
        None
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait;

    /// What is said of it, fact by fact, where two moments are compared.
    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told;

    /// One of the statuses of its kind; none where the kind has none.
    fn status(&self) -> Option<&'static str> {
        None
    }

    /// What stands in its history.
    fn status_then(&self) -> String {
        self.status().unwrap_or_default().to_owned()
    }

    /// Since when it is as it is, if that is another time than that of its last change.
    fn since(&self, _fleet: &Fleet, _stream: &StreamId) -> Option<Timestamp> {
        self.effort().map(|effort| effort.since)
    }

    /// What stands in the way of its removal.
    fn blocked(&self, _fleet: &Fleet, _stream: &StreamId) -> Vec<Obstacle> {
        Vec::new()
    }

    /// What is missing until it is like one of its goals, the inner none if nothing is; none at all if nothing was ever heard
    /// of it.
    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(_fleet: &Fleet, _stream: &StreamId, _goal: &str) -> Option<Option<Unmet>> {
        None
    }
}

/// By what, why, and since when.
pub(super) type Obstacle = (String, String, Option<Timestamp>);

/// What its own kind has to say of an entity.
pub(super) struct Portrait {
    pub row: Row,
    /// What was declared last, by the names and in the words of a manifest.
    pub spec: Value,
    pub annotations: BTreeMap<String, String>,
    pub members: Vec<MemberRow>,
    pub agent: Option<AgentRow>,
    pub conditions: Vec<ConditionRow>,
}

impl Portrait {
    fn of(row: Row, spec: Value) -> Self {
        let (annotations, members) = (BTreeMap::new(), Vec::new());
        Self { row, spec, annotations, members, agent: None, conditions: Vec::new() }
    }
}

/// A kind, in the table.
pub(super) struct KindEntry {
    name: &'static str,
    pub statuses: &'static [&'static str],
    pub goals: &'static [&'static str],
    pub streams: fn(&Fleet) -> Vec<StreamId>,
    pub status: fn(&Fleet, &StreamId) -> Option<&'static str>,
    pub next_due: fn(&Fleet) -> Option<Timestamp>,
    pub asks: fn(&Fleet, &StreamId) -> Option<Name>,
    pub life: fn(&Fleet, &StreamId) -> Option<Life>,
    pub is_protected: fn(&Fleet, &StreamId) -> bool,
    pub effort: for<'f> fn(&'f Fleet, &StreamId) -> Option<&'f Effort>,
    pub portrait: fn(&Fleet, &StreamId) -> Option<Portrait>,
    pub facts: fn(&Fleet, &StreamId) -> Option<Told>,
    pub past: fn(&dyn Journal, &Fleet, &StreamId) -> Result<Past, FleetError>,
    pub since: fn(&Fleet, &StreamId) -> Option<Timestamp>,
    pub blocked: fn(&Fleet, &StreamId) -> Vec<Obstacle>,
    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    pub missing: fn(&Fleet, &StreamId, &str) -> Option<Option<Unmet>>,
}

const fn entry<D: Shown>() -> KindEntry {
    KindEntry {
        name: D::KIND,
        statuses: D::STATUSES,
        goals: D::GOALS,
        streams: streams::<D>,
        status: |fleet, stream| D::find(fleet, stream).and_then(|folded| folded.state.status()),
        next_due: next_due::<D>,
        asks: provider_asked::<D>,
        life: |fleet, stream| D::find(fleet, stream).map(|folded| folded.state.life()),
        is_protected: |fleet, stream| D::find(fleet, stream).is_some_and(|folded| folded.state.is_protected()),
        effort: |fleet, stream| D::find(fleet, stream).and_then(|folded| folded.state.effort()),
        portrait: |fleet, stream| D::find(fleet, stream).map(|folded| D::portrait(fleet, stream, folded)),
        facts: |fleet, stream| D::find(fleet, stream).map(|folded| folded.state.facts(fleet, stream)),
        past: past::<D>,
        since: |fleet, stream| D::find(fleet, stream).and_then(|folded| folded.state.since(fleet, stream)),
        blocked: |fleet, stream| {
            D::find(fleet, stream).map(|folded| folded.state.blocked(fleet, stream)).unwrap_or_default()
        },
        missing: D::missing,
    }
}

/// The kinds that a program adds.
static ADDED: Added<KindEntry> = Added::new();

struct Of<K>(PhantomData<K>);

impl<K: CustomKind> Of<K> {
    const ENTRY: KindEntry = entry::<K>();
}

/// Adds a kind.
pub(crate) fn add<K: CustomKind>() {
    ADDED.add(&Of::<K>::ENTRY);
}

/// The entities of each kind that a program has added.
pub(crate) fn added_rows(fleet: &Fleet) -> impl Iterator<Item = (&'static str, Vec<CustomRow>)> {
    let row = |kind: &KindEntry, stream| match (kind.portrait)(fleet, &stream)?.row {
        Row::Custom(row) => Some(*row),
        _ => None,
    };
    let existing = move |kind: &KindEntry| {
        let streams = (kind.streams)(fleet).into_iter().filter(|stream| fleet.exists(stream));
        streams.filter_map(|stream| row(kind, stream)).collect()
    };
    ADDED.all().into_iter().map(move |kind| (kind.name, existing(kind)))
}

fn streams<D: Shown>(fleet: &Fleet) -> Vec<StreamId> {
    let names = D::fold(fleet, D::KIND).into_iter().flat_map(Fold::iter).map(|(name, _)| name);
    names.map(|name| StreamId::new(D::KIND, name).expect("the name of a stream")).collect()
}

/// The next moment that one of them waits for.
fn next_due<D: Shown>(fleet: &Fleet) -> Option<Timestamp> {
    let moment = |stream: StreamId| {
        let folded = D::find(fleet, &stream)?;
        let owed = folded.state.pending(&NoView).into_iter();
        let due = |effect| match folded.state.work(fleet.journal, &stream, &effect) {
            Work::WakeAt(due) => Some(due),
            Work::Call(_) => None,
        };
        owed.filter_map(due).min()
    };
    streams::<D>(fleet).into_iter().filter_map(moment).min()
}

/// The provider of which something has to be asked for one that changes something.
fn provider_asked<D: Shown>(fleet: &Fleet, stream: &StreamId) -> Option<Name> {
    let folded = D::find(fleet, stream)?;
    folded.state.pending(&NoView).iter().find_map(|effect| match folded.state.work(fleet.journal, stream, effect) {
        Work::Call(call) if CallKind::of(call.wish.operation()) != CallKind::LookUp => call.provider,
        Work::Call(_) | Work::WakeAt(_) => None,
    })
}

/// All built-in kinds but documents, in the order in which they are listed.
static KINDS: [KindEntry; 12] = [
    entry::<machine::State>(),
    entry::<machine_set::State>(),
    entry::<machine_deployment::State>(),
    entry::<machine_class::State>(),
    entry::<volume::State>(),
    entry::<volume_attachment::State>(),
    entry::<filesystem::State>(),
    entry::<filesystem_attachment::State>(),
    entry::<policy::State>(),
    entry::<provider::State>(),
    entry::<replica_set::State>(),
    entry::<member::State>(),
];

/// Documents are of many kinds, and one in how they are shown.
static DOCUMENTS: KindEntry = entry::<document::State>();

/// The kind of that name.
pub(super) fn kind(name: &str) -> Option<&'static KindEntry> {
    let entry = KINDS.iter().find(|entry| entry.name == name);
    let added = || ADDED.find(|entry| entry.name == name);
    entry.or_else(|| document::Kind::of(name).map(|_| &DOCUMENTS)).or_else(added)
}

/// All kinds but documents.
pub(super) fn all() -> impl Iterator<Item = &'static KindEntry> {
    KINDS.iter().chain(ADDED.all())
}

/// Every kind that entities can be listed of.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    let added = ADDED.all().into_iter().map(|entry| entry.name);
    let built_in = KINDS.iter().map(|entry| entry.name);
    built_in.chain(document::Kind::ALL.into_iter().map(document::Kind::as_str)).chain(added)
}

/// Every status that an entity of this kind can be listed with; none where the kind has none.
pub fn statuses(name: &str) -> &'static [&'static str] {
    kind(name).map_or(&[], |entry| entry.statuses)
}

/// The states that an entity of this kind can be asked about.
pub fn goals(name: &str) -> &'static [&'static str] {
    kind(name).map_or(&[], |entry| entry.goals)
}
