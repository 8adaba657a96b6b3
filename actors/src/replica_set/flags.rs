//! Which members are flagged as voting. The flag keeps a machine from being removed, so at any moment the flags have to
//! cover every member that votes, or may vote already.

use std::collections::BTreeSet;

use crate::ports::replica_set::{Member, MemberId, Step};

/// The flags as they have to be before a step is taken: raised for whom it gives a vote.
pub fn before(flags: &BTreeSet<MemberId>, step: &Step) -> BTreeSet<MemberId> {
    flags.iter().copied().chain(step.action.promoted()).collect()
}

/// The flags after a step, from the configuration as it was read back and found committed.
///
/// Nothing read back means that the outcome is unknown: a write whose answer was lost may have been taken, so no flag is
/// lowered. Only members that are seen without a vote lose it.
pub fn after(flags: &BTreeSet<MemberId>, committed: Option<&[Member]>) -> BTreeSet<MemberId> {
    let Some(members) = committed else { return flags.clone() };
    members.iter().filter(|member| member.is_voter()).map(|member| member.id).collect()
}
