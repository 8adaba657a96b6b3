//! What the servers of a set say, put together.
//!
//! Every server is asked how it is, at the same time. The members are read from the one that says it leads (of several the
//! one of the highest term), after a read that only a leader with a majority behind it can answer: without that, what is
//! read may be old, and counts as not committed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::replica_set::{
        Configuration, Contact, EngineRules, MACHINE_TAG, Member, MemberId, MemberState, MemberStatus, Observation,
        Priority, Server, Stamp,
    },
    vocab::{Fault, FaultCode, sort_by, sort_by_key},
};
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    gateway::{Broken, Gateway},
    reach::Reach,
    wire::{ListedMember, MemberList, Nothing, ServerStatus},
};
use crate::providers::access::Environment;

/// How long a server may take to say how it is. One that was stopped answers nothing at all.
const LOOK_TIME: Duration = Duration::from_secs(3);
/// A learner counts as in sync from this share of the leader's log on. Source: etcd's own check before a promotion.
const IN_SYNC_PERCENT: u64 = 90;

/// What was read.
#[derive(Debug)]
pub(super) struct Reading {
    observation: Observation,
    leader: Option<(MemberId, Gateway)>,
    /// `http` or `https`, as the leader is reached by the others.
    pub peer_scheme: String,
}

/// A server that answered.
#[derive(Clone, Debug)]
struct Answered {
    gateway: Gateway,
    status: ServerStatus,
}

impl Answered {
    fn leads(&self) -> bool {
        self.status.leader != 0 && self.status.leader == self.status.header.member_id
    }
}

impl Reading {
    /// Reads.
    ///
    /// # Errors
    /// If no server answers.
    pub(super) async fn of(environment: &Environment, contact: &Contact) -> Result<Self, Fault> {
        let reach = Arc::new(Reach::of(environment, contact)?);
        let (mut answered, faults) = ask_all(contact, &reach).await;
        keep_one_cluster(&mut answered);
        let best = answered.iter().max_by_key(|it| (it.leads(), it.status.leader != 0, it.status.raft_term));
        let Some(best) = best else {
            // That one does not take our credentials is worth more than that another is not there.
            let refusal = faults.iter().find(|fault| fault.code == FaultCode::Unauthenticated).cloned();
            let first = faults.first().map(|fault| format!(": {}", fault.text)).unwrap_or_default();
            let silence = || Fault::new(FaultCode::Unavailable, format!("no server of the set answers{first}"));
            return Err(refusal.unwrap_or_else(silence));
        };
        let gateway = best.gateway.clone();
        let range = json!({ "key": "AA==", "count_only": true });
        let linearizable = gateway.call::<Nothing>("/v3/kv/range", &range, LOOK_TIME).await;
        let list: Result<MemberList, Broken> =
            gateway.call("/v3/cluster/member/list", &json!({ "linearizable": true }), LOOK_TIME).await;
        let list = list.map_err(Broken::into_fault)?;
        let committed = best.leads() && linearizable.is_ok() && list.header.cluster_id == best.status.header.cluster_id;
        let stamp = Stamp { term: best.status.raft_term, version: digest(&list.members) };
        let members = list.members.iter().map(|listed| member(listed, contact)).collect();
        let statuses = statuses(&list.members, &answered, best);
        let leader = best.leads().then_some((MemberId(best.status.leader), gateway));
        let configuration = Configuration { stamp, committed, members };
        let own = list.members.iter().find(|listed| listed.id == best.status.header.member_id);
        let scheme = own.and_then(|own| own.peer_urls.first()?.split_once("://"));
        let peer_scheme = scheme.map_or("http", |(scheme, _)| scheme).to_owned();
        let observation = Observation { configuration, statuses, rules: EngineRules::etcd() };
        Ok(Self { observation, leader, peer_scheme })
    }

    pub(super) fn observation(&self) -> &Observation {
        &self.observation
    }

    pub(super) fn into_observation(self) -> Observation {
        self.observation
    }

    pub(super) fn leader_id(&self) -> Option<MemberId> {
        self.leader.as_ref().map(|(id, _)| *id)
    }

    /// The server that takes changes.
    ///
    /// # Errors
    /// If none says that it leads, or the members could not be read from it with a majority behind it.
    pub(super) fn leader(&self) -> Result<Gateway, Fault> {
        let leader = self.leader.as_ref().filter(|_| self.observation.configuration.committed);
        let nobody = || Fault::new(FaultCode::Unavailable, "no server leads with a majority behind it");
        leader.map(|(_, gateway)| gateway.clone()).ok_or_else(nobody)
    }

