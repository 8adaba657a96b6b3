//! Replica sets as rows, and what is planned with them.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Folded,
    ports::replica_set::MemberState,
    replica_set::{Endpoint, Phase, Spec, State},
    vocab::{Life, Name},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fleet,
    effort::stream,
    members::{MemberRow, rows},
    planned::{Planned, planned},
};
use crate::words::{due, step_in_words};

/// A replica set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Where its servers are to be found, as was published last, by machine.
    pub endpoints: BTreeMap<String, EndpointRow>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    /// That it comes along: the step that is under way or next, or who is catching up. None if nothing goes on.
    pub progress: Option<String>,
    /// When it was read last: all that is said of its members is as of then.
    pub as_of_ms: Option<u64>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// Where a server is to be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointRow {
    /// For those who ask.
    pub addresses: Vec<String>,
    /// For other members.
    pub internal: Option<String>,
}

/// The replica sets that exist, by name.
pub fn replica_sets(fleet: &Fleet) -> Vec<ReplicaSetRow> {
    let existing = fleet.replica_sets.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| replica_set_row(fleet, name, folded)).collect()
}

pub(super) fn replica_set_row(fleet: &Fleet, name: &str, folded: &Folded<State>) -> ReplicaSetRow {
    let (state, stream) = (&folded.state, stream::<State>(name));
    let planned = planned(fleet, name, state);
    let mut members = rows(fleet, name, state, &planned);
    members.retain(|member| member.id.is_some());
    let Planned { steps, held, not_chosen, findings, is_at_rest } = planned;
    let leads = |member: &&MemberRow| member.healthy && member.state == Some(MemberState::Primary.name());
    let leader = members.iter().find(leads);
    let (until, fault) = match &state.phase {
        Phase::Waiting { until, fault, .. } => (Some(*until), Some(fault)),
        Phase::Idle | Phase::Looking | Phase::Settled | Phase::Stepping { .. } => (None, None),
    };
    let waits = until.zip(fault).map(|(until, fault)| format!("{fault}; next read {}", due(fleet.time, until)));
    let under_way = match &state.phase {
        Phase::Stepping { step, .. } => Some(format!("under way: {}", step_in_words(step))),
        _ => None,
    };
    let sick = members.iter().find(|member| !member.healthy && member.votes).map(|member| {
        let well = members.iter().filter(|member| member.votes && member.healthy).count();
        let voters = members.iter().filter(|member| member.votes).count();
        format!("{well} of {voters} voters are healthy; member {} is not", member.name)
    });
    let lagging = members.iter().find(|member| !member.healthy && !member.votes);
    let lagging = lagging.map(|member| format!("member {} has no vote yet and is unhealthy", member.name));
    let next = steps.first().map(|step| format!("next: {step}"));
    let joining = not_chosen.iter().next().map(|(machine, why)| format!("machine {machine}: {why}"));
    let spec = state.spec.as_ref();
    let all_well = leader.is_some() && members.iter().all(|member| member.healthy);
    let servers = spec.map_or(0, |spec| spec.servers);
    let is_short = state.seen.is_some() && usize::try_from(servers).is_ok_and(|servers| state.voters() < servers);
    let short =
        is_short.then(|| format!("{} of {servers} servers vote; declare seats on more machines", state.voters()));
    ReplicaSetRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.is_settled() && is_at_rest && not_chosen.is_empty() && all_well && !is_short,
        engine: spec.map(|spec| spec.engine.to_string()).unwrap_or_default(),
        servers,
        voters: state.voters(),
        leader: leader.and_then(|leader| leader.machine.clone()),
        term: state.seen.as_ref().map(|seen| seen.configuration.stamp.term),
        progress: match (&waits, &held, &sick) {
            (None, None, None) => under_way.clone().or_else(|| next.clone()).or_else(|| joining.clone()),
            _ => None,
        },
        detail: waits.or(under_way).or_else(|| held.clone()).or(next).or(sick).or(joining).or(lagging).or(short),
        as_of_ms: fleet.looks(name).map(|looks| looks.last.0),
        plan: steps,
        held,
        not_chosen,
        findings,
        endpoints: state.published.iter().flat_map(|it| &it.servers).map(endpoint_row).collect(),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: until.map(|until| until.0),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

fn endpoint_row((machine, endpoint): (&Name, &Endpoint)) -> (String, EndpointRow) {
    let addresses = endpoint.addresses.iter().cloned().collect();
    (machine.to_string(), EndpointRow { addresses, internal: endpoint.internal.clone() })
}

/// The steps that would follow if a set were declared like this, in words; what is to be waited for, if nobody knows yet.
pub fn steps_towards(fleet: &Fleet, name: &str, spec: &Spec) -> Vec<String> {
    let present = fleet.replica_sets.get(name).filter(|state| state.life == Life::Alive);
    let Some(present) = present else {
        let first = spec.seats.first().map(|seat| seat.machine.to_string()).unwrap_or_default();
        return vec![format!("look for the set; if there is none, initiate it on machine {first}")];
    };
    let wanted = State { spec: Some(spec.clone()), ..present.clone() };
    let Planned { steps, held, .. } = planned(fleet, name, &wanted);
    if !wanted.is_settled() {
        return vec!["a step is under way; further steps are planned after it".into()];
    }
    steps.into_iter().chain(held.map(|held| format!("then stop: {held}"))).collect()
}
