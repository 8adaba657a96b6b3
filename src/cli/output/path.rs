//! Paths into JSON, as kubectl takes them: `.status`, `.items[*].name`, `['a.b'][0]`, `..name`, `[?(@.ready==true)]`.

use std::{
    cmp::Ordering,
    collections::{BTreeSet, HashSet},
    str::FromStr,
};

use serde_json::Value;

/// Where in a JSON value something stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Whether it starts at the whole value, wherever it is asked.
    is_absolute: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// From the end if it is negative.
    Index(i64),
    Slice(Option<i64>, Option<i64>),
    Each,
    /// The value itself and everything in it.
    Deep,
    Any(Vec<Self>),
    Where(Box<Filter>),
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Operand,
    /// None asks whether there is something.
    compared: Option<(Compare, Operand)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Is,
    IsNot,
    Less,
    LessOrSame,
    More,
    MoreOrSame,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Path),
    Value(Value),
}

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a path: {why} at character {at}")]
pub struct InvalidPath {
    text: String,
    why: &'static str,
    at: usize,
}

/// What a path led to.
#[derive(Debug, Default)]
pub struct Found<'v> {
    pub values: Vec<&'v Value>,
    /// The first field that was not there.
    pub missed: Option<Missed>,
}

/// A field that was not there, and those that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    pub field: String,
    pub known: BTreeSet<String>,
    /// Whether a list was asked for a field.
    pub is_list: bool,
}

impl Path {
    /// What stands there: seen from `here`, or from `root` if it starts with `$`.
    pub fn find<'v>(&self, root: &'v Value, here: &'v Value) -> Found<'v> {
        let mut missed = None;
        let mut values = vec![if self.is_absolute { root } else { here }];
        for step in &self.steps {
            values = step.taken(root, &values, &mut missed);
        }
        Found { values, missed }
    }

    /// The field that it begins with.
    pub fn first_field(&self) -> Option<&str> {
        match self.steps.first() {
            Some(Step::Field(name)) => Some(name),
            _ => None,
        }
    }

    /// The same path from another first field on.
    #[must_use]
    pub fn with_first_field(mut self, name: String) -> Self {
        if let Some(first) = self.steps.first_mut() {
            *first = Step::Field(name);
        }
        self
    }
}

impl Step {
    fn taken<'v>(&self, root: &'v Value, from: &[&'v Value], missed: &mut Option<Missed>) -> Vec<&'v Value> {
        let mut to = Vec::new();
        for value in from {
            match self {
                Self::Field(name) => match value.get(name) {
                    Some(found) => to.push(found),
                    None => miss(missed, name, value),
                },
                Self::Index(index) => to.extend(items(value).get(place(*index, items(value).len()))),
                Self::Slice(begin, end) => {
                    let items = items(value);
                    let begin = place(begin.unwrap_or(0), items.len()).min(items.len());
                    let end = end.map_or(items.len(), |end| place(end, items.len())).min(items.len());
                    to.extend(items.get(begin..end).into_iter().flatten());
                }
                Self::Each => to.extend(inner(value)),
                Self::Deep => {
                    let mut seen = HashSet::new();
                    deep(value, &mut seen, &mut to);
                }
                Self::Any(steps) => steps.iter().for_each(|step| to.extend(step.taken(root, &[value], missed))),
                Self::Where(filter) => to.extend(inner(value).filter(|item| filter.holds(root, item))),
            }
        }
        to
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// What is in a list or an object.
fn inner(value: &Value) -> impl Iterator<Item = &Value> {
    items(value).iter().chain(value.as_object().into_iter().flat_map(|fields| fields.values()))
}

/// Where a place that may be counted from the end is; beyond the end if there is no such place.
fn place(index: i64, length: usize) -> usize {
    let from_end = || length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?);
    if index < 0 { from_end().unwrap_or(usize::MAX) } else { usize::try_from(index).unwrap_or(usize::MAX) }
}

fn deep<'v>(value: &'v Value, seen: &mut HashSet<*const Value>, to: &mut Vec<&'v Value>) {
    if seen.insert(std::ptr::from_ref(value)) {
        to.push(value);
        inner(value).for_each(|item| deep(item, seen, to));
    }
}

/// Nothing is in nothing, and that is no mistake.
fn miss(missed: &mut Option<Missed>, field: &str, value: &Value) {
    if missed.is_none() && !value.is_null() {
        let known = value.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
        *missed = Some(Missed { field: field.to_owned(), known, is_list: value.is_array() });
    }
}

impl Filter {
    fn holds(&self, root: &Value, item: &Value) -> bool {
        let left = self.left.values(root, item);
        let Some((compare, right)) = &self.compared else { return left.iter().any(|value| !value.is_null()) };
        let right = right.values(root, item);
        left.iter().any(|left| right.iter().any(|right| compare.holds(left, right)))
    }
}

impl Operand {
    fn values<'v>(&'v self, root: &'v Value, item: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Path(path) => path.find(root, item).values,
            Self::Value(value) => vec![value],
        }
    }
}

