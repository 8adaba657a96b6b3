//! Event sinks: everything that matches, in order, at least once, whatever the sink and the node go through.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::Value;

use super::support::{Lab, eventually};

/// A sink that refuses everything until it is open, and afterwards keeps what it is told.
struct Sink {
    url: String,
    is_open: Arc<AtomicBool>,
    told: Arc<Mutex<Vec<Value>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Sink {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/in", listener.local_addr().expect("an address"));
        let (told, heads) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (keeps, keeps_heads) = (told.clone(), heads.clone());
        let is_open = Arc::new(AtomicBool::new(false));
        let opened = is_open.clone();
        // Ends with the tests: nobody connects any more then.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
                let (mut head, mut line) = (String::new(), String::new());
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    head.push_str(&std::mem::take(&mut line).to_lowercase());
                }
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
                let mut body = vec![0; length.unwrap_or(0)];
                if reader.read_exact(&mut body).is_err() {
                    continue;
                }
                let takes = opened.load(Ordering::SeqCst);
                let status = if takes { "200 OK" } else { "500 No" };
                if takes {
                    let told: Value = serde_json::from_slice(&body).expect("JSON");
                    let spans = &told["resourceSpans"][0]["scopeSpans"][0]["spans"];
                    let lines = told.as_array().or(spans.as_array()).expect("decisions").clone();
                    keeps.lock().expect("unpoisoned").extend(lines);
                    keeps_heads.lock().expect("unpoisoned").push(head);
                }
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                drop(stream.write_all(answer.as_bytes()));
            }
        });
        Self { url, is_open, told, heads }
    }

    fn positions(&self) -> Vec<u64> {
        let told = self.told.lock().expect("unpoisoned");
        told.iter().map(|line| line["position"].as_u64().expect("a position")).collect()
    }
}

#[test]
fn a_collector_of_traces_gets_decisions_as_spans_below_what_led_to_them() {
    let (lab, sink) = (Lab::new(), Sink::new());
    sink.is_open.store(true, Ordering::SeqCst);
    let declared = format!("traces={}#format=otlp", sink.url);
    let node = lab.start(&["serve", "--event-sink", &declared]);
    node.says("listening on ");
    // given decisions that follow from one another, and a refusal
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/lab.yaml");
    lab.run(&["apply", path]).code(0);
    lab.run(&["wait", "machine/clerk", "--for", "ready"]).code(0);
    lab.run(&["protect", "machine/clerk"]).code(0);
    lab.run(&["delete", "machine/clerk"]).code(5);
    let log: Vec<Value> = serde_json::from_str(&lab.run(&["log", "-o", "json"]).code(0).out).expect("JSON");
    // when the collector was told all of it
    let attribute = |span: &Value, name: &str| {
        let all = span["attributes"].as_array().expect("attributes");
        let one = all.iter().find(|one| one["key"] == format!("bailiwick.{name}"));
        one.map(|one| one["value"]["stringValue"].as_str().or(one["value"]["intValue"].as_str()).unwrap().to_owned())
    };
    let spans = || -> BTreeMap<u64, Value> {
        let told = sink.told.lock().expect("unpoisoned").clone();
        told.into_iter().map(|span| (attribute(&span, "position").unwrap().parse().unwrap(), span)).collect()
    };
    let last = log.last().expect("some")["position"].as_u64().expect("a position");
    eventually("everything was told", || spans().contains_key(&last));
    // then each has the trace and the parent that its cause says, and the refusal is an error
    let (spans, mut children) = (spans(), 0);
    for line in &log {
        let Some(span) = line["position"].as_u64().and_then(|position| spans.get(&position)) else { continue };
        assert_eq!(span["traceId"].as_str().map(str::len), Some(32), "{span}");
        assert_eq!(attribute(span, "code").as_deref(), line["code"].as_str());
        assert_eq!(span["status"]["code"] == 2, line["outcome"] == "refused", "{span}");
        match line["cause"].as_u64().map(|cause| spans.get(&cause)) {
            None => assert!(span["parentSpanId"].is_null(), "{span}"),
            Some(Some(parent)) => {
                let of_parent = (&parent["traceId"], &parent["spanId"]);
                assert_eq!((&span["traceId"], &span["parentSpanId"]), of_parent, "{line}");
                children += 1;
            }
            // It was decided before the node had the sink.
            Some(None) => (),
        }
    }
    lab.run(&["unprotect", "machine/clerk"]).code(0);
    assert!(children > 3 && log.iter().any(|line| line["outcome"] == "refused"), "{log:?}");
    node.stopped().code(0);
    lab.run(&["down", "--timeout", "60s"]).code(0);
}

