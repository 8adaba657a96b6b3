//! `bailiwick get`: lists entities.

mod kinds;
mod select;
mod tables;
mod wanted;
mod watch;

use bailiwick_journal::StreamId;
use clap::Args;
use serde_json::{Map, Value};

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Format, Path, Sheet},
    session,
};
use crate::{
    api::{lists::fields, query::Query},
    manifest::nearest,
    view::{At, Selector, has_labels},
};

pub(super) use kinds::{kind_of, plural};
pub(super) use tables::{age, left_until, list, map, status, table, text, written};

use select::FieldSelector;
use wanted::{Asked, Wanted};

#[derive(Debug, Args)]
pub(super) struct GetArgs {
    /// A kind, several with commas, or `all`; names may follow, or stand after a slash: `machines`, `machines,volumes`, `machine web db`, `machine/web volume/data`
    ///
    /// Kinds: machines, machine-sets, machine-deployments, machine-classes, volumes, volume-attachments, filesystems, filesystem-attachments, policies, providers, replica-sets, members, spaces, subnets, image-metadata, agent-binaries, applications, models, accounts, juju-models, juju-applications, juju-machines, and those that a program registers.
    #[arg(required = true, value_name = "KIND[/NAME]")]
    what: Vec<String>,
    /// Only machines, and sets and deployments of machines, with these labels: `tier=front`, `tier=front,role!=writer`, `tier`, `!tier`
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<Selector>,
    /// Only objects with these fields, as `-o json` shows them: `status=ready`, `status!=ready,provider=local`, `labels.tier=front`
    #[arg(long, visible_alias = "field-selector", value_name = "FIELDS")]
    field: Option<FieldSelector>,
    /// In the order of this field, as `-o json` shows it: `age`, `size`, `.labels.tier`
    #[arg(long, value_name = "FIELD")]
    sort_by: Option<Path>,
    /// Show each object again that changes, until interrupted; one that is gone has the status `gone`
    #[arg(short, long, conflicts_with = "at")]
    watch: bool,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: GetArgs) -> Result<Exit, CliError> {
    let asked = Asked::read(global, &args.what)?;
    let at = session::at(args.at.as_deref())?;
    if args.watch {
        let of_node = |lists: &[Query]| lists.iter().map(|list| session::ask_node(global, list)).collect();
        return watch::watch(global, &asked, |named| parts(&asked, &args, None, named, of_node));
    }
    let parts = parts(&asked, &args, at, Named::Exist, |lists| session::ask_all(global, lists))?;
    show(global, &asked, &parts)?;
    Ok(Exit::Ok)
}

/// Rows, kind by kind.
type Part = (&'static str, Vec<Value>);

/// Whether the objects that are named have to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Exist,
    MayBeGone,
}

/// The rows that are wanted, in the order that is, kind by kind.
fn parts(
    asked: &Asked,
    args: &GetArgs,
    at: Option<At>,
    named: Named,
    ask: impl Fn(&[Query]) -> Result<Vec<Value>, CliError>,
) -> Result<Vec<Part>, CliError> {
    let is_of_all = *asked == Asked::Everything;
    let mut kinds = asked.kinds();
    // Who asks for everything with labels asks for what has some.
    kinds.retain(|wanted| !is_of_all || args.selector.is_none() || has_labels(wanted.kind));
    let lists: Vec<Query> = kinds.iter().map(|wanted| query(wanted, args, at)).collect::<Result<_, _>>()?;
    let (mut parts, mut is_known, mut unknown) = (Vec::new(), false, None);
    for (wanted, answer) in kinds.iter().zip(ask(&lists)?) {
        let rows = listed(answer);
        if named == Named::Exist {
            require(wanted, &rows)?;
        }
        let chosen = chosen(rows, wanted, args);
        is_known |= chosen.is_ok();
        match chosen {
            // A field that another kind has.
            Err(error) if is_of_all => unknown = unknown.or(Some(error)),
            Ok(rows) if is_of_all && rows.is_empty() => (),
            rows => parts.push((wanted.kind, rows?)),
        }
    }
    unknown.filter(|_| !is_known).map_or(Ok(parts), Err)
}

