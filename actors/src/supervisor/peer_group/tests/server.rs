//! A server that takes steps as MongoDB and etcd do, and refuses what they would refuse. It shares no code with the plan.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use super::*;

/// A set that runs.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub members: Vec<Member>,
    pub statuses: Vec<MemberStatus>,
}

impl Server {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self { members: snapshot.members.clone(), statuses: snapshot.statuses.clone() }
    }

    pub(super) fn seen(&self, before: &Snapshot) -> Snapshot {
        Snapshot { members: self.members.clone(), statuses: self.statuses.clone(), ..before.clone() }
    }

    /// Takes a step.
    ///
    /// # Errors
    /// If a server would refuse it, or it is not safe.
    pub(super) fn take(&mut self, action: &Action, rules: &EngineRules) -> Result<(), String> {
        let primary = self.primary()?;
        self.majority(&self.members)?;
        match action {
            Action::Write { changes } => {
                let new = self.changed(changes)?;
                self.lawful(&new, primary, changes, rules)?;
                self.members = new;
                Ok(())
            }
            Action::Initiate { .. } => Err("it has begun".into()),
            Action::StepDown { primary: asked, successor } => {
                if *asked != primary {
                    return Err(format!("{asked} is asked to step down, and {primary} is primary"));
                }
                self.can_follow(*successor)?;
                self.state(primary, MemberState::Secondary);
                self.state(*successor, MemberState::Primary);
                Ok(())
            }
        }
    }

    fn state(&mut self, id: MemberId, state: MemberState) {
        self.statuses.iter_mut().filter(|status| status.id == id).for_each(|status| status.state = state);
    }

    fn is_ready(&self, id: MemberId) -> bool {
        let status = self.statuses.iter().rfind(|status| status.id == id);
        status.is_some_and(|status| {
            status.healthy && matches!(status.state, MemberState::Primary | MemberState::Secondary)
        })
    }

    fn primary(&self) -> Result<MemberId, String> {
        let last: BTreeMap<MemberId, &MemberStatus> = self.statuses.iter().map(|it| (it.id, it)).collect();
        let said: Vec<MemberId> =
            last.values().filter(|status| status.state == MemberState::Primary).map(|status| status.id).collect();
        let [primary] = said[..] else { return Err(format!("primaries are {said:?}")) };
        let votes = self.members.iter().any(|member| member.id == primary && member.votes != Some(0));
        if votes && self.is_ready(primary) { Ok(primary) } else { Err(format!("{primary} takes no writes")) }
    }

    fn can_follow(&self, successor: MemberId) -> Result<(), String> {
        let member = self.members.iter().find(|member| member.id == successor).ok_or("there is no successor")?;
        let state = self.statuses.iter().rfind(|status| status.id == successor).map(|status| status.state);
        let can = member.votes != Some(0)
            && member.priority.is_none_or(|priority| priority.value() > 0.0)
            && self.is_ready(successor)
            && state == Some(MemberState::Secondary);
        if can { Ok(()) } else { Err(format!("{successor} cannot follow")) }
    }

    fn majority(&self, members: &[Member]) -> Result<(), String> {
        let voters: Vec<&Member> = members.iter().filter(|member| member.votes != Some(0)).collect();
        let ready = voters.iter().filter(|member| self.is_ready(member.id)).count();
        if ready > voters.len() / 2 { Ok(()) } else { Err(format!("{ready} of {} voters are healthy", voters.len())) }
    }

    fn changed(&self, changes: &[Change]) -> Result<Vec<Member>, String> {
        let mut members = self.members.clone();
        for change in changes {
            let id = match change {
                Change::Join { member } => {
                    if member.votes != Some(0) || member.priority != Some(Priority::NONE) {
                        return Err(format!("{} joins with a vote", member.id));
                    }
                    members.push(member.clone());
                    continue;
                }
                Change::Move { member, .. }
                | Change::Promote { member }
                | Change::Demote { member }
                | Change::Level { member }
                | Change::Remove { member } => *member,
            };
            let at = members.iter().position(|member| member.id == id).ok_or(format!("there is no member {id}"))?;
            match change {
                Change::Move { address, .. } => members[at].address.clone_from(address),
                Change::Promote { .. } => (members[at].votes, members[at].priority) = (None, None),
                Change::Demote { .. } => (members[at].votes, members[at].priority) = (Some(0), Some(Priority::NONE)),
                Change::Level { .. } if members[at].votes == Some(0) => members[at].priority = Some(Priority::NONE),
                Change::Level { .. } => members[at].votes = Some(1),
                Change::Remove { .. } => drop(members.remove(at)),
                Change::Join { .. } => (),
            }
        }
        Ok(members)
    }

    fn lawful(&self, new: &[Member], primary: MemberId, changes: &[Change], rules: &EngineRules) -> Result<(), String> {
        let voting = |members: &[Member]| -> BTreeSet<MemberId> {
            members.iter().filter(|member| member.votes != Some(0)).map(|member| member.id).collect()
        };
        let (before, after) = (voting(&self.members), voting(new));
        let fail = |text: &str| Err(format!("{text}: {changes:?}"));
        if before.symmetric_difference(&after).count() > rules.voting_changes_per_step {
            return fail("too many votes change");
        }
        if after.is_empty() || after.len() > rules.voters_max && after.len() >= before.len() {
            return fail("too many voters, or none");
        }
        if new.len() > rules.members_max && new.len() >= self.members.len() {
            return fail("too many members");
        }
        let demotes = changes.iter().any(|change| matches!(change, Change::Demote { .. }));
        if !rules.can_demote && (demotes || changes.len() > 1) {
            return fail("one change at a time, and none takes only the vote");
        }
        let learners = new.len() - after.len();
        if rules.learners_max.is_some_and(|max| learners > max && new.len() > self.members.len()) {
            return fail("too many learners");
        }
        let ids: BTreeSet<MemberId> = new.iter().map(|member| member.id).collect();
        if ids.len() < new.len() {
            return fail("an id twice");
        }
        let keeps = new.iter().any(|member| {
            member.id == primary && after.contains(&primary) && member.priority.is_none_or(|it| it.value() > 0.0)
        });
        if !keeps {
            return fail("the primary loses its vote");
        }
        for member in new {
            let lawful = match member.votes {
                Some(0) => member.priority == Some(Priority::NONE),
                None | Some(1) => true,
                Some(_) => false,
            };
            if !lawful || member.address.is_empty() {
                return fail("a member that no server takes");
            }
            let host = plain(&member.address);
            if new.iter().any(|other| other.id != member.id && plain(&other.address) == host) {
                return fail("an address twice");
            }
            let mut holders = self.members.iter().filter(|old| plain(&old.address) == host);
            let is_new_there = !self.members.iter().any(|old| old.id == member.id && plain(&old.address) == host);
            if is_new_there && holders.next().is_some() {
                return fail("an address goes from one member to another");
            }
        }
        self.majority(new)
    }
}

/// One spelling of an address.
fn plain(host_port: &str) -> String {
    let (host, port) = host_port.rsplit_once(':').unwrap_or((host_port, ""));
    let host = host.trim_matches(['[', ']']);
    host.parse::<IpAddr>().map_or_else(|_| format!("{host} {port}").to_lowercase(), |ip| format!("{ip} {port}"))
}
