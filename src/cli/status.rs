//! `bailiwick status`: how everything is, trouble first.

use bailiwick_actors::vocab::Timestamp;
use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    get::{status, text},
    output::{Cell, Column, Table, time},
    session,
};
use crate::{api::query::Query, view::NAMED_MAX};

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: StatusArgs) -> Result<Exit, CliError> {
    let at = session::at(args.at.as_deref())?;
    let answer = session::ask(global, &Query::Status { at })?;
    global.output.show_list(&answer, || table(&answer))?;
    Ok(Exit::Ok)
}

/// More groups than this do not fit on a screen.
const GROUPS_MAX: usize = 12;

/// What there is by kind and status, then the entities in trouble, then those that come along.
pub(super) fn table(answer: &Value) -> Table<4> {
    let mut table = Table::of([
        Column::always("WHAT"),
        Column::always("STATUS"),
        Column::always("COUNT"),
        Column::always("DETAIL"),
    ]);
    if let Some(said) = answer["clock"]["text"].as_str() {
        table.add([Cell::from("node"), Cell::bad("clock"), Cell::from(""), said.into()]);
    }
    for row in answer["node"].as_array().into_iter().flatten() {
        let why = format!("{}{}", row["why"].as_str().unwrap_or_default(), since(row));
        table.add([
            Cell::from("node"),
            Cell::bad(row["status"].as_str().unwrap_or_default()),
            Cell::from(""),
            why.into(),
        ]);
    }
    for row in answer["counts"].as_array().into_iter().flatten() {
        table.add([text(&row["kind"]), status(&row["status"]), text(&row["count"]), Cell::from("")]);
    }
    add_groups(&mut table, answer, ("groups", "trouble"), "kinds of trouble");
    add_groups(&mut table, answer, ("progressGroups", "progress"), "kinds of progress");
    table
}

/// What is alike told once, what is few enough one by one, each in its own words and with since when.
fn add_groups(table: &mut Table<4>, answer: &Value, (groups, all): (&str, &str), what: &str) {
    let groups: Vec<&Value> = answer[groups].as_array().into_iter().flatten().collect();
    for group in groups.iter().take(GROUPS_MAX) {
        let named: Vec<&str> = group["entities"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let count = group["count"].as_u64().unwrap_or_default();
        if count as usize <= NAMED_MAX {
            let all = answer[all].as_array().into_iter().flatten();
            for row in all.filter(|row| named.iter().any(|name| row["entity"] == *name)) {
                let why = format!("{}{}", row["why"].as_str().unwrap_or_default(), since(row));
                table.add([text(&row["entity"]), status(&row["status"]), Cell::from(""), why.into()]);
            }
            continue;
        }
        let why = format!("{} ({}, …)", group["why"].as_str().unwrap_or_default(), named.join(", "));
        table.add([text(&group["kind"]), status(&group["status"]), text(&group["count"]), why.into()]);
    }
    if groups.len() > GROUPS_MAX {
        let more = format!("{} more {what}; see all with `-o json`", groups.len() - GROUPS_MAX);
        table.add([Cell::from(""), Cell::from(""), Cell::from(""), more.into()]);
    }
}

fn since(row: &Value) -> String {
    match row["sinceMs"].as_u64() {
        Some(ms) if ms > 0 => format!(", since {}", time::rfc3339(Timestamp(ms))),
        _ => String::new(),
    }
}
