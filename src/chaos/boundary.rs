//! A place in a journal at which a node is started again, with the world as it was there.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::{Name, Timestamp};
use bailiwick_journal::{Entry, EntryKind, Filter, Header, Journal, JournalNote, Position, ReadOnlyJournal, StreamId};

use super::{InFlight, Prefixes, Remembered, Surroundings, SweepError};
use crate::{
    providers::simulated::World,
    simulation::{Beginning, Observer, Simulation},
};

/// As many calls of one boundary happen alone.
const EACH_MAX: usize = 16;

/// What is the same for all starts.
pub(super) struct Around {
    journal: uuid::Uuid,
    surroundings: Surroundings,
}

/// One prefix, with what the world is like at its end.
pub(super) struct Boundary {
    pub(super) header: Header,
    remembered: Remembered,
    /// What was given up before.
    pub(super) given_up: BTreeSet<StreamId>,
    /// What belongs to the journal that this one was imported from.
    pub(super) taken_over: BTreeSet<StreamId>,
    /// What is an operator's to set going again: it need not become ready.
    left: BTreeSet<StreamId>,
    /// When the last of the holds ends that end in time.
    held_until: Option<Timestamp>,
}

/// The prefixes that end at these positions, each as it is for a node that has so long from its start on.
///
/// # Errors
/// If the journal cannot be read or understood.
pub(super) fn boundaries(
    journal: &ReadOnlyJournal,
    ends: &BTreeSet<Position>,
    until_ms: u64,
) -> Result<(Vec<Boundary>, Around), SweepError> {
    let to = ends.last().copied().unwrap_or_default();
    let mut remembered = Remembered::of(journal.id());
    let mut observer = Observer::of(journal.id());
    let mut surroundings = Surroundings::default();
    let mut boundaries = Vec::new();
    for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
        let entry = entry?;
        surroundings.apply(&entry)?;
        if to < entry.header.position {
            continue;
        }
        if is_import(&entry) {
            // What came before was another node's: no node of this identity ever started there.
            boundaries.clear();
            remembered.forget_asked();
        }
        remembered.apply(&entry)?;
        observer.take_in(&entry)?;
        if ends.contains(&entry.header.position) {
            let end = Timestamp(entry.header.meta.time_ms.saturating_add(until_ms));
            let given_up = observer.given_up().into_iter().collect();
            let left = observer.left_to_operators(end).into_iter().collect();
            let (header, remembered) = (entry.header.clone(), remembered.clone());
            let (taken_over, held_until) = (observer.taken_over().into_iter().collect(), observer.held_until(end));
            boundaries.push(Boundary { header, remembered, given_up, taken_over, left, held_until });
        }
    }
    let around = Around { journal: journal.id(), surroundings };
    Ok((boundaries, around))
}

/// Whether an entry says that all before it was taken over from another journal.
fn is_import(entry: &Entry) -> bool {
    let note = entry.events.first().filter(|_| entry.header.meta.kind == EntryKind::Note);
    note.is_some_and(|note| matches!(JournalNote::decode(note), Ok(JournalNote::ImportedAsNew { .. })))
}

impl Boundary {
    /// Without any call under way there is only one world to start in.
    pub(super) fn variants(&self, each_call: bool) -> Vec<(&Self, InFlight)> {
        let calls: BTreeSet<String> = self.remembered.in_flight().into_iter().collect();
        let all = (!calls.is_empty()).then_some(InFlight::Happened);
        let is_more = each_call && calls.len() > 1;
        let alone = calls.into_iter().filter(|_| is_more).take(EACH_MAX).map(|one| InFlight::Only(vec![one]));
        let variants = std::iter::once(InFlight::DidNotHappen).chain(all).chain(alone);
        variants.map(|calls| (self, calls)).collect()
    }

    /// How many calls are under way.
    pub(super) fn calls(&self) -> usize {
        self.remembered.in_flight().len()
    }

    /// The machines that have an instance.
    pub(super) fn running(&self) -> Vec<Name> {
        self.remembered.running()
    }

    /// A node that starts there, with so much time.
    ///
    /// # Errors
    /// If the prefix cannot be written to a disk.
    pub(super) fn simulation(
        &self,
        prefixes: &Prefixes,
        calls: &InFlight,
        (seed, until_ms): (u64, u64),
        around: &Around,
    ) -> Result<Simulation, SweepError> {
        let disk = prefixes.disk(self.header.position)?;
        let world = World::with(seed, self.remembered.things(calls));
        for (provider, zones) in around.surroundings.zones(self.remembered.zones()) {
            world.set_zones(&provider, zones.into_iter().collect());
        }
        let world = world.snapshot();
        let mut simulation = Simulation::new(seed);
        simulation.epoch = Timestamp(self.header.meta.time_ms);
        simulation.providers = around.surroundings.providers();
        simulation.secrets = around.surroundings.secrets();
        simulation.devices = Some(around.surroundings.devices());
        simulation.resigned = self.given_up.iter().chain(&self.taken_over).chain(&self.left).cloned().collect();
        let held_ms = self.held_until.map_or(0, |until| until.since(simulation.epoch));
        simulation.until_ms = until_ms.saturating_add(held_ms);
        let sets = self.remembered.sets(calls);
        simulation.beginning = Some(Beginning { disk, journal: around.journal, world, sets });
        Ok(simulation)
    }
}
