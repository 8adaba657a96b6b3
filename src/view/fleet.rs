//! Everything that is declared, and how it is.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    contract::{Code, Decider, Fold, Stored, StoredError},
    document::{self, Documents},
    filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member, policy,
    provider, replica_set,
    supervisor::machines,
    vocab::{Effort, Life, Name, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::{Entry, Filter, Header, Journal, Position, ReadError, StreamId};
use uuid::Uuid;

use super::{
    Budgets, Calendar, Host,
    decisions::Decisions,
    kinds::{all as kinds, kind, kind as kind_of},
    names::Names,
};
use crate::custom_kind::Folds;

/// All entities, as they were right after an entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    pub machines: Fold<machine::State>,
    pub volumes: Fold<volume::State>,
    /// By `machine:volume`.
    pub attachments: Fold<volume_attachment::State>,
    pub policies: Fold<policy::State>,
    /// Those that operators hold, or have held.
    pub providers: Fold<provider::State>,
    /// What the machines supervisor has seen of the world.
    pub seen: machines::State,
    pub replica_sets: Fold<replica_set::State>,
    /// By `set:machine`.
    pub members: Fold<member::State>,
    pub filesystems: Fold<filesystem::State>,
    /// By `machine:filesystem`.
    pub filesystem_attachments: Fold<filesystem_attachment::State>,
    pub machine_sets: Fold<machine_set::State>,
    pub machine_deployments: Fold<machine_deployment::State>,
    pub machine_classes: Fold<machine_class::State>,
    pub documents: Documents,
    /// Entities of the kinds that this program has registered.
    pub(crate) custom: Folds,
    /// The streams of kinds that it does not know, each with its first entry.
    pub unknown: BTreeMap<String, Unknown>,
    /// The journal that it is folded from: ids follow from it.
    pub journal: Uuid,
    /// The last entry that was taken in.
    pub position: Position,
    /// The moment that ages are told at: the time of the last entry, unless whoever looks says that it is later.
    pub time: Timestamp,
    /// What the host's clock showed when somebody looked; none if nobody said.
    pub clock: Option<Timestamp>,
    /// Which time of day recorded times are.
    pub calendar: Calendar,
    /// How the node itself is; nothing of the past, and nothing while it does not run.
    pub host: Host,
    /// What waits for the call budgets of its providers; the same.
    pub budgets: Budgets,
    /// What came of all decisions.
    pub(super) decisions: Decisions,
    /// When each was declared last (a policy: first).
    declared: BTreeMap<StreamId, Timestamp>,
    /// Who asked for the last change of each provider.
    holders: BTreeMap<String, String>,
    /// By the name of a replica set.
    looks: BTreeMap<String, Looks>,
    names: Names,
}

/// When a replica set was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// When it was read last.
    pub last: Timestamp,
    /// When it was read first as it is now.
    pub changed: Timestamp,
}

/// What the journal has of a kind that this program does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    pub names: BTreeSet<String>,
    /// The time of the first entry.
    pub since: Timestamp,
}

/// The kind of the streams in which the node notes what happens to its journal, and requests.
const NODE: &str = "node";

/// Why there is no fleet.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("the journal cannot be read")]
    Read(#[from] ReadError),
    #[error("entry {position} of {stream} cannot be understood")]
    Stored { position: Position, stream: StreamId, source: StoredError },
}

impl Fleet {
    /// The fleet right after an entry.
    ///
    /// # Errors
    /// If an entry cannot be read or understood; the error names it.
    pub fn at(journal: &dyn Journal, position: Position) -> Result<Self, FleetError> {
        let mut fleet = Self::default();
        fleet.follow(journal, position)?;
        Ok(fleet)
    }

    /// The fleet at the journal's end.
    ///
    /// # Errors
    /// As [`Fleet::at`].
    pub fn at_head(journal: &dyn Journal) -> Result<Self, FleetError> {
        Self::at(journal, journal.head().position)
    }

    /// Takes in what the journal has beyond this fleet, up to a position.
    ///
    /// # Errors
    /// As [`Fleet::at`]; what came before the entry in question is taken in.
    pub fn follow(&mut self, journal: &dyn Journal, to: Position) -> Result<(), FleetError> {
        self.journal = journal.id();
        for entry in journal.read(self.position.next(), to, &Filter::all()) {
            let entry = entry?;
            self.apply(&entry).map_err(|source| FleetError::Stored {
                position: entry.header.position,
                stream: entry.header.stream.clone(),
                source,
            })?;
        }
        Ok(())
    }

