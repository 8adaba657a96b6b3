//! The adapter over servers that answer what a test tells them to.

use std::{collections::BTreeMap, sync::Mutex};

use bailiwick_actors::{
    ports::replica_set::{MemberState, Server},
    vocab::Name,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

type Answers = BTreeMap<(String, String), Result<Document, Broken>>;

/// Answers by host and command, and remembers what was sent.
#[derive(Default)]
struct Scripted {
    answers: Answers,
    sent: Mutex<Vec<(String, Document)>>,
}

impl Scripted {
    fn sent(&self) -> Vec<(String, Document)> {
        self.sent.lock().unwrap().clone()
    }
}

impl Admin for Scripted {
    fn run<'a>(
        &'a self,
        _set: &'a Name,
        host: &'a str,
        command: Document,
        _time: Duration,
    ) -> Answer<'a, Result<Document, Broken>> {
        let name = command.keys().next().cloned().unwrap_or_default();
        self.sent.lock().unwrap().push((host.to_owned(), command));
        let silent = || Err(Broken::NotSent(Fault::new(FaultCode::Unavailable, "nobody is there")));
        let answer = self.answers.get(&(host.to_owned(), name)).cloned().unwrap_or_else(silent);
        Box::pin(async move { answer })
    }
}

fn object(value: Value) -> Document {
    value.as_object().unwrap().clone()
}

/// What the server at `a` or `b` says, each as (health, state) of members 0 and 1.
fn status(teller: usize, term: i64, members: [(f64, i64); 2]) -> Document {
    let told = |(at, (health, state)): (usize, (f64, i64))| {
        let mut told = document([
            ("_id", int(at as i64)),
            ("name", ["a:1", "b:1"][at].into()),
            ("health", document::double(health)),
            ("state", int(state)),
            ("configVersion", int(5)),
            ("configTerm", int(3)),
        ]);
        if at == teller {
            told.insert("self".into(), true.into());
        }
        Value::Object(told)
    };
    let state = members[teller].1;
    let members: Vec<Value> = members.into_iter().enumerate().map(told).collect();
    document([("set", "db".into()), ("myState", int(state)), ("term", int(term)), ("members", members.into())])
}

fn config_reply(committed: Option<bool>) -> Document {
    let mut reply = object(json!({ "config": { "_id": "db", "version": 5, "term": 3, "members": [
        { "_id": 0, "host": "a:1" }, { "_id": 1, "host": "b:1", "votes": 0, "priority": 0 }
    ] } }));
    if let Some(committed) = committed {
        reply.insert("commitmentStatus".into(), committed.into());
    }
    reply
}

fn engine(answers: &[(&str, &str, Result<Document, Broken>)]) -> (MongoEngine, Arc<Scripted>) {
    let by_name = |(host, name, answer): &(&str, &str, Result<Document, Broken>)| {
        (((*host).to_owned(), (*name).to_owned()), answer.clone())
    };
    let scripted = Arc::new(Scripted { answers: answers.iter().map(by_name).collect(), sent: Mutex::default() });
    (MongoEngine::new(scripted.clone()), scripted)
}

fn contact() -> Contact {
    let server = |(machine, client): (&str, &str)| Server {
        machine: machine.parse().unwrap(),
        client: client.into(),
        peer: Some(client.into()),
    };
    Contact { set: "db".parse().unwrap(), servers: [("m1", "a:1"), ("m2", "b:1")].map(server).into() }
}

fn said(code: i32) -> Result<Document, Broken> {
    Err(Broken::Said { code, name: "Name".into(), text: "text".into() })
}

const UP: f64 = 1.0;
const BASE: Stamp = Stamp { term: 3, version: 5 };

#[tokio::test]
async fn a_primary_of_an_earlier_election_is_not_believed() {
    let (engine, sent) = engine(&[
        ("a:1", "replSetGetStatus", Ok(status(0, 3, [(UP, 1), (UP, 2)]))),
        ("b:1", "replSetGetStatus", Ok(status(1, 4, [(UP, 1), (UP, 2)]))),
        ("a:1", "replSetGetConfig", Ok(config_reply(Some(true)))),
    ]);
    let now = engine.observe(contact()).await.unwrap();
    assert_eq!(now.configuration.stamp, BASE);
    assert!(!now.configuration.committed, "b has heard of a later election");
    let outcome = engine.change(contact(), BASE, vec![Change::Promote { member: MemberId(1) }]).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    let sent = sent.sent();
    assert!(sent.iter().all(|(_, command)| command.keys().next().unwrap().starts_with("replSetGet")), "only looks");
}

