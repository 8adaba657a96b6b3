//! Only some of an answer: `-o name`, `-o jsonpath=…`, `-o custom-columns=…`.

use std::{collections::BTreeSet, str::FromStr};

use serde_json::Value;

use super::{
    path::{InvalidPath, Missed, Path, shown},
    table::{Cell, Column, Sheet},
    template::{InvalidTemplate, Template},
};

/// What of an answer is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Picked {
    /// `KIND/NAME` of each object.
    Name,
    Template(Template),
    /// Titles, and where in an object their column is read.
    Columns(Vec<(String, Path)>),
}

/// Why nothing can be picked like that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPick {
    #[error(transparent)]
    Template(#[from] InvalidTemplate),
    #[error(transparent)]
    Path(#[from] InvalidPath),
    #[error("{0:?} is no column: write TITLE:PATH, as in NAME:.name,STATUS:.status")]
    Column(String),
}

impl Picked {
    /// Reads what `-o` asks for; none if that is another format.
    ///
    /// # Errors
    /// If the template or a column cannot be read.
    pub fn parse(text: &str) -> Result<Option<Self>, InvalidPick> {
        if text == "name" {
            return Ok(Some(Self::Name));
        }
        Ok(match text.split_once('=') {
            Some(("jsonpath", template)) => Some(Self::Template(Template::from_str(template)?)),
            Some(("custom-columns", columns)) => Some(Self::Columns(columns_of(columns)?)),
            _ => None,
        })
    }

    /// What is picked from one object, or from `{items: […]}`.
    ///
    /// # Errors
    /// If a path names a field that none of the objects has.
    pub fn of(&self, value: &Value) -> Result<String, Missed> {
        let objects = value["items"].as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let text = match self {
            Self::Name => objects.iter().map(|object| shown(&object["entity"]) + "\n").collect(),
            Self::Template(template) => template.told(value)?,
            Self::Columns(columns) => sheet(columns, objects)?.text(),
        };
        Ok(if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" })
    }
}

/// Reads `TITLE:PATH,TITLE:PATH`; commas within brackets divide nothing.
fn columns_of(text: &str) -> Result<Vec<(String, Path)>, InvalidPick> {
    let mut depth = 0_usize;
    let parts = text.split(|letter: char| {
        depth = match letter {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        letter == ',' && depth == 0
    });
    let column = |part: &str| match part.split_once(':') {
        Some((title, path)) if !title.is_empty() && !path.is_empty() => Ok((title.to_owned(), path.parse()?)),
        _ => Err(InvalidPick::Column(part.to_owned())),
    };
    parts.map(column).collect()
}

/// The titles stand as a row: they are known only now.
fn sheet(columns: &[(String, Path)], objects: &[Value]) -> Result<Sheet, Missed> {
    let titles = columns.iter().map(|(title, _)| Cell::from(title)).collect();
    let mut rows = vec![Vec::new(); objects.len()];
    for (_, path) in columns {
        let found: Vec<_> = objects.iter().map(|object| path.find(object, object)).collect();
        if !found.is_empty()
            && found.iter().all(|found| found.values.is_empty())
            && let Some(missed) = found.iter().find_map(|found| found.missed.clone())
        {
            return Err(missed);
        }
        for (row, found) in rows.iter_mut().zip(found) {
            let texts: Vec<String> = found.values.into_iter().filter(|value| !value.is_null()).map(shown).collect();
            row.push(if texts.is_empty() { Cell::from("<none>") } else { Cell::from(texts.join(",")) });
        }
    }
    let all = std::iter::once(titles).chain(rows).collect();
    Ok(Sheet::of(vec![Column::always(""); columns.len()], all))
}

/// What there is instead of a field, for whoever misspelt it.
pub fn known_fields(known: &BTreeSet<String>) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    known.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picked(text: &str, value: &Value) -> Result<String, Missed> {
        Picked::parse(text).expect("a pick").expect("no other format").of(value)
    }

    #[test]
    fn names_paths_and_columns_are_picked_from_one_object_and_from_many() {
        let one = json!({"entity": "machine/a", "name": "a", "labels": {"tier": "web"}, "detail": null});
        let many = json!({"items": [one, {"entity": "machine/b", "name": "b", "labels": {}, "detail": "x, y"}]});
        assert_eq!(picked("name", &one).as_deref(), Ok("machine/a\n"));
        assert_eq!(picked("name", &many).as_deref(), Ok("machine/a\nmachine/b\n"));
        assert_eq!(picked("jsonpath={.labels.tier}", &one).as_deref(), Ok("web\n"));
        assert_eq!(picked("jsonpath={.items[*].name}", &many).as_deref(), Ok("a b\n"));
        assert_eq!(
            picked("custom-columns=NAME:.name,TIER:{.labels.tier},WHY:.detail", &many).as_deref(),
            Ok("NAME  TIER    WHY\na     web     <none>\nb     <none>  x, y\n")
        );
        assert_eq!(picked("custom-columns=NAME:.name", &json!({"items": []})).as_deref(), Ok("NAME\n"));
    }

    #[test]
    fn a_field_that_no_object_has_is_a_mistake() {
        let many = json!({"items": [{"name": "a", "status": "ready"}]});
        let missed = picked("custom-columns=A:.nmae", &many).expect_err("a mistake");
        assert_eq!(known_fields(&missed.known), "name, status");
        let error = |text: &str| Picked::parse(text).expect_err(text).to_string();
        assert!(error("custom-columns=NAME").contains("TITLE:PATH"));
        assert!(error("jsonpath={.a").contains("has no }"));
        assert_eq!(Picked::parse("wide").expect("readable"), None);
    }
}