#[test]
fn a_sink_gets_every_decision_that_matches_in_order_also_after_it_was_away_and_the_node_was_killed() {
    let (lab, sink) = (Lab::new(), Sink::new());
    let token = lab.manifest("token", "1f2e3d4c.0123\n");
    let declared = format!("ops={}#kind=policy&token-file={token}", sink.url);
    let serve = ["serve", "--event-sink", &declared];
    let policy = |lab: &Lab, seconds: u32| {
        let text = format!(
            "apiVersion: bailiwick/v1\nkind: Policy\nmetadata: {{name: default}}\nspec: {{machines: {{poll: {seconds}s}}}}\n"
        );
        let path = lab.manifest("policy.yaml", text);
        lab.run(&["apply", &path]).code(0);
    };
    // Given a sink that refuses at first, and a node that is killed while it does
    let node = lab.start(&serve);
    node.says("listening on ");
    for seconds in 10..15 {
        policy(&lab, seconds);
    }
    // Then status says that it does, how far it is behind, and since when; and so do the metrics
    let sink_trouble = || {
        let status: Value = serde_json::from_str(&lab.run(&["status", "-o", "json"]).code(0).out).expect("JSON");
        status["node"].as_array().cloned().unwrap_or_default().into_iter().find(|trouble| trouble["status"] == "sink")
    };
    eventually("the refusal is in status", || sink_trouble().is_some());
    let why = sink_trouble().map(|trouble| trouble["why"].to_string()).unwrap_or_default();
    assert!(why.contains("event sink ops is not told, ") && why.contains(" behind: "), "{why}");
    let metrics = lab.http("GET", "/metrics", "").1;
    assert!(metrics.contains("bailiwick_event_sink_failing{sink=\"ops\"} 1\n"), "{metrics}");
    node.kill();
    // When the node runs again
    let node = lab.start(&serve);
    node.says("listening on ");
    sink.is_open.store(true, Ordering::SeqCst);
    for seconds in 15..18 {
        policy(&lab, seconds);
    }
    let log = lab.run(&["log", "policy/default", "-o", "json"]).code(0).out;
    let log: Vec<Value> = serde_json::from_str(&log).expect("JSON");
    // What was there before the node had a sink is not told.
    let wanted: Vec<u64> = log.iter().filter_map(|line| line["position"].as_u64()).skip(1).collect();
    assert!(wanted.len() >= 8, "{log:?}");
    // Then it has each of them, in order; some perhaps twice
    eventually("everything was told", || sink.positions().contains(wanted.last().expect("some")));
    let told = sink.positions();
    let mut first = Vec::new();
    for position in &told {
        if !first.contains(position) {
            first.push(*position);
        }
    }
    assert_eq!(first, wanted, "{told:?}");
    eventually("the trouble is over", || sink_trouble().is_none());
    let heads = sink.heads.lock().expect("unpoisoned").clone();
    assert!(heads.iter().all(|head| head.contains("authorization: bearer 1f2e3d4c.0123")), "{heads:?}");
    assert!(heads.iter().all(|head| head.contains("bailiwick-journal: ")), "{heads:?}");
    node.stopped().code(0);
    let bad = lab.run(&["serve", "--event-sink", "ops=https://x/"]).code(64);
    bad.says("ca=FILE");
}
