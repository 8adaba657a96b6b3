//! Which changes of membership servers take. Written from their rules, and sharing nothing with the planning.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::replica_set::{Change, EngineRules, Member, MemberId, Priority},
    vocab::{Fault, FaultCode},
};

/// Whose rules a set follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    Mongodb,
    Etcd,
}

/// What a server knows when it is asked to change the members.
pub(super) struct Asked<'a> {
    pub flavor: Flavor,
    pub members: &'a [Member],
    pub primary: MemberId,
    /// Who has the data and can be reached.
    pub ready: &'a BTreeSet<MemberId>,
    /// The id that the next member gets where the server gives it.
    pub next_id: MemberId,
}

fn refuse<T>(text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(FaultCode::FailedPrecondition, text.into()))
}

pub(super) fn rules(flavor: Flavor) -> EngineRules {
    match flavor {
        Flavor::Mongodb => EngineRules::mongodb(),
        Flavor::Etcd => EngineRules::etcd(),
    }
}

pub(super) fn voters(members: &[Member]) -> BTreeSet<MemberId> {
    members.iter().filter(|member| member.votes != Some(0)).map(|member| member.id).collect()
}

pub(super) fn majority(members: &[Member], ready: &BTreeSet<MemberId>) -> bool {
    let voters = voters(members);
    voters.intersection(ready).count() > voters.len() / 2
}

impl Asked<'_> {
    /// The members as they are afterwards.
    ///
    /// # Errors
    /// What the server says when it refuses.
    pub(super) fn changed(&self, changes: &[Change]) -> Result<Vec<Member>, Fault> {
        match self.flavor {
            Flavor::Etcd => self.changed_as_etcd(changes),
            Flavor::Mongodb => self.changed_as_mongodb(changes),
        }
    }

    fn place(&self, id: MemberId) -> Result<usize, Fault> {
        let place = self.members.iter().position(|member| member.id == id);
        place.ok_or_else(|| Fault::new(FaultCode::NotFound, "member not found"))
    }

    fn changed_as_etcd(&self, changes: &[Change]) -> Result<Vec<Member>, Fault> {
        let [change] = changes else { return refuse("one change at a time") };
        let mut members = self.members.to_vec();
        let voters = voters(self.members);
        match change {
            Change::Join { member } => {
                if !voters.is_subset(self.ready) {
                    return refuse("etcdserver: unhealthy cluster");
                }
                if members.len() > voters.len() {
                    return refuse("etcdserver: too many learner members in cluster");
                }
                if members.iter().any(|other| other.address == member.address) {
                    return refuse("etcdserver: Peer URLs already exists");
                }
                members.push(Member {
                    id: self.next_id,
                    votes: Some(0),
                    priority: Some(Priority::NONE),
                    ..member.clone()
                });
            }
            Change::Promote { member } => {
                let at = self.place(*member)?;
                if voters.contains(member) {
                    return refuse("etcdserver: can only promote a learner member");
                }
                if !self.ready.contains(member) {
                    return refuse("etcdserver: can only promote a learner member which is in sync with leader");
                }
                (members[at].votes, members[at].priority) = (None, None);
            }
            Change::Remove { member } => {
                let at = self.place(*member)?;
                let left = voters.len() - usize::from(voters.contains(member));
                let active = voters.intersection(self.ready).filter(|id| *id != member).count();
                if left == 0 || (self.ready.contains(member) && active <= left / 2) {
                    return refuse("etcdserver: re-configuration failed due to not enough started members");
                }
                members.remove(at);
            }
            Change::Move { member, address } => {
                let at = self.place(*member)?;
                if members.iter().any(|other| other.address == *address) {
                    return refuse("etcdserver: Peer URLs already exists");
                }
                members[at].address.clone_from(address);
            }
            Change::Demote { .. } | Change::Level { .. } => {
                return Err(Fault::new(FaultCode::Unimplemented, "a voter cannot become a learner"));
            }
        }
        Ok(members)
    }

    fn changed_as_mongodb(&self, changes: &[Change]) -> Result<Vec<Member>, Fault> {
        let mut members = self.members.to_vec();
        for change in changes {
            let id = match change {
                Change::Join { member } => {
                    members.push(member.clone());
                    continue;
                }
                Change::Move { member, .. }
                | Change::Promote { member }
                | Change::Demote { member }
                | Change::Level { member }
                | Change::Remove { member } => *member,
            };
            let Some(at) = members.iter().position(|member| member.id == id) else {
                return refuse(format!("no member {id}"));
            };
            match change {
                Change::Join { .. } => (),
                Change::Move { address, .. } => members[at].address.clone_from(address),
                Change::Promote { .. } => (members[at].votes, members[at].priority) = (None, None),
                Change::Demote { .. } => (members[at].votes, members[at].priority) = (Some(0), Some(Priority::NONE)),
                Change::Level { .. } if members[at].votes == Some(0) => members[at].priority = Some(Priority::NONE),
                Change::Level { .. } => members[at].votes = Some(1),
                Change::Remove { .. } => drop(members.remove(at)),
            }
        }
        self.lawful(&members)?;
        Ok(members)
    }

    /// The checks of `replSetReconfig` without force, from 4.4.
    pub(super) fn lawful(&self, members: &[Member]) -> Result<(), Fault> {
        let (before, after) = (voters(self.members), voters(members));
        if before.symmetric_difference(&after).count() > 1 {
            return refuse("NewReplicaSetConfigurationIncompatible: more than one voting node changes");
        }
        if after.is_empty() || after.len() > 7 || members.len() > 50 {
            return refuse("InvalidReplicaSetConfig: number of members or voters");
        }
        let ids: BTreeSet<MemberId> = members.iter().map(|member| member.id).collect();
        let hosts: BTreeSet<&str> = members.iter().map(|member| member.address.as_str()).collect();
        if ids.len() < members.len() || hosts.len() < members.len() || hosts.contains("") {
            return refuse("InvalidReplicaSetConfig: an id or host twice, or none");
        }
        for member in members {
            if member.votes == Some(0) && member.priority != Some(Priority::NONE) {
                return refuse("InvalidReplicaSetConfig: priority must be 0 when votes is 0");
            }
            let holder = self.members.iter().find(|old| old.address == member.address);
            if holder.is_some_and(|old| old.id != member.id) {
                return refuse("NewReplicaSetConfigurationIncompatible: a host changes its id");
            }
        }
        let stays = members.iter().any(|member| member.id == self.primary && member.is_electable());
        if stays { Ok(()) } else { refuse("NodeNotElectable: the primary must stay electable") }
    }
}
