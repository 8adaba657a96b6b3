//! `get --watch`: rows as they change, taken up again where a node that is started anew goes on.

use std::{collections::BTreeMap, sync::mpsc, thread, time::Duration};

use serde_json::Value;

use super::tables::table;
use crate::{
    api::query::Parameters,
    cli::{
        Global,
        exit::{CLOSED_PIPE, CliError, Exit},
        follow::follow,
        output::{Format, lines},
        session,
    },
};

/// How long after a question that a node did not answer it is asked again, and how often: together a minute, as decisions are
/// followed.
const AGAIN: Duration = Duration::from_millis(250);
const TRIES: u32 = 240;

/// Shows what `list` answers, and then each row of it that changes, until the node stays away or nobody reads any more.
pub(super) fn watch(
    global: &Global,
    list: impl Fn() -> Result<Vec<Value>, CliError>,
    kind: &str,
) -> Result<Exit, CliError> {
    if let Format::Picked(_) = global.output {
        return Err(CliError::usage("--watch shows whole rows").next("write -o json, or leave -o out"));
    }
    let node: Value = session::ask_path(global, "/v1/node")??;
    // What changes while the list is read comes below.
    let from = node["position"].as_u64().unwrap_or_default();
    let first = list()?;
    show_all(global, kind, &first)?;
    let (tell, told) = mpsc::channel();
    let everywhere = global.clone();
    let follower = thread::spawn(move || {
        let gone = |_| CliError::new(Exit::Ok, CLOSED_PIPE, "nobody watches any more");
        follow(&everywhere, &Parameters::default(), from, |_| tell.send(()).map_err(gone))
    });
    let mut rows = by_name(first);
    while told.recv().is_ok() {
        // Many decisions at once are one question.
        while told.try_recv().is_ok() {}
        let now = by_name(answered(&list)?);
        for row in changes(&rows, &now) {
            show_one(global, kind, &rows, &row)?;
        }
        rows = now;
    }
    match follower.join() {
        Ok(followed) => followed.map(|()| Exit::Ok),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The answer of a node that may be starting again.
fn answered(list: &impl Fn() -> Result<Vec<Value>, CliError>) -> Result<Vec<Value>, CliError> {
    for _ in 0..TRIES {
        match list() {
            Err(error) if is_passing(&error) => thread::sleep(AGAIN),
            answer => return answer,
        }
    }
    list()
}

fn is_passing(error: &CliError) -> bool {
    matches!(error.exit, Exit::NotRunning | Exit::TryAgain) || error.code == "broken-connection"
}

fn by_name(rows: Vec<Value>) -> BTreeMap<String, Value> {
    rows.into_iter().map(|row| (row["name"].as_str().unwrap_or_default().to_owned(), row)).collect()
}

/// The rows that are new or not as they were, and those that are gone.
fn changes(before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) -> Vec<Value> {
    let is_other = |(name, row): &(&String, &Value)| before.get(*name).is_none_or(|before| told(before) != told(row));
    let gone = before.iter().filter(|(name, _)| !now.contains_key(*name)).map(|(_, row)| {
        let mut row = row.clone();
        row["status"] = "gone".into();
        row
    });
    now.iter().filter(is_other).map(|(_, row)| row.clone()).chain(gone).collect()
}

/// What a row says, without what only says that time has passed.
fn told(row: &Value) -> Value {
    match row {
        Value::Object(fields) => {
            let lasting = fields.iter().filter(|(name, _)| !name.ends_with("Ms") && *name != "version");
            lasting.map(|(name, value)| (name.clone(), told(value))).collect()
        }
        Value::String(text) => {
            let is_time = |word: &&str| {
                let word = word.trim_matches(|letter: char| "();,.".contains(letter));
                let begins = word.starts_with(|letter: char| letter.is_ascii_digit());
                begins && (word.contains(':') || word.ends_with(['s', 'm', 'h', 'd']))
            };
            text.split(' ').filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ").into()
        }
        other => other.clone(),
    }
}

fn show_all(global: &Global, kind: &str, rows: &[Value]) -> Result<(), CliError> {
    if global.output.is_for_programs() {
        return rows.iter().try_for_each(|row| Ok(lines(&row.to_string())?));
    }
    let rows = Value::from(rows.to_vec());
    Ok(global.output.show_list(&rows, || table(kind, &rows))?)
}

/// Below the rows that there are, so that it stands in their columns.
fn show_one(global: &Global, kind: &str, rows: &BTreeMap<String, Value>, row: &Value) -> Result<(), CliError> {
    if global.output.is_for_programs() {
        return Ok(lines(&row.to_string())?);
    }
    let rows: Vec<Value> = rows.values().chain([row]).cloned().collect();
    Ok(global.output.show_last(table(kind, &rows.into()))?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_new_other_or_gone_is_a_change_and_that_time_passes_is_none() {
        let row = |name: &str, status: &str, age: u64, detail: &str| json!({"name": name, "status": status, "ageMs": age, "version": age, "detail": detail});
        let before = by_name(vec![
            row("a", "ready", 1, ""),
            row("b", "failed", 1, "no disk; attempt 2 in 9m12s (11:01:01 UTC)"),
            row("c", "ready", 1, ""),
            row("d", "pending", 1, "attempt 1"),
        ]);
        let now = by_name(vec![
            row("a", "ready", 2, ""),
            row("b", "failed", 2, "no disk; attempt 2 in 8m02s (11:01:01 UTC)"),
            row("d", "pending", 2, "attempt 2"),
            row("e", "ready", 2, ""),
        ]);
        let changed: Vec<(String, String)> = changes(&before, &now)
            .iter()
            .map(|row| (row["name"].as_str().expect("a name").into(), row["status"].as_str().expect("a word").into()))
            .collect();
        let expected = [("d", "pending"), ("e", "ready"), ("c", "gone")];
        assert_eq!(changed, expected.map(|(name, status)| (name.to_owned(), status.to_owned())));
    }
}
