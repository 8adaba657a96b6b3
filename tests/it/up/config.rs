//! A node is run as its configuration file says, unless the command line or the environment says otherwise.

use std::fs;

use serde_json::Value;

use super::support::{Lab, Ran, Running};

#[track_caller]
fn row(ran: &Ran, setting: &str) -> (Value, String, String) {
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let rows = report["settings"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["setting"] == setting).expect("such a setting");
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (row["value"].clone(), text("origin"), text("from"))
}

#[test]
fn a_node_is_run_as_its_file_says() {
    // Given a file in the data directory
    let lab = Lab::new();
    lab.run(&["up", "--once"]).code(0);
    let (file, run) = (lab.data().join("config.toml"), lab.data().join("run"));
    let text = format!("socket-dir = {:?}\nlog-keep = \"checkpoint\"\n", run.to_str().expect("text"));
    fs::write(&file, text).expect("written");
    // when a node is started, then it is what the file says,
    let node = lab.start(&["serve"]);
    node.says(&format!("configuration: {}", file.display()));
    node.says(&format!("listening on {}", run.join("node.sock").display()));
    node.stopped().code(0);
    // but for what the command line and the environment say.
    let elsewhere = lab.data().join("elsewhere");
    let node = lab.start(&["serve", "--socket-dir", elsewhere.to_str().expect("text")]);
    node.says(&format!("listening on {}", elsewhere.join("node.sock").display()));
    node.stopped().code(0);
    let mut by_variable = lab.command(&["serve"]);
    let node = Running::of(by_variable.env("BAILIWICK_SOCKET_DIR", &elsewhere));
    node.says(&format!("listening on {}", elsewhere.join("node.sock").display()));
    node.stopped().code(0);
}

#[test]
fn every_setting_is_shown_with_where_it_comes_from() {
    let lab = Lab::new();
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("c.toml");
    let path = file.to_str().expect("text");
    fs::write(&file, "\nlisten = \"127.0.0.1:0\"\ntls-name = [\"lab.example\"]\n").expect("written");
    let mut show = lab.command(&["config", "show", "--config", path, "-o", "json"]);
    let shown = Running::of(show.env("BAILIWICK_SOCKET_DIR", "/run/lab")).ended().code(0);
    assert_eq!(row(&shown, "listen"), ("127.0.0.1:0".into(), "file".into(), format!("{path}:2")));
    assert_eq!(row(&shown, "tls-name").0, serde_json::json!(["lab.example"]));
    assert_eq!(row(&shown, "socket-dir"), ("/run/lab".into(), "environment".into(), "BAILIWICK_SOCKET_DIR".into()));
    assert_eq!(row(&shown, "log-keep"), ("all".into(), "default".into(), String::new()));
    assert_eq!(row(&shown, "new-node-key").0, false);
    assert_eq!(row(&shown, "log-archive"), (Value::Null, "unset".into(), String::new()));
    assert!(lab.run(&["config", "show"]).code(0).out.contains("log-keep"));
    lab.run(&["config", "check", path]).code(0);
    assert!(!lab.data().exists(), "nothing was made");
}

#[test]
fn a_file_that_makes_no_sense_starts_no_node() {
    let lab = Lab::new();
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("c.toml");
    let path = file.to_str().expect("text");
    fs::write(&file, "# mine\nlistn = \"127.0.0.1:0\"\n").expect("written");
    for args in [&["serve", "--config", path][..], &["config", "check", path]] {
        let refused = lab.run(args).code(78);
        refused.says("bad-config").says("line 2: there is no setting \"listn\"; did you mean listen?");
    }
    lab.run(&["serve", "--config", "/nowhere/c.toml"]).code(66);
    assert!(!lab.data().exists(), "nothing was made");
}
