//! The cases about replica sets: who is a member, who votes, and at which address.
//!
//! What a case has is what a set and its machines have been through; the replica sets supervisor looks at it under the
//! policy that the case names. Those in which Juju's answer is safe are run once more under policy
//! `default`, in a group of that name; there members are told apart by their machine, not by their number.

mod given;
mod node;

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::supervisor::peer_group::{
    Address, Desired, MACHINE_TAG, MachineId, Member, Priority, Refusal, Refused, StatusNote, addresses,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Case, Group, Plan, by_field, cases_of};
use given::{Alone, Input, MemberText, address, member};
use node::Node;

const DEFAULT: &str = "default";

/// The kinds of cases, and the second run. A case without a kind is about the desired set.
pub(super) fn groups(file: &Value) -> Vec<Group> {
    let mut file = file.clone();
    for case in file.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        case.entry("kind").or_insert_with(|| "desired".into());
    }
    let again: Vec<Case> = cases_of(&file).into_iter().filter(|(_, case)| is_for_default(case)).collect();
    let mut groups = by_field(&file, "/kind");
    if !again.is_empty() {
        groups.push((DEFAULT.to_owned(), again));
    }
    groups
}

pub(super) fn plan(group: &str) -> Option<Plan> {
    Some(match group {
        "desired" => Plan::Run(desired),
        DEFAULT => Plan::Run(desired_by_default),
        "sort_as_ints" => Plan::Run(sort_as_ints),
        "select_internal" => Plan::Run(select_internal),
        "select_space" => Plan::Run(select_space),
        "all_host_ports" => Plan::Run(all_host_ports),
        _ => return None,
    })
}

/// Whether our own policy has to answer as Juju's did.
fn is_for_default(case: &Value) -> bool {
    let is_safe = case["hazards"].as_array().is_none_or(Vec::is_empty);
    let is_plain = case.get("literal").is_none() && case.get("policy").is_none();
    case["kind"] == "desired" && is_safe && is_plain && case["expect"]["error"].is_null()
}

