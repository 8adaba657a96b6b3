//! `bailiwick log`: what was decided.

use std::io::Write;

use bailiwick_journal::{InvalidStreamId, StreamId};
use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    follow,
    get::{kind_of, text, written},
    named::{entity, spelled},
    output::{self, Cell, Column, Table},
    session,
};
use crate::api::query::{LIMIT_DEFAULT, PAGE_MAX, Parameters, Query, moment_text};

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Only this object: `machine/web`, `machine web`, `supervisor/storage`
    #[arg(num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
    /// Only objects of this kind
    #[arg(long, value_name = "KIND", conflicts_with = "entity")]
    kind: Option<String>,
    /// Only decisions with this outcome: done, nothing, refused
    #[arg(long, value_name = "OUTCOME", value_parser = ["done", "nothing", "refused"])]
    outcome: Option<String>,
    /// Only decisions from this moment on: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only decisions up to this moment
    #[arg(long, visible_alias = "at", value_name = "MOMENT", allow_hyphen_values = true)]
    until: Option<String>,
    /// Only decisions with this reason code: `worth-retrying`
    #[arg(long, value_name = "CODE", value_parser = word)]
    reason: Option<String>,
    /// Only what this principal requested or reported: `uid:0`, `schedule`, `agent:machine/web`, `provider:cloud`
    #[arg(long, value_name = "WHO", value_parser = word)]
    principal: Option<String>,
    /// Only what this entry led to: `@41`
    #[arg(long, value_name = "@POSITION", value_parser = position)]
    caused_by: Option<u64>,
    /// Only what led to this entry: `@41`
    #[arg(long, value_name = "@POSITION", value_parser = position)]
    cause_of: Option<u64>,
    /// Follow the decisions of a running node until interrupted
    #[arg(short, long, conflicts_with_all = ["until", "caused_by", "cause_of"])]
    follow: bool,
    /// Show at most this many, the newest
    #[arg(long, default_value_t = LIMIT_DEFAULT)]
    limit: usize,
}

pub(super) fn main(global: &Global, args: LogArgs) -> Result<Exit, CliError> {
    if args.limit == 0 {
        return Err(CliError::usage("--limit 0 would show nothing").next("use --limit 1 or more, or leave it out"));
    }
    let named = (!args.entity.is_empty()).then(|| meant(&spelled(&args.entity)?)).transpose()?;
    let (entity, kind) = (named, args.kind.as_deref().map(any_kind).transpose()?);
    let (entity, not_ours) = entity.map_or((None, None), |(entity, not_ours)| (Some(entity), not_ours));
    let (kind, not_ours) = kind.map_or((None, not_ours), |(kind, not_ours)| (Some(kind), not_ours));
    let of = Parameters { entity: entity.clone(), kind: kind.clone(), ..Parameters::default() };
    refuse_unknown(global, of, not_ours)?;
    let moment = |text: Option<&str>| Ok::<_, CliError>(session::at(text)?.map(moment_text));
    let filter = Parameters {
        at: moment(args.until.as_deref())?,
        since: moment(args.since.as_deref())?,
        limit: Some(args.limit),
        entity,
        kind,
        outcome: args.outcome,
        reason: args.reason,
        principal: args.principal,
        caused_by: args.caused_by,
        cause_of: args.cause_of,
    };
    if args.follow {
        return follow(global, filter);
    }
    let answer = Value::Array(newest(filter, args.limit, |query| session::ask(global, query))?);
    global.output.show_list(&answer, || table(&answer))?;
    if !global.output.is_for_programs() && answer.as_array().is_some_and(Vec::is_empty) {
        let _ = writeln!(anstream::stderr(), "no decision matches; `bailiwick log -o wide` shows codes and principals");
    }
    Ok(Exit::Ok)
}

