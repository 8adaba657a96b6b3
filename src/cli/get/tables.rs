//! The table of each kind, and the cells that other tables have as well.

use bailiwick_actors::vocab::Timestamp;
use serde_json::Value;

use crate::{
    cli::output::{Cell, Column, Field, Sheet, time},
    custom_kind::{self, Custom},
    words::due,
};

/// The table of a list.
pub(in crate::cli) fn table(kind: &str, rows: &Value) -> Sheet {
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
                (Column::wide("LABELS"), |row| map(&row["labels"])),
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
                (Column::wide("LABELS"), |row| map(&row["labels"])),
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
            "provider" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::required("STATUS"), |row| status(&row["status"])),
                (Column::always("HELD BY"), |row| text(&row["heldBy"])),
                (Column::always("SINCE"), |row| moment(&row["heldSinceMs"])),
                (Column::always("UNTIL"), |row| moment(&row["heldUntilMs"])),
                (Column::always("REASON"), |row| text(&row["held"])),
                (Column::always("WAITING"), |row| match row["waiting"].as_array().map_or(0, Vec::len) {
                    0 => Cell::none(),
                    waiting => waiting.to_string().into(),
                }),
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
            "juju-model" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::always("MODEL"), |row| text(&row["says"]["name"])),
                (Column::always("UUID"), |row| text(&row["says"]["uuid"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
            ],
            "juju-application" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::always("UNITS"), |row| map(&row["says"]["units"])),
                (Column::always("BINDINGS"), |row| map(&row["says"]["bindings"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
            ],
            "juju-machine" => &[
                (Column::required("NAME"), |row| text(&row["name"])),
                (Column::always("CONSTRAINTS"), |row| map(&row["says"]["constraints"])),
                (Column::always("PLACEMENT"), |row| text(&row["says"]["placement"])),
                (Column::required("REVISION"), |row| text(&row["revision"])),
                (Column::required("AGE"), |row| age(&row["ageMs"])),
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
pub(in crate::cli) fn text(value: &Value) -> Cell {
    match value {
        Value::String(text) if text.is_empty() => Cell::none(),
        Value::String(text) => text.as_str().into(),
        Value::Null => Cell::none(),
        other => other.to_string().into(),
    }
}

/// A time in words, without year and milliseconds where there is not the room: `11-21 02:44:00`.
pub(in crate::cli) fn written(value: &Value) -> Cell {
    let brief = value.as_str().and_then(|text| Some(text.get(5..19)?.replace('T', " ")));
    brief.map_or_else(|| text(value), |brief| text(value).or_brief(brief))
}

/// A status in its colour.
pub(in crate::cli) fn status(value: &Value) -> Cell {
    match value.as_str() {
        Some(
            word @ ("ready" | "available" | "attached" | "reserved" | "settled" | "in-service" | "voter" | "complete"),
        ) => Cell::good(word),
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
fn moment(value: &Value) -> Cell {
    value.as_u64().map_or_else(Cell::none, |ms| time::rfc3339(Timestamp(ms)).into())
}

/// A moment to come, of which the node said how far off it is.
pub(in crate::cli) fn left_until(at_ms: u64, left_ms: u64) -> String {
    due(Timestamp(at_ms.saturating_sub(left_ms)), Timestamp(at_ms))
}

/// A period given in milliseconds.
pub(in crate::cli) fn age(value: &Value) -> Cell {
    value.as_u64().map_or_else(Cell::none, |ms| time::period(ms).into())
}

pub(in crate::cli) fn list(value: &Value) -> Cell {
    let items: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if items.is_empty() { Cell::none() } else { items.join(",").into() }
}

pub(in crate::cli) fn map(value: &Value) -> Cell {
    let items: Vec<String> = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| match value {
            Value::Null => format!("{key}="),
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        })
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
        table("account", &rows).narrow().write_to(&mut out).expect("written");
        let printed = String::from_utf8(out.into_inner()).expect("text");
        let expected = "NAME  ROLE     KINDS           TOKENS         USERS\n\
                        ada   operate  machine,volume  2 (1 expired)  7,1000\n\
                        zoe   admin    all             0              -\n";
        assert_eq!(printed, expected);
    }
}
