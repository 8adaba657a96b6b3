//! The model's servers as MongoDB's clients see them: administration commands, each to one server.
//!
//! Written from what MongoDB's manual and source say of these commands, and sharing nothing with the adapter but how numbers
//! are read. A configuration that is taken is with the primary first and with a majority some time later; until then no
//! other is taken, and if the primary falls before, it may be lost. What the adapter must never do (force, no time limit,
//! fields lost) is remembered as wrong.

use bailiwick_actors::{
    ports::replica_set::{Member, MemberId, MemberState, Stamp},
    vocab::{Fault, Name, Timestamp, sort_by_key},
};
use serde_json::{Value, json};

use super::{
    FROZEN_MS, ModelWorld, Set, StepInvariant, Uncommitted, World,
    documents::{member_document, member_of, number, settings, what_is_lost},
    rules,
};
use crate::providers::mongodb::{
    Document,
    document::{document, double, int, integer},
    errors::code,
};

/// How long a configuration takes to reach a majority, in milliseconds.
const PROPAGATION_MS: (u64, u64) = (20, 3_000);
/// How long it takes if its majority is slow: longer than anybody waits for it.
const SLOW_MS: u64 = 30_000;
/// How far a member that copies data is behind.
const COPYING_LAG_MS: i64 = 60_000;

/// What a server says when it says no.
#[derive(Clone, Debug)]
pub(in crate::providers::replica_model) struct Said {
    pub code: i32,
    pub name: &'static str,
    pub text: String,
}

/// What a server answers, and when: not before a majority has what it took.
pub(in crate::providers::replica_model) type Reply = Result<(Document, Timestamp), Said>;

fn said<T>(code: i32, name: &'static str, text: impl Into<String>) -> Result<T, Said> {
    Err(Said { code, name, text: text.into() })
}

impl ModelWorld {
    pub(in crate::providers::replica_model) fn answers(&self, machine: &Name) -> bool {
        self.lock().is_up(machine)
    }

    /// Whether nobody answers this look.
    pub(in crate::providers::replica_model) fn look_fails(&self) -> bool {
        let world = &mut *self.lock();
        world.dice.happens(world.faults.look_fail_per_mille)
    }

    /// Runs a command on the server of a machine.
    pub(in crate::providers::replica_model) fn run(&self, machine: &Name, command: &Document, now: Timestamp) -> Reply {
        let world = &mut *self.lock();
        world.catch_up(now);
        world.run(machine, command, now)
    }

    pub(in crate::providers::replica_model) fn keep_for_later(&self, machine: &Name, command: Document, at: Timestamp) {
        self.lock().late.push((at, machine.clone(), command));
    }

    /// Whether the server of a machine is primary.
    pub(in crate::providers::replica_model) fn is_primary(&self, machine: &Name, now: Timestamp) -> bool {
        let world = &mut *self.lock();
        world.catch_up(now);
        world.member_on(machine).is_some_and(|(name, id)| world.sets[&name].primary == Some(id))
    }
}

impl World {
    /// Runs the commands that are late by now, each at its own time.
    pub(super) fn run_late(&mut self, now: Timestamp) {
        let names: Vec<Name> = self.sets.keys().cloned().collect();
        let mut due: Vec<_> = self.late.extract_if(.., |(at, ..)| *at <= now).collect();
        sort_by_key(&mut due, |(at, ..)| *at);
        for (at, machine, command) in due {
            names.iter().for_each(|name| self.settle(name, at));
            if self.is_up(&machine) {
                // Nobody hears whether it was refused.
                let _ = self.run(&machine, &command, at);
            }
        }
    }

    pub(super) fn run(&mut self, machine: &Name, command: &Document, now: Timestamp) -> Reply {
        let Some((name, argument)) = command.iter().next() else { return said(code::BAD_VALUE, "BadValue", "empty") };
        match name.as_str() {
            "replSetGetStatus" => Ok((self.status_document(machine, now)?, now)),
            "replSetGetConfig" => {
                Ok((self.config_reply(machine, command.get("commitmentStatus").is_some(), now)?, now))
            }
            "replSetReconfig" => {
                self.expect(command.contains_key("maxTimeMS"), "a write without a time limit");
                self.expect(!command.contains_key("force"), "a write was forced");
                self.reconfigure(machine, argument, now)
            }
            "replSetStepDown" => {
                self.expect(!command.contains_key("force"), "a step down was forced");
                self.give_way(machine, argument, now)
            }
            "replSetInitiate" => self.begin(machine, argument, now),
            other => said(code::COMMAND_NOT_FOUND, "CommandNotFound", format!("no such command: '{other}'")),
        }
    }

