//! From nodes to values: what a field may hold, and what is said when it holds something else.

use std::{rc::Rc, sync::Arc};

use bailiwick_actors::vocab::Name;
use serde_json::Value;

use super::{
    hint::nearest,
    limits,
    problem::{Code, Place, Problem, Problems},
    tree::{Body, Key, Node, Spot},
    wish::Note,
};
use crate::text::{cut, is_hostile};

/// The file that is being read, and what is wrong with it so far.
pub(super) struct Reading<'a> {
    pub file: Arc<str>,
    pub text: &'a str,
    pub problems: &'a mut Problems,
    pub notes: &'a mut Vec<Note>,
}

impl Reading<'_> {
    pub(super) fn place(&self, at: Spot) -> Place {
        Place { file: self.file.clone(), line: at.line, column: at.column }
    }

    /// Takes note of something that is not carried out here.
    pub(super) fn note(&mut self, at: Spot, field: &str, text: impl Into<String>) {
        let note = Note { place: self.place(at), field: field.to_owned(), text: text.into() };
        self.notes.push(note);
    }

    /// Takes note of a problem. Answers nothing, so that a reader can end with it.
    pub(super) fn refuse<T>(
        &mut self,
        at: Spot,
        field: &str,
        code: Code,
        message: impl AsRef<str>,
        next: impl AsRef<str>,
    ) -> Option<T> {
        if self.problems.are_enough() {
            return None;
        }
        let problem = Problem::new(self.place(at), field, code, message).shown_in(self.text);
        self.problems.add(if next.as_ref().is_empty() { problem } else { problem.next(next) });
        None
    }
}

/// A mapping whose fields are known.
pub(super) struct Fields<'n> {
    pub at: Spot,
    path: String,
    entries: &'n [(Key, Rc<Node>)],
}

/// One field: its value, and the way to it.
#[derive(Clone)]
pub(super) struct Field<'n> {
    pub node: &'n Node,
    pub path: String,
}

impl<'n> Fields<'n> {
    /// The fields of a mapping, whatever they are.
    pub(super) fn any(field: &Field<'n>, reading: &mut Reading<'_>) -> Option<Self> {
        let entries = field.mapping(reading)?;
        Some(Self { at: field.node.at, path: field.path.clone(), entries })
    }

