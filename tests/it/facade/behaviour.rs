//! What a node does for clients of the facade beside answering them rightly: lives, principals, bad input, and the end.

use std::{fs, time::Duration};

use bailiwick::{
    journal::{Filter, Position},
    manifest::{self, Source},
    plan::{Going, Prune},
    view,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Client, FacadeNode, Reply, document};
use crate::up::eventually;

/// A node with machine 0, whose instance clients make, and an account of a controller's agent.
struct Lab {
    node: FacadeNode,
    model: String,
}

const TOKEN: &str = "controller-token-of-many-letters";
const PASSWORD: &str = "password-of-machine-zero-12345";
const NONCE: &str = "nonce-of-machine-zero-6789";

impl Lab {
    fn new() -> Self {
        let node = FacadeNode::start();
        let hash = blake3::hash(TOKEN.as_bytes()).to_hex().to_string();
        let account = json!({"role": "admin", "tokens": [{"id": "00000001", "hash": hash}]});
        node.apply(&[
            document("Machine", "0", &json!({"provider": "external"})),
            document("Account", "controller-0", &account),
            document(
                "Account",
                "ada",
                &json!({"role": "admin", "tokens": [{"id": "00000002", "hash": hash_of("ada")}]}),
            ),
        ]);
        let model = node.handle().journal().id().to_string();
        Self { node, model }
    }

    fn connect(&self) -> Client {
        self.node.connect(&format!("/model/{}/api", self.model))
    }

    fn controller(&self) -> Client {
        let mut client = self.connect();
        client.login("controller-0", TOKEN).expect("logged in");
        client
    }

    /// Machine 0 has an instance, and its agent a password.
    fn provision(&self) {
        let mut client = self.controller();
        let info = json!({"tag": "machine-0", "instance-id": "i-0", "nonce": NONCE});
        done(client.call("SetInstanceInfo", &json!({"machines": [info]})));
        done(client.call("SetPasswords", &json!({"changes": [{"tag": "machine-0", "password": PASSWORD}]})));
    }

    /// How machine 0 is shown.
    fn row(&self) -> Option<Value> {
        let rows = self.node.handle().look(|fleet| serde_json::to_value(view::machines(fleet))).expect("looked");
        rows.expect("JSON").as_array().expect("rows").iter().find(|row| row["name"] == "0").cloned()
    }

    /// Why machine 0 is not as wanted.
    fn waits_for(&self, wanted: &str) -> String {
        let machine = "machine/0".parse().expect("a name");
        let why = self.node.handle().why_not(&machine, wanted).expect("read").expect("known");
        why.unmet.map(|unmet| unmet.because).unwrap_or_default()
    }

    fn status(&self) -> String {
        self.row().map_or_else(String::new, |row| row["status"].as_str().unwrap_or_default().to_owned())
    }
}