/// A case. What is only for the reader is read, so that anything else is noticed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "fields for the reader are named so that an unknown one is an error")]
struct Whole<Input, Expect> {
    name: String,
    source: String,
    kind: String,
    note: Option<String>,
    policy: Option<String>,
    hazards: Option<Vec<String>>,
    /// What the original did where it was wrong: not reproduced.
    literal: Option<Value>,
    settles: Option<bool>,
    input: Input,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    error: Option<String>,
    error_regex: Option<String>,
    changed: bool,
    step_down_primary: bool,
    members: Option<Vec<MemberText>>,
    voting: BTreeMap<String, bool>,
    machine_status: Option<BTreeMap<String, NoteText>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteText {
    status: String,
    message: String,
}

fn read<T: DeserializeOwned>(case: &Value) -> Result<T, String> {
    serde_json::from_value(case.clone()).map_err(|error| format!("the runner does not understand the case: {error}"))
}

/// How members are told apart.
type Key = fn(&Member) -> Option<String>;

fn desired(case: &Value) -> Result<(), String> {
    let whole: Whole<Input, Expect> = read(case)?;
    let policy = whole.policy.clone().unwrap_or_else(|| "juju-2019".to_owned());
    compare(whole, &policy, |member| Some(member.id.to_string()))
}

fn desired_by_default(case: &Value) -> Result<(), String> {
    compare(read(case)?, DEFAULT, |member| member.machine_tag().map(str::to_owned))
}

fn compare(whole: Whole<Input, Expect>, policy: &str, key: Key) -> Result<(), String> {
    let (node, expect) = (Node::of(whole.input, policy)?, whole.expect);
    match node.verdict()? {
        Ok(desired) => {
            if let Some(error) = expect.error {
                return Err(format!("expected the error {error:?}, got {desired:?}"));
            }
            same_set(&expect, &desired, key)?;
            same_notes(expect.machine_status, &desired.machine_status)?;
            let Some(settles) = whole.settles else { return Ok(()) };
            let again = node.after(desired.members).verdict()?;
            let again = again.map_err(|refused| format!("its answer fails: {}", refused.why))?;
            same("settles", settles, !again.changed && !again.step_down_primary)
        }
        Err(Refused { why, machine_status }) => {
            let Some(error) = expect.error else { return Err(format!("expected no error, got {why}")) };
            let text = why.to_string();
            let fits = expect.error_regex.as_deref().map_or(Ok(true), |pattern| fits(pattern, &text))?;
            if !text.contains(&error) || !fits {
                return Err(format!("expected the error {error:?}, got {text:?}"));
            }
            same("members", None, expect.members.map(|members| members.len()))?;
            same("changed", expect.changed, false)?;
            same("step_down_primary", expect.step_down_primary, false)?;
            same("voting", expect.voting, BTreeMap::new())?;
            same_notes(expect.machine_status, &machine_status)
        }
    }
}

fn same_set(expect: &Expect, got: &Desired, key: Key) -> Result<(), String> {
    same("changed", expect.changed, got.changed)?;
    same("step_down_primary", expect.step_down_primary, got.step_down_primary)?;
    let voting = got.voting.iter().map(|(machine, votes)| (machine.as_str().to_owned(), *votes)).collect();
    same("voting", &expect.voting, &voting)?;
    let Some(members) = &expect.members else { return Err("members: expected none, and no error".to_owned()) };
    let copy = |text: &MemberText| MemberText { address: text.address.clone(), tags: text.tags.clone(), ..*text };
    let expected = members.iter().map(|text| member(copy(text))).collect::<Result<Vec<Member>, String>>()?;
    same("members", told_apart(&expected, key)?, told_apart(&got.members, key)?)
}

/// What is compared of a member: unset and 1 are the same.
fn told_apart(members: &[Member], key: Key) -> Result<BTreeMap<String, impl PartialEq + std::fmt::Debug>, String> {
    let mut told = BTreeMap::new();
    for member in members {
        let name = key(member).ok_or(format!("a member of no machine: {member:?}"))?;
        let (votes, priority) = (member.votes.unwrap_or(1), member.priority.map_or(1.0, Priority::value));
        if told.insert(name, (member.address.clone(), member.tags.clone(), votes, priority)).is_some() {
            return Err(format!("two members are one: {member:?}"));
        }
    }
    Ok(told)
}

fn same_notes(
    expected: Option<BTreeMap<String, NoteText>>,
    got: &BTreeMap<MachineId, StatusNote>,
) -> Result<(), String> {
    let Some(expected) = expected else { return Ok(()) };
    let text = |note: &StatusNote| NoteText { status: StatusNote::STATUS.to_owned(), message: note.to_string() };
    same("machine_status", expected, got.iter().map(|(id, note)| (id.as_str().to_owned(), text(note))).collect())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, got: T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

/// Whether a text fits a pattern of plain words with `.*` and `.+` between them. Any other pattern is an error.
fn fits(pattern: &str, text: &str) -> Result<bool, String> {
    let mut rest = Some(text);
    let spelled = pattern.replace(".*", "\u{0}0").replace(".+", "\u{0}1");
    for (gap, part) in spelled.split('\u{0}').enumerate() {
        let (least, words) = match part.as_bytes().first() {
            Some(b'0') if gap > 0 => (0, &part[1..]),
            Some(b'1') if gap > 0 => (1, &part[1..]),
            _ => (0, part),
        };
        if words.contains(['.', '*', '+', '?', '[', ']', '(', ')', '|', '^', '$', '\\', '{', '}']) {
            return Err(format!("the runner does not understand the pattern {pattern:?}"));
        }
        rest = rest.and_then(|text| text.get(least..)).and_then(|text| text.split_once(words)).map(|(_, rest)| rest);
    }
    Ok(rest.is_some())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    values: Vec<String>,
}

fn sort_as_ints(case: &Value) -> Result<(), String> {
    let whole: Whole<Values, Values> = read(case)?;
    let mut ids: Vec<MachineId> = whole.input.values.into_iter().map(MachineId::from).collect();
    ids.sort();
    same("values", whole.expect.values, ids.into_iter().map(String::from).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostPorts {
    addresses: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InSpace {
    address: Option<String>,
    error: Option<String>,
}

fn select_internal(case: &Value) -> Result<(), String> {
    let whole: Whole<Alone, HostPorts> = read(case)?;
    let given: Vec<Address> = whole.input.addresses.into_iter().map(address).collect();
    same("addresses", whole.expect.addresses, addresses::internal(&given, whole.input.mongo_port))
}

/// One machine whose member has yet to be given an address, in a set with that space.
fn select_space(case: &Value) -> Result<(), String> {
    let whole: Whole<Alone, InSpace> = read(case)?;
    let node = Node::of(Input::from(whole.input), "juju-2019")?;
    match (node.verdict()?, whole.expect.error) {
        (Ok(desired), None) => {
            let found = desired.members.first().map(|member| member.address.to_string());
            same("address", whole.expect.address, found)
        }
        (Err(Refused { why: Refusal::NoneInSpace { .. }, .. }), Some(error)) if error == "not found" => {
            same("address", whole.expect.address, None)
        }
        (got, error) => Err(format!("error: expected {error:?}, got {got:?}")),
    }
}

/// One machine whose member is there: where it is published to be found.
fn all_host_ports(case: &Value) -> Result<(), String> {
    let whole: Whole<Alone, HostPorts> = read(case)?;
    let published = Node::of(Input::from(whole.input), DEFAULT)?.published();
    same("addresses", whole.expect.addresses.into_iter().collect(), published)
}

#[test]
fn patterns_are_read() {
    assert_eq!(fits("a.+b", "xa-bx"), Ok(true));
    assert_eq!(fits("a.+b", "ab"), Ok(false));
    assert_eq!(fits("a.*b", "ab"), Ok(true));
    assert_eq!(fits("a.*b", "ba"), Ok(false));
    assert!(fits("a[bc]", "ab").is_err());
}

#[test]
fn a_safe_case_is_run_twice_and_every_field_is_compared() {
    let case = serde_json::json!({
        "name": "one", "source": "here", "hazards": [], "settles": true,
        "input": {
            "machines": [{"id": "1", "wants_vote": true, "addresses": [
                {"value": "10.0.0.1", "scope": "local-cloud", "space": null}]}],
            "members": [{"id": 1, "address": "10.0.0.1:7", "tags": {MACHINE_TAG: "1"}, "votes": null, "priority": 1}],
            "statuses": [{"id": 1, "address": "", "healthy": true, "state": "PRIMARY"}],
            "mongo_port": 7, "ha_space": null},
        "expect": {"error": null, "changed": false, "step_down_primary": false, "voting": {"1": true},
            "members": [{"id": 1, "address": "10.0.0.1:7", "tags": {MACHINE_TAG: "1"}, "votes": 1, "priority": null}],
            "machine_status": {}}
    });
    let run = |case: &Value| {
        let groups = groups(&Value::from(vec![case.clone()]));
        let names: BTreeSet<String> = groups.iter().map(|(group, _)| group.clone()).collect();
        assert_eq!(names, ["default".to_owned(), "desired".to_owned()].into());
        groups.iter().all(|(group, cases)| match plan(group) {
            Some(Plan::Run(check)) => cases.iter().all(|(_, case)| check(case).is_ok()),
            _ => false,
        })
    };
    assert!(run(&case));
    let differences = [
        ("/settles", Value::from(false)),
        ("/expect/changed", true.into()),
        ("/expect/step_down_primary", true.into()),
        ("/expect/voting/1", false.into()),
        ("/expect/members/0/address", "10.0.0.2:7".into()),
        ("/expect/members/0/votes", 0.into()),
        ("/expect/members/0/priority", 2.0.into()),
        ("/expect/members/0/tags", serde_json::json!({MACHINE_TAG: "1", "rack": "a"})),
        ("/expect/machine_status", serde_json::json!({"1": {"status": "started", "message": ""}})),
        ("/expect/more", 1.into()),
    ];
    for (field, value) in differences {
        let mut changed = case.clone();
        let (parent, name) = field.rsplit_once('/').expect("a path");
        changed.pointer_mut(parent).expect("it is there").as_object_mut().expect("fields").insert(name.into(), value);
        assert!(!run(&changed), "{field} is not compared");
    }
}
