//! The documents of the model's servers: what they tell, and what they make of what they are told.

use std::collections::BTreeMap;

use bailiwick_actors::ports::replica_set::{Member, MemberId, MemberState, Priority};
use serde_json::{Value, json};

use super::Set;
use crate::providers::mongodb::{
    Document,
    document::{document, double, int, integer, real},
};

/// What a write should have carried along and did not.
pub(super) fn what_is_lost(set: &Set, config: &Value, members: &[Member]) -> impl Iterator<Item = String> {
    let mut lost = Vec::new();
    if config.get("settings") != Some(&settings()) {
        lost.push("the settings".to_owned());
    }
    // A server puts its own term in the place of the one it is told, so an election between a look and a write does no
    // harm: what it is told has to be a term that has been.
    let told = config.get("term").and_then(integer).and_then(|term| u64::try_from(term).ok());
    if !told.is_some_and(|term| (1..=set.stamp.term).contains(&term)) {
        lost.push(format!("the term {} (told: {told:?})", set.stamp.term));
    }
    for old in &set.members {
        let Some(new) = members.iter().find(|new| new.id == old.id) else { continue };
        if new.other != old.other || new.tags != old.tags {
            lost.push(format!("a field of member {}", old.id));
        }
        let keeps_vote = old.is_voter() && new.is_voter();
        if keeps_vote && old.priority.map_or(1.0, Priority::value) != new.priority.map_or(1.0, Priority::value) {
            lost.push(format!("the priority of member {}", old.id));
        }
    }
    lost.into_iter()
}

/// As operators tuned them, and with something that only a later version knows.
pub(super) fn settings() -> Value {
    json!({
        "electionTimeoutMillis": { "$numberInt": "4000" },
        "replicaSetId": { "$oid": "0123456789abcdef01234567" },
        "ofTomorrow": [{ "$numberDecimal": "1.10" }],
    })
}

/// What a server adds to a member that does not say it itself.
fn defaults() -> [(&'static str, Value); 4] {
    [
        ("arbiterOnly", false.into()),
        ("buildIndexes", true.into()),
        ("hidden", false.into()),
        ("secondaryDelaySecs", json!({ "$numberLong": "0" })),
    ]
}

pub(super) fn member_document(member: &Member) -> Document {
    let mut told = document([("_id", int(member.id.0 as i64)), ("host", member.address.as_str().into())]);
    let other = member.other.iter().map(|(name, text)| (name.clone(), serde_json::from_str(text).unwrap_or_default()));
    told.extend(other);
    told.insert("votes".into(), int(member.votes.unwrap_or(1).into()));
    told.insert("priority".into(), double(member.priority.map_or(1.0, Priority::value)));
    told.insert("tags".into(), member.tags.iter().map(|(name, value)| (name.clone(), value.clone())).collect());
    told
}

pub(super) fn member_of(told: &Value) -> Option<Member> {
    let mut told = told.as_object()?.clone();
    let id = u64::try_from(integer(&told.remove("_id")?)?).ok()?;
    let address = told.remove("host")?.as_str()?.into();
    let votes = told.remove("votes").and_then(|votes| u32::try_from(integer(&votes)?).ok());
    let priority = told.remove("priority").and_then(|priority| Priority::new(real(&priority)?));
    let tags = told.remove("tags").and_then(|tags| serde_json::from_value(tags).ok()).unwrap_or_default();
    let mut other: BTreeMap<String, String> = told.into_iter().map(|(name, it)| (name, it.to_string())).collect();
    for (name, value) in defaults() {
        other.entry(name.to_owned()).or_insert_with(|| value.to_string());
    }
    Some(Member { id: MemberId(id), address, tags, votes, priority, other })
}

pub(super) fn number(state: MemberState) -> i64 {
    match state {
        MemberState::Startup => 0,
        MemberState::Primary => 1,
        MemberState::Secondary => 2,
        MemberState::Recovering => 3,
        MemberState::Startup2 => 5,
        MemberState::Unknown => 6,
        MemberState::Arbiter => 7,
        MemberState::Down => 8,
        MemberState::Rollback => 9,
        MemberState::Removed => 10,
    }
}
