//! The cases about the Provisioner facade, each put to a node of its own over a WebSocket.

mod compare;
mod given;

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use self::{compare::Rules, given::Given};
use crate::facade::{Client, Reply};

/// How long nobody answers what waits. Source: the file's own `about`.
const BLOCKS: Duration = Duration::from_millis(200);

/// Runs one.
pub(super) fn case(case: &Value) -> Result<(), String> {
    let given = Given::load(&case["given"]);
    let mut client = match case["as"].as_str() {
        None => given.node.connect(&format!("/model/{}/api", given.model)),
        Some("controller") => given.node.client(&given.model, "controller-0"),
        Some(other) => given.node.client(&given.model, other),
    };
    let mut run = Run { bound: BTreeMap::new(), blocked: BTreeMap::new() };
    let reply = run.call(&mut client, &case["call"])?;
    run.check(case, &reply)?;
    for step in case["then"].as_array().into_iter().flatten() {
        if let Some(event) = step.get("event") {
            given.happen(event)?;
        } else if step.get("blocks").is_some() {
            run.blocks(&mut client, &step["call"])?;
        } else {
            let reply = run.call(&mut client, &step["call"])?;
            run.check(step, &reply)?;
        }
    }
    case.get("check_state").map_or(Ok(()), |state| given.check(state))
}

/// What a case has come to.
struct Run {
    /// The ids of watchers, by what the case calls them.
    bound: BTreeMap<String, String>,
    /// The numbers of calls that wait, by what the case calls their watcher.
    blocked: BTreeMap<String, u64>,
}

impl Run {
    fn send(&self, client: &mut Client, call: &Value) -> Result<u64, String> {
        let facade = call["facade"].as_str().unwrap_or("Provisioner");
        let version = call["version"].as_u64().unwrap_or(11);
        let id = call["id"].as_str().unwrap_or_default();
        let id = match id.starts_with('$') {
            true => self.bound.get(id).ok_or_else(|| format!("{id} was never given"))?,
            false => id,
        };
        Ok(client.send(facade, version, id, call["method"].as_str().unwrap_or_default(), &call["params"]))
    }

    fn call(&mut self, client: &mut Client, call: &Value) -> Result<Reply, String> {
        let waits = call["id"].as_str().filter(|_| call["method"] == "Next").and_then(|id| self.blocked.remove(id));
        let number = match waits {
            Some(number) => number,
            None => self.send(client, call)?,
        };
        Ok(client.reply(number))
    }

    fn blocks(&mut self, client: &mut Client, call: &Value) -> Result<(), String> {
        let number = self.send(client, call)?;
        if let Some(reply) = client.reply_within(number, BLOCKS) {
            return Err(format!("it should wait, and answers {reply:?}"));
        }
        self.blocked.insert(call["id"].as_str().unwrap_or_default().to_owned(), number);
        Ok(())
    }

    /// Compares a reply with what is expected, or with what is as good.
    fn check(&mut self, step: &Value, reply: &Reply) -> Result<(), String> {
        let reply = match reply {
            Ok(response) => json!({"response": response}),
            Err((message, code)) => json!({"error": {"message": message, "code": code}}),
        };
        let rules = Rules::of(step)?;
        let others = step["accept"].as_array().into_iter().flatten();
        let mut first = None;
        for expected in std::iter::once(&step["expect"]).chain(others) {
            match rules.compare(expected, &reply) {
                Ok(bound) => {
                    self.bound.extend(bound);
                    return Ok(());
                }
                Err(difference) => drop(first.get_or_insert(difference)),
            }
        }
        Err(first.unwrap_or_else(|| "nothing is expected".to_owned()))
    }
}
