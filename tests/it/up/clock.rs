//! A clock that was ahead once, and the way back to it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bailiwick::{
    Config, Node,
    actors::{ports::Clock, vocab::Timestamp},
    api::query::{Parameters, Query},
    handle::CorrectError,
    manifest,
    plan::Prune,
    view::{At, Fleet, Selector},
};
use serde_json::Value;
use uuid::Uuid;

const HOUR: u64 = 3_600_000;
const YEARS: u64 = 30 * 365 * 24 * HOUR;
/// 2026-11-21T02:40:00Z.
const BEGIN: u64 = 1_795_228_800_000;

/// A host's clock that somebody sets, and the node's time over it as the real one keeps it.
#[derive(Debug)]
struct Host {
    wall: AtomicU64,
    /// How far the node's time is ahead.
    ahead: AtomicU64,
}

impl Clock for Host {
    fn now(&self) -> Timestamp {
        self.wall().after(self.ahead.load(Ordering::SeqCst))
    }

    fn wall(&self) -> Timestamp {
        Timestamp(self.wall.load(Ordering::SeqCst))
    }

    fn go_on_from(&self, moment: Timestamp) {
        self.ahead.fetch_max(moment.since(self.wall()), Ordering::SeqCst);
    }
}

struct Bench {
    data: tempfile::TempDir,
}

impl Bench {
    /// A node whose host's clock shows this at its start.
    fn start(&self, wall: u64) -> (Node, Arc<Host>) {
        let host = Arc::new(Host { wall: wall.into(), ahead: 0.into() });
        let mut config = Config::new(self.data.path().join("data")).without_socket();
        config.clock = Some(host.clone());
        (Node::start(config).expect("it starts"), host)
    }
}

fn declare(node: &Node, name: &str) {
    let text = format!("{{apiVersion: bailiwick/v1, kind: Space, metadata: {{name: {name}}}, spec: {{}}}}");
    let wishes = manifest::parse(&[manifest::Source::new("inline", text)], &manifest::Known::default()).expect("valid");
    let handle = node.handle();
    handle
        .wait(handle.apply(&wishes.documents, Prune::No, Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())))
        .expect("taken");
}

fn ask(node: &Node, query: &Query) -> Value {
    let (handle, journal) = (node.handle(), node.handle().journal());
    let of_now = |fleet: &Fleet| query.clone().resolved(fleet.time, &fleet.calendar).answer(&*journal, fleet);
    let answer = match query.is_about_now() {
        true => handle.look(of_now).expect("readable"),
        false => query.answer_from(&*journal, handle.now()),
    };
    answer.expect("an answer")
}

fn log(node: &Node, at: Option<&str>) -> Vec<Value> {
    let filter = Parameters { at: at.map(str::to_owned), ..Parameters::default() };
    ask(node, &Query::Log { filter }).as_array().expect("lines").clone()
}

/// Every entry takes its time, if only a little.
#[track_caller]
fn is_about(told: u64, meant: u64) {
    assert!(meant <= told && told < meant + 1_000, "{told} is not about {meant}");
}

#[test]
fn after_a_correction_times_are_shown_by_the_clock_and_recorded_ones_never_go_back() {
    let bench = Bench { data: tempfile::tempdir().expect("a directory") };
    // Given a journal that was begun with the right clock, and gone on with one that was thirty years ahead.
    let (node, _) = bench.start(BEGIN);
    declare(&node, "before");
    node.stop().expect("in order");
    let (node, _) = bench.start(BEGIN + YEARS);
    // That such a start is odd is told as long as somebody may still do something about it.
    let odd = &ask(&node, &Query::Status { at: None })["node"][0];
    assert!(odd["why"].as_str().is_some_and(|why| why.contains("the last entry before this start is")), "{odd}");
    declare(&node, "ahead");
    node.stop().expect("in order");

    // When the clock is right again, the node says so, and goes on where it was.
    let (node, host) = bench.start(BEGIN + HOUR);
    let said = node.started().clock.join("\n");
    assert!(said.contains("10949d23h ahead") && said.contains("`bailiwick clock correct`"), "{said}");
    is_about(ask(&node, &Query::Status { at: None })["clock"]["aheadMs"].as_u64().expect("ahead"), YEARS - HOUR);

    // And an operator has it corrected, once; the same command again gets the same answer.
    let id = Uuid::from_u128(7);
    let correction = node.handle().correct_clock(id).expect("it is ahead");
    is_about(correction.back_ms, YEARS - HOUR);
    assert_eq!(node.handle().correct_clock(id).ok(), Some(correction));
    assert!(matches!(node.handle().correct_clock(Uuid::from_u128(8)), Err(CorrectError::Nothing)));
    declare(&node, "corrected");

    // Then what was declared before is as old as the clock says,
    let spaces = ask(&node, &Query::List { kind: "space".into(), selector: Selector::default(), at: None });
    let ages = spaces.as_array().expect("spaces").iter().map(|row| row["ageMs"].as_u64().expect("an age"));
    assert!(ages.clone().count() == 3 && ages.max() < Some(HOUR + 1_000), "{spaces}");

    // and nothing is odd any more, and what is shown is by the clock, in order.
    let status = ask(&node, &Query::Status { at: None });
    assert_eq!((&status["clock"], &status["node"]), (&Value::Null, &Value::Array(Vec::new())));
    let lines = log(&node, None);
    let times: Vec<u64> = lines.iter().map(|line| line["timeMs"].as_u64().expect("a time")).collect();
    assert!(times.is_sorted() && times.iter().all(|time| (BEGIN..=BEGIN + HOUR + 1_000).contains(time)), "{times:?}");
    let last = lines.last().expect("a line");
    is_about(last["timeMs"].as_u64().expect("a time"), BEGIN + HOUR);
    assert_eq!(
        last["time"],
        Timestamp(last["timeMs"].as_u64().unwrap()).to_string(),
        "texts and numbers agree: {last}"
    );
    let noted = lines.iter().find(|line| line["code"] == "clock-corrected").expect("it is an entry");
    let uid = format!("uid:{}", rustix::process::geteuid().as_raw());
    assert_eq!(noted["principal"], uid);

    // And a moment that is named by the clock is found; the record itself goes on without a step.
    host.wall.fetch_add(HOUR, Ordering::SeqCst);
    declare(&node, "later");
    let until_then = log(&node, Some(&(BEGIN + HOUR + HOUR / 2).to_string()));
    assert_eq!(until_then.last().expect("a line")["position"], last["position"]);
    let at = Query::Status { at: Some(At::Time(BEGIN + HOUR / 2)) };
    assert!(ask(&node, &at)["timeMs"].as_u64().is_some_and(|time| time <= BEGIN + HOUR / 2));
    let recorded = node.handle().journal().head().time_ms;
    is_about(recorded, BEGIN + YEARS + HOUR);
    node.stop().expect("in order");

    // And after a rest the node's time is the clock's at once: the rest counts.
    let (node, _) = bench.start(BEGIN + 5 * HOUR);
    assert_eq!(node.started().clock, [""; 0]);
    is_about(node.handle().now().0, BEGIN + 4 * HOUR + YEARS);
    is_about(ask(&node, &Query::Status { at: None })["timeMs"].as_u64().expect("a time"), BEGIN + 5 * HOUR);
    bailiwick::actors::replay::assert_replays(&*node.handle().journal());
    node.stop().expect("in order");
}
