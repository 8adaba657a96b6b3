//! `bailiwick get`: lists entities.

use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table, time},
    session,
};
use crate::api::query::Query;

#[derive(Debug, Args)]
pub(super) struct GetArgs {
    /// machines, machine-sets, machine-classes, volumes, volume-attachments, filesystems, filesystem-attachments, policies, replica-sets, members, spaces, subnets, image-metadata, agent-binaries, applications or models; with a name after a slash, that one alone
    #[arg(value_name = "KIND[/NAME]")]
    what: String,
    /// At which moment: a position, a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: GetArgs) -> Result<Exit, CliError> {
    let (kind, name) = match args.what.split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (args.what.as_str(), None),
    };
    let kind = kind_of(kind)?;
    let at = session::at(args.at.as_deref())?;
    let mut rows = session::ask(global, &Query::List { kind: kind.into(), at })?;
    if let (Some(name), Value::Array(all)) = (name, &mut rows) {
        all.retain(|row| row["name"] == name);
        if all.is_empty() {
            return Err(CliError::new(Exit::NotFound, "not-found", format!("there is no {kind}/{name}"))
                .next(format!("`bailiwick get {kind}` lists what there is")));
        }
    }
    global.output.show(&rows, || table(kind, &rows))?;
    Ok(Exit::Ok)
}

/// The kind that people mean.
pub(super) fn kind_of(text: &str) -> Result<&'static str, CliError> {
    match text {
        "machine" | "machines" | "m" => Ok("machine"),
        "machine-set" | "machine-sets" | "machineset" | "machinesets" | "ms" => Ok("machine-set"),
        "machine-class" | "machine-classes" | "machineclass" | "machineclasses" | "mc" => Ok("machine-class"),
        "volume" | "volumes" | "v" => Ok("volume"),
        "volume-attachment" | "volume-attachments" | "attachment" | "attachments" | "va" => Ok("volume-attachment"),
        "filesystem" | "filesystems" | "fs" => Ok("filesystem"),
        "filesystem-attachment" | "filesystem-attachments" | "fa" => Ok("filesystem-attachment"),
        "policy" | "policies" => Ok("policy"),
        "replica-set" | "replica-sets" | "replicaset" | "replicasets" | "rs" => Ok("replica-set"),
        "member" | "members" => Ok("member"),
        "space" | "spaces" => Ok("space"),
        "subnet" | "subnets" => Ok("subnet"),
        "image-metadata" | "images" => Ok("image-metadata"),
        "agent-binary" | "agent-binaries" => Ok("agent-binary"),
        "application" | "applications" | "apps" => Ok("application"),
        "model" | "models" => Ok("model"),
        _ => Err(CliError::usage(format!("there is no kind {text:?}"))
            .next("kinds are machines, machine-sets, machine-classes, volumes, volume-attachments, filesystems, filesystem-attachments, policies, replica-sets, members, spaces, subnets, image-metadata, agent-binaries, applications and models")),
    }
}

