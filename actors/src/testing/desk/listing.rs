//! What the provider at the desk has, as the machines supervisor learns of it.

use std::sync::Arc;

use bailiwick_journal::{Entry, StreamId};

use super::{Asked, Call, Desk, name};
use crate::{
    contract::Decider,
    machine,
    ports::{Lookup, StartedMachine},
    supervisor::machines::{self, Question},
    vocab::{Fault, Name},
};

impl Desk {
    /// A provider's list lacks, or has, what the machines supervisor did not know.
    pub fn observe(&mut self, changes: Vec<machines::Change>) -> Option<Arc<Entry>> {
        let observe = machines::Command::Observe { provider: name("desk"), as_of: self.now, changes };
        self.supervise(|seats| &mut seats.machines, observe)
    }

    /// The provider is asked for everything that it has, and for its zones; or says why it cannot tell.
    pub fn list(&mut self) {
        self.now = self.now.after(1);
        let (at, provider) = (self.now, name("desk"));
        let call = Call { at, stream: None, asked: Asked::List, effect: None, attempt: 1, zone: None };
        self.provider.calls.push(call);
        let state = self.seats.machines.entity.state();
        let (is_failing, is_out) = (state.failing.contains_key(&provider), state.out.contains_key(&provider));
        if let Some(fault) = self.provider.list_fails.clone() {
            if state.learns_from(&provider, fault.code, at, &self.policy.document.reconciliation.outage) {
                let failed = machines::Command::ReportListFailed { provider, fault };
                self.supervise(|seats| &mut seats.machines, failed);
            }
            return;
        }
        if is_failing {
            let doubted = if is_out { self.seats.machines.view.doubted(&provider) } else { Vec::new() };
            let recovered = machines::Command::ReportListRecovered { provider: provider.clone() };
            self.supervise(|seats| &mut seats.machines, recovered);
            self.supervise(|seats| &mut seats.machines, machines::Command::Look { machines: doubted });
        }
        let (seat, harvest) = (&self.seats.machines, &self.policy.document.harvest);
        let (listing, journal) = (self.provider.listing(at), self.journal.id());
        let changes = machines::differences(seat.entity.state(), &seat.view, &provider, &listing, harvest, journal);
        if !changes.is_empty() {
            let as_of = listing.as_of;
            self.supervise(|seats| &mut seats.machines, machines::Command::Observe { provider, as_of, changes });
        }
        self.list_zones();
    }

    /// The provider is asked about the instances of those whose time is over. Whether anybody asked.
    pub fn ask_about(&mut self) -> bool {
        let seat = &self.seats.machines;
        let questions = machines::questions(seat.entity.state(), &seat.view);
        let mut any = false;
        for (provider, about) in questions {
            self.now = self.now.after(1);
            let (as_of, asked) = (self.now, about.iter().map(|(machine, _)| machine.clone()).collect());
            let answers = about.iter().map(|question| self.lookup(question)).collect();
            let (changes, found) = machines::answered(self.seats.machines.entity.state(), &about, answers);
            any |= !changes.is_empty() || !found.is_empty();
            if !changes.is_empty() {
                let observe = machines::Command::Observe { provider: provider.clone(), as_of, changes };
                self.supervise(|seats| &mut seats.machines, observe);
            }
            if !found.is_empty() {
                let found = machines::Command::ReportFound { provider, as_of, machines: found };
                self.supervise(|seats| &mut seats.machines, found);
                self.supervise(|seats| &mut seats.machines, machines::Command::Look { machines: asked });
            }
        }
        any
    }

    fn lookup(&mut self, (machine, effect): &Question) -> Result<Lookup<StartedMachine>, Fault> {
        let stream = StreamId::new(machine::State::KIND, machine.as_str()).expect("a valid name");
        let (at, stream, effect) = (self.now, Some(stream), Some(*effect));
        let call = Call { at, stream, asked: Asked::Lookup, effect, attempt: 1, zone: None };
        let seen = self.provider.lookup(call)?;
        Ok(seen.map_or(Lookup::Absent, |instance| Lookup::Present(instance.into())))
    }

    /// The provider says which zones it has, and the machines that wait for one are looked at.
    fn list_zones(&mut self) {
        let (provider, zones) = (name("desk"), self.provider.zones.clone());
        let waiting: Vec<Name> = self.seats.machines.view.tally.unsited.iter().cloned().collect();
        let known = self.seats.machines.entity.state().zones.get(&provider);
        if known != Some(&zones) && (known.is_some() || !zones.is_empty() || !waiting.is_empty()) {
            self.supervise(|seats| &mut seats.machines, machines::Command::ObserveZones { provider, zones });
            self.supervise(|seats| &mut seats.machines, machines::Command::Look { machines: waiting });
        }
    }

    /// A complete list does not have a machine's instance any more.
    pub fn lose(&mut self, machine: &str) -> Option<Arc<Entry>> {
        let effect = self.machine_state(machine)?.running_effect()?;
        self.provider.instances.remove(&effect);
        self.observe(vec![machines::Change::Vanished { effect, machine: name(machine) }])
    }
}
