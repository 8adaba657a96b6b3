//! The world of a case: a provider, nodes and secrets with a memory, and the machine that is asked to reconcile.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::{
    actors::{
        machine::{
            drain,
            reconcile::{
                Answered, Command, Created, Effect, Event, Facts, Found, Life, NodeSeen, Outcome, Report, Retry, Scope,
                Seen, State, decide, phase,
            },
            rules::{
                ConditionStatus, NodeCondition,
                budget::{BudgetView, PermitSeen},
                class::{self, ClassSeen},
                removal::RemovalReason,
                template::{LastWritten, NodeWrite},
                token::{self, TokenId},
            },
        },
        policy::Reconciliation,
        vocab::{MachinePhase, Timestamp},
    },
    journal::Version,
};
use serde_json::{Value, json};

use super::given::{CallResult, Driver, Given, NOW};

/// A world.
pub(super) struct World {
    pub(super) state: State,
    pub(super) policy: Reconciliation,
    pub(super) nodes: BTreeMap<String, NodeSeen>,
    /// Records that nobody can read, by node.
    pub(super) unreadable: BTreeMap<String, String>,
    pub(super) driver: Driver,
    pub(super) secrets: BTreeSet<String>,
    class: ClassSeen,
    user_data: Option<String>,
    is_frozen: bool,
    permit: PermitSeen,
    peers: Vec<(String, MachinePhase)>,
    control_errors: BTreeMap<String, String>,
    pub(super) trace: Vec<String>,
    pub(super) requests: Vec<Value>,
    version: u64,
}

/// What came of a pass.
pub(super) struct Passed {
    pub(super) retry: Retry,
    pub(super) retry_s: u64,
    pub(super) outcome: Outcome,
}

impl World {
    pub(super) fn new(given: &Given, policy: Reconciliation) -> Result<Self, String> {
        let machine = given.machine.as_ref().ok_or("it gives no machine")?;
        let state = super::given::state(given, &policy)?;
        let mut peers = Vec::new();
        for other in &given.others {
            peers.push((other.label(State::DEPLOYMENT_LABEL).to_owned(), super::given::phase(&other.phase)?));
        }
        let secrets = class::secrets(given.machine_class.secret().as_ref(), given.machine_class.credentials.as_ref());
        let mut world = Self {
            class: given.machine_class.seen(machine.class_name()),
            user_data: secrets.get("userData").cloned(),
            state,
            policy,
            nodes: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            driver: given.driver.clone(),
            secrets: given.target_secrets.keys().cloned().collect(),
            is_frozen: given.frozen,
            permit: if given.params.lock_held { PermitSeen::Taken } else { PermitSeen::Free },
            peers,
            control_errors: given.control_errors.clone(),
            trace: Vec::new(),
            requests: Vec::new(),
            version: 1,
        };
        given.node.iter().for_each(|node| world.put_node(node));
        Ok(world)
    }

    pub(super) fn put_node(&mut self, node: &super::given::Node) {
        let (seen, unreadable) = node.seen();
        self.unreadable.extend(unreadable.map(|text| (seen.name.clone(), text)));
        self.nodes.insert(seen.name.clone(), seen);
    }

    /// One command to the machine, decided and taken in.
    fn send(&mut self, command: &Command, now: Timestamp) -> Result<Vec<Event>, String> {
        let facts = Facts { now, policy: &self.policy, next: Version(self.version + 1) };
        let decision = decide(&self.state, command, &facts).map_err(|rejection| rejection.to_string())?;
        for event in &decision.events {
            self.version += 1;
            self.state.evolve(Version(self.version), event);
        }
        Ok(decision.events)
    }

    pub(super) fn ask_removal(&mut self, asked: Timestamp) -> Result<(), String> {
        self.send(&Command::Remove { reason: None, force: false }, asked).map(drop)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.state.life == Life::Gone
    }