fn hash_of(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

fn done(reply: Reply) -> Value {
    let reply = reply.expect("a reply");
    let errors: Vec<&Value> =
        reply["results"].as_array().into_iter().flatten().filter_map(|result| result.get("error")).collect();
    assert!(errors.is_empty(), "{errors:?}");
    reply
}

fn entities(tag: &str) -> Value {
    json!({"entities": [{"tag": tag}]})
}

#[test]
fn a_machine_of_provider_external_is_made_and_ended_by_its_client() {
    // given a machine that is declared, and waits
    let lab = Lab::new();
    let mut client = lab.controller();
    assert_eq!(lab.status(), "waiting");
    assert_eq!(lab.waits_for("ready"), "no client has created its instance yet");
    // when a client has made its instance, and its agent says that it started
    lab.provision();
    assert_eq!(lab.status(), "starting");
    assert_eq!(lab.waits_for("ready"), "its agent has not reported that it started");
    let started = json!({"entities": [{"tag": "machine-0", "status": "started", "info": "", "data": null}]});
    done(client.call("SetStatus", &started));
    // then it is ready
    assert_eq!(lab.status(), "ready");
    // when an operator removes it
    let handle = lab.node.handle();
    let machine = "machine/0".parse().expect("a name");
    handle.wait(handle.remove(&[machine], Going::default(), Uuid::new_v4())).expect("removed");
    // then clients are told that it is dead, and the node waits until its instance is gone
    let life = done(client.call("Life", &entities("machine-0")));
    assert_eq!(life["results"][0]["life"], "dead");
    assert_eq!(lab.waits_for("removed"), "no client has deleted its instance yet");
    assert_eq!(done(client.call("InstanceId", &entities("machine-0")))["results"][0]["result"], "i-0");
    done(client.call("Remove", &entities("machine-0")));
    let gone = client.call("Life", &entities("machine-0")).expect("a reply");
    assert_eq!(gone["results"][0]["error"]["code"], "not found");
    assert_eq!(lab.status(), "");
}

#[test]
fn a_machine_that_the_node_makes_itself_is_seen_and_not_ended_by_a_client() {
    // given a machine that a provider of the node has made
    let lab = Lab::new();
    lab.node.apply(&[document("Machine", "1", &json!({"provider": "other"}))]);
    let mut client = lab.controller();
    let made = || client.call("InstanceId", &entities("machine-1")).expect("a reply")["results"][0]["result"].clone();
    until("its provider has made it", made, |id| *id == "other-1");
    // when a client would make or end it
    let info = json!({"tag": "machine-1", "instance-id": "i-1", "nonce": NONCE});
    let refused = [
        client.call("SetInstanceInfo", &json!({"machines": [info]})),
        client.call("EnsureDead", &entities("machine-1")),
        client.call("Remove", &entities("machine-1")),
    ];
    // then it is refused, with the reason
    for reply in refused {
        let error = reply.expect("a reply")["results"][0]["error"].clone();
        assert_eq!(error["code"], "not supported", "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains("created by this node")), "{error}");
    }
    let life = done(client.call("Life", &entities("machine-1")));
    assert_eq!(life["results"][0]["life"], "alive");
    let status = done(client.call("InstanceStatus", &entities("machine-1")));
    assert_eq!(status["results"][0]["status"], "running");
}

/// Asks until what is told is as wanted.
fn until<T: std::fmt::Debug>(what: &str, mut ask: impl FnMut() -> T, is_so: impl Fn(&T) -> bool) {
    eventually(what, || is_so(&ask()));
}

#[test]
fn what_a_client_changes_is_journaled_with_it_as_the_principal() {
    let lab = Lab::new();
    lab.provision();
    let mut agent = lab.connect();
    let login = json!({"auth-tag": "machine-0", "credentials": PASSWORD, "nonce": NONCE});
    let number = agent.send("Admin", 3, "", "Login", &login);
    agent.reply(number).expect("logged in");
    let types = json!({"params": [{"machine-tag": "machine-0", "container-types": ["lxd"]}]});
    done(agent.call("SetSupportedContainers", &types));
    let journal = lab.node.handle().journal();
    let entries = journal.read(Position(1), lab.node.handle().head(), &Filter::all());
    let of_machine: Vec<(String, String)> = entries
        .map(|entry| entry.expect("read"))
        .filter(|entry| entry.header.stream.as_str() == "machine/0")
        .map(|entry| (entry.header.meta.principal.clone(), entry.header.meta.code.clone()))
        .collect();
    let expected = [
        ("client:controller-0", "client-provisioned"),
        ("client:controller-0", "client-told"),
        ("client:machine-0", "client-told"),
    ];
    let expected = expected.map(|(who, why)| (who.to_owned(), why.to_owned()));
    assert_eq!(of_machine[1..], expected);
}

#[test]
fn no_password_and_no_nonce_is_kept() {
    let mut lab = Lab::new();
    lab.provision();
    // A running node renames files and removes some.
    lab.node.stop();
    let mut files = Vec::new();
    let mut folders = vec![lab.node.dir()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path)
            } else if path.is_file() {
                files.push(path)
            }
        }
    }
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        let bytes = fs::read(&file).expect("read");
        for secret in [PASSWORD, NONCE, TOKEN] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {}", file.display());
        }
    }
}

#[test]
fn a_user_logs_in_and_may_not_use_the_facade() {
    let lab = Lab::new();
    let mut client = lab.connect();
    let reply = client.login("user-ada", "ada").expect("logged in");
    assert_eq!(reply["user-info"]["controller-access"], "superuser");
    let number = client.send("Pinger", 1, "", "Ping", &json!({}));
    assert_eq!(client.reply(number), Ok(json!({})));
    let denied = Err(("permission denied".to_owned(), "unauthorized access".to_owned()));
    assert_eq!(client.call("Life", &entities("machine-0")), denied);
    // Nor does somebody else's token let anybody in.
    let wrong = Err(("invalid entity name or password".to_owned(), "unauthorized access".to_owned()));
    assert_eq!(lab.connect().login("user-ada", TOKEN), wrong);
    assert_eq!(lab.connect().login("controller-0", "ada"), wrong);
}

