//! Who goes first.

use super::Member;
use crate::vocab::{MachinePhase, Timestamp, sort_by_key};

/// The priority of a machine that has none of its own.
const PRIORITY: i32 = 3;

/// The machines, those that shall go first first: lower priority, then what is least useful, then the oldest.
pub fn ranked(members: &[Member]) -> Vec<&Member> {
    let mut ranked: Vec<&Member> = members.iter().collect();
    sort_by_key(&mut ranked, |member| rank(member));
    ranked
}

/// So many machines to go: the first by rank, or all of them as they stand.
pub fn pick(members: &[Member], count: usize) -> Vec<&Member> {
    if count >= members.len() {
        return members.iter().collect();
    }
    ranked(members).into_iter().take(count).collect()
}

fn rank(member: &Member) -> (i32, u8, Timestamp) {
    (member.priority.unwrap_or(PRIORITY), usefulness(member.phase), member.created)
}

fn usefulness(phase: MachinePhase) -> u8 {
    match phase {
        MachinePhase::Terminating | MachinePhase::Blank => 0,
        MachinePhase::Failed => 1,
        MachinePhase::CrashLoopBackOff => 2,
        MachinePhase::Unknown => 3,
        MachinePhase::Pending => 4,
        MachinePhase::Available => 5,
        MachinePhase::Running => 6,
    }
}
