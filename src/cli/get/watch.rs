//! `get --watch`: rows as they change, taken up again where a node that is started anew goes on.

use std::{collections::BTreeMap, sync::mpsc, thread, time::Duration};

use serde_json::Value;

use super::{Named, Part, kinds::plural, tables::table, wanted::Asked, with_kind};
use crate::{
    api::query::Parameters,
    cli::{
        Global,
        exit::{CLOSED_PIPE, CliError, Exit},
        follow::follow,
        output::{Format, Picked, lines},
        session,
    },
};

/// How long after a question that a node did not answer it is asked again, and how often: together a minute, as decisions are
/// followed.
const AGAIN: Duration = Duration::from_millis(250);
const TRIES: u32 = 240;

/// A row by its kind and name.
type Rows = BTreeMap<(&'static str, String), Value>;

/// Shows what `list` answers, and then each row of it that changes, until the node stays away or nobody reads any more.
pub(super) fn watch(
    global: &Global,
    asked: &Asked,
    list: impl Fn(Named) -> Result<Vec<Part>, CliError>,
) -> Result<Exit, CliError> {
    if let Format::Picked(Picked::Columns(_)) = global.output {
        let error = CliError::usage("--watch shows no columns of your own");
        return Err(error.next("write -o jsonpath=TEMPLATE or -o json, or leave -o out"));
    }
    let node: Value = session::ask_path(global, "/v1/node")??;
    // What changes while the list is read comes below.
    let from = node["position"].as_u64().unwrap_or_default();
    let first = list(Named::Exist)?;
    let mut shown = Shown { global, is_of_one: matches!(asked, Asked::One(_)), last: None };
    shown.all(&first)?;
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
        let now = by_name(answered(|| list(Named::MayBeGone))?);
        for (kind, row) in changes(&rows, &now) {
            shown.one(kind, &rows, &row)?;
        }
        rows = now;
    }
    match follower.join() {
        Ok(followed) => followed.map(|()| Exit::Ok),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The answer of a node that may be starting again.
fn answered(list: impl Fn() -> Result<Vec<Part>, CliError>) -> Result<Vec<Part>, CliError> {
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

fn by_name(parts: Vec<Part>) -> Rows {
    let all = parts.into_iter().flat_map(|(kind, rows)| rows.into_iter().map(move |row| (kind, row)));
    all.map(|(kind, row)| ((kind, row["name"].as_str().unwrap_or_default().to_owned()), row)).collect()
}

/// The rows that are new or not as they were, and those that are gone.
fn changes(before: &Rows, now: &Rows) -> Vec<(&'static str, Value)> {
    let is_other = |(key, row): &(&_, &Value)| before.get(*key).is_none_or(|before| told(before) != told(row));
    let gone = before.iter().filter(|(key, _)| !now.contains_key(*key)).map(|((kind, _), row)| {
        let mut row = row.clone();
        row["status"] = "gone".into();
        (*kind, row)
    });
    now.iter().filter(is_other).map(|((kind, _), row)| (*kind, row.clone())).chain(gone).collect()
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

/// What is on the screen.
struct Shown<'g> {
    global: &'g Global,
    /// Whether only one kind is watched, so that nobody has to be told which.
    is_of_one: bool,
    /// The kind of the last row.
    last: Option<&'static str>,
}

impl Shown<'_> {
    fn all(&mut self, parts: &[Part]) -> Result<(), CliError> {
        let output = &self.global.output;
        self.last = parts.last().map(|(kind, _)| *kind);
        match parts {
            _ if output.is_for_programs() => {
                let mut rows = parts.iter().flat_map(|(kind, rows)| rows.iter().map(|row| (*kind, row)));
                rows.try_for_each(|(kind, row)| self.for_programs(kind, row))
            }
            [(kind, rows)] if self.is_of_one => {
                let rows = Value::from(rows.clone());
                Ok(output.show_list(&rows, || table(kind, &rows))?)
            }
            parts => {
                let tables =
                    parts.iter().map(|(kind, rows)| (plural(kind).to_owned(), table(kind, &rows.clone().into())));
                Ok(output.show_parts(&Value::Null, tables.collect())?)
            }
        }
    }

    /// Below the rows that there are, so that it stands in their columns; under a heading where rows of another kind stand
    /// above.
    fn one(&mut self, kind: &'static str, rows: &Rows, row: &Value) -> Result<(), CliError> {
        if self.global.output.is_for_programs() {
            return self.for_programs(kind, row);
        }
        let of_kind = rows.iter().filter(|((of, _), _)| *of == kind).map(|(_, row)| row);
        let rows: Vec<Value> = of_kind.chain([row]).cloned().collect();
        let heading = (self.last.replace(kind) != Some(kind)).then(|| plural(kind));
        Ok(self.global.output.show_last(heading, table(kind, &rows.into()))?)
    }

    /// On one line; where there are several kinds, it says of which it is.
    fn for_programs(&self, kind: &str, row: &Value) -> Result<(), CliError> {
        match &self.global.output {
            Format::Picked(_) => Ok(self.global.output.tell(&with_kind(kind, row), "")?),
            _ if self.is_of_one => Ok(lines(&row.to_string())?),
            _ => Ok(lines(&with_kind(kind, row).to_string())?),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_new_other_or_gone_is_a_change_and_that_time_passes_is_none() {
        let row = |name: &str, status: &str, age: u64, detail: &str| json!({"name": name, "status": status, "ageMs": age, "version": age, "detail": detail});
        let before = by_name(vec![(
            "machine",
            vec![
                row("a", "ready", 1, ""),
                row("b", "failed", 1, "no disk; attempt 2 in 9m12s (11:01:01 UTC)"),
                row("c", "ready", 1, ""),
                row("d", "pending", 1, "attempt 1"),
            ],
        )]);
        let now = by_name(vec![
            (
                "machine",
                vec![
                    row("a", "ready", 2, ""),
                    row("b", "failed", 2, "no disk; attempt 2 in 8m02s (11:01:01 UTC)"),
                    row("d", "pending", 2, "attempt 2"),
                    row("e", "ready", 2, ""),
                ],
            ),
            ("volume", vec![row("a", "ready", 2, "")]),
        ]);
        let changed: Vec<(&str, String, String)> = changes(&before, &now)
            .iter()
            .map(|(kind, row)| {
                (*kind, row["name"].as_str().expect("a name").into(), row["status"].as_str().expect("a word").into())
            })
            .collect();
        let expected = [
            ("machine", "d", "pending"),
            ("machine", "e", "ready"),
            ("volume", "a", "ready"),
            ("machine", "c", "gone"),
        ];
        assert_eq!(changed, expected.map(|(kind, name, status)| (kind, name.to_owned(), status.to_owned())));
    }
}
