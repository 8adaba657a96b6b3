//! What a pass of a set has to do.

use serde::{Deserialize, Serialize};

use super::{Member, SetSeen, pick};

/// At most so many machines are made, or told to go, in one pass beside those that were given up.
pub const BURST_MAX: usize = 100;

/// What a pass has to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Machines that were given up and have not been told to go.
    pub stale: Vec<String>,
    pub change: Change,
}

/// What brings the set to its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    Nothing,
    /// It would make machines if it were not frozen, and its provider answered.
    HeldByFreeze,
    Create(usize),
    Remove(Vec<String>),
}

/// What a pass of a set with these machines has to do.
pub fn plan(set: &SetSeen, members: &[Member]) -> Plan {
    let name = |member: &Member| member.name.clone();
    let (is_frozen, keeps_failed) = (set.is_frozen || set.is_cut_off, set.is_cut_off && !set.is_going);
    let stays = |member: &Member| member.is_protected || keeps_failed || (member.is_kept && !set.is_going);
    let is_stale = |member: &&Member| member.is_failed() && !member.is_going && !stays(member);
    let stale = members.iter().filter(is_stale).map(name).collect();
    let active: Vec<Member> = members.iter().filter(|member| member.is_active()).cloned().collect();
    let (missing, extra) = (set.replicas.saturating_sub(active.len()), active.len().saturating_sub(set.replicas));
    // Who is protected is counted, and not told to go.
    let may_go: Vec<Member> = active.into_iter().filter(|member| !member.is_protected).collect();
    let change = match (missing, extra.min(may_go.len())) {
        (0, 0) => Change::Nothing,
        (0, extra) => Change::Remove(pick(&may_go, extra.min(BURST_MAX)).into_iter().map(name).collect()),
        _ if is_frozen && !set.is_going => Change::HeldByFreeze,
        (missing, _) => Change::Create(missing.min(BURST_MAX)),
    };
    Plan { stale, change }
}
