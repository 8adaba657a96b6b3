//! The volumes that a case begins with: those that a client makes with an instance, and those of the node itself.

use bailiwick::actors::storage_rules::ProviderType;
use serde_json::{Map, Value, json};

use super::{name, said};
use crate::{
    facade::{FacadeNode, attachment, document},
    up::eventually,
};

/// All that a volume may be given.
const KNOWN: [&str; 6] = ["machine", "size", "pool", "detachable", "attached", "info"];
/// The machine that volumes were made with which are there before theirs is, and which is gone.
const EARLIER: &str = "999";

fn all(given: &Value) -> impl Iterator<Item = (&String, &Value)> {
    given["volumes"].as_object().into_iter().flatten()
}

/// What a client made, or would make. What outlives a machine and can be detached from it is made by the node, as is what the
/// cloud does not manage itself.
fn is_of_clients(given: &Value, volume: &Value) -> bool {
    let pool = volume["pool"].as_str().unwrap_or_default();
    let provider = given["storage_pools"][pool]["provider"].as_str().unwrap_or(pool);
    let is_managed = |all: &Vec<Value>| all.iter().any(|it| it == provider);
    volume["detachable"] != true && given["storage_providers"].as_array().is_none_or(is_managed)
}

/// Whether it is there although its machine has no instance.
fn is_from_earlier(given: &Value, volume: &Value) -> bool {
    let machine = volume["machine"].as_str().unwrap_or_default();
    volume.get("info").is_some() && given["machines"][machine].get("instance").is_none()
}

/// What a pool is called here: a node has one of its own for each type of provider that it knows.
fn pool_name(pool: &str) -> String {
    if pool.parse::<ProviderType>().is_ok() { format!("clients-{pool}") } else { pool.to_owned() }
}

/// Declares them, and the pools that they come from.
pub(super) fn declare(node: &FacadeNode, given: &Value) {
    let strange = |(_, volume): &(&String, &Value)| {
        volume.as_object().into_iter().flatten().any(|(key, _)| !KNOWN.contains(&key.as_str()))
    };
    assert!(!all(given).any(|it| strange(&it)), "the runner does not understand one of {}", given["volumes"]);
    let mut pools = given["storage_pools"].as_object().cloned().unwrap_or_default();
    for (_, volume) in all(given) {
        // What is no pool is a type of provider.
        let pool = volume["pool"].as_str().unwrap_or_default();
        pools.entry(pool).or_insert_with(|| json!({"provider": pool}));
    }
    for (pool, settings) in &pools {
        let text = |(key, value): (&'_ String, &'_ Value)| (key.clone(), value.as_str().expect("a text").to_owned());
        let said: Vec<(String, String)> = settings["attributes"].as_object().into_iter().flatten().map(text).collect();
        let provider = ("provider", settings["provider"].as_str().unwrap_or_default());
        let said = said.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        node.pool(&pool_name(pool), &said.chain([provider]).collect::<Vec<_>>());
    }
    let mut documents = Vec::new();
    if all(given).any(|(_, volume)| is_from_earlier(given, volume)) {
        documents.push(document("Machine", EARLIER, &json!({"provider": "external"})));
    }
    for (id, volume) in all(given) {
        let machine = name(volume["machine"].as_str().unwrap_or_default());
        let size = format!("{}M", volume["size"]);
        let at = if is_from_earlier(given, volume) { EARLIER } else { machine.as_str() };
        documents.push(match is_of_clients(given, volume) {
            true => document(
                "Volume",
                &name(id),
                &json!({"size": size, "pool": pool_name(volume["pool"].as_str().unwrap_or_default()), "machine": at}),
            ),
            false => document("Volume", &name(id), &json!({"size": size, "provider": "other"})),
        });
        documents.push(attachment(at, &name(id)));
    }
    if !documents.is_empty() {
        node.apply(&documents);
    }
    bring_about_the_earlier(node, given);
}

