//! What is different between two moments, entity by entity and fact by fact, and which entry brought each difference about.
//!
//! The journal is folded up to the earlier moment and followed from there to the later one. An entity is looked at only
//! around the entries that can change what is said of it, so what nothing happened to costs nothing.

pub(super) mod facts;

#[cfg(test)]
pub(crate) mod account;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    contract::{Decider, Stored},
    machine, machine_set, member, replica_set,
    vocab::Timestamp,
    volume, volume_attachment,
};
use bailiwick_journal::{Entry, Filter, Journal, Position, ReadError, StreamId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::facts::{facts, is_supervisor};
use super::{Fleet, FleetError, told::Facts};
use crate::words::Line;

/// What is different between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    pub from: Point,
    pub to: Point,
    /// By kind and name.
    pub changes: Vec<Change>,
}

/// One of the two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// After this entry.
    pub position: u64,
    /// When that was written; none before the first entry.
    pub time: Option<String>,
    pub time_ms: Option<u64>,
}

/// An entity that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    pub entity: String,
    /// `appeared`, `removed`, `declared-anew` (another uid), `replaced` (another instance, or other storage) or `changed`.
    pub change: &'static str,
    /// What brought that about; of one that is only changed, the last of it.
    #[serde(flatten)]
    pub by: Origin,
    pub facts: Vec<FactChange>,
}

/// A fact that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FactChange {
    /// `status`, `instance`, `spec.constraints.cores`.
    pub fact: String,
    /// None if there was no such fact.
    pub from: Option<Value>,
    pub to: Option<Value>,
    /// The entry since which it is so.
    #[serde(flatten)]
    pub by: Origin,
}

/// The entry that brought a difference about: `why @POSITION` follows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    pub position: u64,
    pub time: String,
    pub time_ms: u64,
    pub because: String,
    pub principal: String,
}

/// Which entities are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Only {
    #[default]
    All,
    Entity(StreamId),
    Kind(String),
}

impl Only {
    fn wants(&self, stream: &StreamId) -> bool {
        match self {
            Self::All => true,
            Self::Entity(entity) => entity == stream,
            Self::Kind(kind) => kind == stream.kind(),
        }
    }
}

/// What is different after the entry at `to` from what was after the entry at `from`, which is not later.
///
/// # Errors
/// If an entry cannot be read or understood; the error names it.
pub fn diff(journal: &dyn Journal, from: Position, to: Position, only: Only) -> Result<Diff, FleetError> {
    let mut walk = Walk::from(Fleet::at(journal, from)?, only);
    for entry in journal.read(from.next(), to, &Filter::all()) {
        walk.take_in(&*entry?)?;
    }
    let changes = walk.differences().map(|differs| differs.told(journal)).collect::<Result<_, _>>()?;
    Ok(Diff { from: point(journal, from)?, to: point(journal, to)?, changes })
}

/// The way from one moment to a later one.
struct Walk {
    fleet: Fleet,
    only: Only,
    /// Those that something may have happened to.
    traced: BTreeMap<StreamId, Traced>,
}

/// What was and is said of one entity.
#[derive(Clone, Debug)]
struct Traced {
    before: Option<Facts>,
    now: Option<Facts>,
    /// Since which entry each fact is as it is, if it ever changed on the way.
    since: BTreeMap<String, Position>,
    /// The entry with which it came or went last.
    came_or_went: Position,
}

impl Walk {
    fn from(fleet: Fleet, only: Only) -> Self {
        Self { fleet, only, traced: BTreeMap::new() }
    }

