//! `bailiwick describe`: everything about one entity.

use clap::Args;
use serde_json::{Map, Value};

use super::{
    Global,
    exit::{CliError, Exit},
    get::{age, left_until, status, text},
    named::object,
    output::{Cell, Table},
    session,
};
use crate::api::query::Query;

#[derive(Debug, Args)]
pub(super) struct DescribeArgs {
    /// The object: `machine/web`, `machine web`, or `web` if only one object is called so
    #[arg(required = true, num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: DescribeArgs) -> Result<Exit, CliError> {
    let at = session::at(args.at.as_deref())?;
    let query = Query::Describe { entity: object(global, &args.entity, at)?, at };
    let answer = session::ask(global, &query)?;
    global.output.show(&answer, || table(&answer))?;
    Ok(Exit::Ok)
}

/// Fields and values, in the order in which they matter; what is nested is written as a path, `spec.size`.
fn table(answer: &Value) -> Table {
    let mut table = Table::fields();
    for (name, value) in answer.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("status", value) => table.add([Cell::from("status"), status(value)]),
            ("ageMs", value) => table.add([Cell::from("age"), age(value)]),
            ("conditions", Value::Array(conditions)) => conditions.iter().for_each(|row| condition(&mut table, row)),
            ("lastOperation", Value::Object(_)) => operation(&mut table, value),
            ("history", Value::Array(history)) => history.iter().for_each(|row| ever(&mut table, row)),
            ("spec", Value::Object(spec)) if answer["kind"] == "account" => account(&mut table, spec),
            (name, value) => add(&mut table, name, value),
        }
    }
    table
}

/// Of the hash of a token as much as tells it apart.
fn account(table: &mut Table, spec: &Map<String, Value>) {
    for (name, value) in spec {
        match (name.as_str(), value) {
            ("kinds", Value::Array(kinds)) if kinds.is_empty() => table.add([Cell::from("spec.kinds"), "all".into()]),
            ("tokens", Value::Array(tokens)) => {
                for token in tokens {
                    let word = |name: &str| token[name].as_str().unwrap_or_default();
                    let hash: String = word("hash").chars().take(8).collect();
                    let end = match (word("expires"), token["expired"] == true) {
                        ("", _) => "never expires".to_owned(),
                        (at, true) => format!("expired {at}"),
                        (at, false) => format!("expires {at}"),
                    };
                    table.add([
                        Cell::from(format!("spec.tokens.{}", word("id"))),
                        format!("{end}, hash {hash}…").into(),
                    ]);
                }
            }
            (name, value) => add(table, &format!("spec.{name}"), value),
        }
    }
}

fn condition(table: &mut Table, row: &Value) {
    let name = format!("condition {}", row["kind"].as_str().unwrap_or_default());
    let text = row["text"].as_str().unwrap_or_default();
    let cell = if row["healthy"] == true { Cell::good(text) } else { Cell::bad(text) };
    table.add([Cell::from(name), cell]);
}

fn operation(table: &mut Table, line: &Value) {
    let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let at = format!("entry {}, {}, by {}", line["position"], word("time"), word("principal"));
    table.add([Cell::from("last operation"), word("asked").into()]);
    table.add([Cell::from(""), format!("{}, because {}", word("outcome"), word("because")).into()]);
    table.add([Cell::from(""), at.into()]);
}

fn ever(table: &mut Table, row: &Value) {
    let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let since =
        format!("{} since {} (entry {}), because {}", word("status"), word("since"), row["position"], word("because"));
    table.add([Cell::from("history"), since.into()]);
}

fn add(table: &mut Table, path: &str, value: &Value) {
    match value {
        // Times in milliseconds stand beside the same in words; they are for programs.
        _ if path.ends_with("Ms") => (),
        // What is empty says nothing.
        Value::Array(items) if items.is_empty() => (),
        Value::String(text) if text.is_empty() => (),
        Value::Object(fields) => {
            for (name, value) in fields {
                let left = fields.get(&format!("{name}Ms")).zip(fields.get(&format!("{name}InMs")));
                if let Some((at, left)) = left.and_then(|(at, left)| at.as_u64().zip(left.as_u64())) {
                    table.add([Cell::from(format!("{path}.{name}")), left_until(at, left).into()]);
                    continue;
                }
                add(table, &format!("{path}.{name}"), value);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, item) in items.iter().enumerate() {
                add(table, &format!("{path}[{index}]"), item);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect();
            table.add([Cell::from(path), items.join(", ").into()]);
        }
        Value::Null => (),
        value => table.add([Cell::from(path), text(value)]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::output::Sheet;

    #[test]
    fn an_account_is_described_with_its_tokens_by_id_and_the_beginnings_of_their_hashes() {
        let hash = "0f".repeat(32);
        let token =
            |id: &str, at: Value, is_over: bool| json!({"id": id, "hash": hash, "expires": at, "expired": is_over});
        let (past, ahead) = ("2025-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z");
        let tokens = [
            token("1f2e3d4c", past.into(), true),
            token("2f2e3d4c", ahead.into(), false),
            token("3f2e3d4c", Value::Null, false),
        ];
        let spec = json!({"kinds": [], "role": "view", "tokens": tokens, "users": [7]});
        let mut out = anstream::StripStream::new(Vec::new());
        let described = Sheet::from(table(&json!({"kind": "account", "spec": spec})));
        described.write_to(&mut out).expect("written");
        let printed = String::from_utf8(out.into_inner()).expect("text");
        let lines: Vec<&str> = printed.lines().skip(2).map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "spec.kinds            all",
                "spec.role             view",
                "spec.tokens.1f2e3d4c  expired 2025-01-01T00:00:00.000Z, hash 0f0f0f0f…",
                "spec.tokens.2f2e3d4c  expires 2027-01-01T00:00:00.000Z, hash 0f0f0f0f…",
                "spec.tokens.3f2e3d4c  never expires, hash 0f0f0f0f…",
                "spec.users            7",
            ]
        );
    }
}