/// What was made with a machine that is gone is there, and attached to nothing.
fn bring_about_the_earlier(node: &FacadeNode, given: &Value) {
    let earlier: Vec<_> = all(given).filter(|(_, volume)| is_from_earlier(given, volume)).collect();
    if earlier.is_empty() {
        return;
    }
    let model = given["model"]["uuid"].as_str().unwrap_or(super::MODEL);
    let mut client = node.client(model, "controller-0");
    let (mut volumes, _) = told(earlier.iter().copied());
    for volume in &mut volumes {
        volume["info"]["persistent"] = json!(true);
    }
    let attachments: Map<String, Value> =
        earlier.iter().map(|(id, _)| (format!("volume-{}", name(id)), json!({}))).collect();
    let tag = format!("machine-{EARLIER}");
    let info = json!({
        "tag": tag, "instance-id": "earlier", "nonce": "earlier", "volumes": volumes, "volume-attachments": attachments,
    });
    said(&mut client, "SetInstanceInfo", &json!({"machines": [info]}));
    eventually("the earlier volumes are attached", || earlier.iter().all(|(id, _)| is_attached(node, EARLIER, id)));
    for method in ["EnsureDead", "Remove"] {
        said(&mut client, method, &json!({"entities": [{"tag": tag}]}));
    }
    let is_free = |id: &str| {
        let of = node.handle().look(|fleet| fleet.volumes.get(&name(id)).map(|volume| volume.attached_to.is_empty()));
        of.expect("looked") == Some(true)
    };
    eventually("the earlier volumes are free", || earlier.iter().all(|(id, _)| is_free(id)));
    let machine = |volume: &Value| name(volume["machine"].as_str().unwrap_or_default());
    let documents: Vec<Value> = earlier.iter().map(|(id, volume)| attachment(&machine(volume), &name(id))).collect();
    node.apply(&documents);
}

/// What a client says of volumes that came with an instance.
fn told<'g>(volumes: impl Iterator<Item = (&'g String, &'g Value)>) -> (Vec<Value>, Map<String, Value>) {
    let (mut created, mut attached) = (Vec::new(), Map::new());
    for (id, volume) in volumes {
        let tag = format!("volume-{}", name(id));
        created.push(json!({"volume-tag": tag, "info": volume["info"]}));
        if volume["attached"] == true {
            attached.insert(tag, json!({}));
        }
    }
    (created, attached)
}

fn with_instance<'g>(given: &'g Value, id: &str) -> impl Iterator<Item = (&'g String, &'g Value)> {
    let id = id.to_owned();
    all(given).filter(move |(_, volume)| volume["machine"] == id.as_str() && volume.get("info").is_some())
}

/// What came with the instance of a machine.
pub(super) fn came_with(given: &Value, id: &str) -> (Vec<Value>, Map<String, Value>) {
    told(with_instance(given, id))
}

/// Waits until all that came with instances is as it was said.
pub(super) fn settle(node: &FacadeNode, given: &Value) {
    for (id, volume) in all(given).filter(|(_, volume)| volume.get("info").is_some()) {
        let machine = name(volume["machine"].as_str().unwrap_or_default());
        if !is_from_earlier(given, volume) && volume["attached"] == true {
            eventually("a volume is attached", || is_attached(node, &machine, id));
        }
    }
}

fn is_attached(node: &FacadeNode, machine: &str, id: &str) -> bool {
    let pair = format!("{machine}:{}", name(id));
    let of = node.handle().look(|fleet| fleet.attachments.get(&pair).map(|state| state.attached().is_some()));
    of.expect("looked") == Some(true)
}

/// Compares them with what is expected of them, which need not be all of it.
pub(super) fn check(node: &FacadeNode, expected: &Value) {
    for (id, expected) in expected.as_object().into_iter().flatten() {
        let is_as_expected = || {
            let found = node.handle().look(|fleet| {
                let volume = fleet.volumes.get(&name(id))?;
                let made = volume.made()?;
                let machine = volume.attached_to.first()?;
                let attachment = fleet.attachments.get(&format!("{machine}:{}", name(id)))?;
                let (_, info) = attachment.attached()?;
                Some(json!({
                    "info": {
                        "volume-id": made.volume_id.to_string(),
                        "size": made.size.0,
                        "persistent": volume.own.facts.as_ref().map(|facts| facts.persistent),
                        "hardware-id": volume.own.facts.as_ref().and_then(|facts| facts.hardware_id.clone()),
                    },
                    "attachment": {
                        "device-name": info.path.trim_start_matches("/dev/"),
                        "read-only": info.read_only,
                    },
                }))
            });
            found.expect("looked").is_some_and(|found| is_part(expected, &found))
        };
        eventually(&format!("volume {id} is {expected}"), is_as_expected);
    }
}

fn is_part(expected: &Value, found: &Value) -> bool {
    match expected {
        Value::Object(parts) => parts.iter().all(|(key, part)| is_part(part, &found[key])),
        other => other == found,
    }
}
