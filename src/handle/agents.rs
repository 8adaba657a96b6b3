//! What the agents inside machines say, and what they are told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, MutexGuard, PoisonError},
};

use bailiwick_actors::{
    contract::Decider,
    machine::{self, Instance, NodeFacts, rules::template::NodeTemplate},
    shell::{Allowance, AnyCommand, Ask, AskError, Origin},
    supervisor::machines::{AgentReport, Heartbeat},
    supervisor::storage::DevicesSeen,
    supervisor::{machines::going_on, storage::Sighted},
    vocab::{EffectId, Name, Nonce},
};
use bailiwick_journal::{Journal, ReadError, StreamId};
use uuid::Uuid;

use super::Handle;
use crate::{
    api::wire::{agent, storage::Device},
    providers::machine_storage::Desk,
    view::Fleet,
};

/// Machines whose joining is remembered before those are forgotten that have not joined for long.
const JOINS_MAX: usize = 1_024;

/// The interval of reports while an agent is about to be told more, in milliseconds.
const SOON_MS: u64 = 200;

impl Handle {
    /// Hands an agent's report on.
    ///
    /// # Errors
    /// If the node is stopping or takes no more.
    pub(crate) async fn agent_report(&self, report: AgentReport) -> Result<Heartbeat, AskError> {
        let _permit = self.shared.admission.try_acquire().map_err(|_| AskError::Overloaded)?;
        self.shared.machines.send(report).await.map_err(|_| AskError::Stopping)
    }

    /// What an instance proves with that this control plane started it under this id.
    pub(crate) fn nonce(&self, effect: EffectId) -> Nonce {
        Nonce::of(self.shared.journal.id(), effect)
    }

    /// Records that the agent of this instance has come with the token of this id, and what it says of itself.
    ///
    /// # Errors
    /// As [`AskError`].
    pub(crate) async fn agent_joined(
        &self,
        machine: &Name,
        effect: EffectId,
        token: String,
        node: NodeFacts,
    ) -> Result<(), AskError> {
        let _permit = self.shared.admission.try_acquire().map_err(|_| AskError::Overloaded)?;
        if !self.may_join(machine, &node) {
            return Err(AskError::Overloaded);
        }
        let stream = StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked");
        let report = machine::Report::Joined { effect, token, node: Box::new(node) };
        let command = AnyCommand::from(machine::Command::Report(report));
        let principal = format!("agent:machine/{machine}");
        let origin =
            Origin { id: Uuid::new_v4(), principal, cause: None, cites: Vec::new(), routine: true, expected: None };
        self.shared.registry.send(Ask { stream, command, origin }).await.map_err(|_| AskError::Stopping)?.map(drop)
    }

    /// Records what the agent of this instance says of its node now, where that is something else than it said before. What
    /// is not taken in now is said again with the next report.
    pub(crate) async fn node_told(&self, machine: &Name, effect: EffectId, node: NodeFacts) {
        let stream = StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked");
        let is_news = self.look(|fleet| {
            let joined = fleet.machines.get(machine.as_str()).and_then(|state| state.joined.as_ref());
            joined.is_some_and(|joined| joined.node != node)
        });
        if !is_news.unwrap_or(false) || !self.may_join(machine, &node) {
            return;
        }
        let report = machine::Report::NodeChanged { effect, node: Box::new(node) };
        let command = AnyCommand::from(machine::Command::Report(report));
        let principal = format!("agent:machine/{machine}");
        let origin =
            Origin { id: Uuid::new_v4(), principal, cause: None, cites: Vec::new(), routine: true, expected: None };
        let told = self.shared.registry.send(Ask { stream, command, origin }).await;
        if !matches!(told, Ok(Ok(_))) {
            tracing::debug!(%machine, "the node report of the agent is deferred");
        }
    }

    /// Whether what an agent says of itself is taken now; it asks again if not.
    fn may_join(&self, machine: &Name, node: &NodeFacts) -> bool {
        let now = self.now();
        let mut joins = self.shared.joins.lock().unwrap_or_else(PoisonError::into_inner);
        if joins.len() > JOINS_MAX && !joins.contains_key(machine) {
            // Who has all of it left again need not be remembered.
            joins.retain(|_, allowance| !allowance.is_full(now));
        }
        let said = node.labels.iter().chain(&node.annotations).map(|(key, value)| key.len() + value.len());
        let bytes = said.sum::<usize>() + 512;
        joins.entry(machine.clone()).or_insert_with(|| Allowance::new(now)).take(bytes as u64, now)
    }