/// The newest of what matches, so many at most, the oldest first. A running node gives a page at a time.
pub(super) fn newest(
    mut filter: Parameters,
    wanted: usize,
    ask: impl Fn(&Query) -> Result<Value, CliError>,
) -> Result<Vec<Value>, CliError> {
    let since = filter.since.as_deref().and_then(|since| since.strip_prefix('@')?.parse::<u64>().ok()).unwrap_or(0);
    let mut all: Vec<Value> = Vec::new();
    loop {
        let page = PAGE_MAX.min(wanted - all.len());
        filter.limit = Some(page);
        let Value::Array(mut rows) = ask(&Query::Log { filter: filter.clone() })? else { return Ok(all) };
        let (is_full, first) = (rows.len() == page, rows.first().and_then(|row| row["position"].as_u64()));
        rows.append(&mut all);
        all = rows;
        match first.filter(|first| is_full && all.len() < wanted && *first > since.max(1)) {
            Some(first) => filter.at = Some(format!("@{}", first - 1)),
            None => return Ok(all),
        }
    }
}

/// Prints what there is, and then each decision as it is made: none is left out and none comes twice.
fn follow(global: &Global, mut filter: Parameters) -> Result<Exit, CliError> {
    let show = |row: &Value| {
        let line = if global.output.is_for_programs() { row.to_string() } else { told(row) };
        output::lines(&format!("{line}\n")).map_err(CliError::from)
    };
    let node: Value = session::ask_path(global, "/v1/node")??;
    let head = node["position"].as_u64().unwrap_or_default();
    let wanted = filter.limit.unwrap_or(LIMIT_DEFAULT);
    let since = filter.since.as_deref().and_then(|since| since.strip_prefix('@')?.parse::<u64>().ok()).unwrap_or(0);
    // What is decided meanwhile comes below.
    filter.at = Some(format!("@{head}"));
    if since <= head {
        for row in newest(filter.clone(), wanted, |query| session::ask_node(global, query))? {
            show(&row)?;
        }
    }
    follow::follow(global, &filter, head, |row| match row["position"].as_u64() {
        Some(position) if position < since => Ok(()),
        _ => show(row),
    })?;
    Ok(Exit::Ok)
}

/// One decision on one line.
fn told(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let (position, time, stream, who) = (&row["position"], text("time"), text("stream"), text("principal"));
    let because = if row["kind"] == "note" { String::new() } else { format!(", because {}", text("because")) };
    let outcome = match text("outcome") {
        "refused" => "refused: ",
        "nothing" => "no change: ",
        _ => "",
    };
    format!("{position:>6}  {time}  {stream}  {outcome}{}{because} ({who})", what(row))
}

/// What happened; what was asked for where nothing did.
fn what(row: &Value) -> String {
    let happened: Vec<&str> = row["happened"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let asked = row["asked"].as_str().unwrap_or_default();
    match row["outcome"].as_str() {
        Some("done") if !happened.is_empty() => happened.join("; "),
        _ => asked.to_owned(),
    }
}

fn word(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_:/.".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("only letters, digits and -_:/. are allowed".into())
    }
}

fn position(text: &str) -> Result<u64, String> {
    text.strip_prefix('@').unwrap_or(text).parse().map_err(|_| "expected a number after @, as in @41".to_owned())
}

/// The stream that people mean: of an entity, or of none (`supervisor/machines`, `node/journal`). With it comes what is wrong
/// with its kind if no kind of this program is called so: another program may have written entries of it.
pub(super) fn meant(text: &str) -> Result<(StreamId, Option<CliError>), CliError> {
    let whole = |text: &str| text.parse().map_err(|error: InvalidStreamId| CliError::usage(error.to_string()));
    if text.starts_with("supervisor/") || text.starts_with("node/") {
        return Ok((whole(text)?, None));
    }
    match entity(text) {
        Ok(stream) => Ok((stream, None)),
        Err(unknown) => whole(text).map(|stream| (stream, Some(unknown.clone()))).map_err(|_| unknown),
    }
}

