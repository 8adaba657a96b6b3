//! Long questions to a running node: how far they are, what comes of them, and that whoever asks can end them.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::support::{Lab, eventually};

fn jobs(lab: &Lab) -> Vec<Value> {
    let told = lab.run(&["jobs", "-o", "json"]).code(0).out;
    serde_json::from_str(&told).expect("a list")
}

fn state(lab: &Lab, question: &str) -> Value {
    let of_question = |job: &Value| job["question"] == question;
    jobs(lab).into_iter().rfind(of_question).unwrap_or_default()
}

#[test]
fn a_long_question_is_a_job_and_its_answer_is_that_of_the_stopped_journal() {
    let lab = Lab::new();
    let node = lab.stay();
    // given jobs that are done
    let replayed = lab.run(&["audit", "replay"]).code(0).out;
    assert!(replayed.contains("the same throughout"), "{replayed}");
    let policy = lab.manifest("policy.yaml", super::support::QUICK);
    lab.run(&["audit", "backtest", "--policy", &policy]).code(0);
    let sweep = ["chaos", "crash-sweep", "--to", "20", "--every", "4", "-o", "json"];
    let running: Value = serde_json::from_str(&lab.run(&sweep).code(0).out).expect("a sweep");
    // then each says what it was, and what came of it
    let jobs = jobs(&lab);
    let questions: Vec<&Value> = jobs.iter().map(|job| &job["question"]).collect();
    assert_eq!(questions, ["replay", "backtest", "crash-sweep"]);
    for job in &jobs {
        assert_eq!((&job["state"], &job["done"]), (&json!("done"), &job["of"]), "{job}");
        assert!(job["of"].as_u64() > Some(0) && job["answer"].is_null(), "{job}");
        let id = job["id"].as_str().expect("an id");
        let shown: Value = serde_json::from_str(&lab.run(&["jobs", "show", id, "-o", "json"]).code(0).out).unwrap();
        assert!(shown["answer"].is_object(), "{shown}");
    }
    lab.run(&["jobs", "show", "nobody"]).code(4).says("no job's id begins with");
    // when the node is stopped, then its journal answers the same
    node.stopped().code(0);
    let stopped: Value = serde_json::from_str(&lab.run(&sweep).code(0).out).expect("a sweep");
    assert_eq!(running, stopped);
}

#[test]
fn a_job_ends_when_whoever_asked_is_interrupted_or_cancels_it_or_the_node_stops() {
    let lab = Lab::new();
    let node = lab.stay();
    let is_running = |job: &Value| job["state"] == "running" && job["done"].as_u64() > Some(0);
    // given one that takes long / when its command is interrupted
    let command = lab.start(&["chaos", "crash-sweep"]);
    eventually("it runs", || is_running(&state(&lab, "crash-sweep")));
    command.signal(Signal::INT);
    command.ended().code(1).says("cancelled before it was done");
    // then the job ends, too
    eventually("it has ended", || state(&lab, "crash-sweep")["state"] == "cancelled");
    // given two more, of which the second waits / when both are cancelled
    let begin = || -> Value { serde_json::from_str(&lab.http("POST", "/v1/jobs/crash-sweep", "{}").1).expect("a job") };
    let (first, second) = (begin(), begin());
    eventually("the first runs", || is_running(&jobs(&lab)[1]));
    assert_eq!(state(&lab, "crash-sweep")["state"], "waiting", "one at a time for each principal");
    for job in [&second, &first] {
        lab.run(&["jobs", "cancel", job["id"].as_str().expect("an id")]).code(0);
    }
    // then neither goes on
    eventually("both have ended", || jobs(&lab).iter().all(|job| job["state"] == "cancelled"));
    // given as many as may be / when there is one more
    let begun: Vec<Value> = (0..4).map(|_| begin()).collect();
    let (head, body) = lab.http("POST", "/v1/jobs/crash-sweep", "{}");
    // then it is refused
    assert!(head.starts_with("HTTP/1.1 429") && body.contains("too-many-jobs"), "{head} {body}");
    assert_eq!(jobs(&lab).len(), begun.len(), "those that had ended made room");
    // and a node that stops does not wait for them
    node.stopped().code(0);
}
