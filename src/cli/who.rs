//! `bailiwick who`: who had something to do with an object, and what came of it.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    log, named,
    output::{Column, Table},
    session,
};
use crate::api::query::Parameters;

#[derive(Debug, Args)]
pub(super) struct WhoArgs {
    /// The object: `machine/web`, `machine web`
    #[arg(required = true, num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

/// What one principal did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    principal: String,
    /// Decisions that changed something, changed nothing, and were refused.
    done: u64,
    nothing: u64,
    refused: u64,
    first: String,
    last: String,
    /// The entry of the last one.
    entry: u64,
    /// Its reason.
    because: String,
}

pub(super) fn main(global: &Global, args: WhoArgs) -> Result<Exit, CliError> {
    let entity = named::one(&args.entity)?;
    let at = session::at(args.at.as_deref())?.map(crate::api::query::moment_text);
    let filter = Parameters { entity: Some(entity), at, ..Parameters::default() };
    let rows = log::newest(filter, usize::MAX, |query| session::ask(global, query))?;
    let parts = parts(&rows);
    global.output.show(&parts, || {
        let columns = ["PRINCIPAL", "DONE", "NO CHANGE", "REFUSED", "FIRST", "LAST", "ENTRY", "BECAUSE"];
        let mut table = Table::of(columns.map(Column::always));
        for Part { principal, done, nothing, refused, first, last, entry, because } in &parts {
            let numbers = [done, nothing, refused].map(|count| count.to_string().into());
            let [done, nothing, refused] = numbers;
            let (first, last) = (first.as_str().into(), last.as_str().into());
            let entry = format!("@{entry}").into();
            table.add([principal.as_str().into(), done, nothing, refused, first, last, entry, because.as_str().into()]);
        }
        table
    })?;
    Ok(Exit::Ok)
}

/// Who did what, whoever was active last first.
fn parts(rows: &[Value]) -> Vec<Part> {
    let mut parts: BTreeMap<String, Part> = BTreeMap::new();
    for row in rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let part = parts.entry(text("principal")).or_insert_with(|| Part {
            principal: text("principal"),
            first: text("time"),
            ..Part::default()
        });
        match row["outcome"].as_str() {
            Some("refused") => part.refused += 1,
            Some("nothing") => part.nothing += 1,
            _ => part.done += 1,
        }
        (part.last, part.because) = (text("time"), text("because"));
        part.entry = row["position"].as_u64().unwrap_or_default();
    }
    let mut parts: Vec<Part> = parts.into_values().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.entry));
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn decisions_are_counted_by_principal_and_the_last_is_named() {
        let row = |position: u64, principal: &str, outcome: &str| {
            json!({ "position": position, "principal": principal, "outcome": outcome, "time": format!("t{position}"),
                    "because": format!("reason {position}") })
        };
        let rows = [
            row(1, "uid:0", "done"),
            row(2, "schedule", "done"),
            row(3, "uid:0", "refused"),
            row(4, "uid:0", "nothing"),
        ];
        let told = parts(&rows);
        let names: Vec<&str> = told.iter().map(|part| part.principal.as_str()).collect();
        assert_eq!(names, ["uid:0", "schedule"]);
        let Part { done, nothing, refused, first, last, entry, because, .. } = &told[0];
        assert_eq!((*done, *nothing, *refused, *entry), (1, 1, 1, 4));
        assert_eq!((first.as_str(), last.as_str(), because.as_str()), ("t1", "t4", "reason 4"));
    }
}