#[tokio::test]
async fn a_server_that_cannot_say_whether_a_majority_has_it_is_counted() {
    let answers = |b_version: i64| {
        let mut told = status(0, 3, [(UP, 1), (UP, 2)]);
        told["members"][0]["configVersion"] = int(b_version);
        engine(&[
            ("a:1", "replSetGetStatus", Ok(told)),
            ("a:1", "replSetGetConfig", Ok(config_reply(None))),
            ("a:1", "replSetReconfig", Ok(Document::new())),
        ])
    };
    let (with, sent) = answers(5);
    assert!(with.observe(contact()).await.unwrap().configuration.committed);
    let outcome = with.change(contact(), BASE, vec![Change::Promote { member: MemberId(1) }]).await;
    assert_eq!(outcome, Outcome::Done);
    let sent = sent.sent();
    let (host, write) = sent.last().unwrap();
    assert_eq!((host.as_str(), &write["replSetReconfig"]["version"]), ("a:1", &int(6)));
    assert_eq!(write["replSetReconfig"]["term"], 3, "the term is carried");
    assert!(write.contains_key("maxTimeMS") && !write.contains_key("force"));
    let (without, _) = answers(4);
    assert!(!without.observe(contact()).await.unwrap().configuration.committed);
}

#[tokio::test]
async fn nobody_is_asked_to_step_down_while_two_say_that_they_lead() {
    let answers = |b: i64| {
        engine(&[
            ("a:1", "replSetGetStatus", Ok(status(0, 3, [(UP, 1), (UP, 2)]))),
            ("b:1", "replSetGetStatus", Ok(status(1, 2, [(UP, 2), (UP, b)]))),
            ("a:1", "replSetGetConfig", {
                let mut reply = config_reply(Some(true));
                reply["config"]["members"][1] = json!({ "_id": 1, "host": "b:1" });
                Ok(reply)
            }),
            ("a:1", "replSetStepDown", Ok(Document::new())),
        ])
    };
    let (two, sent) = answers(1);
    let leading = two.observe(contact()).await.unwrap().statuses;
    assert!(leading.iter().all(|status| status.state == MemberState::Primary), "both are told: {leading:?}");
    let outcome = two.step_down(contact(), MemberId(0), MemberId(1)).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    assert!(!sent.sent().iter().any(|(_, command)| command.contains_key("replSetStepDown")));
    let (one, _) = answers(2);
    assert_eq!(one.step_down(contact(), MemberId(0), MemberId(1)).await, Outcome::Done);
    let outcome = one.step_down(contact(), MemberId(1), MemberId(0)).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "it does not lead: {outcome:?}");
}

#[tokio::test]
async fn who_cannot_be_elected_follows_nobody() {
    let (engine, sent) = engine(&[
        ("a:1", "replSetGetStatus", Ok(status(0, 3, [(UP, 1), (UP, 2)]))),
        ("a:1", "replSetGetConfig", Ok(config_reply(Some(true)))),
        ("a:1", "replSetStepDown", Ok(Document::new())),
    ]);
    let outcome = engine.step_down(contact(), MemberId(0), MemberId(1)).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "b has no vote: {outcome:?}");
    assert!(!sent.sent().iter().any(|(_, command)| command.contains_key("replSetStepDown")));
}

#[cfg(not(feature = "mongodb"))]
#[tokio::test]
async fn a_program_that_was_built_without_it_says_how_to_build_it() {
    let engine = super::engine(Environment::default());
    let fault = engine.observe(contact()).await.unwrap_err();
    assert_eq!(fault.code, FaultCode::Unimplemented);
    assert!(fault.text.contains("cargo build --release --features mongodb"), "{fault}");
    let outcome = engine.change(contact(), BASE, vec![Change::Remove { member: MemberId(1) }]).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
}

