//! `bailiwick describe`: everything about one entity.

use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    get::{age, left_until, status, text},
    named::entity,
    output::{Cell, Column, Table},
    session,
};
use crate::api::query::Query;

#[derive(Debug, Args)]
pub(super) struct DescribeArgs {
    /// The object: `machine/web`, `volume/data`, `attachment/web:data`, `policy/default`
    #[arg(value_name = "KIND/NAME")]
    entity: String,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: DescribeArgs) -> Result<Exit, CliError> {
    let query = Query::Describe { entity: entity(&args.entity)?, at: session::at(args.at.as_deref())? };
    let answer = session::ask(global, &query)?;
    global.output.show(&answer, || table(&answer))?;
    Ok(Exit::Ok)
}

/// Fields and values, in the order in which they matter; what is nested is written as a path, `spec.size`.
fn table(answer: &Value) -> Table {
    let mut table = Table::of([Column::always("FIELD"), Column::always("VALUE")]);
    for (name, value) in answer.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("status", value) => table.add([Cell::from("status"), status(value)]),
            ("ageMs", value) => table.add([Cell::from("age"), age(value)]),
            ("conditions", Value::Array(conditions)) => conditions.iter().for_each(|row| condition(&mut table, row)),
            ("lastOperation", Value::Object(_)) => operation(&mut table, value),
            ("history", Value::Array(history)) => history.iter().for_each(|row| ever(&mut table, row)),
            (name, value) => add(&mut table, name, value),
        }
    }
    table
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