fn query(wanted: &Wanted, args: &GetArgs, at: Option<At>) -> Result<Query, CliError> {
    let kind = wanted.kind;
    if args.selector.is_some() && !has_labels(kind) {
        return Err(CliError::usage(format!("a {kind} has no labels"))
            .next("leave --selector out; machines, machine sets and machine deployments have labels"));
    }
    Ok(Query::List { kind: kind.into(), selector: args.selector.clone().unwrap_or_default(), at })
}

fn listed(answer: Value) -> Vec<Value> {
    if let Value::Array(rows) = answer { rows } else { Vec::new() }
}

/// Whether each that is named is there.
fn require(Wanted { kind, names }: &Wanted, rows: &[Value]) -> Result<(), CliError> {
    match names.iter().find(|name| !rows.iter().any(|row| row["name"] == name.as_str())) {
        Some(name) => Err(near(missing(kind, name), name, rows)),
        None => Ok(()),
    }
}

fn chosen(mut rows: Vec<Value>, wanted: &Wanted, args: &GetArgs) -> Result<Vec<Value>, CliError> {
    let (names, possible) = (&wanted.names, fields(wanted.kind));
    rows.retain(|row| names.is_empty() || names.iter().any(|name| row["name"] == name.as_str()));
    if let Some(field) = &args.field {
        field.keep(&mut rows, &possible)?;
    }
    if let Some(field) = &args.sort_by {
        select::sort(&mut rows, field, &possible)?;
    }
    Ok(rows)
}

/// Shows lists: one as it is, several under headings, for programs by kind.
fn show(global: &Global, asked: &Asked, parts: &[(&'static str, Vec<Value>)]) -> Result<(), CliError> {
    if let Format::Picked(_) = &global.output {
        let mut objects: Vec<Value> =
            parts.iter().flat_map(|(kind, rows)| rows.iter().map(|row| with_kind(kind, row))).collect();
        let picked = if asked.is_one_object() && objects.len() == 1 {
            objects.remove(0)
        } else {
            serde_json::json!({ "items": objects })
        };
        return Ok(global.output.tell(&picked, "")?);
    }
    match (asked, parts) {
        (Asked::One(_), [(kind, rows)]) => {
            let rows = Value::from(rows.clone());
            Ok(global.output.show_list(&rows, || sheet(&global.output, kind, &rows))?)
        }
        (_, parts) => {
            let all: Map<String, Value> =
                parts.iter().map(|(kind, rows)| ((*kind).to_owned(), Value::from(rows.clone()))).collect();
            let tables = all.iter().map(|(kind, rows)| (plural(kind).to_owned(), sheet(&global.output, kind, rows)));
            Ok(global.output.show_parts(&all, tables.collect())?)
        }
    }
}

/// The table of a list; the default one has no columns in which nothing stands.
fn sheet(format: &Format, kind: &str, rows: &Value) -> Sheet {
    let sheet = table(kind, rows);
    if *format == Format::Table { sheet.without_empty() } else { sheet }
}

/// A row that says of what kind it is.
fn with_kind(kind: &str, row: &Value) -> Value {
    let mut row = row.clone();
    row["kind"] = kind.into();
    row["entity"] = format!("{kind}/{}", row["name"].as_str().unwrap_or_default()).into();
    row
}

fn missing(kind: &str, name: &str) -> CliError {
    CliError::new(Exit::NotFound, "not-found", format!("{kind}/{name} not found"))
        .next(format!("`bailiwick get {kind}` lists them"))
}

/// With the name that may be meant, if there is one.
fn near(error: CliError, name: &str, rows: &[Value]) -> CliError {
    match nearest(name, rows.iter().filter_map(|row| row["name"].as_str())) {
        Some(near) => error.next(format!("did you mean {near}?")),
        None => error,
    }
}

/// That there is no such entity.
pub(super) fn not_found(entity: &StreamId) -> CliError {
    missing(entity.kind(), entity.name())
}
