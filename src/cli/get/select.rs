//! Which rows of a list are wanted, and in which order: `--field`, `--sort-by`.

use std::{cmp::Ordering, collections::BTreeSet, str::FromStr};

use bailiwick_actors::vocab::SizeMib;
use serde_json::Value;

use crate::cli::{
    exit::CliError,
    failures::no_field,
    output::{InvalidPath, Missed, Path, shown},
};

/// What the fields of a row have to be: all parts hold.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cli) struct FieldSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    field: Path,
    value: String,
    is_equal: bool,
}

/// Why a text selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum InvalidSelector {
    #[error("{0:?} selects nothing: write FIELD=VALUE or FIELD!=VALUE, with commas between them")]
    Part(String),
    #[error(transparent)]
    Path(#[from] InvalidPath),
}

impl FromStr for FieldSelector {
    type Err = InvalidSelector;

    fn from_str(text: &str) -> Result<Self, InvalidSelector> {
        let requirement = |part: &str| {
            let (field, value) = part.split_once('=').ok_or_else(|| InvalidSelector::Part(part.to_owned()))?;
            let value = value.strip_prefix('=').unwrap_or(value).to_owned();
            let (field, is_equal) = field.strip_suffix('!').map_or((field, true), |field| (field, false));
            Ok(Requirement { field: field.parse()?, value, is_equal })
        };
        text.split(',').map(requirement).collect::<Result<_, _>>().map(Self)
    }
}

impl FieldSelector {
    /// Keeps the rows that are meant.
    ///
    /// # Errors
    /// If a field is named that no row has, and that is none of these, which rows can have.
    pub(super) fn keep(&self, rows: &mut Vec<Value>, possible: &BTreeSet<String>) -> Result<(), CliError> {
        let all = rows.clone();
        for Requirement { field, value, is_equal } in &self.0 {
            let field = known(field, &all, possible)?;
            rows.retain(|row| field.find(row, row).values.iter().any(|found| is(found, value)) == *is_equal);
        }
        Ok(())
    }
}

/// Whether a field says so; a list does if something in it does.
fn is(found: &Value, value: &str) -> bool {
    match found {
        Value::Array(items) => items.iter().any(|item| shown(item) == value),
        found => shown(found) == value,
    }
}

/// Puts rows in the order of a field; what has no such value comes last.
///
/// # Errors
/// If no row has the field, and it is none of these, which rows can have.
pub(super) fn sort(rows: &mut [Value], field: &Path, possible: &BTreeSet<String>) -> Result<(), CliError> {
    let field = known(field, rows, possible)?;
    let value = |row: &Value| field.find(row, row).values.first().map_or(Value::Null, |value| (*value).clone());
    rows.sort_by(|left, right| order(&value(left), &value(right)));
    Ok(())
}

fn order(left: &Value, right: &Value) -> Ordering {
    let size = |value: &Value| value.as_str().and_then(|text| text.parse::<SizeMib>().ok());
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Greater,
        (_, Value::Null) => Ordering::Less,
        (Value::Number(left), Value::Number(right)) => left
            .as_f64()
            .zip(right.as_f64())
            .and_then(|(left, right)| left.partial_cmp(&right))
            .unwrap_or(Ordering::Equal),
        (left, right) => match size(left).zip(size(right)) {
            Some((left, right)) => left.cmp(&right),
            None => shown(left).cmp(&shown(right)),
        },
    }
}

/// The field that is meant. The table says AGE, and the field is called `ageMs`.
fn known(field: &Path, rows: &[Value], possible: &BTreeSet<String>) -> Result<Path, CliError> {
    let Some(name) = field.first_field() else { return Ok(field.clone()) };
    let present: BTreeSet<String> =
        rows.iter().filter_map(Value::as_object).flat_map(|row| row.keys().cloned()).collect();
    let fields: BTreeSet<String> = present.union(possible).cloned().collect();
    let in_ms = format!("{name}Ms");
    // Nothing is known of the fields of a kind that another program brings, and of which there is nothing.
    if fields.is_empty() {
        return Ok(field.clone());
    }
    if !fields.contains(name) && fields.contains(&in_ms) {
        return Ok(field.clone().with_first_field(in_ms));
    }
    if !fields.contains(name) {
        return Err(no_field(&Missed { field: name.to_owned(), known: fields, is_list: false }));
    }
    // A field that only some rows have, and none today.
    if !present.contains(name) {
        return Ok(field.clone());
    }
    let found = || rows.iter().map(|row| field.find(row, row));
    match found().find_map(|found| found.missed) {
        Some(missed) if found().all(|found| found.values.is_empty()) => Err(no_field(&missed)),
        _ => Ok(field.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows() -> Vec<Value> {
        let row = |name: &str, status: &str, size: &str, age: u64, on: Value| json!({"name": name, "status": status, "size": size, "ageMs": age, "on": on, "labels": {"tier": name}});
        vec![
            row("a", "ready", "10G", 300, json!(["x", "y"])),
            row("b", "failed", "2G", 20, Value::Null),
            row("c", "ready", "512M", 4_000, json!([])),
        ]
    }

    /// What rows can have beside that.
    fn possible() -> BTreeSet<String> {
        ["name", "ageMs", "protected"].map(str::to_owned).into()
    }

    fn names(rows: &[Value]) -> String {
        rows.iter().filter_map(|row| row["name"].as_str()).collect()
    }

    #[test]
    fn rows_are_kept_whose_fields_are_like_that() {
        for (selector, expected) in [
            ("status=ready", "ac"),
            ("status==ready,size=10G", "a"),
            ("status!=ready", "b"),
            (".labels.tier=b", "b"),
            ("on=y", "a"),
            ("on=", "b"),
            ("protected=true", ""),
        ] {
            let mut rows = rows();
            selector
                .parse::<FieldSelector>()
                .expect("a selector")
                .keep(&mut rows, &possible())
                .expect("fields that are there");
            assert_eq!(names(&rows), expected, "{selector}");
        }
    }

    #[test]
    fn rows_are_sorted_by_what_a_field_means() {
        for (field, expected) in [("size", "cba"), ("age", "bac"), ("{.status}", "bac"), ("on[0]", "abc")] {
            let mut rows = rows();
            sort(&mut rows, &field.parse().expect("a path"), &possible()).expect("a field that is there");
            assert_eq!(names(&rows), expected, "{field}");
        }
    }

    #[test]
    fn a_misspelt_field_is_told_with_those_that_there_are() {
        let error = sort(&mut rows(), &"staus".parse().expect("a path"), &possible()).expect_err("a mistake");
        assert!(error.next_step.starts_with("did you mean status? fields are ageMs, labels, name"), "{error:?}");
        let keep = |text: &str| text.parse::<FieldSelector>().expect("a selector").keep(&mut rows(), &possible());
        let error = keep("labels.teir=a").expect_err("a mistake");
        assert!(error.next_step.contains("did you mean tier?"), "{error:?}");
        let empty = |field: &str, possible: BTreeSet<String>| {
            sort(&mut [], &field.parse().expect("a path"), &possible).map_err(|error| error.next_step)
        };
        let told = empty("nmae", possible()).expect_err("a mistake where there are no rows, too");
        assert!(told.starts_with("did you mean name? fields are ageMs, name, protected"), "{told}");
        assert_eq!((empty("age", possible()), empty("anything", BTreeSet::new())), (Ok(()), Ok(())));
        assert!("status".parse::<FieldSelector>().expect_err("no selector").to_string().contains("FIELD=VALUE"));
    }
}
