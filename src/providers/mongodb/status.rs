//! What one server says of itself and of the others.

use bailiwick_actors::ports::replica_set::{MemberId, MemberState, Stamp};
use serde_json::Value;

use super::document::{Document, integer, moment_ms, real};

/// How a set looks to one of its members.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    /// The name of the set.
    pub set: String,
    /// The election that it has heard of last.
    pub term: u64,
    /// Who tells this.
    pub teller: MemberId,
    /// What it says of itself.
    pub state: MemberState,
    pub members: Vec<Viewed>,
}

/// A member as another one, or itself, sees it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Viewed {
    pub id: MemberId,
    pub host: String,
    pub healthy: bool,
    pub state: MemberState,
    /// When the last thing happened that it knows of, in milliseconds since 1970.
    pub latest_ms: Option<i64>,
    /// The configuration that it has.
    pub configuration: Stamp,
}

/// The states by number. Source: MongoDB's manual.
const STATES: [MemberState; 11] = [
    MemberState::Startup,
    MemberState::Primary,
    MemberState::Secondary,
    MemberState::Recovering,
    // 4 was given up long ago.
    MemberState::Unknown,
    MemberState::Startup2,
    MemberState::Unknown,
    MemberState::Arbiter,
    MemberState::Down,
    MemberState::Rollback,
    MemberState::Removed,
];

fn state(value: Option<&Value>) -> MemberState {
    let number = value.and_then(integer).and_then(|number| usize::try_from(number).ok());
    number.and_then(|number| STATES.get(number)).copied().unwrap_or(MemberState::Unknown)
}

impl View {
    /// Reads an answer to `replSetGetStatus`; none if it is not one, or the teller is not among the members.
    pub(super) fn read(answer: &Document) -> Option<Self> {
        let listed = answer.get("members")?.as_array()?;
        let teller = listed.iter().find(|member| member.get("self").and_then(Value::as_bool) == Some(true))?;
        Some(Self {
            set: answer.get("set")?.as_str()?.to_owned(),
            term: answer.get("term").map_or(0, unsigned),
            teller: id(teller)?,
            state: state(answer.get("myState")),
            members: listed.iter().filter_map(viewed).collect(),
        })
    }

    pub(super) fn of(&self, id: MemberId) -> Option<&Viewed> {
        self.members.iter().find(|member| member.id == id)
    }

    /// The configuration that the teller has.
    pub(super) fn configuration(&self) -> Stamp {
        self.of(self.teller).map(|member| member.configuration).unwrap_or_default()
    }
}

fn id(member: &Value) -> Option<MemberId> {
    u64::try_from(integer(member.get("_id")?)?).ok().map(MemberId)
}

/// A number that is not negative; -1 stands for none.
fn unsigned(value: &Value) -> u64 {
    integer(value).and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
}

fn viewed(member: &Value) -> Option<Viewed> {
    let number = |name: &str| member.get(name).map_or(0, unsigned);
    Some(Viewed {
        id: id(member)?,
        host: member.get("name")?.as_str()?.to_owned(),
        healthy: member.get("health").and_then(real) == Some(1.0),
        state: state(member.get("state")),
        latest_ms: member.get("optimeDate").and_then(moment_ms),
        configuration: Stamp { term: number("configTerm"), version: number("configVersion") },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_read() {
        let answer = json!({
            "set": "db", "date": { "$date": { "$numberLong": "1700000005000" } }, "myState": { "$numberInt": "1" },
            "term": { "$numberLong": "4" },
            "members": [
                { "_id": { "$numberInt": "0" }, "name": "10.0.0.1:27017", "health": { "$numberDouble": "1.0" },
                  "state": { "$numberInt": "1" }, "stateStr": "PRIMARY", "self": true,
                  "optimeDate": { "$date": { "$numberLong": "1700000004000" } },
                  "configVersion": { "$numberInt": "5" }, "configTerm": { "$numberInt": "4" } },
                { "_id": { "$numberInt": "1" }, "name": "10.0.0.2:27017", "health": { "$numberDouble": "0.0" },
                  "state": { "$numberInt": "8" }, "stateStr": "(not reachable/healthy)",
                  "configVersion": { "$numberInt": "-1" }, "configTerm": { "$numberInt": "-1" } },
                { "name": "no id" }
            ],
            "ok": { "$numberDouble": "1.0" }
        });
        let view = View::read(answer.as_object().unwrap()).unwrap();
        assert_eq!((view.term, view.teller, view.state), (4, MemberId(0), MemberState::Primary));
        assert_eq!(view.configuration(), Stamp { term: 4, version: 5 });
        let [first, second] = &view.members[..] else { panic!("two can be told apart") };
        assert_eq!((first.healthy, first.latest_ms), (true, Some(1_700_000_004_000)));
        assert_eq!((second.healthy, second.state, second.latest_ms), (false, MemberState::Down, None));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for strange in
            [json!({}), json!({ "set": "db", "members": [] }), json!({ "set": 1, "members": [{ "self": true }] })]
        {
            assert_eq!(View::read(strange.as_object().unwrap()), None, "{strange}");
        }
        assert_eq!(state(Some(&json!({ "$numberInt": "99" }))), MemberState::Unknown);
    }
}
