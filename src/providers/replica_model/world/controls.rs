//! What a simulation does to the servers of a model, and what it may see of them.

use bailiwick_actors::{
    ports::replica_set::{Member, MemberId, Priority},
    vocab::{Name, Timestamp},
};

use super::{Flavor, ModelWorld, Server, Set, World, rules};

impl ModelWorld {
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