    fn expect(&mut self, is_so: bool, otherwise: &str) {
        if !is_so {
            self.wrong.push(format!("{}: {otherwise}", StepInvariant::WritesAreGentle));
        }
    }

    /// The set that a machine's server is a member of, and as which one.
    fn member_on(&self, machine: &Name) -> Option<(Name, MemberId)> {
        self.sets.iter().find_map(|(name, set)| {
            let is_here = |member: &&Member| set.machine_of.get(&member.id) == Some(machine);
            Some((name.clone(), set.members.iter().find(is_here)?.id))
        })
    }

    fn known_member_on(&self, machine: &Name) -> Result<(Name, MemberId), Said> {
        if let Some(member) = self.member_on(machine) {
            return Ok(member);
        }
        if self.sets.values().any(|set| set.machine_of.values().any(|owner| owner == machine)) {
            let text = "Our replica set config is invalid or we are not a member of it";
            return said(code::INVALID_REPLICA_SET_CONFIG, "InvalidReplicaSetConfig", text);
        }
        said(code::NOT_YET_INITIALIZED, "NotYetInitialized", "no replset config has been received")
    }

    fn status_document(&mut self, machine: &Name, now: Timestamp) -> Result<Document, Said> {
        let (name, teller) = self.known_member_on(machine)?;
        let lies = self.dice.happens(self.faults.two_primaries_per_mille).then(|| self.dice.below(2));
        let set = &self.sets[&name];
        let mut stamp = set.stamp;
        let mut members = Vec::new();
        let mut own = MemberState::Unknown;
        for member in set.configuration_of(teller, now).1 {
            let status = self.status(set, member.id, now);
            let mut state = status.state;
            let is_teller = member.id == teller;
            // Old news: of itself, or of somebody else.
            let is_told_wrong = state == MemberState::Secondary && lies == Some(u64::from(is_teller));
            if is_told_wrong {
                state = MemberState::Primary;
                stamp.term = stamp.term.saturating_sub(u64::from(is_teller));
            }
            if is_teller {
                own = state;
            }
            let lag_ms = if status.is_ready() { member.id.0 as i64 * 37 % 700 } else { COPYING_LAG_MS };
            let latest = now.0 as i64 - if set.primary == Some(member.id) { 0 } else { lag_ms };
            let (has, _) = set.configuration_of(member.id, now);
            let mut told = document([
                ("_id", int(member.id.0 as i64)),
                ("name", member.address.as_str().into()),
                ("health", double(if status.healthy { 1.0 } else { 0.0 })),
                ("state", int(number(state))),
                ("stateStr", state.name().into()),
                ("optimeDate", json!({ "$date": { "$numberLong": latest.to_string() } })),
                ("configVersion", int(has.version as i64)),
                ("configTerm", int(has.term as i64)),
            ]);
            if is_teller {
                told.insert("self".into(), true.into());
            }
            members.push(Value::Object(told));
        }
        Ok(document([
            ("set", name.as_str().into()),
            ("myState", int(number(own))),
            ("term", json!({ "$numberLong": stamp.term.to_string() })),
            ("members", members.into()),
            ("ok", double(1.0)),
        ]))
    }

    pub(super) fn config_reply(
        &self,
        machine: &Name,
        wants_commitment: bool,
        now: Timestamp,
    ) -> Result<Document, Said> {
        let (name, teller) = self.known_member_on(machine)?;
        let set = &self.sets[&name];
        let (stamp, members) = set.configuration_of(teller, now);
        let config = document([
            ("_id", name.as_str().into()),
            ("version", int(stamp.version as i64)),
            ("term", int(stamp.term as i64)),
            ("members", members.iter().map(|member| Value::Object(member_document(member))).collect()),
            ("protocolVersion", json!({ "$numberLong": "1" })),
            ("settings", settings()),
        ]);
        let mut reply = document([("config", config.into()), ("ok", double(1.0))]);
        if wants_commitment {
            if set.primary != Some(teller) {
                let text = "commitmentStatus is only supported on primary";
                return said(code::NOT_WRITABLE_PRIMARY, "NotWritablePrimary", text);
            }
            reply.insert("commitmentStatus".into(), self.is_committed(set, now).into());
        }
        Ok(reply)
    }