    /// Takes in the next entry. One that was taken in before is passed over.
    ///
    /// # Errors
    /// If an event cannot be decoded; the fleet is then as it was.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        let header = &entry.header;
        if header.position <= self.position {
            return Ok(());
        }
        let existed = self.exists(&header.stream);
        self.machines.apply(entry)?;
        self.volumes.apply(entry)?;
        self.attachments.apply(entry)?;
        self.policies.apply(entry)?;
        self.providers.apply(entry)?;
        self.note_holder(entry);
        if header.stream.kind() == machines::State::KIND && header.stream.name() == machines::View::NAME {
            for (at, body) in entry.versioned_events() {
                self.seen.evolve(at, &machines::Event::load(body)?);
            }
        }
        self.replica_sets.apply(entry)?;
        self.note_look(header);
        self.members.apply(entry)?;
        self.filesystems.apply(entry)?;
        self.filesystem_attachments.apply(entry)?;
        self.machine_sets.apply(entry)?;
        self.machine_deployments.apply(entry)?;
        self.machine_classes.apply(entry)?;
        self.documents.apply(entry)?;
        self.custom.apply(entry)?;
        self.note_unknown(header);
        self.decisions.count(header);
        self.calendar.apply(entry);
        let may_be_named = self.may_be_named(&header.stream);
        self.names.note(&header.stream, may_be_named);
        self.position = header.position;
        self.time = self.time.max(Timestamp(header.meta.time_ms));
        if !existed && self.exists(&header.stream) {
            self.declared.insert(header.stream.clone(), Timestamp(header.meta.time_ms));
        }
        Ok(())
    }

    /// Whether a manifest may point at an object of a kind whose names are kept: machines and storage that are to go may not be.
    fn may_be_named(&self, object: &StreamId) -> bool {
        let name = object.name();
        let life = match object.kind() {
            machine::State::KIND => self.machines.get(name).map(|state| state.life),
            volume::State::KIND => self.volumes.get(name).map(|state| state.life),
            filesystem::State::KIND => self.filesystems.get(name).map(|state| state.life),
            kind => {
                let folded = document::Kind::of(kind).and_then(|kind| self.documents.folded(kind, name));
                return folded.is_some_and(|folded| folded.state.life.exists());
            }
        };
        life == Some(Life::Alive)
    }

    /// The names that manifests may point at.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    fn note_unknown(&mut self, header: &Header) {
        let kind = header.stream.kind();
        if matches!(kind, machines::State::KIND | NODE) || kind_of(kind).is_some() {
            return;
        }
        let unknown = self.unknown.entry(kind.to_owned()).or_default();
        if unknown.names.is_empty() {
            unknown.since = Timestamp(header.meta.time_ms);
        }
        unknown.names.insert(header.stream.name().to_owned());
    }

    fn note_holder(&mut self, entry: &Entry) {
        let header = &entry.header;
        if header.stream.kind() == provider::State::KIND && !entry.events.is_empty() {
            self.holders.insert(header.stream.name().to_owned(), header.meta.principal.clone());
        }
    }

    /// Who holds a provider, if it is held.
    pub(super) fn holder(&self, provider: &str) -> Option<&str> {
        self.holders.get(provider).map(String::as_str)
    }

    fn note_look(&mut self, header: &Header) {
        let (new, again) = (replica_set::Reason::SeenNew.code(), replica_set::Reason::SeenAgain.code());
        let (code, time) = (header.meta.code.as_str(), Timestamp(header.meta.time_ms));
        if header.stream.kind() == replica_set::State::KIND && (code == new || code == again) {
            let looks = self.looks.entry(header.stream.name().to_owned()).or_default();
            looks.last = time;
            if code == new {
                looks.changed = time;
            }
        }
    }

    /// When a replica set was looked at; none before the first time.
    pub fn looks(&self, set: &str) -> Option<Looks> {
        self.looks.get(set).copied()
    }

    /// How far along its life an entity is; none if nothing is known of it.
    pub fn life(&self, stream: &StreamId) -> Option<Life> {
        (kind(stream.kind())?.life)(self, stream)
    }

    /// The provider of which something has to be asked for an entity that changes something.
    pub(super) fn asks(&self, stream: &StreamId) -> Option<Name> {
        (kind(stream.kind())?.asks)(self, stream)
    }

    /// The entities for which something has to be asked of a provider that changes something.
    pub(crate) fn asking(&self, provider: &str) -> Vec<StreamId> {
        let all = kinds().flat_map(|kind| (kind.streams)(self));
        all.filter(|stream| self.asks(stream).is_some_and(|asked| asked.as_str() == provider)).collect()
    }

    /// One word for each entity of a kind that has statuses, gone ones included.
    pub fn statuses(&self) -> BTreeMap<StreamId, &'static str> {
        let streams = kinds().flat_map(|kind| (kind.streams)(self).into_iter().map(move |stream| (kind, stream)));
        streams.filter_map(|(kind, stream)| (kind.status)(self, &stream).map(|status| (stream, status))).collect()
    }

    /// The work in the outside world of each entity that has any.
    pub fn efforts(&self) -> impl Iterator<Item = (StreamId, &Effort)> {
        let streams = kinds().flat_map(|kind| (kind.streams)(self).into_iter().map(move |stream| (kind, stream)));
        streams.filter_map(|(kind, stream)| (kind.effort)(self, &stream).map(|effort| (stream, effort)))
    }

    /// The next moment that some entity waits for.
    pub fn next_due(&self) -> Option<Timestamp> {
        kinds().filter_map(|kind| (kind.next_due)(self)).min()
    }

    /// The settings in force; the built-in ones before the first revision.
    pub fn policy(&self) -> policy::Document {
        let name = policy::default_name();
        self.policies.get(name.as_str()).map(|state| state.document.clone()).unwrap_or_default()
    }

    /// Whether an entity is protected from deletion.
    pub fn is_protected(&self, stream: &StreamId) -> bool {
        let protected = kind(stream.kind()).is_some_and(|kind| (kind.is_protected)(self, stream));
        protected && self.life(stream) == Some(Life::Alive)
    }

    /// Whether an entity is declared and not gone.
    pub fn exists(&self, stream: &StreamId) -> bool {
        self.life(stream).is_some_and(Life::exists)
    }

    /// When an entity was declared last.
    pub fn declared_at(&self, stream: &StreamId) -> Option<Timestamp> {
        self.declared.get(stream).copied()
    }

    /// How long ago an entity was declared, in milliseconds.
    pub fn age_ms(&self, stream: &StreamId) -> u64 {
        let shown = |recorded| self.calendar.shown(recorded);
        self.declared_at(stream).map_or(0, |declared| shown(self.time).since(shown(declared)))
    }
}
