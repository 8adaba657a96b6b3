//! `bailiwick describe`: everything about one entity.

use clap::Args;
use serde_json::Value;

use super::{
    Global,
    delete::entity,
    exit::{CliError, Exit},
    get::text,
    output::{Cell, Column, Table},
    session,
};
use crate::api::query::Query;

#[derive(Debug, Args)]
pub(super) struct DescribeArgs {
    /// The entity: `machine/web`, `volume/data`, `attachment/web:data`, `policy/default`
    #[arg(value_name = "KIND/NAME")]
    entity: String,
    /// At which moment: a position, a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: DescribeArgs) -> Result<Exit, CliError> {
    let query = Query::Describe { entity: entity(&args.entity)?, at: session::at(args.at.as_deref())? };
    let answer = session::ask(global, &query)?;
    global.output.show(&answer, || table(&answer))?;
    Ok(Exit::Ok)
}

/// Fields and values; what is nested is written as a path, `node.since`.
fn table(answer: &Value) -> Table {
    let mut table = Table::of([Column::always("FIELD"), Column::always("VALUE")]);
    add(&mut table, "", answer);
    table
}

fn add(table: &mut Table, path: &str, value: &Value) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                add(table, &below(name), value);
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
