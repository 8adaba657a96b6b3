//! What tests alone do to the servers of a model, and see of them.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::replica_set::{Member, Priority},
    vocab::{Name, Timestamp},
};

use super::{ModelFaults, ModelWorld, Server, Voters, rules};

impl ModelWorld {
    /// It misbehaves like this from now on.
    pub fn set_faults(&self, faults: ModelFaults) {
        self.lock().faults = faults;
    }

    /// The server of a machine stops without warning.
    pub fn crash(&self, machine: &Name, now: Timestamp) {
        let mut world = self.lock();
        world.catch_up(now);
        world.servers.insert(machine.clone(), Server { is_up: false, since: now });
    }

    /// It runs again, with the data it had.
    pub fn start(&self, machine: &Name, now: Timestamp) {
        let mut world = self.lock();
        world.catch_up(now);
        world.servers.insert(machine.clone(), Server { is_up: true, since: now });
    }

    /// All servers run.
    pub fn start_all(&self, now: Timestamp) {
        let mut world = self.lock();
        world.catch_up(now);
        for server in world.servers.values_mut().filter(|server| !server.is_up) {
            *server = Server { is_up: true, since: now };
        }
    }

    /// Somebody else, who is not ours, takes the vote of a machine's member right before the next write of ours.
    pub fn take_vote_before_the_next_write(&self, set: &Name, machine: &Name) {
        self.lock().intruder = Some((set.clone(), machine.clone()));
    }

    /// The machine of the member that leads.
    pub fn leader(&self, set: &Name) -> Option<Name> {
        let world = self.lock();
        let set = world.sets.get(set)?;
        set.machine_of.get(&set.primary?).cloned()
    }

    /// Who voted in a set, from when on.
    pub fn history(&self, set: &Name) -> Vec<(Timestamp, Voters)> {
        self.lock().sets.get(set).map(|set| set.history.clone()).unwrap_or_default()
    }

    /// The machines that vote in a set now.
    pub fn voting(&self, set: &Name) -> BTreeSet<Name> {
        let world = self.lock();
        let Some(set) = world.sets.get(set) else { return BTreeSet::new() };
        rules::voters(&set.members).iter().filter_map(|id| set.machine_of.get(id).cloned()).collect()
    }

    /// Somebody else changes what our steps are to carry along: the priority of a machine's member.
    pub fn set_priority(&self, set: &Name, machine: &Name, priority: Priority) {
        let mut world = self.lock();
        let Some(set) = world.sets.get_mut(set) else { return };
        let owner = &set.machine_of;
        if let Some(member) = set.members.iter_mut().find(|member| owner.get(&member.id) == Some(machine)) {
            member.priority = Some(priority);
            set.stamp.version += 1;
        }
    }

    /// The member on a machine, as the configuration has it.
    pub fn member(&self, set: &Name, machine: &Name) -> Option<Member> {
        let world = self.lock();
        let set = world.sets.get(set)?;
        set.members.iter().find(|member| set.machine_of.get(&member.id) == Some(machine)).cloned()
    }
}