#[tokio::test]
async fn who_the_primary_cannot_reach_is_not_healthy_though_it_answers_us() {
    let (engine, _) = engine(&[
        ("a:1", "replSetGetStatus", Ok(status(0, 3, [(UP, 1), (0.0, 8)]))),
        ("b:1", "replSetGetStatus", Ok(status(1, 3, [(0.0, 8), (UP, 2)]))),
        ("a:1", "replSetGetConfig", Ok(config_reply(Some(true)))),
    ]);
    let now = engine.observe(contact()).await.unwrap();
    assert_eq!((now.statuses[1].healthy, now.statuses[1].state), (false, MemberState::Down));
}

#[tokio::test]
async fn there_is_no_set_only_if_all_that_answer_say_so() {
    let not_begun = || said(code::NOT_YET_INITIALIZED);
    for (second, expected) in [
        (not_begun(), FaultCode::Uninitialized),
        (said(code::UNAUTHORIZED), FaultCode::PermissionDenied),
        (said(code::NO_REPLICATION_ENABLED), FaultCode::FailedPrecondition),
        (said(code::INVALID_REPLICA_SET_CONFIG), FaultCode::Unavailable),
        (Err(Broken::NotSent(Fault::new(FaultCode::Unauthenticated, "no"))), FaultCode::Unauthenticated),
        (Err(Broken::NotSent(Fault::new(FaultCode::Unavailable, "no"))), FaultCode::Uninitialized),
        (Ok(Document::new()), FaultCode::Unavailable),
    ] {
        let answers = [("a:1", "replSetGetStatus", not_begun()), ("b:1", "replSetGetStatus", second)];
        let fault = engine(&answers).0.observe(contact()).await.unwrap_err();
        assert_eq!(fault.code, expected, "{fault}");
    }
}

#[tokio::test]
async fn a_set_that_has_begun_with_this_member_is_done() {
    let first = |address: &str| Member {
        id: MemberId(0),
        address: address.into(),
        tags: [("juju-machine-id".to_owned(), "m1".to_owned())].into(),
        votes: None,
        priority: None,
        other: BTreeMap::new(),
    };
    let (engine, sent) = engine(&[
        ("a:1", "replSetInitiate", said(code::ALREADY_INITIALIZED)),
        ("a:1", "replSetGetStatus", Ok(status(0, 3, [(UP, 1), (UP, 2)]))),
        ("a:1", "replSetGetConfig", Ok(config_reply(Some(true)))),
    ]);
    assert_eq!(engine.initiate(contact(), first("a:1")).await, Outcome::Done);
    let outcome = engine.initiate(contact(), first("c:1")).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "another one has begun here: {outcome:?}");
    let sent = sent.sent();
    let asked = json!({ "_id": "db", "version": int(1), "members": [
        { "_id": int(0), "host": "a:1", "tags": { "juju-machine-id": "m1" } }
    ] });
    assert_eq!(sent[0].1["replSetInitiate"], asked);
}

/// Any JSON, with the names that matter more often than not.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i64>().prop_map(int),
        any::<f64>().prop_map(document::double),
        ".{0,5}".prop_map(Value::from),
    ];
    let names = ["_id", "host", "name", "members", "config", "set", "self", "state", "votes", "version", "term"];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let name = proptest::sample::select(names.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_a_server_answers_is_answered(spot in 0..6usize, strange in anything(), whole: bool) {
        let mut told = status(0, 3, [(UP, 1), (UP, 2)]);
        let mut config = config_reply(Some(true));
        match (spot, &strange) {
            (0, Value::Object(strange)) if whole => told = strange.clone(),
            (1, Value::Object(strange)) if whole => config = strange.clone(),
            (0 | 1, _) => drop(told.insert("members".into(), strange)),
            (2, _) => told["members"][0] = strange,
            (3, _) => config["config"]["members"][1] = strange,
            (4, _) => config["config"]["version"] = strange,
            _ => drop(config.insert("config".into(), strange)),
        }
        let (engine, _) = engine(&[
            ("a:1", "replSetGetStatus", Ok(told)),
            ("a:1", "replSetGetConfig", Ok(config)),
            ("a:1", "replSetReconfig", said(code::NODE_NOT_ELECTABLE)),
        ]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let _ = engine.observe(contact()).await;
            let outcome = engine.change(contact(), BASE, vec![Change::Promote { member: MemberId(1) }]).await;
            assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
        });
    }
}