    fn seen(&self) -> Seen {
        let name = &self.state.record.name;
        let drawn = TokenId::of_name(name);
        let token = self.state.record.token.as_ref().unwrap_or(&drawn);
        let deployment = self.state.record.labels.get(State::DEPLOYMENT_LABEL).map_or("", String::as_str);
        let own = (deployment, phase(&self.state));
        let peers = self.peers.iter().map(|(of, phase)| (of.as_str(), *phase));
        let reading = self.policy.readings.undeployed;
        Seen {
            is_frozen: self.is_frozen,
            class: self.class.clone(),
            has_user_data: self.user_data.is_some(),
            has_token: self.secrets.contains(&token.secret_name()),
            drawn_token: Some(drawn),
            node: self.state.node().and_then(|node| self.nodes.get(node)).cloned(),
            budget: BudgetView::of(deployment, peers.chain([own]), self.permit, reading),
        }
    }

    /// One pass: asked for once, every effect answered until nothing is pending but waiting.
    pub(super) fn pass(&mut self, scope: Scope) -> Result<Passed, String> {
        let mut events = self.send(&Command::Reconcile { scope, seen: Box::new(self.seen()) }, NOW)?;
        for _ in 0..1000 {
            let calls = |effect: &Effect| !matches!(effect, Effect::PassAt { .. } | Effect::RecheckAt { .. });
            let Some(effect) = self.state.pending().into_iter().find(calls) else {
                return self.passed(&events);
            };
            let report = self.perform(&effect)?;
            let pass = self.state.pass.as_ref().map(|pass| pass.id).unwrap_or_default();
            events.extend(self.send(&Command::Report { pass, report }, NOW)?);
        }
        Err("it never comes to rest".to_owned())
    }

    fn passed(&self, events: &[Event]) -> Result<Passed, String> {
        let end = events.iter().rev().find_map(|event| match event {
            Event::PassEnded { end, .. } => Some(*end),
            _ => None,
        });
        let end = end.ok_or("the pass has no end")?;
        let due = self.state.pending().into_iter().find_map(|effect| match effect {
            Effect::PassAt { until, retry } => Some((until, retry)),
            _ => None,
        });
        let (until, retry) = due.ok_or("no pass is due")?;
        Ok(Passed { retry, retry_s: until.since(NOW) / 1000, outcome: end.reason.outcome() })
    }

    /// Delays of wake-ups beside the next pass.
    pub(super) fn rechecks(&self) -> Vec<u64> {
        let recheck = |effect: Effect| match effect {
            Effect::RecheckAt { until } => Some(until.since(NOW) / 1000),
            _ => None,
        };
        self.state.pending().into_iter().filter_map(recheck).collect()
    }

    fn perform(&mut self, effect: &Effect) -> Result<Report, String> {
        Ok(match effect {
            Effect::CreateToken { id } => {
                let answer = self.write("create secrets");
                if answer == Answered::Ok {
                    self.secrets.insert(id.secret_name());
                }
                Report::TokenCreated(answer)
            }
            Effect::DropToken { id } => {
                let answer = self.write("delete secrets");
                if answer == Answered::Ok {
                    self.secrets.remove(&id.secret_name());
                }
                Report::TokenDropped(answer)
            }
            Effect::GetMachineStatus => {
                let found = Found { provider_id: self.driver.provider_id.clone(), node: self.driver.node_name.clone() };
                let called = self.call("GetMachineStatus")?;
                Report::Status(called.and_then(|()| self.driver.is_there()).map(|()| found))
            }
            Effect::CreateMachine { token, .. } => self.create(token)?,
            Effect::DeleteMachine { provider_id } => {
                let result = self.delete(provider_id)?;
                Report::Deleted { result, last_known_state: self.driver.last_known_state.clone() }
            }
            Effect::CleanUp { provider_id } => {
                let result = self.delete(provider_id)?;
                Report::CleanedUp { provider_id: provider_id.clone(), result }
            }
            Effect::WriteNode(write) => {
                let answer = self.write("update nodes");
                if answer == Answered::Ok {
                    self.write_node(write);
                }
                Report::NodeWritten(answer)
            }
            Effect::MarkNode { node, reason } => {
                let answer = self.write("update nodes/status");
                if answer == Answered::Ok {
                    self.mark_node(node, *reason);
                }
                Report::NodeMarked(answer)
            }
            Effect::DeleteNode { node } => match self.write("delete nodes") {
                Answered::Ok if self.nodes.remove(node).is_none() => Report::NodeDeleted(Answered::Gone),
                answer => Report::NodeDeleted(answer),
            },
            Effect::Drain { node, effect } => Report::Drain(self.drain(node, effect)?),
            Effect::PassAt { .. } | Effect::RecheckAt { .. } => return Err(format!("{effect:?} is no call")),
        })
    }

