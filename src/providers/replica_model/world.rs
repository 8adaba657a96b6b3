//! The sets and servers of a model.

mod begun;
#[cfg(feature = "testing")]
mod commands;
mod controls;
#[cfg(feature = "testing")]
mod documents;
#[cfg(test)]
mod planted;
#[cfg(feature = "testing")]
mod trials;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bailiwick_actors::{
    ports::replica_set::{
        Action, Configuration, Contact, MACHINE_TAG, Member, MemberId, MemberState, MemberStatus, Observation, Stamp,
    },
    vocab::{Fault, FaultCode, Name, Timestamp, sort_by_key},
};

use super::{
    StepInvariant,
    faults::{Fate, ModelFaults},
    rules::{self, Asked, Flavor},
};
#[cfg(feature = "testing")]
use crate::providers::mongodb::Document;
use crate::providers::simulated::Dice;

/// How long a new member copies data before it is ready.
const SYNC_MS: u64 = 4_000;
/// How long a server that was down catches up.
const CATCH_UP_MS: u64 = 1_000;
/// How long nobody is primary after one is missed.
const ELECTION_MS: u64 = 2_000;
/// How long one that stepped down is not elected. Source: MongoDB's step down, as Juju asks for it.
const FROZEN_MS: u64 = 60_000;

/// What a plan knew of a server may be this old when the step is taken: the longest calls, and writes that come late.
const STALE_MS: u64 = 15_000;

/// Servers and their sets. Clones are the same world.
#[derive(Clone, Debug)]
pub struct ModelWorld(Arc<Mutex<World>>);

#[derive(Clone, Debug)]
struct World {
    flavor: Flavor,
    dice: Dice,
    faults: ModelFaults,
    sets: BTreeMap<Name, Set>,
    /// Servers that are down, or were: since when they are as they are.
    servers: BTreeMap<Name, Server>,
    /// Commands whose answer was lost and that come later, and to which machine.
    #[cfg(feature = "testing")]
    late: Vec<(Timestamp, Name, Document)>,
    /// Who loses its vote to somebody else, right before the next write of ours.
    #[cfg(feature = "testing")]
    intruder: Option<(Name, Name)>,
    /// What must never be, and was.
    wrong: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Server {
    is_up: bool,
    since: Timestamp,
}

/// Something that voted for some time.
pub type Voters = BTreeSet<MemberId>;

#[derive(Clone, Debug)]
struct Set {
    stamp: Stamp,
    members: Vec<Member>,
    machine_of: BTreeMap<MemberId, Name>,
    joined: BTreeMap<MemberId, Timestamp>,
    /// Members whose data is gone: nothing but a new member helps.
    lost: BTreeSet<MemberId>,
    primary: Option<MemberId>,
    /// Since when there is no primary.
    vacant_since: Timestamp,
    frozen: BTreeMap<MemberId, Timestamp>,
    next_id: u64,
    /// Writes whose answer was lost and that come later.
    late: Vec<(Timestamp, Stamp, Action)>,
    /// What there was before a configuration that no majority has yet.
    #[cfg(feature = "testing")]
    uncommitted: Option<Uncommitted>,
    /// Who voted, from when on.
    history: Vec<(Timestamp, Voters)>,
}

#[cfg(feature = "testing")]
#[derive(Clone, Debug)]
struct Uncommitted {
    /// From when on a majority has the new one.
    until: Timestamp,
    version: u64,
    members: Vec<Member>,
}

impl Set {
    /// There is no primary any more. A configuration that no majority had yet may be lost with it.
    fn depose(&mut self, now: Timestamp) {
        if self.primary.take().is_none() {
            return;
        }
        self.vacant_since = now;
        #[cfg(feature = "testing")]
        self.lose_uncommitted(now);
    }

    #[cfg(feature = "testing")]
    fn lose_uncommitted(&mut self, now: Timestamp) {
        let lost = self.uncommitted.take().filter(|before| now < before.until && now.0.is_multiple_of(2));
        if let Some(before) = lost {
            (self.members, self.stamp.version) = (before.members, before.version);
            self.note_voters(now);
        }
    }

