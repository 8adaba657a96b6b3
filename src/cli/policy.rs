//! `bailiwick policy`: the settings in force, those before them, and how to return to them.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    Global, apply,
    exit::{CliError, Exit},
    get::text,
    output::{Cell, Column, Table},
    session,
};
use crate::api::query::Query;

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Show all settings of a revision
    Show(ShowArgs),
    /// List the revisions, who set them, and what each changed
    Log(LogArgs),
    /// Compare two revisions; exits with 2 if they differ
    Diff(DiffArgs),
    /// Set the settings of an earlier revision again, as a new one
    Rollback(RollbackArgs),
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The revision [default: the one in force]
    #[arg(value_name = "REVISION")]
    revision: Option<u64>,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true, conflicts_with = "revision")]
    at: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The earlier revision [default: the one before the later]
    #[arg(value_name = "A")]
    from: Option<u64>,
    /// The later revision [default: the one in force]
    #[arg(value_name = "B")]
    to: Option<u64>,
}

#[derive(Debug, Args)]
pub(super) struct RollbackArgs {
    /// The revision to return to [default: the one before the one in force]
    #[arg(value_name = "REVISION")]
    revision: Option<u64>,
}

pub(super) fn main(global: &Global, command: PolicyCommand) -> Result<Exit, CliError> {
    match command {
        PolicyCommand::Show(args) => {
            let revisions = revisions(global, args.at.as_deref())?;
            show(global, pick(&revisions, args.revision.map_or(Which::InForce, Which::Number))?)
        }
        PolicyCommand::Log(args) => {
            let mut revisions = revisions(global, args.at.as_deref())?;
            // As logs are: what happened last comes first.
            revisions.reverse();
            global.output.show_list(&revisions, || log(&revisions))?;
            Ok(Exit::Ok)
        }
        PolicyCommand::Diff(args) => diff(global, &args),
        PolicyCommand::Rollback(args) => {
            let revisions = revisions(global, None)?;
            let wanted = pick(&revisions, args.revision.map_or(Which::Before, Which::Number))?;
            let manifest = json!({
                "apiVersion": "bailiwick/v1", "kind": "Policy", "metadata": { "name": "default" }, "spec": wanted["spec"],
            });
            apply::add(global, manifest.to_string())?;
            Ok(Exit::Ok)
        }
    }
}

/// All revisions, the oldest first.
fn revisions(global: &Global, at: Option<&str>) -> Result<Vec<Value>, CliError> {
    session::read(session::ask(global, &Query::PolicyRevisions { at: session::at(at)? })?)
}

#[derive(Clone, Copy, Debug)]
enum Which {
    InForce,
    /// The one before that.
    Before,
    Number(u64),
}

fn pick(revisions: &[Value], which: Which) -> Result<&Value, CliError> {
    let found = match which {
        Which::InForce => revisions.last(),
        Which::Before => revisions.len().checked_sub(2).and_then(|at| revisions.get(at)),
        Which::Number(number) => revisions.iter().find(|revision| revision["revision"] == number),
    };
    found.ok_or_else(|| {
        let message = match (which, revisions.len()) {
            (Which::InForce, _) | (_, 0) => "no policy has been set yet".to_owned(),
            (Which::Before, _) => "there is no earlier revision".to_owned(),
            (Which::Number(number), _) => format!("there is no revision {number} of the policy"),
        };
        CliError::new(Exit::NotFound, "no-such-revision", message).next("`bailiwick policy log` lists the revisions")
    })
}

/// Settings by their names in a manifest: `machines.poll`.
fn settings(revision: &Value) -> BTreeMap<String, String> {
    let sections = revision["spec"].as_object().into_iter().flatten();
    let fields = sections.flat_map(|(section, fields)| {
        let fields = fields.as_object().into_iter().flatten();
        fields.map(move |(field, value)| (format!("{section}.{field}"), told(value)))
    });
    fields.collect()
}

fn told(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn show(global: &Global, revision: &Value) -> Result<Exit, CliError> {
    global.output.show(revision, || {
        let mut table = Table::of([Column::always("SETTING"), Column::always("VALUE")]);
        for (name, value) in settings(revision) {
            table.add([Cell::from(name), value.into()]);
        }
        table
    })?;
    Ok(Exit::Ok)
}

fn log(revisions: &[Value]) -> Table<5> {
    let mut table = Table::of([
        Column::always("REVISION"),
        Column::always("TIME"),
        Column::always("ENTRY"),
        Column::always("BY"),
        Column::always("CHANGED"),
    ]);
    for revision in revisions {
        let changes: Vec<String> = revision["changes"].as_array().into_iter().flatten().map(told).collect();
        let mut changes = changes.into_iter();
        let number = revision["revision"].to_string();
        let number =
            if revision["inForce"] == true { Cell::good(format!("{number} (in force)")) } else { number.into() };
        let first = changes.next().unwrap_or_else(|| "nothing: all as by default".to_owned());
        let entry = format!("@{}", revision["position"]);
        table.add([number, text(&revision["time"]), entry.into(), text(&revision["principal"]), first.into()]);
        for change in changes {
            table.add([Cell::from(""), "".into(), "".into(), "".into(), change.into()]);
        }
    }
    table
}

fn diff(global: &Global, args: &DiffArgs) -> Result<Exit, CliError> {
    let revisions = revisions(global, None)?;
    let later = pick(&revisions, args.to.map_or(Which::InForce, Which::Number))?;
    let earlier = match args.from {
        Some(number) => pick(&revisions, Which::Number(number))?,
        None => {
            let at = revisions.iter().take_while(|revision| revision["revision"] != later["revision"]).count();
            pick(&revisions[..=at], Which::Before)?
        }
    };
    let (from, to) = (settings(earlier), settings(later));
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    let differing = names.into_iter().filter(|name| from.get(*name) != to.get(*name));
    let changes: Vec<Value> =
        differing.map(|name| json!({ "setting": name, "from": from.get(name), "to": to.get(name) })).collect();
    let answer = json!({ "from": earlier["revision"], "to": later["revision"], "changes": changes });
    global.output.show(&answer, || {
        let mut table = Table::of([Column::always("SETTING"), Column::always("FROM"), Column::always("TO")]);
        for change in &changes {
            table.add([text(&change["setting"]), text(&change["from"]), text(&change["to"])]);
        }
        table
    })?;
    Ok(if changes.is_empty() { Exit::Ok } else { Exit::Differences })
}