    pub(super) fn has_member_at(&self, address: &str) -> bool {
        self.observation.configuration.members.iter().any(|member| member.address == address)
    }
}

async fn ask_all(contact: &Contact, reach: &Arc<Reach>) -> (Vec<Answered>, Vec<Fault>) {
    let mut asking = JoinSet::new();
    for Server { client, .. } in &contact.servers {
        let gateway = Gateway::new(client, reach.clone());
        asking.spawn(async move {
            let gateway = gateway.authenticated(LOOK_TIME).await?;
            let status = gateway.call::<ServerStatus>("/v3/maintenance/status", &json!({}), LOOK_TIME).await;
            status.map(|status| Answered { gateway, status }).map_err(Broken::into_fault)
        });
    }
    let (mut answered, mut faults) = (Vec::new(), Vec::new());
    for result in asking.join_all().await {
        match result {
            Ok(it) => answered.push(it),
            Err(fault) => faults.push(fault),
        }
    }
    // In the same order whoever answers first.
    sort_by_key(&mut answered, |it| it.status.header.member_id);
    sort_by(&mut faults, Ord::cmp);
    (answered, faults)
}

/// A server that lost its data and was started for a new cluster is none of ours: the cluster that more servers are of
/// counts, of several the one that has come further.
fn keep_one_cluster(answered: &mut Vec<Answered>) {
    let mut sizes: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
    for it in answered.iter() {
        let (count, index) = sizes.entry(it.status.header.cluster_id).or_default();
        (*count, *index) = (*count + 1, (*index).max(it.status.raft_index));
    }
    let ours = sizes.iter().max_by_key(|(_, size)| **size).map(|(cluster, _)| *cluster);
    answered.retain(|it| Some(it.status.header.cluster_id) == ours);
}

fn member(listed: &ListedMember, contact: &Contact) -> Member {
    let address = listed.peer_urls.first().map(|url| host_port(url)).unwrap_or_default();
    let by_name = contact.servers.iter().find(|server| server.machine.as_str() == listed.name);
    let by_address = || contact.servers.iter().find(|server| server.peer.as_deref() == Some(address.as_str()));
    let machine = by_name.or_else(by_address).map(|server| server.machine.to_string());
    let (votes, priority) = if listed.is_learner { (Some(0), Some(Priority::NONE)) } else { (None, None) };
    let mut other = BTreeMap::new();
    if listed.peer_urls.len() > 1 {
        other.insert("peerURLs".to_owned(), listed.peer_urls.join(","));
    }
    let tags = machine.map(|machine| (MACHINE_TAG.to_owned(), machine)).into_iter().collect();
    Member { id: MemberId(listed.id), address: address.into(), tags, votes, priority, other }
}

fn host_port(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.trim_end_matches('/').to_owned()
}

fn statuses(listed: &[ListedMember], answered: &[Answered], best: &Answered) -> Vec<MemberStatus> {
    let status = |member: &ListedMember| {
        let found = answered.iter().find(|it| it.status.header.member_id == member.id);
        let (healthy, state) = match found {
            None if member.name.is_empty() => (false, MemberState::Startup),
            None => (false, MemberState::Down),
            // It runs, and is cut off from those that elect.
            Some(it) if it.status.leader == 0 => (false, MemberState::Unknown),
            Some(it) if it.leads() => (true, MemberState::Primary),
            Some(it) if is_in_sync(it, best) => (true, MemberState::Secondary),
            Some(_) => (true, MemberState::Recovering),
        };
        MemberStatus { id: MemberId(member.id), healthy, state, lag_ms: None }
    };
    listed.iter().map(status).collect()
}

fn is_in_sync(it: &Answered, leader: &Answered) -> bool {
    let (has, needs) = (u128::from(it.status.raft_index), u128::from(leader.status.raft_index));
    has * 100 >= needs * u128::from(IN_SYNC_PERCENT)
}

/// A number that differs when the members differ: who, where, and with which vote.
fn digest(members: &[ListedMember]) -> u64 {
    let mut lines: Vec<String> =
        members.iter().map(|it| format!("{} {} {}", it.id, it.is_learner, it.peer_urls.join(","))).collect();
    lines.sort_unstable();
    let hash = blake3::hash(lines.join("\n").as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_be_bytes(first)
}