    fn take_in(&mut self, entry: &Entry) -> Result<(), FleetError> {
        let header = &entry.header;
        let mut touched = if header.events > 0 { touched(&self.fleet, entry) } else { BTreeSet::new() };
        touched.retain(|stream| self.only.wants(stream));
        touched.iter().for_each(|stream| self.trace(stream));
        let withheld = is_supervisor(&header.stream).then(|| self.fleet.seen.withheld.clone());
        self.fleet.apply(entry).map_err(|source| FleetError::Stored {
            position: header.position,
            stream: header.stream.clone(),
            source,
        })?;
        if let Some(mut before) = withheld {
            let machines = not_alike(&before, &self.fleet.seen.withheld);
            let machines =
                machines.into_iter().filter_map(|name| StreamId::new(machine::State::KIND, name.as_str()).ok());
            let machines: Vec<StreamId> = machines.filter(|stream| self.only.wants(stream)).collect();
            // Who is withheld is known afterwards only; what was said of them before is told with what was seen before.
            std::mem::swap(&mut before, &mut self.fleet.seen.withheld);
            machines.iter().for_each(|stream| self.trace(stream));
            std::mem::swap(&mut before, &mut self.fleet.seen.withheld);
            touched.extend(machines);
        }
        for stream in touched {
            let now = facts(&self.fleet, &stream);
            self.traced.entry(stream).and_modify(|traced| traced.take_in(header.position, now));
        }
        Ok(())
    }

    /// Notes what is said of an entity before anything happens to it.
    fn trace(&mut self, stream: &StreamId) {
        if !self.traced.contains_key(stream) {
            let before = facts(&self.fleet, stream);
            let (now, since) = (before.clone(), BTreeMap::new());
            self.traced.insert(stream.clone(), Traced { before, now, since, came_or_went: Position::ZERO });
        }
    }

    fn differences(&self) -> impl Iterator<Item = Differs<'_>> {
        let differing = self.traced.iter().filter(|(_, traced)| traced.before != traced.now);
        differing.map(|(stream, traced)| Differs { stream, traced })
    }
}

impl Traced {
    fn take_in(&mut self, position: Position, now: Option<Facts>) {
        let none = Facts::new();
        let changed = not_alike(self.now.as_ref().unwrap_or(&none), now.as_ref().unwrap_or(&none));
        self.since.extend(changed.into_iter().map(|fact| (fact, position)));
        if self.now.is_some() != now.is_some() {
            self.came_or_went = position;
        }
        self.now = now;
    }
}

/// The keys under which two maps have not the same.
fn not_alike<K: Ord + Clone, V: PartialEq>(one: &BTreeMap<K, V>, other: &BTreeMap<K, V>) -> BTreeSet<K> {
    let keys = one.keys().chain(other.keys());
    keys.filter(|key| one.get(key) != other.get(key)).cloned().collect()
}

/// The entities of which something else may be said after an entry: that of its stream, and those whose facts rest on it.
fn touched(fleet: &Fleet, entry: &Entry) -> BTreeSet<StreamId> {
    let stream = &entry.header.stream;
    let name = stream.name();
    let others: Vec<StreamId> = match stream.kind() {
        // A set counts its machines: they are called after it, or after the beginning of a long name.
        machine::State::KIND => {
            let sets = name.rsplit_once('-').map(|(stem, _)| fleet.machine_sets.beginning_with(stem));
            sets.into_iter()
                .flatten()
                .filter_map(|(set, _)| StreamId::new(machine_set::State::KIND, set).ok())
                .collect()
        }
        // One that is lost takes its attachments with it.
        volume::State::KIND
            if fleet.volumes.get(name).is_some_and(|state| state.own.lost.is_some()) || is_loss(entry) =>
        {
            let end = format!(":{name}");
            let ours = fleet.attachments.iter().filter(|(name, _)| name.ends_with(&end));
            ours.filter_map(|(name, _)| StreamId::new(volume_attachment::State::KIND, name).ok()).collect()
        }
        replica_set::State::KIND => members_of(fleet, name).collect(),
        // A set names its members as these are called, and of two with one id the first is it.
        member::State::KIND => {
            let set = name.split_once(':').map_or(name, |(set, _)| set);
            members_of(fleet, set).chain(StreamId::new(replica_set::State::KIND, set)).collect()
        }
        _ => Vec::new(),
    };
    others.into_iter().chain([stream.clone()]).collect()
}

