//! `bailiwick get`: lists entities.

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::StreamId;
use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Field, Sheet, time},
    session,
};
use crate::{
    api::query::{Parameters, Query},
    custom_kind::{self, Custom},
    manifest::nearest,
    view::{Selector, has_labels},
    words::due,
};

#[derive(Debug, Args)]
pub(super) struct GetArgs {
    /// machines, machine-sets, machine-deployments, machine-classes, volumes, volume-attachments, filesystems, filesystem-attachments, policies, replica-sets, members, spaces, subnets, image-metadata, agent-binaries, applications, models or accounts; with a name after a slash, that one alone
    #[arg(value_name = "KIND[/NAME]")]
    what: String,
    /// Only those with these names
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only machines with these labels: `tier=front`, `tier=front,role!=writer`, `tier`, `!tier`
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<Selector>,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: GetArgs) -> Result<Exit, CliError> {
    let mut names = args.names;
    let kind = match args.what.split_once('/') {
        Some((kind, name)) => {
            names.push(name.to_owned());
            kind
        }
        None => args.what.as_str(),
    };
    let kind = match kind_of(kind) {
        Ok(kind) => kind,
        Err(unknown) => return Err(not_ours(global, kind, unknown)),
    };
    if args.selector.is_some() && !has_labels(kind) {
        return Err(
            CliError::usage(format!("a {kind} has no labels")).next("leave --selector out; machines have labels")
        );
    }
    let at = session::at(args.at.as_deref())?;
    let mut rows =
        session::ask(global, &Query::List { kind: kind.into(), selector: args.selector.unwrap_or_default(), at })?;
    if let (false, Value::Array(all)) = (names.is_empty(), &mut rows) {
        if let Some(name) = names.iter().find(|name| !all.iter().any(|row| row["name"] == name.as_str())) {
            return Err(missing(kind, name));
        }
        all.retain(|row| names.iter().any(|name| row["name"] == name.as_str()));
    }
    global.output.show(&rows, || table(kind, &rows))?;
    Ok(Exit::Ok)
}

fn missing(kind: &str, name: &str) -> CliError {
    CliError::new(Exit::NotFound, "not-found", format!("{kind}/{name} not found"))
        .next(format!("`bailiwick get {kind}` lists them"))
}

/// That there is no such entity.
pub(super) fn not_found(entity: &StreamId) -> CliError {
    missing(entity.kind(), entity.name())
}

/// The kind that people mean.
pub(super) fn kind_of(text: &str) -> Result<&'static str, CliError> {
    match text {
        "machine" | "machines" | "m" => Ok("machine"),
        "machine-set" | "machine-sets" | "machineset" | "machinesets" | "ms" => Ok("machine-set"),
        "machine-deployment" | "machine-deployments" | "machinedeployment" | "machinedeployments" | "md" => {
            Ok("machine-deployment")
        }
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
        "account" | "accounts" => Ok("account"),
        _ => custom_kind(text).map(|kind| kind.name).ok_or_else(|| unknown_kind(text)),
    }
}

/// Why a kind that is none of this program's cannot be listed: another program has it, or nobody.
fn not_ours(global: &Global, kind: &str, unknown: CliError) -> CliError {
    match session::is_in_journal(global, Parameters { kind: Some(kind.to_owned()), ..Parameters::default() }) {
        Ok(false) => unknown,
        Err(error) => error,
        Ok(true) => {
            let message = format!("the journal has entries of kind {kind}, which this program does not know");
            let next = format!("use the program that registers it; `bailiwick log --kind {kind}` lists the entries");
            CliError::new(Exit::NotFound, "not-found", message).next(next)
        }
    }
}

/// The registered kind that people mean: `virtual-ip`, `virtual-ips`, `VirtualIp`.
fn custom_kind(text: &str) -> Option<&'static Custom> {
    let is_it = |kind: &&'static Custom| {
        kind.name == text || text.strip_suffix('s') == Some(kind.name) || kind.manifest.eq_ignore_ascii_case(text)
    };
    custom_kind::all().into_iter().find(is_it)
}

