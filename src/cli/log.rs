//! `bailiwick log`: what was decided.

use bailiwick_journal::StreamId;
use clap::Args;
use serde_json::Value;

use super::{
    Global,
    delete::entity,
    exit::{CliError, Exit},
    get::{kind_of, text},
    output::{Cell, Column, Table},
    session,
};
use crate::api::query::{LIMIT_DEFAULT, Parameters, Query, moment_text};

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Only this entity: `machine/web`, `supervisor/storage`
    #[arg(value_name = "KIND/NAME")]
    entity: Option<String>,
    /// Only entities of this kind
    #[arg(long, value_name = "KIND", conflicts_with = "entity")]
    kind: Option<String>,
    /// Only decisions with this outcome: done, nothing, refused
    #[arg(long, value_name = "OUTCOME", value_parser = ["done", "nothing", "refused"])]
    outcome: Option<String>,
    /// Only what was decided at or after this moment: a position, a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only what was decided up to this moment
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
    /// At most so many, the newest
    #[arg(long, default_value_t = LIMIT_DEFAULT)]
    limit: usize,
}

pub(super) fn main(global: &Global, args: LogArgs) -> Result<Exit, CliError> {
    let moment = |text: Option<&str>| Ok::<_, CliError>(session::at(text)?.map(moment_text));
    let filter = Parameters {
        at: moment(args.at.as_deref())?,
        since: moment(args.since.as_deref())?,
        limit: Some(args.limit),
        entity: args.entity.as_deref().map(stream).transpose()?,
        kind: args.kind.as_deref().map(kind).transpose()?,
        outcome: args.outcome,
        ..Parameters::default()
    };
    let answer = session::ask(global, &Query::Log { filter })?;
    global.output.show(&answer, || table(&answer))?;
    Ok(Exit::Ok)
}

/// Entities, and the streams that are none: `supervisor/machines`, `node/journal`.
pub(super) fn stream(text: &str) -> Result<StreamId, CliError> {
    if text.starts_with("supervisor/") || text.starts_with("node/") {
        return text.parse().map_err(|error: bailiwick_journal::InvalidStreamId| CliError::usage(error.to_string()));
    }
    entity(text)
}

fn kind(text: &str) -> Result<String, CliError> {
    if matches!(text, "supervisor" | "node") {
        return Ok(text.to_owned());
    }
    Ok(kind_of(text)?.to_owned())
}

fn table(answer: &Value) -> Table<9> {
    let mut table = Table::of([
        Column::required("ENTRY"),
        Column::required("TIME"),
        Column::required("STREAM"),
        Column::required("WHAT"),
        Column::required("OUTCOME"),
        Column::required("BECAUSE"),
        Column::wide("WHO"),
        Column::wide("CAUSE"),
        Column::wide("CODE"),
    ]);
    for row in answer.as_array().into_iter().flatten() {
        let outcome = match row["outcome"].as_str() {
            Some("done") => Cell::good("done"),
            Some("refused") => Cell::bad("refused"),
            Some(other) => other.into(),
            None => Cell::none(),
        };
        table.add([
            text(&row["position"]),
            text(&row["time"]),
            text(&row["stream"]),
            text(&row["asked"]),
            outcome,
            text(&row["because"]),
            text(&row["principal"]),
            text(&row["cause"]),
            text(&row["code"]),
        ]);
    }
    table
}