impl Compare {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = order(left, right);
        match self {
            Self::Is => left == right || order == Some(Ordering::Equal),
            Self::IsNot => left != right && order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrSame => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::More => order == Some(Ordering::Greater),
            Self::MoreOrSame => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Which of two numbers or texts comes first.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// A value as it stands in a line: texts without quotes, nothing for nothing.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl FromStr for Path {
    type Err = InvalidPath;

    /// Reads a path, in braces or without.
    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        let inside = text.trim();
        let inside = inside.strip_prefix('{').and_then(|inside| inside.strip_suffix('}')).unwrap_or(inside);
        let mut reader = Reader { text: inside, at: 0 };
        let path = reader.path()?;
        if reader.rest().is_empty() { Ok(path) } else { Err(reader.wrong("nothing is expected")) }
    }
}

/// A text, read as far as `at`.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn wrong(&self, why: &'static str) -> InvalidPath {
        InvalidPath { text: self.text.to_owned(), why, at: self.text[..self.at].chars().count() + 1 }
    }

    /// Whether this comes next; then it is behind us.
    fn takes(&mut self, text: &str) -> bool {
        let takes = self.rest().starts_with(text);
        self.at += if takes { text.len() } else { 0 };
        takes
    }

    fn expects(&mut self, text: &str, why: &'static str) -> Result<(), InvalidPath> {
        if self.takes(text) { Ok(()) } else { Err(self.wrong(why)) }
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn path(&mut self) -> Result<Path, InvalidPath> {
        self.skip_spaces();
        let is_absolute = self.takes("$");
        let is_seen_from = is_absolute || self.takes("@");
        let mut steps = Vec::new();
        // `status` is `.status`.
        if !is_seen_from && !self.rest().starts_with(['.', '[']) {
            steps.push(self.field()?);
        }
        loop {
            if self.takes("..") {
                steps.push(Step::Deep);
                if !self.rest().starts_with('[') {
                    steps.push(self.field()?);
                }
            } else if self.takes(".") {
                let is_whole = steps.is_empty() && self.rest().is_empty();
                if !is_whole && !self.rest().starts_with('[') {
                    steps.push(self.field()?);
                }
            } else if self.takes("[") {
                steps.push(self.bracket()?);
            } else {
                self.skip_spaces();
                return Ok(Path { is_absolute, steps });
            }
        }
    }

    fn field(&mut self) -> Result<Step, InvalidPath> {
        if self.takes("*") {
            return Ok(Step::Each);
        }
        let (mut name, mut is_escaped) = (String::new(), false);
        while let Some(letter) = self.rest().chars().next() {
            let ends = letter.is_whitespace() || ".[](){},=!<>'\"*$@?".contains(letter);
            if ends && !is_escaped {
                break;
            }
            self.at += letter.len_utf8();
            is_escaped = letter == '\\' && !is_escaped;
            if !is_escaped {
                name.push(letter);
            }
        }
        if name.is_empty() { Err(self.wrong("a name is expected")) } else { Ok(Step::Field(name)) }
    }

    /// What stands in brackets, up to the closing one.
    fn bracket(&mut self) -> Result<Step, InvalidPath> {
        self.skip_spaces();
        if self.takes("?") {
            self.expects("(", "( is expected")?;
            let filter = self.filter()?;
            self.expects(")", "), or a comparison, is expected")?;
            self.expects("]", "] is expected")?;
            return Ok(Step::Where(Box::new(filter)));
        }
        let mut steps = Vec::new();
        loop {
            self.skip_spaces();
            let step = match self.rest().chars().next() {
                Some('*') => self.field()?,
                Some(quote @ ('\'' | '"')) => Step::Field(self.quoted(quote)?),
                _ => self.place()?,
            };
            steps.push(step);
            self.skip_spaces();
            if self.takes("]") {
                return Ok(if steps.len() == 1 { steps.remove(0) } else { Step::Any(steps) });
            }
            self.expects(",", "] or a comma is expected")?;
        }
    }

    /// `2`, `-1`, `1:3`, `:3`.
    fn place(&mut self) -> Result<Step, InvalidPath> {
        let begin = self.number()?;
        if self.takes(":") {
            return Ok(Step::Slice(begin, self.number()?));
        }
        begin.map(Step::Index).ok_or_else(|| self.wrong("a number, * or a name in quotes is expected"))
    }

    fn number(&mut self) -> Result<Option<i64>, InvalidPath> {
        let length = self.rest().find(|letter: char| !letter.is_ascii_digit() && letter != '-');
        let digits = &self.rest()[..length.unwrap_or(self.rest().len())];
        if digits.is_empty() {
            return Ok(None);
        }
        let number = digits.parse().map_err(|_| self.wrong("a whole number is expected"))?;
        self.at += digits.len();
        Ok(Some(number))
    }

    fn quoted(&mut self, quote: char) -> Result<String, InvalidPath> {
        let (mut text, mut is_escaped) = (String::new(), false);
        for (at, letter) in self.rest().char_indices().skip(1) {
            if letter == quote && !is_escaped {
                self.at += at + letter.len_utf8();
                return Ok(text);
            }
            is_escaped = letter == '\\' && !is_escaped;
            if !is_escaped {
                text.push(letter);
            }
        }
        Err(self.wrong("the quote is not closed"))
    }

    fn filter(&mut self) -> Result<Filter, InvalidPath> {
        let left = self.operand()?;
        self.skip_spaces();
        let compares = [
            ("==", Compare::Is),
            ("!=", Compare::IsNot),
            ("<=", Compare::LessOrSame),
            (">=", Compare::MoreOrSame),
            ("<", Compare::Less),
            (">", Compare::More),
        ];
        let compare = compares.into_iter().find(|(sign, _)| self.takes(sign));
        let compared = compare.map(|(_, compare)| Ok((compare, self.operand()?))).transpose()?;
        self.skip_spaces();
        Ok(Filter { left, compared })
    }

    fn operand(&mut self) -> Result<Operand, InvalidPath> {
        self.skip_spaces();
        match self.rest().chars().next() {
            Some(quote @ ('\'' | '"')) => Ok(Operand::Value(self.quoted(quote)?.into())),
            Some('@' | '$' | '.') => Ok(Operand::Path(self.path()?)),
            _ => {
                let length = self.rest().find(|letter: char| letter.is_whitespace() || "()=!<>".contains(letter));
                let word = &self.rest()[..length.unwrap_or(self.rest().len())];
                let value = serde_json::from_str(word);
                let value =
                    value.map_err(|_| self.wrong("a path such as @.status, a number or a quoted text is expected"))?;
                self.at += word.len();
                Ok(Operand::Value(value))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Vec<String> {
        let value = json!({"items": [
            {"name": "a", "ready": true, "size": 3, "labels": {"node/zone": "x", "a.b": "y"}},
            {"name": "b", "ready": false, "size": 20, "labels": {}, "next": null},
        ]});
        let path: Path = path.parse().unwrap_or_else(|error| panic!("{error}"));
        path.find(&value, &value).values.into_iter().map(shown).collect()
    }

    #[test]
    fn paths_lead_where_kubectl_goes_with_them() {
        for (path, expected) in [
            ("{.items[*].name}", vec!["a", "b"]),
            ("items[*].name", vec!["a", "b"]),
            ("$.items[0].name", vec!["a"]),
            (".items[-1].name", vec!["b"]),
            (".items[0:1].name", vec!["a"]),
            (".items[1:]['name','size']", vec!["b", "20"]),
            (".items[7].name", vec![]),
            ("..name", vec!["a", "b"]),
            (".items[*].labels['a.b']", vec!["y"]),
            (r".items[*].labels.a\.b", vec!["y"]),
            (".items[*].labels.node/zone", vec!["x"]),
            ("{.items[?(@.ready==true)].name}", vec!["a"]),
            ("{.items[?(@.size > 3)].name}", vec!["b"]),
            ("{.items[?(@.name != 'a')].size}", vec!["20"]),
            ("{.items[?(@.next)].name}", vec![]),
            (".items[*].next.deeper", vec![]),
        ] {
            assert_eq!(found(path), expected, "{path}");
        }
    }

    #[test]
    fn a_field_that_is_not_there_is_told_with_those_that_are() {
        let value = json!({"status": "ready", "labels": {"tier": "web"}, "items": [1]});
        let missed = |path: &str| path.parse::<Path>().expect("a path").find(&value, &value).missed;
        let top = ["items", "labels", "status"].map(str::to_owned).into();
        assert_eq!(missed(".statsu"), Some(Missed { field: "statsu".into(), known: top, is_list: false }));
        assert_eq!(missed(".labels.teir").expect("missed").known, ["tier".to_owned()].into());
        assert!(missed(".items.name").expect("missed").is_list);
        assert_eq!(missed(".status"), None);
    }

    #[test]
    fn what_is_no_path_is_told_with_its_place() {
        for (path, at) in [(".items[", 8), (".a b", 4), ("{.items[?(@.a=3)]}", 13), (".a['b", 4), (".a..", 5), ("", 1)]
        {
            let error = path.parse::<Path>().expect_err(path);
            assert_eq!(error.at, at, "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange_to_be_read(text in "[.\\[\\]a*'\"?(@)=:,$\\\\ -9ä]{0,24}") {
            let value = json!({"a": [{"a": 1}]});
            if let Ok(path) = text.parse::<Path>() {
                path.find(&value, &value);
            }
        }
    }
}
