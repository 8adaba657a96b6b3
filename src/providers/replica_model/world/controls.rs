//! What a test or simulation does to the servers of a model, and what it may see of them.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::replica_set::{Member, MemberId, Priority},
    vocab::{Name, Timestamp},
};

use super::{Flavor, ModelFaults, ModelWorld, Server, Set, Voters, World, rules};

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

    /// The data of the machine's present members is gone. (MongoDB's servers copy it anew; etcd's must join anew.)
    pub fn lose_data(&self, machine: &Name, now: Timestamp) {
        let mut world = self.lock();
        world.catch_up(now);
        let flavor = world.flavor;
        for set in world.sets.values_mut() {
            let of_machine = set.machine_of.iter().filter(|(_, owner)| *owner == machine);
            let ids: Vec<MemberId> = of_machine.map(|(id, _)| *id).collect();
            for id in ids.into_iter().filter(|id| set.members.iter().any(|member| member.id == *id)) {
                match flavor {
                    Flavor::Etcd => drop(set.lost.insert(id)),
                    Flavor::Mongodb => drop(set.joined.insert(id, now)),
                }
            }
        }
        let server = world.servers.entry(machine.clone()).or_insert(Server { is_up: true, since: now });
        server.since = now;
    }

    /// Somebody else, who is not ours, takes the vote of a machine's member.
    pub fn take_vote(&self, set: &Name, machine: &Name, now: Timestamp) {
        let mut world = self.lock();
        world.catch_up(now);
        world.take_vote(set, machine, now);
    }

    /// The same, but right before the next write of ours.
    pub fn take_vote_before_the_next_write(&self, set: &Name, machine: &Name) {
        self.lock().intruder = Some((set.clone(), machine.clone()));
    }

    /// The machine of the member that leads.
    pub fn leader(&self, set: &Name) -> Option<Name> {
        let world = self.lock();
        let set = world.sets.get(set)?;
        set.machine_of.get(&set.primary?).cloned()
    }

    /// The sets in which the data of this machine's present member is gone: what its agent would report.
    pub fn lost_on(&self, machine: &Name) -> Vec<Name> {
        let world = self.lock();
        let has_lost = |set: &Set| {
            set.members.iter().any(|m| set.lost.contains(&m.id) && set.machine_of.get(&m.id) == Some(machine))
        };
        world.sets.iter().filter(|(_, set)| has_lost(set)).map(|(name, _)| name.clone()).collect()
    }

    /// What must never be, and was: empty, if all is well.
    pub fn wrong(&self) -> Vec<String> {
        self.lock().wrong.clone()
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
}

impl World {
    pub(super) fn take_vote(&mut self, set: &Name, machine: &Name, now: Timestamp) {
        let Some(set) = self.sets.get_mut(set) else { return };
        let of_machine = |member: &Member| set.machine_of.get(&member.id) == Some(machine);
        if let Some(member) = set.members.iter_mut().find(|member| of_machine(member)) {
            (member.votes, member.priority) = (Some(0), Some(Priority::NONE));
            set.stamp.version += 1;
            set.history.push((now, rules::voters(&set.members)));
        }
    }
}
