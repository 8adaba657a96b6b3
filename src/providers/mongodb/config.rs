//! A configuration as MongoDB has it, and what becomes of it by changes.
//!
//! The document itself is changed, field by field: what we do not know stays as it is. Other versions of the server have
//! other fields, and operators tune them.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    ports::replica_set::{Change, Member, MemberId, Priority, Stamp},
    vocab::{Fault, FaultCode, Name},
};
use serde_json::Value;

use super::document::{Document, document, double, int, integer, real, truth};

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Config {
    document: Document,
    members: Vec<Member>,
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// If it has no members, or one without id or host.
    pub(super) fn read(document: Document) -> Result<Self, Fault> {
        let strange = || Fault::new(FaultCode::Internal, "the configuration has a member without id or host, or none");
        let listed = document.get("members").and_then(Value::as_array).ok_or_else(strange)?;
        let members = listed.iter().map(|it| it.as_object().and_then(member).ok_or_else(strange));
        Ok(Self { members: members.collect::<Result<Vec<Member>, Fault>>()?, document })
    }

    /// The configuration that a set begins with.
    pub(super) fn first(set: &Name, first: &Member) -> Document {
        let members = Value::Array(vec![Value::Object(member_document(first))]);
        document([("_id", set.as_str().into()), ("version", int(1)), ("members", members)])
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// How far it is. One that was forced has no term, which counts as the lowest.
    pub(super) fn stamp(&self) -> Stamp {
        let number = |name| self.document.get(name).and_then(integer).and_then(|number| u64::try_from(number).ok());
        Stamp { term: number("term").unwrap_or(0), version: number("version").unwrap_or(0) }
    }

    /// The configuration with these changes, one version further.
    ///
    /// # Errors
    /// If a change names a member that is not there, or more than one member would gain or lose a vote: the server takes no
    /// such write without force, and nothing is ever forced here.
    pub(super) fn changed(&self, changes: &[Change]) -> Result<Document, Fault> {
        let wrong = |text: String| Fault::new(FaultCode::InvalidArgument, text);
        let mut changed = self.document.clone();
        let next = changed.get("version").and_then(integer).and_then(|version| version.checked_add(1));
        let next = next.ok_or_else(|| wrong("the configuration has no version that can be followed".into()))?;
        changed.insert("version".into(), int(next));
        let members = changed.get_mut("members").and_then(Value::as_array_mut);
        let members = members.ok_or_else(|| wrong("the configuration has no members".into()))?;
        let before = voters(members);
        for change in changes {
            apply(change, members).ok_or_else(|| wrong(format!("{change:?}: there is no such member")))?;
        }
        let moved = before.symmetric_difference(&voters(members)).count();
        if moved > 1 {
            return Err(wrong(format!(
                "{moved} members would gain or lose a vote in one write, and MongoDB takes one"
            )));
        }
        Ok(changed)
    }
}

/// What is told apart of a member; the rest is carried along.
const KNOWN: [&str; 5] = ["_id", "host", "tags", "votes", "priority"];

fn member(document: &Document) -> Option<Member> {
    let id = u64::try_from(integer(document.get("_id")?)?).ok()?;
    let tags = document.get("tags").and_then(Value::as_object);
    let tag = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    let other = document.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str()));
    Some(Member {
        id: MemberId(id),
        address: document.get("host")?.as_str()?.into(),
        tags: tags.into_iter().flatten().filter_map(tag).collect(),
        votes: document.get("votes").and_then(integer).map(|votes| u32::try_from(votes).unwrap_or(0)),
        priority: document.get("priority").and_then(real).and_then(Priority::new),
        other: other.map(|(name, value)| (name.clone(), value.to_string())).collect::<BTreeMap<_, _>>(),
    })
}

