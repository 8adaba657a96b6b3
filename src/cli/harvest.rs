//! `bailiwick harvest --dry-run`: which instances nobody knows, and what would become of them.

use bailiwick_actors::vocab::HarvestMode;
use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    get::{status, text},
    output::{Column, Table},
    progress::say,
    session,
};
use crate::api::query::Query;

#[derive(Debug, Args)]
pub(super) struct HarvestArgs {
    /// Show what would be done; the policy alone decides what is done
    #[arg(long)]
    dry_run: bool,
    /// Assume this mode: none, unknown, destroyed, all
    #[arg(long, value_name = "MODE", value_parser = |text: &str| text.parse::<HarvestMode>())]
    mode: Option<HarvestMode>,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: HarvestArgs) -> Result<Exit, CliError> {
    if !args.dry_run {
        let message = "the policy harvests instances; no command does";
        let next = "add --dry-run to see what would be deleted; set the mode with `spec.harvest.mode` of the policy";
        return Err(CliError::usage(message).next(next));
    }
    let query = Query::Harvest { mode: args.mode, at: session::at(args.at.as_deref())? };
    let answer = session::ask(global, &query)?;
    if !global.output.is_for_programs() {
        let stance = if answer["inForce"] == true { "in force" } else { "not in force" };
        say(&format!("harvest mode {} ({stance})", answer["mode"].as_str().unwrap_or_default()));
    }
    global.output.show(&answer, || table(&answer))?;
    Ok(Exit::Ok)
}

fn table(answer: &Value) -> Table<7> {
    let mut table = Table::of([
        Column::required("INSTANCE"),
        Column::required("PROVIDER"),
        Column::required("NAMED"),
        Column::required("VERDICT"),
        Column::required("BECAUSE"),
        Column::wide("SINCE"),
        Column::wide("EFFECT"),
    ]);
    for row in answer["unknown"].as_array().into_iter().flatten() {
        table.add([
            text(&row["instance"]),
            text(&row["provider"]),
            format!("machine/{}", row["machine"].as_str().unwrap_or_default()).into(),
            status(&row["verdict"]),
            text(&row["why"]),
            text(&row["unknownSince"]),
            text(&row["effect"]),
        ]);
    }
    table
}
