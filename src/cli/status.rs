//! `bailiwick status`: how everything is, trouble first.

use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    get::{status, text},
    output::{Cell, Column, Table},
    session,
};
use crate::api::query::Query;

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// At which moment: a position, a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: StatusArgs) -> Result<Exit, CliError> {
    let at = session::at(args.at.as_deref())?;
    let answer = session::ask(global, &Query::Status { at })?;
    global.output.show(&answer, || table(&answer))?;
    Ok(Exit::Ok)
}

/// What there is by kind and status, then the entities in trouble.
pub(super) fn table(answer: &Value) -> Table {
    let mut table = Table::of([
        Column::always("WHAT"),
        Column::always("STATUS"),
        Column::always("COUNT"),
        Column::always("DETAIL"),
    ]);
    for row in answer["counts"].as_array().into_iter().flatten() {
        table.add([text(&row["kind"]), status(&row["status"]), text(&row["count"]), Cell::from("")]);
    }
    for row in answer["trouble"].as_array().into_iter().flatten() {
        table.add([text(&row["entity"]), status(&row["status"]), Cell::from(""), text(&row["why"])]);
    }
    table
}
