//! Servers that were there before the model: how they are put into it, kept, and put back.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use bailiwick_actors::{
    ports::replica_set::{Action, Contact, MACHINE_TAG, Member, MemberId, MemberState, Observation, Stamp},
    vocab::{Name, Timestamp},
};

use super::{ModelWorld, Server, Set, World, rules};

impl ModelWorld {
    /// A set as it was seen last; none if it has not begun. `taken` is a step that was under way and has happened.
    pub fn put(&self, contact: &Contact, seen: Option<&Observation>, taken: Option<&(Stamp, Action)>, now: Timestamp) {
        let world = &mut *self.lock();
        if let Some(seen) = seen {
            world.sets.insert(contact.set.clone(), Set::seen(contact, seen, now));
        }
        if let Some((base, action)) = taken {
            // Whether the servers took it is theirs to say, as it would have been then.
            let _ = world.write(&contact.set, Some(contact), *base, action, now);
        }
    }

    /// The machines that have, or had, a server of some set.
    pub fn machines(&self) -> BTreeSet<Name> {
        let world = self.lock();
        world.sets.values().flat_map(|set| set.machine_of.values()).chain(world.servers.keys()).cloned().collect()
    }

    /// Starts or stops the server of a machine. Nothing happens if it is in that state already.
    pub fn stands(&self, machine: &Name, is_up: bool, now: Timestamp) {
        let world = &mut *self.lock();
        if world.is_up(machine) != is_up {
            world.catch_up(now);
            world.servers.insert(machine.clone(), Server { is_up, since: now });
        }
    }

    /// Another world, like this one as it is now.
    pub fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.lock().clone())))
    }

    /// Makes it as that one is.
    pub fn restore(&self, kept: &Self) {
        let kept: World = kept.lock().clone();
        *self.lock() = kept;
    }
}

impl Set {
    fn seen(contact: &Contact, seen: &Observation, now: Timestamp) -> Self {
        let members = seen.configuration.members.clone();
        let machine = |member: &Member| {
            let by_address = contact.servers.iter().find(|server| server.peer.as_deref() == Some(&*member.address));
            let by_tag = || member.tags.get(MACHINE_TAG).and_then(|machine| machine.parse::<Name>().ok());
            by_address.map(|server| server.machine.clone()).or_else(by_tag)
        };
        let machine_of = members.iter().filter_map(|member| Some((member.id, machine(member)?))).collect();
        let in_state = |wanted: MemberState| {
            seen.statuses.iter().filter(move |status| status.state == wanted).map(|status| status.id)
        };
        let joined = in_state(MemberState::Startup2).map(|id| (id, now)).collect();
        let voters = rules::voters(&members);
        let primary = in_state(MemberState::Primary).find(|id| voters.contains(id));
        let next_id = members.iter().map(|member| member.id.0).max().unwrap_or(0).wrapping_add(1);
        Self {
            stamp: seen.configuration.stamp,
            machine_of,
            joined,
            lost: BTreeSet::<MemberId>::new(),
            primary,
            vacant_since: now,
            frozen: BTreeMap::new(),
            next_id,
            late: Vec::new(),
            #[cfg(feature = "testing")]
            uncommitted: None,
            history: vec![(now, voters)],
            members,
        }
    }
}
