//! What the provider at the desk has, as the machines supervisor learns of it.

use std::sync::Arc;

use bailiwick_journal::Entry;

use super::{Asked, Call, Desk, name};
use crate::{supervisor::machines, vocab::Name};

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
            self.supervise(|seats| &mut seats.machines, machines::Command::Observe { provider, as_of: at, changes });
        }
        self.list_zones();
    }

    /// The provider says which zones it has, and whoever waits for one is looked at.
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