/// The kinds of entities, and of streams that are none; as [`meant`].
fn any_kind(text: &str) -> Result<(String, Option<CliError>), CliError> {
    if matches!(text, "supervisor" | "node") {
        return Ok((text.to_owned(), None));
    }
    match kind_of(text) {
        Ok(kind) => Ok((kind.to_owned(), None)),
        Err(unknown) => Ok((text.to_owned(), Some(unknown))),
    }
}

/// As [`meant`], of kinds of this program alone.
pub(super) fn stream(text: &str) -> Result<StreamId, CliError> {
    ours(meant(text)?)
}

/// The kinds of entities of this program, and of streams that are none.
pub(super) fn kind(text: &str) -> Result<String, CliError> {
    ours(any_kind(text)?)
}

fn ours<T>((meant, not_ours): (T, Option<CliError>)) -> Result<T, CliError> {
    not_ours.map_or(Ok(meant), Err)
}

/// Refuses what nobody knows: a kind that is none of this program's, and of which the journal has no such entries either.
pub(super) fn refuse_unknown(global: &Global, of: Parameters, not_ours: Option<CliError>) -> Result<(), CliError> {
    let Some(unknown) = not_ours else { return Ok(()) };
    if session::is_in_journal(global, of)? { Ok(()) } else { Err(unknown) }
}

fn table(answer: &Value) -> Table<9> {
    let mut table = Table::of([
        Column::required("ENTRY"),
        Column::required("TIME"),
        Column::sentence("STREAM"),
        Column::sentence("WHAT"),
        Column::required("OUTCOME"),
        Column::sentence("BECAUSE"),
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
            written(&row["time"]),
            text(&row["stream"]),
            what(row).into(),
            outcome,
            text(&row["because"]),
            text(&row["principal"]),
            text(&row["cause"]),
            text(&row["code"]),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    /// A node with entries 1 to `last`, that answers as [`Query::Log`] is answered.
    fn ask(last: u64, pages: &Cell<u32>, query: &Query) -> Value {
        let Query::Log { filter } = query else { panic!("only the log is asked for") };
        pages.set(pages.get() + 1);
        let at = |text: &Option<String>| text.as_deref().and_then(|text| text.strip_prefix('@')?.parse::<u64>().ok());
        let (from, to) = (at(&filter.since).unwrap_or(1), at(&filter.at).unwrap_or(last).min(last));
        assert!(from <= to + 1, "a node refuses a log that ends before it begins");
        let rows: Vec<u64> = (from..=to).rev().take(filter.limit.expect("a limit")).collect();
        rows.into_iter().rev().map(|position| json!({ "position": position })).collect()
    }

    #[test]
    fn pages_of_a_log_have_every_entry_once_in_order() {
        let given = |last, since: Option<u64>, wanted| {
            let pages = Cell::new(0);
            let filter = Parameters { since: since.map(|since| format!("@{since}")), ..Parameters::default() };
            let rows = newest(filter, wanted, |query| Ok(ask(last, &pages, query))).expect("an answer");
            (rows.iter().map(|row| row["position"].as_u64().expect("a number")).collect::<Vec<_>>(), pages.get())
        };
        assert_eq!(given(5, None, 100), ((1..=5).collect(), 1));
        assert_eq!(given(5_000, None, 3), ((4_998..=5_000).collect(), 1));
        assert_eq!(given(5_000, None, 2_500), ((2_501..=5_000).collect(), 3));
        assert_eq!(
            given(3_000, None, usize::MAX),
            ((1..=3_000).collect(), 3),
            "the first entry is the last that is asked for"
        );
        assert_eq!(given(3_000, Some(2_001), usize::MAX), ((2_001..=3_000).collect(), 1));
        assert_eq!(given(3_000, Some(1_990), usize::MAX), ((1_990..=3_000).collect(), 2));
        assert_eq!(given(3_000, Some(3_001), usize::MAX).0, Vec::<u64>::new());
    }
}