fn member_document(member: &Member) -> Document {
    let id = i64::try_from(member.id.0).unwrap_or(i64::MAX);
    let mut document = document([("_id", int(id)), ("host", member.address.as_str().into())]);
    if !member.tags.is_empty() {
        document.insert("tags".into(), member.tags.iter().map(|(name, value)| (name.clone(), value.clone())).collect());
    }
    if let Some(votes) = member.votes {
        document.insert("votes".into(), int(votes.into()));
    }
    if let Some(priority) = member.priority {
        document.insert("priority".into(), double(priority.value()));
    }
    let other = member.other.iter().filter_map(|(name, text)| Some((name.clone(), serde_json::from_str(text).ok()?)));
    document.extend(other);
    document
}

fn votes(member: &Value) -> bool {
    member.get("votes").and_then(integer) != Some(0)
}

fn voters(members: &[Value]) -> BTreeSet<i64> {
    members.iter().filter(|member| votes(member)).filter_map(|member| integer(member.get("_id")?)).collect()
}

fn apply(change: &Change, members: &mut Vec<Value>) -> Option<()> {
    let id = match change {
        Change::Join { member } => {
            members.push(Value::Object(member_document(member)));
            return Some(());
        }
        Change::Move { member, .. }
        | Change::Promote { member }
        | Change::Demote { member }
        | Change::Level { member }
        | Change::Remove { member } => i64::try_from(member.0).ok()?,
    };
    let at = members.iter().position(|member| member.get("_id").and_then(integer) == Some(id))?;
    let is = |member: &Document, name: &str| member.get(name).is_some_and(truth);
    let document = members[at].as_object_mut()?;
    match change {
        Change::Join { .. } => (),
        Change::Move { address, .. } => drop(document.insert("host".into(), address.as_str().into())),
        Change::Promote { .. } => {
            // One that is hidden or kept behind on purpose must not become primary; the server insists on that.
            let is_set_apart = ["hidden", "secondaryDelaySecs", "slaveDelay"].into_iter().any(|it| is(document, it));
            document.insert("votes".into(), int(1));
            document.insert("priority".into(), double(if is_set_apart { 0.0 } else { 1.0 }));
        }
        // An arbiter has nothing but its vote, and the server lets it stay only with it.
        Change::Demote { .. } if is(document, "arbiterOnly") => drop(members.remove(at)),
        Change::Demote { .. } => {
            document.insert("votes".into(), int(0));
            document.insert("priority".into(), double(0.0));
        }
        Change::Level { .. } if votes(&members[at]) => {
            drop(members[at].as_object_mut()?.insert("votes".into(), int(1)))
        }
        Change::Level { .. } => drop(members[at].as_object_mut()?.insert("priority".into(), double(0.0))),
        Change::Remove { .. } => drop(members.remove(at)),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use bailiwick_actors::ports::replica_set::MACHINE_TAG;
    use serde_json::json;

    use super::*;

    /// As a server of version 6 writes it, with two fields that nobody knows yet.
    fn config() -> Config {
        let document = json!({
            "_id": "db", "version": { "$numberInt": "5" }, "term": { "$numberLong": "3" },
            "members": [
                { "_id": { "$numberInt": "0" }, "host": "10.0.0.1:27017", "arbiterOnly": false, "buildIndexes": true,
                  "hidden": false, "priority": { "$numberDouble": "2.5" }, "tags": { "juju-machine-id": "m1", "rack": "a" },
                  "secondaryDelaySecs": { "$numberLong": "0" }, "votes": { "$numberInt": "1" } },
                { "_id": { "$numberInt": "1" }, "host": "10.0.0.2:27017", "arbiterOnly": false, "hidden": true,
                  "priority": { "$numberInt": "0" }, "tags": {}, "secondaryDelaySecs": { "$numberLong": "3600" },
                  "votes": { "$numberInt": "0" }, "horizons": { "outside": "example.org:1" } },
                { "_id": { "$numberInt": "7" }, "host": "10.0.0.3:27017", "arbiterOnly": true,
                  "priority": { "$numberInt": "0" }, "votes": { "$numberInt": "1" } }
            ],
            "protocolVersion": { "$numberLong": "1" },
            "settings": { "electionTimeoutMillis": { "$numberInt": "4000" }, "replicaSetId": { "$oid": "0a" } },
            "ofTomorrow": { "$numberDecimal": "1.10" }
        });
        Config::read(document.as_object().unwrap().clone()).unwrap()
    }

    fn changed(changes: &[Change]) -> Document {
        config().changed(changes).unwrap()
    }

    #[test]
    fn a_configuration_is_read() {
        let config = config();
        assert_eq!(config.stamp(), Stamp { term: 3, version: 5 });
        let [first, second, third] = config.members() else { panic!("three members") };
        assert_eq!((first.id, first.machine_tag(), first.priority), (MemberId(0), Some("m1"), Priority::new(2.5)));
        assert_eq!(first.other["secondaryDelaySecs"], r#"{"$numberLong":"0"}"#);
        assert!(first.is_electable() && !second.is_voter() && third.is_voter() && !third.is_electable());
    }

    #[test]
    fn what_is_not_changed_stays_to_the_letter() {
        let before = config().document;
        let mut after = changed(&[Change::Move { member: MemberId(1), address: "10.0.0.9:1".into() }]);
        assert_eq!(after["version"], int(6));
        assert_eq!(after["members"][1]["host"], "10.0.0.9:1");
        after.insert("version".into(), int(5));
        after["members"][1]["host"] = "10.0.0.2:27017".into();
        assert_eq!(Value::Object(after).to_string(), Value::Object(before).to_string());
    }

    #[test]
    fn a_vote_is_given_and_taken() {
        let after = changed(&[Change::Demote { member: MemberId(0) }]);
        let first = &after["members"][0];
        assert_eq!((&first["votes"], &first["priority"]), (&int(0), &double(0.0)));
        assert_eq!(first["tags"]["rack"], "a");
        let joins = Member {
            id: MemberId(8),
            address: "10.0.0.4:27017".into(),
            tags: [(MACHINE_TAG.to_owned(), "m4".to_owned())].into(),
            votes: Some(0),
            priority: Some(Priority::NONE),
            other: [("horizons".to_owned(), r#"{"o":"p:1"}"#.to_owned())].into(),
        };
        let config = Config::read(changed(&[Change::Join { member: joins.clone() }])).unwrap();
        assert_eq!(config.members()[3], joins);
        let after = config.changed(&[Change::Promote { member: MemberId(8) }]).unwrap();
        let member = Config::read(after).unwrap().members()[3].clone();
        assert!(member.is_electable() && member.other == joins.other);
    }

    #[test]
    fn a_hidden_or_delayed_member_votes_without_a_priority() {
        let after = changed(&[Change::Promote { member: MemberId(1) }]);
        assert_eq!((&after["members"][1]["votes"], &after["members"][1]["priority"]), (&int(1), &double(0.0)));
        assert_eq!(after["members"][1]["hidden"], true);
    }

    #[test]
    fn an_arbiter_that_is_to_lose_its_vote_goes() {
        let after = changed(&[Change::Demote { member: MemberId(7) }]);
        assert_eq!(after["members"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn more_than_one_vote_in_a_write_is_refused() {
        let two = [Change::Promote { member: MemberId(1) }, Change::Demote { member: MemberId(0) }];
        assert_eq!(config().changed(&two).unwrap_err().code, FaultCode::InvalidArgument);
        let nobody = [Change::Remove { member: MemberId(4) }];
        assert_eq!(config().changed(&nobody).unwrap_err().code, FaultCode::InvalidArgument);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for strange in
            [json!({}), json!({ "members": {} }), json!({ "members": [{ "_id": 1 }] }), json!({ "members": [3] })]
        {
            let read = Config::read(strange.as_object().unwrap().clone());
            assert!(read.is_err(), "{strange}");
        }
    }
}