/// The kinds, as `get` lists them.
const KINDS: [&str; 18] = [
    "machines",
    "machine-sets",
    "machine-deployments",
    "machine-classes",
    "volumes",
    "volume-attachments",
    "filesystems",
    "filesystem-attachments",
    "policies",
    "replica-sets",
    "members",
    "spaces",
    "subnets",
    "image-metadata",
    "agent-binaries",
    "applications",
    "models",
    "accounts",
];

fn unknown_kind(text: &str) -> CliError {
    let custom = custom_kind::all();
    let all: Vec<&str> = KINDS.into_iter().chain(custom.iter().map(|kind| kind.name)).collect();
    let near = nearest(text, all.iter().copied()).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    let (last, all) = all.split_last().expect("there are kinds");
    CliError::usage(format!("unknown kind {text:?}")).next(format!("{near}use {} or {last}", all.join(", ")))
}

/// The table of a list.
pub(super) fn table(kind: &str, rows: &Value) -> Sheet {
    if let Some(kind) = custom_kind::kind(kind) {
        return of_custom(kind, rows);
    }
    let fields: &[Field<Value>] =
        match kind {
            "machine" => &[
                (Column::required("NAME"), |row| text(&row["id"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("PROVIDER"), |row| text(&row["provider"])),
                (Column::always("INSTANCE"), |row| text(&row["instance"])),
                (Column::required("NODE"), |row| text(&row["node"])),
                (Column::always("VOLUMES"), |row| list(&row["attachments"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("PHASE"), |row| text(&row["phase"])),
                (Column::wide("HEALTH"), |row| text(&row["health"])),
                (Column::wide("LABELS"), |row| map(&row["labels"])),
                (Column::wide("PROTECTED"), |row| protected(row)),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "volume" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("SIZE"), |row| text(&row["size"])),
                (Column::required("PROVIDER"), |row| text(&row["provider"])),
                (Column::always("VOLUME"), |row| text(&row["volumeId"])),
                (Column::always("MACHINE"), |row| text(&row["attachedTo"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("PROTECTED"), |row| protected(row)),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "volume-attachment" => &[
                (Column::required("MACHINE"), |row| text(&row["machine"])),
                (Column::required("VOLUME"), |row| text(&row["volume"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("MODE"), |row| {
                    if row["readOnly"] == true { "read-only".into() } else { "read-write".into() }
                }),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("PATH"), |row| text(&row["path"])),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "filesystem" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("SIZE"), |row| text(&row["size"])),
                (Column::required("PROVIDER"), |row| text(&row["provider"])),
                (Column::always("VOLUME"), |row| text(&row["volume"])),
                (Column::always("MACHINES"), |row| list(&row["attachedTo"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("PROTECTED"), |row| protected(row)),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "filesystem-attachment" => &[
                (Column::required("MACHINE"), |row| text(&row["machine"])),
                (Column::required("FILESYSTEM"), |row| text(&row["filesystem"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("MODE"), |row| {
                    if row["readOnly"] == true { "read-only".into() } else { "read-write".into() }
                }),
                (Column::always("PATH"), |row| text(&row["path"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "machine-set" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("READY"), |row| format!("{}/{}", row["readyMachines"], row["replicas"]).into()),
                (Column::required("PROVIDER"), |row| text(&row["provider"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("PROTECTED"), |row| protected(row)),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "machine-deployment" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("READY"), |row| format!("{}/{}", row["readyMachines"], row["replicas"]).into()),
                (Column::required("UPDATED"), |row| text(&row["updatedMachines"])),
                (Column::required("AVAILABLE"), |row| text(&row["availableMachines"])),
                (Column::always("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("PROVIDER"), |row| text(&row["provider"])),
                (Column::wide("STRATEGY"), |row| text(&row["strategy"])),
                (Column::wide("PROTECTED"), |row| protected(row)),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "machine-class" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::always("PROVIDER"), |row| text(&row["provider"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::always("MACHINES"), |row| text(&row["machines"])),
                (Column::always("EARLIER"), |row| text(&row["ofEarlierRevisions"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("SECRETS"), |row| list(&row["secrets"])),
                (Column::wide("DIGEST"), |row| text(&row["digest"])),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "replica-set" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::required("ENGINE"), |row| text(&row["engine"])),
                (Column::required("VOTERS"), |row| format!("{}/{}", row["voters"], row["servers"]).into()),
                (Column::always("LEADER"), |row| text(&row["leader"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::always("DETAIL"), |row| text(&row["detail"])),
                (Column::wide("TERM"), |row| text(&row["term"])),
                (Column::wide("PROTECTED"), |row| protected(row)),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "member" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::always("STATE"), |row| member_state(row)),
                (Column::required("VOTES"), |row| if row["votes"] == true { "yes".into() } else { "no".into() }),
                (Column::always("ADDRESS"), |row| text(&row["address"])),
                (Column::always("ID"), |row| text(&row["id"])),
                (Column::always("AS OF"), |row| moment(&row["asOfMs"])),
                (Column::always("DETAIL"), |row| text(&row["why"])),
                (Column::wide("TAGS"), |row| map(&row["tags"])),
                (Column::wide("UID"), |row| text(&row["uid"])),
            ],
            "space" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::always("SUBNETS"), |row| list(&row["says"]["subnets"])),
                (Column::always("USED BY"), |row| list(&row["usedBy"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::wide("PROVIDER ID"), |row| text(&row["says"]["providerId"])),
            ],
            "subnet" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("CIDR"), |row| text(&row["says"]["cidr"])),
                (Column::always("SPACE"), |row| text(&row["says"]["space"])),
                (Column::always("ZONES"), |row| list(&row["says"]["zones"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::wide("PROVIDER ID"), |row| text(&row["says"]["providerId"])),
            ],
            "image-metadata" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("BASE"), |row| text(&row["says"]["base"])),
                (Column::required("ARCH"), |row| text(&row["says"]["arch"])),
                (Column::always("STREAM"), |row| text(&row["says"]["stream"])),
                (Column::always("IMAGE"), |row| text(&row["says"]["image"])),
                (Column::always("PRIORITY"), |row| text(&row["says"]["priority"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::wide("REGION"), |row| text(&row["says"]["region"])),
            ],
            "agent-binary" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("VERSION"), |row| text(&row["says"]["version"])),
                (Column::required("BASE"), |row| text(&row["says"]["base"])),
                (Column::required("ARCH"), |row| text(&row["says"]["arch"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::wide("LOCATION"), |row| text(&row["says"]["location"])),
                (Column::wide("SHA256"), |row| text(&row["says"]["sha256"])),
            ],
            "application" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::always("MACHINES"), |row| list(&row["says"]["machines"])),
                (Column::always("BINDINGS"), |row| map(&row["says"]["bindings"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
            ],
            "model" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::always("BASE"), |row| text(&row["says"]["base"])),
                (Column::always("STREAM"), |row| text(&row["says"]["imageStream"])),
                (Column::always("AGENT"), |row| text(&row["says"]["agentVersion"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::wide("TAGS"), |row| map(&row["says"]["tags"])),
            ],
            "account" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("ROLE"), |row| text(&row["says"]["role"])),
                (Column::required("KINDS"), |row| kinds(&row["says"]["kinds"])),
                (Column::required("TOKENS"), |row| tokens(&row["says"]["tokens"])),
                (Column::always("USERS"), |row| users(&row["says"]["users"])),
                (Column::wide("REVISION"), |row| text(&row["revision"])),
                (Column::wide("AGE"), |row| age(&row["ageMs"])),
            ],
            _ => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
                (Column::wide("DIGEST"), |row| text(&row["digest"])),
            ],
        };
    Sheet::list(fields, rows.as_array().into_iter().flatten())
}

/// The table of a registered kind.
fn of_custom(kind: &Custom, rows: &Value) -> Sheet {
    let title = |column: &&'static str| Column::always(column);
    let columns = [Column::required("NAME"), Column::required("STATUS"), Column::required("PROVIDER")].into_iter();
    let columns = columns.chain(kind.columns.iter().map(title));
    let columns = columns.chain([Column::required("AGE"), Column::always("DETAIL")]).collect();
    let cells = |row: &Value| {
        let first = [text(&row["name"]), status(&row["status"]), text(&row["provider"])].into_iter();
        let own = first.chain(kind.columns.iter().map(|column| text(&row[*column])));
        own.chain([age(&row["ageMs"]), text(&row["detail"])]).collect()
    };
    Sheet::of(columns, rows.as_array().into_iter().flatten().map(cells).collect())
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
        Some(word @ ("ready" | "available" | "attached" | "reserved" | "settled" | "voter" | "complete")) => {
            Cell::good(word)
        }
        Some(word @ ("failed" | "lost" | "stale" | "unhealthy" | "degraded" | "stranger" | "stuck")) => Cell::bad(word),
        Some(word) => Cell::busy(word),
        None => Cell::none(),
    }
}

/// Whether it is protected from deletion.
fn protected(row: &Value) -> Cell {
    if row["protected"] == true { "yes".into() } else { Cell::none() }
}

/// The kinds that an account may change.
fn kinds(value: &Value) -> Cell {
    if value.as_array().is_some_and(Vec::is_empty) { "all".into() } else { list(value) }
}

/// How many tokens an account has, and how many of them are of no use any more.
fn tokens(value: &Value) -> Cell {
    let all = || value.as_array().into_iter().flatten();
    match all().filter(|token| token["expired"] == true).count() {
        0 => all().count().to_string().into(),
        expired => format!("{} ({expired} expired)", all().count()).into(),
    }
}

/// The users of the node's machine that are an account.
fn users(value: &Value) -> Cell {
    let users: Vec<String> = value.as_array().into_iter().flatten().map(ToString::to_string).collect();
    if users.is_empty() { Cell::none() } else { users.join(",").into() }
}

/// What a member is, in the colour of its health.
fn member_state(row: &Value) -> Cell {
    let Some(word) = row["state"].as_str().map(str::to_ascii_lowercase) else { return Cell::none() };
    if row["healthy"] == true { Cell::good(word) } else { Cell::bad(word) }
}

/// A moment given in milliseconds since 1970.
pub(super) fn moment(value: &Value) -> Cell {
    value.as_u64().map_or_else(Cell::none, |ms| time::rfc3339(Timestamp(ms)).into())
}

/// A moment to come, of which the node said how far off it is.
pub(super) fn left_until(at_ms: u64, left_ms: u64) -> String {
    due(Timestamp(at_ms.saturating_sub(left_ms)), Timestamp(at_ms))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn accounts_are_listed_with_what_they_may_do_and_what_of_their_tokens_is_of_no_use() {
        let token = |expired: bool| json!({"id": "1f2e3d4c", "hash": "0f0f", "expires": null, "expired": expired});
        let rows = json!([
            {
                "name": "ada",
                "says": {
                    "role": "operate",
                    "kinds": ["machine", "volume"],
                    "tokens": [token(true), token(false)],
                    "users": [7, 1000],
                },
            },
            {"name": "zoe", "says": {"role": "admin", "kinds": [], "tokens": [], "users": []}},
        ]);
        let mut out = anstream::StripStream::new(Vec::new());
        table("account", &rows).write_to(&mut out, false).expect("written");
        let printed = String::from_utf8(out.into_inner()).expect("text");
        let expected = "NAME  ROLE     KINDS           TOKENS         USERS\n\
                        ada   operate  machine,volume  2 (1 expired)  7,1000\n\
                        zoe   admin    all             0              -\n";
        assert_eq!(printed, expected);
    }
}