    fn is_committed(&self, set: &Set, now: Timestamp) -> bool {
        let is_on_the_way = set.uncommitted.as_ref().is_some_and(|it| now < it.until);
        !is_on_the_way && rules::majority(&set.members, &self.ready(set, now))
    }

    fn reconfigure(&mut self, machine: &Name, config: &Value, now: Timestamp) -> Reply {
        let (name, member) = self.known_member_on(machine)?;
        let Some(set) = self.sets.get(&name).filter(|set| set.primary == Some(member)) else {
            return said(
                code::NOT_WRITABLE_PRIMARY,
                "NotWritablePrimary",
                "Safe reconfig is only allowed on a primary",
            );
        };
        if !self.is_committed(set, now) {
            let text = "Cannot run replSetReconfig because the current config is not majority committed";
            return said(code::CURRENT_CONFIG_NOT_COMMITTED_YET, "CurrentConfigNotCommittedYet", text);
        }
        let ready = self.ready(set, now);
        let incompatible =
            |text| said(code::NEW_CONFIGURATION_INCOMPATIBLE, "NewReplicaSetConfigurationIncompatible", text);
        let version = config.get("version").and_then(integer).unwrap_or(0);
        if config.get("_id").and_then(Value::as_str) != Some(name.as_str()) || version <= set.stamp.version as i64 {
            return incompatible("another set, or a version that is not greater than the present one");
        }
        let listed = config.get("members").and_then(Value::as_array).into_iter().flatten();
        let Some(members) = listed.map(member_of).collect::<Option<Vec<Member>>>() else {
            return said(code::INVALID_REPLICA_SET_CONFIG, "InvalidReplicaSetConfig", "a member without id or host");
        };
        let asked = rules::Asked {
            flavor: self.flavor,
            members: &set.members,
            primary: member,
            ready: &ready,
            next_id: MemberId(set.next_id),
        };
        asked.lawful(&members).map_err(refusal)?;
        let is_reachable = |id: &&MemberId| self.reaches(set, **id);
        let voters = rules::voters(&members);
        if voters.iter().filter(is_reachable).count() <= voters.len() / 2 {
            return said(
                code::NODE_NOT_FOUND,
                "NodeNotFound",
                "Quorum check failed: not enough voting nodes responded",
            );
        }
        let lost = what_is_lost(set, config, &members);
        self.wrong.extend(lost.map(|what| format!("{}: {name}: {what}", StepInvariant::DocumentsStayWhole)));
        if self.interrupts() {
            self.depose(&name, now);
            let text = "operation was interrupted before anything was changed";
            return said(code::INTERRUPTED_BY_STATE_CHANGE, "InterruptedDueToReplStateChange", text);
        }
        self.check(&name, &members, &ready, now);
        let until = now.after(self.dice.between(PROPAGATION_MS.0, PROPAGATION_MS.1));
        let before =
            Uncommitted { until, version: self.sets[&name].stamp.version, members: self.sets[&name].members.clone() };
        self.take(&name, None, members, now);
        if let Some(set) = self.sets.get_mut(&name) {
            set.stamp.version = version as u64;
            set.uncommitted = Some(before);
        }
        if self.interrupts() {
            if self.dice.happens(500) {
                self.depose(&name, now);
                return stepped_down();
            }
            if let Some(before) = self.sets.get_mut(&name).and_then(|set| set.uncommitted.as_mut()) {
                before.until = now.after(SLOW_MS);
            }
            let text = "Reconfig finished but failed to propagate to a majority: operation exceeded time limit";
            return said(code::MAX_TIME_MS_EXPIRED, "MaxTimeMSExpired", text);
        }
        Ok((document([("ok", double(1.0))]), until))
    }

    fn interrupts(&mut self) -> bool {
        self.dice.happens(self.faults.interrupt_per_mille)
    }