#[test]
fn what_is_not_there_and_what_may_not_be_seen_is_told_in_the_same_bytes() {
    let lab = Lab::new();
    lab.node.apply(&[document("Machine", "1", &json!({"provider": "external"}))]);
    let mut agent = lab.node.client(&lab.model, "machine-0");
    let hidden = agent.call("Life", &entities("machine-1")).expect("a reply");
    let missing = agent.call("Life", &entities("machine-9")).expect("a reply");
    assert_eq!(hidden.to_string(), missing.to_string());
}

#[test]
fn a_call_that_waits_holds_up_no_other_and_a_stop_ends_it() {
    let lab = Lab::new();
    let mut client = lab.controller();
    let id = client.call("WatchModelMachines", &json!({})).expect("a watcher")["watcher-id"].clone();
    let id = id.as_str().expect("an id");
    let waits = client.send("StringsWatcher", 1, id, "Next", &json!({}));
    done(client.call("Life", &entities("machine-0")));
    let stop = client.send("StringsWatcher", 1, id, "Stop", &json!({}));
    assert_eq!(client.reply(stop), Ok(json!({})));
    assert_eq!(client.reply(waits), Err(("watcher has been stopped".to_owned(), "stopped".to_owned())));
}

#[test]
fn a_watcher_ends_with_its_node_and_the_next_node_tells_all_anew() {
    let mut lab = Lab::new();
    let mut client = lab.controller();
    let id = client.call("WatchModelMachines", &json!({})).expect("a watcher")["watcher-id"].clone();
    let waits = client.send("StringsWatcher", 1, id.as_str().expect("an id"), "Next", &json!({}));
    assert_eq!(client.reply_within(waits, Duration::from_millis(100)), None);
    lab.node.restart();
    let (_, code) = client.reply(waits).expect_err("there is nothing to wait for");
    assert!(["stopped", ""].contains(&code.as_str()), "{code}");
    let mut client = lab.controller();
    let again = client.call("WatchModelMachines", &json!({})).expect("a watcher");
    assert_eq!(again["changes"], json!(["0"]));
}

#[test]
fn what_cannot_be_answered_ends_the_connection_and_what_cannot_be_read_does_not() {
    let lab = Lab::new();
    let mut other = lab.controller();
    for text in ["no JSON", "{}", r#"{"request-id": 0, "type": "Pinger", "version": 1, "request": "Ping"}"#, "[1, 2]"] {
        let mut client = lab.controller();
        client.send_text(text);
        assert!(client.is_ended(), "{text}");
    }
    let mut client = lab.controller();
    for params in [json!({"entities": 7}), json!([1]), json!({"entities": [{"tag": {}}]})] {
        let (message, code) = client.call("Life", &params).expect_err("no parameters of it");
        assert!(message.starts_with("the parameters cannot be read") && code.is_empty(), "{message}");
    }
    // Unknown keys are passed over, and null is nothing.
    done(client.call("Life", &json!({"entities": [{"tag": "machine-0", "strange": 1}], "more": null})));
    assert_eq!(client.call("Life", &json!(null)), Ok(json!({"results": []})));
    // Half a frame hangs on its own connection.
    client.write_raw(&[0x81, 0xfe, 0x10]);
    done(other.call("Life", &entities("machine-0")));
}

#[test]
fn who_cannot_log_in_is_sent_away() {
    let lab = Lab::new();
    let mut client = lab.connect();
    for _ in 0..8 {
        let wrong = Err(("invalid entity name or password".to_owned(), "unauthorized access".to_owned()));
        assert_eq!(client.login("machine-0", "wrong"), wrong);
    }
    assert!(client.is_ended());
    // Nor is anything long read of a client that has not.
    let mut client = lab.connect();
    client.send_text(&" ".repeat(100 * 1024));
    assert!(client.is_ended());
}

#[test]
fn a_path_names_a_model_or_the_controller() {
    let lab = Lab::new();
    let refused = Client::connect(lab.node.address, &lab.node.authority, "/model/rubbish/api").err().expect("refused");
    assert!(refused.contains("400"), "{refused}");
    let unknown = Uuid::from_u128(7);
    let mut client = lab.node.connect(&format!("/model/{unknown}/api"));
    let expected = Err((format!("unknown model: \"{unknown}\""), "model not found".to_owned()));
    assert_eq!(client.login("controller-0", TOKEN), expected);
    for path in ["/api", "/"] {
        let mut client = lab.node.connect(path);
        let reply = client.login("controller-0", TOKEN).expect("logged in");
        assert!(reply.get("model-tag").is_none(), "{reply}");
        let (message, code) = client.call("Life", &entities("machine-0")).expect_err("there is no model");
        assert_eq!(message, "facade \"Provisioner\" not supported for controller API connection");
        assert_eq!(code, "not supported");
    }
}

