//! The supervisors at the desk, each with its view.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_journal::{Draft, Entry, Journal, Outcome, Position, StreamId, append_blocking, digest};
use uuid::Uuid;

use crate::{
    contract::{Decider, Entity, Known, PolicyInForce, Request, Stored, View},
    supervisor::{Issued, Orders, decision_id, machine_sets, machines, storage},
    vocab::Timestamp,
};

/// All supervisors.
#[derive(Debug)]
pub(super) struct Seats {
    pub machines: Seat<machines::State>,
    pub storage: Seat<storage::State>,
    pub sets: Seat<machine_sets::State>,
}

impl Seats {
    pub fn new() -> Self {
        Self {
            machines: Seat::new(machines::View::NAME),
            storage: Seat::new(storage::View::NAME),
            sets: Seat::new(machine_sets::View::NAME),
        }
    }

    pub fn see(&mut self, entry: &Entry) {
        self.machines.see(entry);
        self.storage.see(entry);
        let is_answer = self.sets.view.orders.get(&entry.header.meta.command_id).is_some();
        self.sets.see(entry);
        if is_answer {
            self.sets.changed.insert(entry.header.stream.clone());
        }
        self.sets.changed.extend(self.sets.view.woken_by(&entry.header.stream));
    }

    /// The orders that wait for an answer, each with its command id and who issued it.
    pub fn open(&self) -> Vec<(Uuid, Issued, String)> {
        let mut all = open(&self.machines.view.orders, self.machines.entity.stream());
        all.extend(open(&self.storage.view.orders, self.storage.entity.stream()));
        all.extend(open(&self.sets.view.orders, self.sets.entity.stream()));
        all
    }
}

/// A supervisor with its view.
#[derive(Debug)]
pub(super) struct Seat<S: Decider> {
    pub entity: Entity<S>,
    pub view: S::View,
    at: Position,
    /// What it has to look at.
    pub changed: BTreeSet<StreamId>,
}

impl<S: Decider> Seat<S> {
    fn new(name: &str) -> Self {
        let stream = StreamId::new("supervisor", name).expect("a valid name");
        Self { entity: Entity::new(stream), view: S::View::default(), at: Position::ZERO, changed: BTreeSet::new() }
    }

    fn see(&mut self, entry: &Entry) {
        let stream = &entry.header.stream;
        if S::View::wants(stream.kind()) {
            self.view.apply(entry).expect("what was stored can be read");
            if stream.kind() != "supervisor" && entry.header.events > 0 {
                self.changed.insert(stream.clone());
            }
        }
        self.at = entry.header.position;
    }

    /// What it decides by itself, recorded and taken in; none if nothing follows.
    pub fn decide(
        &mut self,
        journal: &dyn Journal,
        command: S::Command,
        now: Timestamp,
        policy: Arc<PolicyInForce>,
    ) -> Option<Arc<Entry>> {
        let known = Known { now, policy, view: &self.view, view_at: Some(self.at), journal: journal.id() };
        let draft = self.draft(command, &known).filter(|draft| draft.meta.outcome != Outcome::Nothing)?;
        let entry = append_blocking(journal, vec![draft]).expect("the journal takes it").entries()[0].clone();
        self.entity.take_in(&entry).expect("what was stored can be read");
        Some(entry)
    }

    fn draft(&self, command: S::Command, known: &Known<'_, S::View>) -> Option<Draft> {
        let (entity, verdict) = (&self.entity, self.entity.decide(&command, known));
        let hash = digest(&command.store().expect("a small command").bytes);
        let id = decision_id(entity.stream(), self.at, entity.position(), hash);
        let request = Request { command, id, principal: entity.stream().to_string(), cause: None, cites: Vec::new() };
        entity.draft(&request, known, &verdict).ok()
    }
}

fn open(orders: &Orders, supervisor: &StreamId) -> Vec<(Uuid, Issued, String)> {
    let mut last = None;
    let next = || {
        let (place, issued) = orders.after(last)?;
        last = Some(place);
        Some((place.1, issued.clone(), supervisor.to_string()))
    };
    std::iter::from_fn(next).collect()
}