    /// A write, which fails if the case says so.
    fn write(&mut self, what: &str) -> Answered {
        self.trace.push(what.to_owned());
        if self.control_errors.contains_key(what) { Answered::Failed } else { Answered::Ok }
    }

    /// A call to the provider, which fails if the case says so.
    fn call(&mut self, call: &str) -> Result<CallResult, String> {
        self.trace.push(format!("driver {call}"));
        self.driver.error(call)
    }

    fn create(&mut self, token: &TokenId) -> Result<Report, String> {
        let template = self.user_data.as_deref().unwrap_or_default();
        self.requests.push(json!({
            "call": "CreateMachine",
            "machine": self.state.record.name,
            "provider_id": self.state.record.provider_id,
            "userData": token::placed(template, &format!("{}.{}", token.0, "*".repeat(16))),
        }));
        let created = Created {
            provider_id: self.driver.provider_id.clone(),
            node: self.driver.node_name.clone(),
            is_node_known: self.nodes.contains_key(&self.driver.node_name),
        };
        let called = self.call("CreateMachine")?;
        self.driver.exists |= called.is_ok();
        let last_known_state = self.driver.last_known_state.clone();
        Ok(Report::Created { result: called.map(|()| created), last_known_state })
    }

    fn delete(&mut self, provider_id: &str) -> Result<CallResult, String> {
        let machine = &self.state.record.name;
        self.requests.push(json!({"call": "DeleteMachine", "machine": machine, "provider_id": provider_id}));
        let called = self.call("DeleteMachine")?;
        self.driver.exists &= called.is_err();
        Ok(called)
    }

    fn write_node(&mut self, write: &NodeWrite) {
        let Some(node) = self.nodes.get_mut(&write.node) else { return };
        node.labels.clone_from(&write.labels);
        node.annotations.clone_from(&write.annotations);
        node.taints.clone_from(&write.taints);
        node.last_written = LastWritten::Known(write.record.clone());
    }

    fn mark_node(&mut self, node: &str, reason: RemovalReason) {
        let Some(node) = self.nodes.get_mut(node) else { return };
        let is_mark = |condition: &&mut NodeCondition| condition.kind == NodeCondition::TERMINATING;
        if let Some(mark) = node.conditions.iter_mut().find(is_mark) {
            mark.status = ConditionStatus::True;
            return;
        }
        node.conditions.push(NodeCondition {
            kind: NodeCondition::TERMINATING.to_owned(),
            status: ConditionStatus::True,
            since: NOW,
            reason: reason.as_str().to_owned(),
            message: String::new(),
        });
    }

    /// A node of these cases has no pods.
    fn drain(&mut self, node: &str, effect: &drain::Effect) -> Result<drain::Report, String> {
        match effect {
            drain::Effect::Cordon => {
                let answer = self.write("update nodes");
                if answer != Answered::Ok {
                    return Ok(drain::Report::CordonFailed);
                }
                self.nodes.entry(node.to_owned()).and_modify(|node| node.is_cordoned = true);
                Ok(drain::Report::Cordoned)
            }
            drain::Effect::List => Ok(drain::Report::Pods(Vec::new())),
            drain::Effect::Tell { .. } | drain::Effect::WakeAt(_) => Err(format!("{effect:?} without pods")),
        }
    }
}
