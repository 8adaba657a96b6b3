//! Texts with paths in braces, as kubectl's `-o jsonpath` takes them:
//! `{.items[*].name}`, `{range .items[*]}{.name}{"\n"}{end}`.

use std::str::FromStr;

use serde_json::Value;

use super::path::{InvalidPath, Missed, Path, shown};

/// What is written, with what of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Show(Path),
    /// For each of these, all of that.
    Range(Path, Vec<Self>),
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTemplate {
    #[error("{{ has no }} in {0:?}")]
    Open(String),
    #[error("{{range}} has no {{end}}")]
    NoEnd,
    #[error("{{end}} without {{range}}")]
    NoRange,
    #[error(transparent)]
    Path(#[from] InvalidPath),
}

impl Template {
    /// What it says of a value.
    ///
    /// # Errors
    /// If a path leads nowhere, because there is no such field.
    pub fn told(&self, value: &Value) -> Result<String, Missed> {
        let mut text = String::new();
        write(&self.0, value, &[value], &mut text)?;
        Ok(text)
    }
}

/// Writes all parts for each value. What is missing in all of them is a mistake; what some do not have is left empty.
fn write(parts: &[Part], root: &Value, values: &[&Value], text: &mut String) -> Result<(), Missed> {
    for part in parts {
        let (Part::Show(path) | Part::Range(path, _)) = part else { continue };
        let found: Vec<_> = values.iter().map(|value| path.find(root, value)).collect();
        if found.iter().all(|found| found.values.is_empty())
            && let Some(missed) = found.into_iter().find_map(|found| found.missed)
        {
            return Err(missed);
        }
        if let Part::Range(path, inner) = part {
            let all: Vec<&Value> = values.iter().flat_map(|value| path.find(root, value).values).collect();
            write(inner, root, &all, &mut String::new())?;
        }
    }
    values.iter().for_each(|value| fill(parts, root, value, text));
    Ok(())
}

fn fill(parts: &[Part], root: &Value, here: &Value, text: &mut String) {
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Show(path) => {
                let values: Vec<String> = path.find(root, here).values.into_iter().map(shown).collect();
                text.push_str(&values.join(" "));
            }
            Part::Range(path, inner) => {
                path.find(root, here).values.into_iter().for_each(|value| fill(inner, root, value, text));
            }
        }
    }
}

impl FromStr for Template {
    type Err = InvalidTemplate;

    /// Reads a template; a text without braces is one path.
    fn from_str(text: &str) -> Result<Self, InvalidTemplate> {
        if !text.contains('{') {
            return Ok(Self(vec![Part::Show(text.parse()?)]));
        }
        let mut open: Vec<(Path, Vec<Part>)> = Vec::new();
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            let end = end_of_braces(after).ok_or_else(|| InvalidTemplate::Open(text.to_owned()))?;
            let inside = after[..end].trim();
            rest = &after[end + 1..];
            if inside == "end" {
                let (path, outer) = open.pop().ok_or(InvalidTemplate::NoRange)?;
                parts = [outer, vec![Part::Range(path, parts)]].concat();
            } else if let Some(path) = inside.strip_prefix("range ") {
                open.push((path.parse()?, std::mem::take(&mut parts)));
            } else if let Some(quote @ ('"' | '\'')) = inside.chars().next() {
                parts.push(Part::Text(unescaped(inside.trim_matches(quote))));
            } else {
                parts.push(Part::Show(inside.parse()?));
            }
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        if open.is_empty() { Ok(Self(parts)) } else { Err(InvalidTemplate::NoEnd) }
    }
}

/// Where the brace is closed; what stands in quotes closes nothing.
fn end_of_braces(text: &str) -> Option<usize> {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            _ if is_escaped => {
                is_escaped = false;
                continue;
            }
            ('}', None) => return Some(at),
            ('"' | '\'', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            _ => (),
        }
        is_escaped = letter == '\\';
    }
    None
}

/// `\n`, `\t` and the like as what they mean.
fn unescaped(text: &str) -> String {
    let (mut plain, mut letters) = (String::new(), text.chars());
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            letter => letter,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(template: &str) -> Result<String, Missed> {
        let value = json!({"items": [{"name": "a", "size": 1}, {"name": "b", "note": "x"}], "status": null});
        template.parse::<Template>().unwrap_or_else(|error| panic!("{error}")).told(&value)
    }

    #[test]
    fn a_template_says_what_stands_at_its_paths() {
        for (template, expected) in [
            (".items[*].name", "a b"),
            ("{.items[*].name}", "a b"),
            ("is {.status}.", "is ."),
            (r#"{range .items[*]}{.name}{"\t"}{.size}{"\n"}{end}"#, "a\t1\nb\t\n"),
            (r#"{range .items[?(@.note=="x")]}{.name}: {$.items[0].name}{end}"#, "b: a"),
            ("{.items[0]}", r#"{"name":"a","size":1}"#),
        ] {
            assert_eq!(told(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn a_field_that_nothing_has_is_a_mistake_and_one_that_something_has_is_none() {
        assert_eq!(told("{.itmes[*].name}").expect_err("a mistake").field, "itmes");
        assert_eq!(told("{range .items[*]}{.nmae}{end}").expect_err("a mistake").field, "nmae");
        assert_eq!(told("{range .items[*]}{.note}{end}").as_deref(), Ok("x"));
    }

    #[test]
    fn what_is_no_template_is_told() {
        let error = |text: &str| text.parse::<Template>().expect_err(text);
        assert_eq!(error("{.a"), InvalidTemplate::Open("{.a".into()));
        assert_eq!(error("{range .a}{.b}"), InvalidTemplate::NoEnd);
        assert_eq!(error("{.b}{end}"), InvalidTemplate::NoRange);
        assert!(matches!(error("{.a[}"), InvalidTemplate::Path(_)));
    }
}
