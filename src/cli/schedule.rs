//! `bailiwick schedule`: what happens next, when, and why.

use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    get::{age, text, written},
    output::{Column, Table},
    session,
};
use crate::api::query::{PAGE_MAX, Query};

#[derive(Debug, Args)]
pub(super) struct ScheduleArgs {
    /// Show at most this many, the soonest
    #[arg(long, default_value_t = 20, value_parser = a_page)]
    next: usize,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

fn a_page(text: &str) -> Result<usize, String> {
    let next = text.parse().ok().filter(|next| (1..=PAGE_MAX).contains(next));
    next.ok_or_else(|| format!("expected a number from 1 to {PAGE_MAX}"))
}

pub(super) fn main(global: &Global, args: ScheduleArgs) -> Result<Exit, CliError> {
    let at = session::at(args.at.as_deref())?;
    let answer = session::ask(global, &Query::Schedule { limit: args.next, at })?;
    global.output.show_list(&answer, || {
        let mut table = Table::of([
            Column::required("DUE"),
            Column::required("IN"),
            Column::sentence("ENTITY"),
            Column::sentence("WHY"),
        ]);
        for row in answer.as_array().into_iter().flatten() {
            table.add([written(&row["due"]), age(&row["inMs"]), text(&row["entity"]), text(&row["why"])]);
        }
        table
    })?;
    Ok(Exit::Ok)
}