/// The table of a list.
pub(super) fn table(kind: &str, rows: &Value) -> Table {
    type Of = fn(&Value) -> Cell;
    let columns: &[(&'static str, bool, Of)] = match kind {
        "machine" => &[
            ("NAME", false, |row| text(&row["id"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("PROVIDER", false, |row| text(&row["provider"])),
            ("INSTANCE", false, |row| text(&row["instance"])),
            ("NODE", false, |row| text(&row["node"])),
            ("VOLUMES", false, |row| list(&row["attachments"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("PHASE", true, |row| text(&row["phase"])),
            ("HEALTH", true, |row| text(&row["health"])),
            ("LABELS", true, |row| map(&row["labels"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "volume" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("SIZE", false, |row| text(&row["size"])),
            ("PROVIDER", false, |row| text(&row["provider"])),
            ("VOLUME", false, |row| text(&row["volumeId"])),
            ("MACHINE", false, |row| text(&row["attachedTo"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "volume-attachment" => &[
            ("MACHINE", false, |row| text(&row["machine"])),
            ("VOLUME", false, |row| text(&row["volume"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("MODE", false, |row| if row["readOnly"] == true { "read-only".into() } else { "read-write".into() }),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("PATH", true, |row| text(&row["path"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "filesystem" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("SIZE", false, |row| text(&row["size"])),
            ("PROVIDER", false, |row| text(&row["provider"])),
            ("VOLUME", false, |row| text(&row["volume"])),
            ("MACHINES", false, |row| list(&row["attachedTo"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "filesystem-attachment" => &[
            ("MACHINE", false, |row| text(&row["machine"])),
            ("FILESYSTEM", false, |row| text(&row["filesystem"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("MODE", false, |row| if row["readOnly"] == true { "read-only".into() } else { "read-write".into() }),
            ("PATH", false, |row| text(&row["path"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "machine-set" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("READY", false, |row| format!("{}/{}", row["readyMachines"], row["replicas"]).into()),
            ("PROVIDER", false, |row| text(&row["provider"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "machine-class" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("PROVIDER", false, |row| text(&row["provider"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("MACHINES", false, |row| text(&row["machines"])),
            ("EARLIER", false, |row| text(&row["ofEarlierRevisions"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("SECRETS", true, |row| list(&row["secrets"])),
            ("DIGEST", true, |row| text(&row["digest"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "replica-set" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("ENGINE", false, |row| text(&row["engine"])),
            ("VOTERS", false, |row| format!("{}/{}", row["voters"], row["servers"]).into()),
            ("LEADER", false, |row| text(&row["leader"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DETAIL", false, |row| text(&row["detail"])),
            ("TERM", true, |row| text(&row["term"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "member" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("STATUS", false, |row| status(&row["status"])),
            ("STATE", false, |row| member_state(row)),
            ("VOTES", false, |row| if row["votes"] == true { "yes".into() } else { "no".into() }),
            ("ADDRESS", false, |row| text(&row["address"])),
            ("ID", false, |row| text(&row["id"])),
            ("DETAIL", false, |row| text(&row["why"])),
            ("TAGS", true, |row| map(&row["tags"])),
            ("UID", true, |row| text(&row["uid"])),
        ],
        "space" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("SUBNETS", false, |row| list(&row["says"]["subnets"])),
            ("USED BY", false, |row| list(&row["usedBy"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("PROVIDER ID", true, |row| text(&row["says"]["providerId"])),
        ],
        "subnet" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("CIDR", false, |row| text(&row["says"]["cidr"])),
            ("SPACE", false, |row| text(&row["says"]["space"])),
            ("ZONES", false, |row| list(&row["says"]["zones"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("PROVIDER ID", true, |row| text(&row["says"]["providerId"])),
        ],
        "image-metadata" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("BASE", false, |row| text(&row["says"]["base"])),
            ("ARCH", false, |row| text(&row["says"]["arch"])),
            ("STREAM", false, |row| text(&row["says"]["stream"])),
            ("IMAGE", false, |row| text(&row["says"]["image"])),
            ("PRIORITY", false, |row| text(&row["says"]["priority"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("REGION", true, |row| text(&row["says"]["region"])),
        ],
        "agent-binary" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("VERSION", false, |row| text(&row["says"]["version"])),
            ("BASE", false, |row| text(&row["says"]["base"])),
            ("ARCH", false, |row| text(&row["says"]["arch"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("LOCATION", true, |row| text(&row["says"]["location"])),
            ("SHA256", true, |row| text(&row["says"]["sha256"])),
        ],
        "application" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("MACHINES", false, |row| list(&row["says"]["machines"])),
            ("BINDINGS", false, |row| map(&row["says"]["bindings"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("AGE", false, |row| age(&row["ageMs"])),
        ],
        "model" => &[
            ("NAME", false, |row| text(&row["name"])),
            ("BASE", false, |row| text(&row["says"]["base"])),
            ("STREAM", false, |row| text(&row["says"]["imageStream"])),
            ("AGENT", false, |row| text(&row["says"]["agentVersion"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("TAGS", true, |row| map(&row["says"]["tags"])),
        ],
        _ => &[
            ("NAME", false, |row| text(&row["name"])),
            ("REVISION", false, |row| text(&row["revision"])),
            ("AGE", false, |row| age(&row["ageMs"])),
            ("DIGEST", true, |row| text(&row["digest"])),
        ],
    };
    let column = |(title, wide_only, _): &(&'static str, bool, Of)| Column { title, wide_only: *wide_only };
    let mut table = Table::of(columns.iter().map(column));
    for row in rows.as_array().into_iter().flatten() {
        table.add(columns.iter().map(|(_, _, of)| of(row)));
    }
    table
}

/// A text or number; a dash for nothing.
pub(super) fn text(value: &Value) -> Cell {
    match value {
        Value::String(text) if text.is_empty() => Cell::none(),
        Value::String(text) => text.as_str().into(),
        Value::Null => Cell::none(),
        other => other.to_string().into(),
    }
}

/// A status in its colour.
pub(super) fn status(value: &Value) -> Cell {
    match value.as_str() {
        Some(word @ ("ready" | "available" | "attached" | "reserved" | "settled" | "voter")) => Cell::good(word),
        Some(word @ ("failed" | "lost" | "stale" | "unhealthy" | "stranger")) => Cell::bad(word),
        Some(word) => Cell::busy(word),
        None => Cell::none(),
    }
}

/// What a member is, in the colour of its health.
fn member_state(row: &Value) -> Cell {
    let Some(word) = row["state"].as_str().map(str::to_ascii_lowercase) else { return Cell::none() };
    if row["healthy"] == true { Cell::good(word) } else { Cell::bad(word) }
}

/// A period given in milliseconds.
pub(super) fn age(value: &Value) -> Cell {
    value.as_u64().map_or_else(Cell::none, |ms| time::period(ms).into())
}

pub(super) fn list(value: &Value) -> Cell {
    let items: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if items.is_empty() { Cell::none() } else { items.join(",").into() }
}

pub(super) fn map(value: &Value) -> Cell {
    let items: Vec<String> = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if items.is_empty() { Cell::none() } else { items.join(",").into() }
}