    /// Those that say something and are not among these.
    pub(super) fn others(&self, known: &[&str]) -> Vec<(&'n Key, Field<'n>)> {
        let other = |(key, node): &'n (Key, Rc<Node>)| {
            let is_other = !known.contains(&&*key.text) && !node.is_null();
            is_other.then(|| (key, Field { node, path: self.path_of(&cut(&key.text, 60)) }))
        };
        self.entries.iter().filter_map(other).collect()
    }

    /// The fields of a mapping; any that is not in `known` is a problem.
    pub(super) fn of(field: &Field<'n>, known: &[&str], reading: &mut Reading<'_>) -> Option<Self> {
        let entries = field.mapping(reading)?;
        let fields = Self { at: field.node.at, path: field.path.clone(), entries };
        for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&&*key.text)) {
            let next = match nearest(&key.text, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            let message = format!("unknown field `{}`", cut(&key.text, 60));
            reading.refuse::<()>(key.at, &fields.path_of(&cut(&key.text, 60)), Code::UnknownField, message, next);
        }
        Some(fields)
    }

    /// The field, if it is there and says something.
    pub(super) fn get(&self, name: &str) -> Option<Field<'n>> {
        let (_, node) = self.entries.iter().find(|(key, _)| &*key.text == name)?;
        (!node.is_null()).then(|| Field { node, path: self.path_of(name) })
    }

    /// The field; its absence is a problem.
    pub(super) fn require(&self, name: &str, example: &str, reading: &mut Reading<'_>) -> Option<Field<'n>> {
        self.get(name).or_else(|| {
            let empty = self.entries.iter().find(|(key, _)| &*key.text == name);
            let at = empty.map_or(self.at, |(key, _)| key.at);
            let message = if empty.is_some() { "has no value" } else { "is missing" };
            reading.refuse(at, &self.path_of(name), Code::MissingField, message, format!("write `{name}: {example}`"))
        })
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

impl<'n> Field<'n> {
    /// A document as a whole.
    pub(super) fn root(node: &'n Node) -> Self {
        Self { node, path: String::new() }
    }

    /// A problem with this field.
    pub(super) fn refuse<T>(
        &self,
        reading: &mut Reading<'_>,
        code: Code,
        message: impl AsRef<str>,
        next: impl AsRef<str>,
    ) -> Option<T> {
        reading.refuse(self.node.at, &self.path, code, message, next)
    }

    /// A text as it was written: `10` and `true` are texts too, where a text is asked for; nothing is none.
    pub(super) fn text(&self, reading: &mut Reading<'_>) -> Option<&'n str> {
        let Body::Text { text, .. } = &self.node.body else { return self.wrong_type("a text", reading) };
        if self.node.is_null() {
            return self.refuse(
                reading,
                Code::WrongType,
                "expected a string, found nothing",
                "write '' for an empty string",
            );
        }
        if text.len() > limits::TEXT_BYTES_MAX {
            let message = format!("{} bytes; the limit is {}", text.len(), limits::TEXT_BYTES_MAX);
            return self.refuse(reading, Code::TooLarge, message, "");
        }
        if text.contains('\0') {
            return self.refuse(reading, Code::BadText, "the string contains a NUL character", "remove it");
        }
        Some(text)
    }

    /// A text on one line, without characters that a terminal obeys or that cannot be seen.
    pub(super) fn line(&self, reading: &mut Reading<'_>) -> Option<&'n str> {
        let text = self.text(reading)?;
        let Some(letter) = text.chars().find(|letter| is_hostile(*letter)) else { return Some(text) };
        let message = format!("the string contains the invisible character U+{:04X}", u32::from(letter));
        self.refuse(reading, Code::BadText, message, "remove it")
    }

    /// A name, by the rule for names.
    pub(super) fn name(&self, reading: &mut Reading<'_>) -> Option<Name> {
        let text = match &self.node.body {
            Body::Text { text, .. } if !self.node.is_null() => &**text,
            _ => return self.wrong_type("a name", reading),
        };
        if let Ok(name) = text.parse() {
            return Some(name);
        }
        let message = format!("{:?} is not a valid name: {}", cut(text, 40), name_fault(text));
        let rule = "a name has 1 to 63 lower-case letters, digits and '-', and begins and ends with a letter or digit";
        self.refuse(reading, Code::BadName, message, rule)
    }

    /// A truth value.
    pub(super) fn truth(&self, reading: &mut Reading<'_>) -> Option<bool> {
        match &self.node.body {
            Body::Text { text, plain: true } if &**text == "true" => Some(true),
            Body::Text { text, plain: true } if &**text == "false" => Some(false),
            _ => self.wrong_type("true or false", reading),
        }
    }

    /// A whole number from 0.
    pub(super) fn number(&self, reading: &mut Reading<'_>) -> Option<u32> {
        match &self.node.body {
            Body::Text { text, plain: true } if text.bytes().all(|b| b.is_ascii_digit()) => match text.parse() {
                Ok(number) => Some(number),
                Err(_) => self.refuse(reading, Code::WrongType, format!("at most {} is allowed", u32::MAX), ""),
            },
            _ => self.wrong_type("a whole number from 0", reading),
        }
    }

    /// Whatever it is, as JSON: what is opaque to us. A number that JSON has no form for stays a text.
    pub(super) fn json(&self) -> Value {
        value(self.node)
    }

    /// A list of at most so many items.
    pub(super) fn items(&self, items_max: usize, reading: &mut Reading<'_>) -> Option<Vec<Field<'n>>> {
        let Body::List(items) = &self.node.body else { return self.wrong_type("a list", reading) };
        self.few_enough(items.len(), items_max, reading)?;
        let field = |(index, node): (usize, &'n Rc<Node>)| Self { node, path: format!("{}[{index}]", self.path) };
        Some(items.iter().enumerate().map(field).collect())
    }

    /// A mapping of at most so many entries, with names of its own.
    pub(super) fn entries(&self, entries_max: usize, reading: &mut Reading<'_>) -> Option<Vec<(&'n Key, Field<'n>)>> {
        let entries = self.mapping(reading)?;
        self.few_enough(entries.len(), entries_max, reading)?;
        let field = |key: &Key, node| Self { node, path: format!("{}.{}", self.path, cut(&key.text, 60)) };
        Some(entries.iter().map(|(key, node)| (key, field(key, &**node))).collect())
    }

    /// Whether names and values stand here.
    pub(super) fn is_mapping(&self) -> bool {
        matches!(self.node.body, Body::Mapping(_))
    }

    fn mapping(&self, reading: &mut Reading<'_>) -> Option<&'n [(Key, Rc<Node>)]> {
        match &self.node.body {
            Body::Mapping(entries) => Some(entries),
            _ => self.wrong_type("a mapping of names to values", reading),
        }
    }

    fn few_enough(&self, count: usize, max: usize, reading: &mut Reading<'_>) -> Option<()> {
        if count <= max {
            return Some(());
        }
        self.refuse(reading, Code::TooMany, format!("{count} entries; the limit is {max}"), "")
    }

    fn wrong_type<T>(&self, expected: &str, reading: &mut Reading<'_>) -> Option<T> {
        let found = match &self.node.body {
            Body::List(_) => "a list".to_owned(),
            Body::Mapping(_) => "a mapping".to_owned(),
            Body::Text { .. } if self.node.is_null() => "nothing".to_owned(),
            Body::Text { text, .. } => format!("the string {:?}", cut(text, 40)),
        };
        self.refuse(reading, Code::WrongType, format!("expected {expected}, found {found}"), "")
    }
}

fn value(node: &Node) -> Value {
    match &node.body {
        _ if node.is_null() => Value::Null,
        Body::Text { text, plain: true } => match serde_json::from_str(text) {
            Ok(value @ (Value::Bool(_) | Value::Number(_))) => value,
            _ => Value::String(text.to_string()),
        },
        Body::Text { text, plain: false } => Value::String(text.to_string()),
        Body::List(items) => items.iter().map(|item| value(item)).collect(),
        Body::Mapping(entries) => entries.iter().map(|(key, node)| (key.text.to_string(), value(node))).collect(),
    }
}

/// Which part of the rule for names a text breaks.
fn name_fault(text: &str) -> String {
    if text.is_empty() {
        return "it is empty".to_owned();
    }
    if text.len() > Name::BYTES_MAX && text.is_ascii() {
        return format!("it has {} characters", text.len());
    }
    let allowed = |letter: &char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || *letter == '-';
    match text.chars().enumerate().find(|(_, letter)| !allowed(letter)) {
        None => "it begins or ends with '-'".to_owned(),
        Some((index, letter)) if letter.is_ascii_graphic() => format!("letter {} is {letter:?}", index + 1),
        Some((index, letter)) => format!("letter {} is U+{:04X}", index + 1, u32::from(letter)),
    }
}