#[test]
fn many_at_once_are_answered_one_by_one_and_in_order() {
    let lab = Lab::new();
    let mut client = lab.controller();
    let tags: Vec<Value> = (0..50_000).map(|at| json!({"tag": format!("machine-{}", at % 2)})).collect();
    let reply = client.call("Life", &json!({"entities": tags})).expect("a reply");
    let results = reply["results"].as_array().expect("results");
    assert_eq!(results.len(), 50_000);
    assert!(results.chunks(2).all(|pair| pair[0]["life"] == "alive" && pair[1]["error"]["code"] == "not found"));
    // What changes something is decided in the order in which it was said.
    let statuses: Vec<Value> = (0..600)
        .map(|at| json!({"tag": "machine-0", "status": "error", "info": format!("{at}"), "data": {}}))
        .collect();
    done(client.call("SetStatus", &json!({"entities": statuses})));
    let status = done(client.call("Status", &entities("machine-0")));
    assert_eq!(status["results"][0]["info"], "599");
}

#[test]
fn nobody_is_cut_off_while_it_waits_for_what_does_not_come() {
    let lab = Lab::new();
    let mut client = lab.controller();
    let id = client.call("WatchForModelConfigChanges", &json!({})).expect("a watcher")["NotifyWatcherId"].clone();
    let waits = client.send("NotifyWatcher", 1, id.as_str().expect("an id"), "Next", &json!({}));
    assert_eq!(client.reply_within(waits, Duration::from_millis(100)), None);
    // The wrong facade does not know it.
    let wrong = client.send("StringsWatcher", 1, id.as_str().expect("an id"), "Next", &json!({}));
    assert_eq!(client.reply(wrong), Err(("unknown watcher id".to_owned(), "not found".to_owned())));
    lab.node.apply(&[document("JujuModel", "default", &json!({"config": {"image-stream": "daily"}}))]);
    assert_eq!(client.reply(waits), Ok(json!({})));
}

#[test]
fn a_token_that_is_revoked_counts_no_more_for_who_has_logged_in_with_it() {
    let lab = Lab::new();
    let mut client = lab.controller();
    done(client.call("Life", &entities("machine-0")));
    let id = client.call("WatchForModelConfigChanges", &json!({})).expect("a watcher")["NotifyWatcherId"].clone();
    let waits = client.send("NotifyWatcher", 1, id.as_str().expect("an id"), "Next", &json!({}));
    lab.node.apply(&[document("Account", "controller-0", &json!({"role": "admin", "tokens": []}))]);
    let denied = Err(("not logged in".to_owned(), "unauthorized access".to_owned()));
    assert_eq!(client.call("Life", &entities("machine-0")), denied);
    // Nor does an account that may do less let an agent in.
    for less in [json!({"role": "operate"}), json!({"role": "admin", "kinds": ["volume"]})] {
        let mut account = less;
        account["tokens"] = json!([{"id": "00000001", "hash": hash_of(TOKEN)}]);
        lab.node.apply(&[document("Account", "controller-0", &account)]);
        let wrong = Err(("invalid entity name or password".to_owned(), "unauthorized access".to_owned()));
        assert_eq!(lab.connect().login("controller-0", TOKEN), wrong);
        assert_eq!(client.call("Life", &entities("machine-0")), denied);
    }
    // Nor is what it waits for told to it.
    lab.node.apply(&[document("JujuModel", "default", &json!({"config": {"image-stream": "daily"}}))]);
    assert_eq!(client.reply(waits), denied);
}

#[test]
fn a_machine_that_no_client_could_see_is_refused() {
    let lab = Lab::new();
    let text = document("Machine", "web", &json!({"provider": "external"})).to_string();
    let handle = lab.node.handle();
    let read = manifest::parse(&[Source::new("test", text)], &handle.known().expect("known")).expect("read");
    let refused = handle.wait(handle.apply(&read.documents, Prune::No, Uuid::new_v4())).expect_err("refused");
    assert!(refused.to_string().contains("only see machines with a name such as 0 or 0-lxd-1"), "{refused}");
    let set = json!({"replicas": 1, "template": {"spec": {"provider": "external"}}});
    let read = manifest::parse(
        &[Source::new("test", document("MachineSet", "some", &set).to_string())],
        &handle.known().expect("known"),
    );
    let read = read.expect("read");
    handle.wait(handle.apply(&read.documents, Prune::No, Uuid::new_v4())).expect_err("refused");
}
