//! Replica sets kept by etcd, asked over its own HTTP/JSON gateway (`/v3/…`, tried with 3.4).
//!
//! Members join as learners and are promoted when they are in sync; etcd takes no vote back, so who shall not vote is
//! removed. etcd gives ids itself and keeps no tags: whose machine a member is, is told by its name (a server is to be
//! started with its machine's name), and before it has started by its peer address.
//!
//! etcd does not number its configurations. The version of a [`Stamp`] is a digest of the members here, and a write is
//! refused if it differs by then.
//!
//! TLS, client certificates and name and password are taken from references, see [`super::access`]; members that join are
//! reached by the others with or without TLS as the leader is. (etcd's gateway refuses client certificates that have a common
//! name once it wants names and passwords, so ours must have none then.)

mod gateway;
mod reach;
mod reading;
#[cfg(test)]
mod secured;
mod wire;

use std::time::Duration;

use bailiwick_actors::{
    ports::{
        Answer, ReplicaSetEngine,
        replica_set::{Change, Contact, Member, MemberId, Observation, Outcome, Stamp},
    },
    vocab::{Fault, FaultCode},
};

use gateway::{Broken, Gateway};
use reading::Reading;
use wire::Nothing;

use super::{access::Environment, engine_watch::watch_by_looking};

/// How long etcd may take for a change: it gives up by itself after 5 s and two elections.
const CHANGE_TIME: Duration = Duration::from_secs(15);

/// An engine that asks etcd servers.
#[derive(Clone, Debug, Default)]
pub struct EtcdEngine {
    environment: Environment,
}

impl EtcdEngine {
    /// An engine that finds credentials and certificates by these references; nothing is opened yet. The default one asks
    /// without any, and without TLS.
    pub fn with(environment: Environment) -> Self {
        Self { environment }
    }

    /// The leader that takes changes, after it was seen that the members are still those of `base`; and how it is reached by
    /// the others.
    async fn leader(&self, contact: &Contact, base: Stamp) -> Result<(Gateway, String), Fault> {
        let reading = Reading::of(&self.environment, contact).await?;
        let stamp = reading.observation().configuration.stamp;
        if stamp.version != base.version {
            return Err(Fault::new(FaultCode::FailedPrecondition, "the members are not those of the plan any more"));
        }
        Ok((reading.leader()?, reading.peer_scheme))
    }

    async fn change_one(&self, contact: &Contact, base: Stamp, change: &Change) -> Outcome {
        let (leader, scheme) = match self.leader(contact, base).await {
            Ok(leader) => leader,
            Err(fault) => return Outcome::Refused(fault),
        };
        let id = |member: &MemberId| member.0.to_string();
        let (path, body) = match change {
            Change::Join { member } => {
                let urls = [format!("{scheme}://{}", member.address)];
                ("/v3/cluster/member/add", serde_json::json!({ "peerURLs": urls, "isLearner": true }))
            }
            Change::Promote { member } => ("/v3/cluster/member/promote", serde_json::json!({ "ID": id(member) })),
            Change::Remove { member } => ("/v3/cluster/member/remove", serde_json::json!({ "ID": id(member) })),
            Change::Move { member, address } => {
                let urls = [format!("{scheme}://{address}")];
                ("/v3/cluster/member/update", serde_json::json!({ "ID": id(member), "peerURLs": urls }))
            }
            Change::Demote { .. } | Change::Level { .. } => {
                let text = "etcd takes no vote back; remove the member";
                return Outcome::Refused(Fault::new(FaultCode::Unimplemented, text));
            }
        };
        outcome(leader.call::<Nothing>(path, &body, CHANGE_TIME).await)
    }
}

fn outcome(answer: Result<Nothing, Broken>) -> Outcome {
    match answer {
        Ok(_) => Outcome::Done,
        Err(Broken::NotSent(fault) | Broken::Refused(fault)) => Outcome::Refused(fault),
        Err(Broken::Unclear(fault)) => Outcome::Unknown(fault),
    }
}

impl ReplicaSetEngine for EtcdEngine {
    fn observe(&self, contact: Contact) -> Answer<'_, Result<Observation, Fault>> {
        Box::pin(async move { Ok(Reading::of(&self.environment, &contact).await?.into_observation()) })
    }

    fn watch(&self, contact: Contact, seen: Observation) -> Answer<'_, ()> {
        Box::pin(watch_by_looking(self, contact, seen))
    }

    fn change(&self, contact: Contact, base: Stamp, changes: Vec<Change>) -> Answer<'_, Outcome> {
        Box::pin(async move {
            match &changes[..] {
                [change] => self.change_one(&contact, base, change).await,
                _ => Outcome::Refused(Fault::new(FaultCode::InvalidArgument, "etcd takes one change at a time")),
            }
        })
    }

    fn step_down(&self, contact: Contact, primary: MemberId, successor: MemberId) -> Answer<'_, Outcome> {
        Box::pin(async move {
            let reading = match Reading::of(&self.environment, &contact).await {
                Ok(reading) => reading,
                Err(fault) => return Outcome::Refused(fault),
            };
            let leader = match reading.leader() {
                Ok(leader) if reading.leader_id() == Some(primary) => leader,
                Ok(_) => return Outcome::Refused(Fault::new(FaultCode::FailedPrecondition, "another member leads")),
                Err(fault) => return Outcome::Refused(fault),
            };
            let body = serde_json::json!({ "targetID": successor.0.to_string() });
            outcome(leader.call::<Nothing>("/v3/maintenance/transfer-leadership", &body, CHANGE_TIME).await)
        })
    }

    fn initiate(&self, contact: Contact, first: Member) -> Answer<'_, Outcome> {
        Box::pin(async move {
            // An etcd server that is started for a new cluster begins it by itself; there is nothing to be asked.
            match Reading::of(&self.environment, &contact).await {
                Ok(reading) if reading.has_member_at(&first.address) => Outcome::Done,
                Ok(_) => {
                    Outcome::Refused(Fault::new(FaultCode::AlreadyExists, "the set was initiated with other members"))
                }
                Err(fault) => Outcome::Refused(fault),
            }
        })
    }
}
