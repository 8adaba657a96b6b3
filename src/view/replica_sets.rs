//! Replica sets and their members as rows, and what is planned with them.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Folded,
    ports::replica_set::{Member, MemberState},
    replica_set::{Phase, State},
    supervisor::{
        peer_group::{Finding, NotChosen},
        replica_sets::{Plan, plan},
    },
    vocab::{Life, Name},
};
use serde::Serialize;

use super::{Fleet, rows::stream};
use crate::words::{reason_in_words, step_in_words};

/// A replica set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaSetRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    /// Whether it is as it shall be, and everybody is well.
    pub ready: bool,
    pub engine: String,
    /// How many servers shall vote, and how many do.
    pub servers: u32,
    pub voters: usize,
    /// The machine of the one that leads.
    pub leader: Option<String>,
    pub term: Option<u64>,
    /// The steps that are due, each with its reason. After each of them everything is looked at and planned anew.
    pub plan: Vec<String>,
    /// Why the plan ends before everything is as it shall be.
    pub held: Option<String>,
    /// Why a machine has no vote or no member, by machine.
    pub not_chosen: BTreeMap<String, String>,
    /// What somebody should know.
    pub findings: Vec<String>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// A member of a replica set, as it was seen last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberRow {
    /// `set:id`.
    pub name: String,
    pub set: String,
    /// None if no machine stands behind it.
    pub machine: Option<String>,
    /// As text: the numbers of some engines are larger than JSON readers take.
    pub id: String,
    pub address: String,
    pub votes: bool,
    /// Whether it votes, or may by now.
    pub flagged: bool,
    pub state: &'static str,
    pub healthy: bool,
    pub tags: BTreeMap<String, String>,
}

/// The replica sets that exist, by name.
pub fn replica_sets(fleet: &Fleet) -> Vec<ReplicaSetRow> {
    let existing = fleet.replica_sets.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| replica_set_row(fleet, name, folded)).collect()
}

/// The members of all replica sets, by set and in the order of the configuration.
pub fn members(fleet: &Fleet) -> Vec<MemberRow> {
    let existing = fleet.replica_sets.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    existing.flat_map(|(name, folded)| members_of(name, &folded.state)).collect()
}

/// The members of one set.
pub(super) fn members_of(set: &str, state: &State) -> Vec<MemberRow> {
    let Some(seen) = &state.seen else { return Vec::new() };
    let row = |member: &Member| {
        let status = seen.statuses.iter().rfind(|status| status.id == member.id);
        MemberRow {
            name: format!("{set}:{}", member.id),
            set: set.to_owned(),
            machine: member.machine_tag().map(str::to_owned),
            id: member.id.to_string(),
            address: member.address.clone(),
            votes: member.is_voter(),
            flagged: state.flags.contains(&member.id),
            state: status.map_or(MemberState::Unknown, |status| status.state).name(),
            healthy: status.is_some_and(|status| status.healthy),
            tags: member.tags.clone(),
        }
    };
    seen.configuration.members.iter().map(row).collect()
}

/// What the supervisor would do now, in words.
#[derive(Default)]
struct Planned {
    steps: Vec<String>,
    held: Option<String>,
    not_chosen: BTreeMap<String, String>,
    findings: Vec<String>,
    is_at_rest: bool,
}

fn planned(fleet: &Fleet, name: &str, state: &State) -> Planned {
    let Ok(set) = name.parse::<Name>() else { return Planned::default() };
    let in_words = |step: &_| format!("{}, because {}", step_in_words(step), reason_in_words(step).1);
    match plan(&fleet.machines, &set, state) {
        None | Some(Plan::Later) => Planned::default(),
        Some(Plan::Begin(step)) => {
            Planned { steps: step.iter().map(|step| in_words(step)).collect(), ..Planned::default() }
        }
        Some(Plan::Desired(verdict)) => match *verdict {
            Err(refused) => Planned { held: Some(refused.why.to_string()), ..Planned::default() },
            Ok(desired) => Planned {
                steps: desired.steps.iter().map(in_words).collect(),
                held: desired.held.map(|held| held.to_string()),
                not_chosen: desired.not_chosen.iter().map(|(who, why)| (who.to_string(), not_chosen(why))).collect(),
                findings: desired.findings.iter().map(finding).collect(),
                is_at_rest: !desired.changed,
            },
        },
    }
}