    /// What the agent in this instance of a machine is to do, and notes that it was told; none if this is not the instance
    /// that runs.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn tell_agent(&self, machine: &Name, effect: EffectId) -> Result<Option<agent::Answer>, ReadError> {
        let answer = self.look(|fleet| wanted(fleet, machine, effect))?;
        if let Some(answer) = &answer {
            self.told().insert(machine.clone(), answer.clone());
        }
        Ok(answer)
    }

    /// Whether this is the instance of a machine that runs.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn runs(&self, machine: &Name, effect: EffectId) -> Result<bool, ReadError> {
        self.look(|fleet| {
            let state = fleet.machines.get(machine.as_str());
            matches!(state.map(|state| &state.instance), Some(Instance::Running { instance, .. }) if instance.effect == effect)
        })
    }

    /// Jobs for the agents of machines.
    pub(crate) fn desk(&self) -> Arc<Desk> {
        self.shared.desk.clone()
    }

    /// Hands on which block devices an agent sees. One that is not taken in now comes with the next report again.
    pub(crate) fn devices_seen(&self, machine: &Name, instance: EffectId, devices: Vec<Device>) {
        let sighted = |seen: Device| Sighted { device: seen.device, volume: seen.volume };
        let devices = devices.into_iter().map(sighted).collect();
        if let Err(error) = self.shared.storage.try_send(DevicesSeen { machine: machine.clone(), instance, devices }) {
            tracing::debug!(%machine, %error, "the report of the agent is deferred");
        }
    }

    /// The workloads that the agent of a machine was told to run last; none if this node has not told it anything.
    pub(crate) fn told_to_run(&self, machine: &Name) -> Option<BTreeSet<Name>> {
        let told = self.told();
        told.get(machine).map(|answer| answer.workloads.iter().map(|workload| workload.name.clone()).collect())
    }

    pub(super) fn told(&self) -> MutexGuard<'_, BTreeMap<Name, agent::Answer>> {
        self.shared.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this instance of the machine should look like; none if it is not the one that runs.
pub(super) fn wanted(fleet: &Fleet, machine: &Name, effect: EffectId) -> Option<agent::Answer> {
    let state = fleet.machines.get(machine.as_str())?;
    let Instance::Running { instance, .. } = &state.instance else {
        return None;
    };
    if instance.effect != effect {
        return None;
    }
    let workload = |workload: &machine::Workload| agent::Workload {
        name: workload.name.clone(),
        command: workload.command.clone(),
        env: workload.env.clone(),
        volumes: workload.volumes.clone(),
        grace_ms: Some(workload.grace_ms()),
    };
    // Whoever is being drained, or was, runs nothing any more; but for who may not end yet, and whose turn is still to come.
    let going_on = going_on(state, &fleet.documents);
    let runs = |workload: &&machine::Workload| state.drain.is_none() || going_on.contains(&workload.name);
    let workloads = state.spec.iter().flat_map(|spec| &spec.workloads).filter(runs).map(workload).collect();
    let volume = |volume: &Name| {
        let attachment = fleet.attachments.get(&format!("{machine}:{volume}"))?;
        let (target, info) = attachment.attached()?;
        (target.machine_effect == effect).then(|| agent::AttachedVolume {
            name: volume.clone(),
            path: info.path.clone().into(),
            read_only: info.read_only,
        })
    };
    let volumes: Vec<_> = state.attachments.iter().filter_map(volume).collect();
    let mounted = |filesystem: &Name| {
        let attachment = fleet.filesystem_attachments.get(&format!("{machine}:{filesystem}"))?;
        let (target, info) = attachment.attached()?;
        (target.machine_effect == effect).then(|| agent::MountedFilesystem {
            name: filesystem.clone(),
            path: info.mount_point.clone().into(),
            read_only: info.read_only,
            volume: target.backing.as_ref().map(|backing| backing.volume.clone()),
        })
    };
    let filesystems: Vec<_> = state.mounts.iter().filter_map(mounted).collect();
    // While something is on its way, the agent asks again soon.
    let is_there = volumes.len() == state.attachments.len() && filesystems.len() == state.mounts.len();
    let is_soon = !is_there || state.is_draining();
    let interval_ms = if is_soon { SOON_MS } else { agent::default_interval_ms() };
    let node = state.spec.as_ref().map(|spec| NodeTemplate {
        labels: spec.labels.clone(),
        annotations: spec.annotations.clone(),
        taints: spec.taints.clone(),
    });
    let going = state.goes_because().map(|why| why.as_str().to_owned());
    Some(agent::Answer { workloads, volumes, filesystems, node, going, interval_ms, stop: false })
}