    fn note_voters(&mut self, now: Timestamp) {
        let voters = rules::voters(&self.members);
        if self.history.last().is_none_or(|(_, last)| *last != voters) {
            self.history.push((now, voters));
        }
    }
}

impl ModelWorld {
    /// A world without sets.
    pub fn new(flavor: Flavor, seed: u64) -> Self {
        let dice = Dice::named(seed, "replica model");
        Self(Arc::new(Mutex::new(World {
            flavor,
            dice,
            faults: ModelFaults::default(),
            sets: BTreeMap::new(),
            servers: BTreeMap::new(),
            #[cfg(feature = "testing")]
            late: Vec::new(),
            #[cfg(feature = "testing")]
            intruder: None,
            wrong: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn latency_ms(&self) -> u64 {
        let mut world = self.lock();
        let (least, most) = world.faults.latency_ms;
        world.dice.between(least, most)
    }

    pub(super) fn fate(&self) -> Fate {
        let world = &mut *self.lock();
        Fate::thrown(&mut world.dice, &world.faults)
    }

    pub(super) fn observe(&self, contact: &Contact, now: Timestamp) -> Result<Observation, Fault> {
        let world = &mut *self.lock();
        world.settle(&contact.set, now);
        let silent = || Fault::new(FaultCode::Unavailable, "no server of the set answers");
        if world.dice.happens(world.faults.look_fail_per_mille) {
            return Err(silent());
        }
        let two_primaries = world.dice.happens(world.faults.two_primaries_per_mille);
        let Some(set) = world.sets.get(&contact.set) else {
            let answers = contact.servers.iter().any(|server| world.is_up(&server.machine));
            let none = Fault::new(FaultCode::Uninitialized, "no replica set is initiated here");
            return Err(if answers { none } else { silent() });
        };
        if !set.members.iter().any(|member| world.reaches(set, member.id)) {
            return Err(silent());
        }
        let ready = world.ready(set, now);
        let mut statuses: Vec<MemberStatus> =
            set.members.iter().map(|member| world.status(set, member.id, now)).collect();
        if two_primaries && let Some(other) = statuses.iter_mut().find(|it| it.state == MemberState::Secondary) {
            other.state = MemberState::Primary;
        }
        let committed = set.primary.is_some() && rules::majority(&set.members, &ready);
        let configuration = Configuration { stamp: set.stamp, committed, members: set.members.clone() };
        Ok(Observation { configuration, statuses, rules: rules::rules(world.flavor) })
    }

    pub(super) fn write(&self, contact: &Contact, base: Stamp, action: &Action, now: Timestamp) -> Result<(), Fault> {
        let world = &mut *self.lock();
        world.settle(&contact.set, now);
        #[cfg(feature = "testing")]
        if let Some((set, machine)) = world.intruder.take() {
            world.take_vote(&set, &machine, now);
        }
        world.write(&contact.set, Some(contact), base, action, now)
    }

    pub(super) fn write_later(&self, contact: &Contact, base: Stamp, action: Action, at: Timestamp) {
        if let Some(set) = self.lock().sets.get_mut(&contact.set) {
            set.late.push((at, base, action));
        }
    }
}

impl World {
    /// Brings all sets up to now. What is late comes at its own time, and finds the servers as they were then: whoever
    /// stops or starts one has to call this first.
    fn catch_up(&mut self, now: Timestamp) {
        #[cfg(feature = "testing")]
        self.run_late(now);
        let names: Vec<Name> = self.sets.keys().cloned().collect();
        names.iter().for_each(|name| self.settle(name, now));
    }

    fn is_up(&self, machine: &Name) -> bool {
        self.servers.get(machine).is_none_or(|server| server.is_up)
    }

    fn reaches(&self, set: &Set, id: MemberId) -> bool {
        set.machine_of.get(&id).is_some_and(|machine| self.is_up(machine)) && !set.lost.contains(&id)
    }

    fn is_ready(&self, set: &Set, id: MemberId, now: Timestamp) -> bool {
        let Some(machine) = set.machine_of.get(&id).filter(|_| self.reaches(set, id)) else { return false };
        let has_copied = set.joined.get(&id).is_none_or(|since| since.after(SYNC_MS) <= now);
        let has_caught_up = self.servers.get(machine).is_none_or(|server| server.since.after(CATCH_UP_MS) <= now);
        has_copied && has_caught_up
    }

    fn ready(&self, set: &Set, now: Timestamp) -> BTreeSet<MemberId> {
        set.members.iter().map(|member| member.id).filter(|id| self.is_ready(set, *id, now)).collect()
    }

    fn status(&self, set: &Set, id: MemberId, now: Timestamp) -> MemberStatus {
        let healthy = self.reaches(set, id);
        let state = match (healthy, self.is_ready(set, id, now)) {
            (false, _) => MemberState::Down,
            (true, false) => MemberState::Startup2,
            (true, true) if set.primary == Some(id) => MemberState::Primary,
            (true, true) => MemberState::Secondary,
        };
        MemberStatus { id, healthy, state, lag_ms: None }
    }

    /// What has happened in a set up to now, by itself: writes that were late, and elections.
    fn settle(&mut self, name: &Name, now: Timestamp) {
        let Some(set) = self.sets.get_mut(name) else { return };
        let mut due: Vec<(Timestamp, Stamp, Action)> = set.late.extract_if(.., |(at, ..)| *at <= now).collect();
        sort_by_key(&mut due, |(at, ..)| *at);
        for (at, base, action) in due {
            self.elect(name, at);
            // Nobody hears whether it was refused.
            let _ = self.write(name, None, base, &action, at);
        }
        self.elect(name, now);
    }

    fn elect(&mut self, name: &Name, now: Timestamp) {
        let Some(set) = self.sets.get(name) else { return };
        let ready = self.ready(set, now);
        let voters = rules::voters(&set.members);
        let has_majority = rules::majority(&set.members, &ready);
        let stays = set.primary.is_some_and(|id| ready.contains(&id) && voters.contains(&id)) && has_majority;
        let is_frozen = |id: &MemberId| set.frozen.get(id).is_some_and(|until| now < *until);
        let candidate = voters.intersection(&ready).find(|id| !is_frozen(id)).copied();
        let Some(set) = self.sets.get_mut(name) else { return };
        if stays {
            return;
        }
        set.depose(now);
        if has_majority && set.vacant_since.after(ELECTION_MS) <= now && candidate.is_some() {
            set.primary = candidate;
            set.stamp.term += 1;
        }
    }

    fn write(
        &mut self,
        name: &Name,
        contact: Option<&Contact>,
        base: Stamp,
        action: &Action,
        now: Timestamp,
    ) -> Result<(), Fault> {
        if let Action::Initiate { first } = action {
            return self.initiate(name, first, now);
        }
        let fail = |code, text: &str| Err(Fault::new(code, text));
        let Some(set) = self.sets.get(name) else { return fail(FaultCode::Uninitialized, "no replica set here") };
        let ready = self.ready(set, now);
        let Some(primary) = set.primary.filter(|_| rules::majority(&set.members, &ready)) else {
            return fail(FaultCode::Unavailable, "no leader");
        };
        match action {
            Action::Initiate { .. } => Ok(()),
            Action::StepDown { primary: asked, successor } => {
                let can_follow = ready.contains(successor) && rules::voters(&set.members).contains(successor);
                if *asked != primary || !can_follow {
                    return fail(FaultCode::FailedPrecondition, "not the primary, or nobody can follow it");
                }
                let Some(set) = self.sets.get_mut(name) else { return Ok(()) };
                set.frozen.insert(primary, now.after(FROZEN_MS));
                set.primary = Some(*successor);
                set.stamp.term += 1;
                Ok(())
            }
            Action::Write { changes } => {
                if set.stamp != base {
                    return fail(FaultCode::FailedPrecondition, "the configuration has changed since");
                }
                let next_id = MemberId(set.next_id);
                let asked = Asked { flavor: self.flavor, members: &set.members, primary, ready: &ready, next_id };
                let members = asked.changed(changes)?;
                self.check(name, &members, &ready, now);
                self.take(name, contact, members, now);
                Ok(())
            }
        }
    }

    fn initiate(&mut self, name: &Name, first: &Member, now: Timestamp) -> Result<(), Fault> {
        let machine = first.machine_tag().and_then(|machine| machine.parse::<Name>().ok());
        let Some(machine) = machine.filter(|machine| self.is_up(machine)) else {
            return Err(Fault::new(FaultCode::Unavailable, "its server does not answer"));
        };
        if let Some(set) = self.sets.get(name) {
            let same = set.members.iter().any(|member| member.address == first.address);
            let fault = || Fault::new(FaultCode::AlreadyExists, "another set has begun here");
            return if same { Ok(()) } else { Err(fault()) };
        }
        let set = Set {
            stamp: Stamp { term: 1, version: 1 },
            members: vec![first.clone()],
            machine_of: [(first.id, machine)].into(),
            joined: BTreeMap::new(),
            lost: BTreeSet::new(),
            primary: Some(first.id),
            vacant_since: now,
            frozen: BTreeMap::new(),
            next_id: first.id.0 + 1,
            late: Vec::new(),
            #[cfg(feature = "testing")]
            uncommitted: None,
            history: vec![(now, [first.id].into())],
        };
        self.sets.insert(name.clone(), set);
        Ok(())
    }

    /// What no step of ours may do, though a server might take it.
    fn check(&mut self, name: &Name, members: &[Member], ready: &BTreeSet<MemberId>, now: Timestamp) {
        let Some(set) = self.sets.get(name) else { return };
        // Who failed just now was still well when it was planned; no plan can know.
        let was_shaken = |id: &MemberId| {
            let server = set.machine_of.get(id).and_then(|machine| self.servers.get(machine));
            server.is_some_and(|server| now < server.since.after(STALE_MS))
        };
        let shaken = members.iter().map(|member| member.id).filter(was_shaken);
        let ready: &BTreeSet<MemberId> = &ready.iter().copied().chain(shaken).collect();
        let (before, after) = (rules::voters(&set.members), rules::voters(members));
        let mut say = |broken: StepInvariant, text: &str| {
            self.wrong.push(format!("{broken}: {name}: {text}from {before:?} to {after:?}"));
        };
        if before.symmetric_difference(&after).count() > 1 {
            say(StepInvariant::OneVoterAtATime, "");
        }
        if !rules::majority(members, ready) {
            say(StepInvariant::MajorityStays, &format!("ready are {ready:?}, "));
        }
        if set.primary.is_some_and(|primary| !after.contains(&primary)) {
            say(StepInvariant::PrimaryKeepsItsVote, "");
        }
        let newly = after.difference(&before).find(|id| !ready.contains(id));
        if let Some(early) = newly {
            say(StepInvariant::VotersAreReady, &format!("{early} votes, "));
        }
    }

    fn take(&mut self, name: &Name, contact: Option<&Contact>, members: Vec<Member>, now: Timestamp) {
        let Some(set) = self.sets.get_mut(name) else { return };
        set.stamp.version += 1;
        for member in &members {
            if set.members.iter().any(|old| old.id == member.id) {
                continue;
            }
            let by_address = contact.and_then(|contact| {
                contact.servers.iter().find(|server| server.peer.as_deref() == Some(member.address.as_str()))
            });
            let by_tag = member.tags.get(MACHINE_TAG).and_then(|machine| machine.parse::<Name>().ok());
            if let Some(machine) = by_address.map(|server| server.machine.clone()).or(by_tag) {
                set.machine_of.insert(member.id, machine);
            }
            set.joined.insert(member.id, now);
            set.next_id = set.next_id.max(member.id.0 + 1);
        }
        set.members = members;
        set.note_voters(now);
    }
}