pub(super) fn replica_set_row(fleet: &Fleet, name: &str, folded: &Folded<State>) -> ReplicaSetRow {
    let (state, stream) = (&folded.state, stream::<State>(name));
    let Planned { steps, held, not_chosen, findings, is_at_rest } = planned(fleet, name, state);
    let members = members_of(name, state);
    let leader = members.iter().find(|member| member.healthy && member.state == MemberState::Primary.name());
    let (until, fault) = match &state.phase {
        Phase::Waiting { until, fault, .. } => (Some(*until), Some(fault)),
        Phase::Idle | Phase::Looking | Phase::Settled | Phase::Stepping { .. } => (None, None),
    };
    let waits = until.zip(fault).map(|(until, fault)| format!("{fault}; looked at again at {until}"));
    let under_way = match &state.phase {
        Phase::Stepping { step, .. } => Some(format!("under way: {}", step_in_words(step))),
        _ => None,
    };
    let sick = members.iter().find(|member| !member.healthy).map(|member| format!("member {} is not well", member.id));
    let next = steps.first().map(|step| format!("next: {step}"));
    let spec = state.spec.as_ref();
    let all_well = leader.is_some() && members.iter().all(|member| member.healthy);
    ReplicaSetRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.is_settled() && is_at_rest && not_chosen.is_empty() && all_well,
        engine: spec.map(|spec| spec.engine.to_string()).unwrap_or_default(),
        servers: spec.map_or(0, |spec| spec.servers),
        voters: state.voters(),
        leader: leader.and_then(|leader| leader.machine.clone()),
        term: state.seen.as_ref().map(|seen| seen.configuration.stamp.term),
        detail: waits.or(under_way).or_else(|| held.clone()).or(next).or(sick),
        plan: steps,
        held,
        not_chosen,
        findings,
        age_ms: fleet.age_ms(&stream),
        next_try_ms: until.map(|until| until.0),
        uid: state.uid(&stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

fn not_chosen(why: &NotChosen) -> String {
    match why {
        NotChosen::NotReady => "its member has not caught up, or cannot be reached".into(),
        NotChosen::Joins => "it joins first, and votes when it has caught up".into(),
        NotChosen::WouldBeEven => "with it the number of voters would be even".into(),
        NotChosen::VotersFull { max } => format!("there are {max} voters already"),
        NotChosen::MembersFull { max } => format!("there are {max} members already"),
        NotChosen::LearnersFull { max } => format!("{max} without a vote is all that the engine allows"),
        NotChosen::Address { .. } => "its machine does not run, or has no address for it".into(),
        NotChosen::AddressTaken => "another member is reached at its address".into(),
    }
}

fn finding(finding: &Finding) -> String {
    match finding {
        Finding::Orphan { member, .. } => format!("no machine stands behind member {member}"),
        Finding::SecondOfMachine { machine, member, kept } => {
            format!("member {member} stands for machine {machine} as {kept} does")
        }
        Finding::BadAddress { machine, .. } => format!("machine {machine} does not run, or has no address"),
        Finding::AddressTaken { machine } => format!("another member is reached at the address of machine {machine}"),
        Finding::NoAddress { member } => format!("member {member} has no address"),
        Finding::LastVoterStays { member } => format!("member {member} is the last voter and stays"),
        Finding::EvenForNow { voters } => format!("{voters} voters until another one is ready"),
        Finding::SeveralPrimaries { members } => format!("{members} members say that they lead"),
        Finding::IdUsedAgain { member } => format!("the id {member} is used again"),
    }
}
