//! What is declared for a node is written by the agent inside, to its `node.json`.

use bailiwick::{
    actors::{machine::rules::template::NodeTemplate, vocab::EffectId},
    agent::{directory::MachineDir, files, node::NodeFile},
    api::wire::agent::NodeInfo,
};
use serde_json::{Value, json};

use super::{
    super::{
        expect::{Expect, bare, compare_taints, differ},
        given::Node,
    },
    read, words,
};

pub(in super::super) fn sync(case: &Value) -> Result<(), String> {
    let (given, expect) = read(case)?;
    let machine = given.machine.as_ref().ok_or("it gives no machine")?;
    let node = given.node.as_ref().filter(|node| machine.label(words::NODE_LABEL) == node.name);
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let directory = MachineDir::new(scratch.path().to_owned(), EffectId(uuid::Uuid::from_u128(1)));
    if let Some(node) = node {
        write(&directory, node)?;
    }
    let before = std::fs::read(directory.node()).ok();
    let followed = NodeFile::follow(&directory, &machine.template(), None);
    let outcome = match followed {
        Err(_) => "failed",
        Ok(()) if std::fs::read(directory.node()).ok() == before => "settled",
        Ok(()) => "progressed",
    };
    compare(expect, &directory, outcome)
}

/// The agent's file as it would be, had it written what the case's node says was applied last.
fn write(directory: &MachineDir, node: &Node) -> Result<(), String> {
    let (facts, unreadable) = (node.facts(), node.seen().1);
    let told =
        NodeInfo { labels: facts.labels, annotations: facts.annotations, taints: facts.taints, ..NodeInfo::default() };
    let file = NodeFile { told, last_applied: node.last_applied(), going: None };
    let written = files::replace_json(&directory.node(), &file);
    let written = match unreadable {
        Some(text) => written.and_then(|()| std::fs::write(directory.node(), text)),
        None => written,
    };
    written.map_err(|error| error.to_string())
}

fn compare(mut expect: Expect, directory: &MachineDir, outcome: &str) -> Result<(), String> {
    expect.same("outcome", outcome)?;
    let node = expect.take("node").unwrap_or_default();
    if let (true, Ok(Some(file))) = (node["last_applied_raw"].is_null(), NodeFile::read(directory)) {
        differ("node.labels", &bare(&node["labels"]), &bare(&json!(file.told.labels)))?;
        differ(
            "node.annotations",
            &bare(&words::of_users(&node["annotations"])),
            &bare(&words::of_users(&json!(file.told.annotations))),
        )?;
        compare_taints("node.taints", &node["taints"], &file.told.taints)?;
        if node["last_applied"].is_object() {
            let record: NodeTemplate = file.last_applied;
            differ("record.labels", &bare(&node["last_applied"]["labels"]), &bare(&json!(record.labels)))?;
            differ(
                "record.annotations",
                &bare(&words::of_users(&node["last_applied"]["annotations"])),
                &bare(&words::of_users(&json!(record.annotations))),
            )?;
        }
    }
    // Who cannot write tries again with the next answer; nothing of the machine itself is touched.
    for key in ["retry_s", "phase", "last_operation", "provider_id", "finalizer", "labels", "annotations", "conditions"]
    {
        expect.take(key);
    }
    words::NOT_OURS.iter().for_each(|(key, _)| drop(expect.take(key)));
    for key in ["calls", "enqueued_after_s"] {
        expect.same(key, json!([]))?;
    }
    expect.done()
}
