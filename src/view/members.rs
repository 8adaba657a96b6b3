//! Members of replica sets as rows: those that are followed, and those that only their set has seen.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Folded,
    member,
    ports::replica_set::{Member, MemberId, MemberState, Tags},
    replica_set::State as ReplicaSet,
    vocab::{Life, sort_by},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fleet,
    effort::stream,
    planned::{Planned, planned},
};

/// A member of a replica set, as it was seen last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberRow {
    /// `set:machine`; `set:id` of one that stands for no machine.
    pub name: String,
    pub set: String,
    /// None if no machine stands behind it.
    pub machine: Option<String>,
    /// `declared`, `joining`, `learner`, `voter`, `leaving`, `removed`; `stranger` of one that stands for no machine.
    pub status: &'static str,
    /// As text: the numbers of some engines are larger than JSON readers take. None while it is no member.
    pub id: Option<String>,
    /// Where it is reached, or would be.
    pub address: String,
    pub votes: bool,
    /// Whether it votes, or may by now.
    pub flagged: bool,
    pub state: Option<&'static str>,
    pub healthy: bool,
    /// When its set was read last: its state and health are as of then. None of one that was never seen.
    pub as_of_ms: Option<u64>,
    pub tags: Tags,
    /// Why it has no vote, or why the last step that concerned it was taken.
    pub why: Option<String>,
    /// None of one that is not followed, as are the following.
    pub uid: Option<String>,
    pub version: Option<u64>,
    pub age_ms: Option<u64>,
}

/// The members of all replica sets, and those that may become members, by name.
pub fn members(fleet: &Fleet) -> Vec<MemberRow> {
    let existing = fleet.replica_sets.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    let mut rows: Vec<MemberRow> = existing.flat_map(|(name, folded)| members_of(fleet, name, &folded.state)).collect();
    sort_by(&mut rows, |a, b| a.name.cmp(&b.name));
    rows
}

/// The members of one set.
pub(super) fn members_of(fleet: &Fleet, set: &str, state: &ReplicaSet) -> Vec<MemberRow> {
    rows(fleet, set, state, &planned(fleet, set, state))
}

/// The same, where the plan is known.
pub(super) fn rows(fleet: &Fleet, set: &str, state: &ReplicaSet, planned: &Planned) -> Vec<MemberRow> {
    let followed: BTreeMap<&str, &Folded<member::State>> = fleet.members.beginning_with(&format!("{set}:")).collect();
    let of_member = |id: MemberId| {
        let is_it = |folded: &Folded<member::State>| folded.state.seen.as_ref().is_some_and(|seen| seen.id == id);
        followed.iter().find(|(_, folded)| is_it(folded)).map(|(name, folded)| (*name, *folded))
    };
    let seen = state.seen.iter().flat_map(|seen| &seen.configuration.members);
    let mut rows: Vec<MemberRow> = seen
        .map(|member| {
            let mut row = seen_row(set, state, member);
            if let Some((name, folded)) = of_member(member.id) {
                is_followed(&mut row, fleet, name, folded, planned);
            }
            row
        })
        .collect();
    for (name, folded) in followed.iter().filter(|(_, folded)| folded.state.life == Life::Alive) {
        if !rows.iter().any(|row| row.name == *name) {
            rows.push(followed_row(fleet, name, folded, planned));
        }
    }
    let as_of = fleet.looks(set).map(|looks| looks.last.0);
    for row in rows.iter_mut().filter(|row| row.state.is_some()) {
        row.as_of_ms = as_of;
    }
    rows
}

/// The row of one that is followed, or was.
pub(super) fn member_row(fleet: &Fleet, name: &str, folded: &Folded<member::State>) -> MemberRow {
    let set = name.split_once(':').map_or(name, |(set, _)| set);
    let Some(of) = fleet.replica_sets.get(set) else {
        return followed_row(fleet, name, folded, &Planned::default());
    };
    let planned = planned(fleet, set, of);
    let row = rows(fleet, set, of, &planned).into_iter().find(|row| row.name == name);
    row.unwrap_or_else(|| followed_row(fleet, name, folded, &planned))
}

fn followed_row(fleet: &Fleet, name: &str, folded: &Folded<member::State>, planned: &Planned) -> MemberRow {
    let member = &folded.state;
    let seen = member.seen.as_ref();
    let mut row = MemberRow {
        name: name.to_owned(),
        set: name.split_once(':').map_or(name, |(set, _)| set).to_owned(),
        machine: None,
        status: "stranger",
        id: seen.map(|seen| seen.id.to_string()),
        address: seen.map(|seen| seen.address.clone()).or_else(|| member.seat.clone()).unwrap_or_default(),
        votes: seen.is_some_and(|seen| seen.votes),
        flagged: member.flagged,
        state: seen.map(|seen| seen.state.name()),
        healthy: seen.is_some_and(|seen| seen.healthy),
        as_of_ms: None,
        tags: Tags::default(),
        why: None,
        uid: None,
        version: None,
        age_ms: None,
    };
    is_followed(&mut row, fleet, name, folded, planned);
    row
}

/// What only the one stream of the member knows.
fn is_followed(row: &mut MemberRow, fleet: &Fleet, name: &str, folded: &Folded<member::State>, planned: &Planned) {
    let stream = stream::<member::State>(name);
    let machine = name.split_once(':').map(|(_, machine)| machine.to_owned());
    let not_chosen = machine.as_ref().and_then(|machine| planned.not_chosen.get(machine)).cloned();
    row.why = not_chosen.or_else(|| folded.state.because.map(|because| because.to_string()));
    (row.name, row.machine, row.status) = (name.to_owned(), machine, folded.state.status());
    row.uid = Some(folded.state.uid(fleet.journal, &stream).to_string());
    if row.votes && !row.healthy {
        // How its last step came about says nothing of that.
        let was = row.state.map_or_else(|| "not seen".to_owned(), str::to_ascii_lowercase);
        row.why = Some(format!("its server was {was} at the last read"));
    }
    (row.version, row.age_ms) = (Some(folded.version.0), Some(fleet.age_ms(&stream)));
}

/// What its set has seen of it.
fn seen_row(set: &str, state: &ReplicaSet, member: &Member) -> MemberRow {
    let status = state.seen.as_ref().and_then(|seen| seen.status(member.id));
    MemberRow {
        name: format!("{set}:{}", member.id),
        set: set.to_owned(),
        machine: member.machine_tag().map(str::to_owned),
        status: "stranger",
        id: Some(member.id.to_string()),
        address: member.address.to_string(),
        votes: member.is_voter(),
        flagged: state.flags.contains(&member.id),
        state: Some(status.map_or(MemberState::Unknown, |status| status.state).name()),
        healthy: status.is_some_and(|status| status.healthy),
        as_of_ms: None,
        tags: member.tags.clone(),
        why: None,
        uid: None,
        version: None,
        age_ms: None,
    }
}