    fn depose(&mut self, name: &Name, now: Timestamp) {
        if let Some(set) = self.sets.get_mut(name) {
            set.depose(now);
        }
    }

    fn give_way(&mut self, machine: &Name, seconds: &Value, now: Timestamp) -> Reply {
        let (name, member) = self.known_member_on(machine)?;
        let Some(set) = self.sets.get(&name).filter(|set| set.primary == Some(member)) else {
            return said(code::NOT_WRITABLE_PRIMARY, "NotWritablePrimary", "not primary so can't step down");
        };
        let ready = self.ready(set, now);
        let is_frozen = |id: MemberId| set.frozen.get(&id).is_some_and(|until| now < *until);
        let can_follow =
            |it: &&Member| it.id != member && it.is_electable() && ready.contains(&it.id) && !is_frozen(it.id);
        let followers: Vec<MemberId> = set.members.iter().filter(can_follow).map(|it| it.id).collect();
        if followers.is_empty() {
            let text = "No electable secondaries caught up; please use the replSetStepDown command with 'force'";
            return said(code::EXCEEDED_TIME_LIMIT, "ExceededTimeLimit", text);
        }
        let chosen = followers[usize::try_from(self.dice.below(followers.len() as u64)).unwrap_or(0)];
        let aside_ms = integer(seconds).and_then(|it| u64::try_from(it).ok()).map_or(FROZEN_MS, |it| it * 1_000);
        let breaks = self.interrupts();
        if let Some(set) = self.sets.get_mut(&name) {
            set.frozen.insert(member, now.after(aside_ms));
            // Who follows has everything; nothing is lost.
            set.uncommitted = None;
            set.primary = Some(chosen);
            set.stamp.term += 1;
        }
        if breaks { stepped_down() } else { Ok((document([("ok", double(1.0))]), now)) }
    }

    fn begin(&mut self, machine: &Name, config: &Value, now: Timestamp) -> Reply {
        if self.member_on(machine).is_some() {
            return said(code::ALREADY_INITIALIZED, "AlreadyInitialized", "already initialized");
        }
        let name = config.get("_id").and_then(Value::as_str).and_then(|name| name.parse::<Name>().ok());
        let first = config.get("members").and_then(|members| member_of(members.get(0)?));
        let (Some(name), Some(first)) = (name, first) else {
            return said(code::INVALID_REPLICA_SET_CONFIG, "InvalidReplicaSetConfig", "no name, or no member");
        };
        if first.machine_tag() != Some(machine.as_str()) {
            let text = "No host described in new configuration maps to this node";
            return said(code::INVALID_REPLICA_SET_CONFIG, "InvalidReplicaSetConfig", text);
        }
        self.expect(!self.sets.contains_key(&name), "a set was begun twice");
        match self.initiate(&name, &first, now) {
            Ok(()) => Ok((document([("ok", double(1.0))]), now)),
            Err(fault) => Err(refusal(fault)),
        }
    }
}

impl Set {
    /// The configuration that a member has: others than the primary hear of a new one later.
    fn configuration_of(&self, id: MemberId, now: Timestamp) -> (Stamp, &[Member]) {
        match &self.uncommitted {
            Some(before) if now < before.until && self.primary != Some(id) => {
                (Stamp { version: before.version, ..self.stamp }, &before.members)
            }
            _ => (self.stamp, &self.members),
        }
    }
}

fn stepped_down<T>() -> Result<T, Said> {
    let text = "Reconfig or step down was interrupted: the primary stepped down";
    said(code::PRIMARY_STEPPED_DOWN, "PrimarySteppedDown", text)
}

/// A refusal of the rules, whose text begins with the name of its error.
fn refusal(fault: Fault) -> Said {
    let names = [
        (code::NEW_CONFIGURATION_INCOMPATIBLE, "NewReplicaSetConfigurationIncompatible"),
        (code::NODE_NOT_ELECTABLE, "NodeNotElectable"),
        (code::INVALID_REPLICA_SET_CONFIG, "InvalidReplicaSetConfig"),
    ];
    let (code, name) = names.into_iter().find(|(_, name)| fault.text.starts_with(name)).unwrap_or(names[2]);
    Said { code, name, text: fault.text }
}