/// Whether a volume is lost by this.
fn is_loss(entry: &Entry) -> bool {
    entry
        .events
        .iter()
        .any(|event| matches!(volume::Event::load(event), Ok(volume::Event::Own(volume::OwnEvent::Lost { .. }))))
}

fn members_of<'f>(fleet: &'f Fleet, set: &str) -> impl Iterator<Item = StreamId> + use<'f> {
    let ours = fleet.members.beginning_with(&format!("{set}:"));
    ours.filter_map(|(name, _)| StreamId::new(member::State::KIND, name).ok())
}

/// An entity that is not as it was.
struct Differs<'w> {
    stream: &'w StreamId,
    traced: &'w Traced,
}

impl Differs<'_> {
    /// What was and is there under a name.
    fn pair(&self, fact: &str) -> (Option<&Value>, Option<&Value>) {
        let Traced { before, now, .. } = self.traced;
        (before.as_ref().and_then(|facts| facts.get(fact)), now.as_ref().and_then(|facts| facts.get(fact)))
    }

    /// The facts that differ, each with the entry since which it is so.
    fn facts(&self) -> impl Iterator<Item = (&str, Position)> {
        let since = self.traced.since.iter().map(|(fact, position)| (fact.as_str(), *position));
        since.filter(|(fact, _)| {
            let (before, now) = self.pair(fact);
            before != now
        })
    }

    /// What it comes to as a whole, and which entry brought that about.
    fn as_a_whole(&self) -> (&'static str, Position) {
        let Traced { before, now, since, came_or_went } = self.traced;
        let is_another = |fact: &str| matches!(self.pair(fact), (Some(before), Some(now)) if before != now);
        match (before, now) {
            (None, _) => ("appeared", *came_or_went),
            (_, None) => ("removed", *came_or_went),
            _ if is_another("uid") => ("declared-anew", since["uid"]),
            _ if is_another("effect") => ("replaced", since["effect"]),
            _ => ("changed", self.facts().map(|(_, position)| position).max().unwrap_or(*came_or_went)),
        }
    }

    fn told(&self, journal: &dyn Journal) -> Result<Change, ReadError> {
        let (change, position) = self.as_a_whole();
        let mut origins = Origins { journal, known: BTreeMap::new() };
        let mut facts = Vec::new();
        for (fact, position) in self.facts() {
            let (from, to) = self.pair(fact);
            let by = origins.of(position)?;
            facts.push(FactChange { fact: fact.to_owned(), from: from.cloned(), to: to.cloned(), by });
        }
        Ok(Change { entity: self.stream.to_string(), change, by: origins.of(position)?, facts })
    }
}

/// Entries that were read to be named: mostly one brings about several facts.
struct Origins<'j> {
    journal: &'j dyn Journal,
    known: BTreeMap<Position, Origin>,
}

impl Origins<'_> {
    fn of(&mut self, position: Position) -> Result<Origin, ReadError> {
        if let Some(known) = self.known.get(&position) {
            return Ok(known.clone());
        }
        let Some(entry) = self.journal.read(position, position, &Filter::all()).next() else {
            return Err(ReadError::Damaged { position, problem: "there is no such entry".into() });
        };
        let Line { position: at, time, time_ms, because, principal, .. } = Line::of(&*entry?);
        let origin = Origin { position: at, time, time_ms, because, principal };
        self.known.insert(position, origin.clone());
        Ok(origin)
    }
}

fn point(journal: &dyn Journal, position: Position) -> Result<Point, ReadError> {
    let header = journal.read_headers(position, position, &Filter::all()).next().transpose()?;
    let time_ms = header.filter(|header| header.position == position).map(|header| header.meta.time_ms);
    Ok(Point { position: position.0, time: time_ms.map(|ms| Timestamp(ms).to_string()), time_ms })
}
