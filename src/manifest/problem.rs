//! What is wrong with a manifest, and how that is shown.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};
use unicode_width::UnicodeWidthStr;

use super::limits;
use crate::text::{cut, harmless};
use bailiwick_actors::vocab::sort_by_key;

/// Where something stands: lines and columns from 1, columns counted in letters. Line 0 means the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    #[serde(serialize_with = "harmless_text")]
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// A file as a whole.
    pub fn file(name: &str) -> Self {
        Self { file: name.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = harmless(&self.file);
        if self.line == 0 { f.write_str(&file) } else { write!(f, "{file}:{}:{}", self.line, self.column) }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What kind of problem it is; the texts are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// All codes, for the documentation.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable text: `unknown-field`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    UnknownField = "unknown-field",
    MissingField = "missing-field",
    WrongType = "wrong-type",
    BadSize = "bad-size",
    BadDuration = "bad-duration",
    BadName = "bad-name",
    /// A text with characters that have no business where it stands.
    BadText = "bad-text",
    Duplicate = "duplicate",
    /// Two things that are said exclude each other.
    Conflict = "conflict",
    DanglingReference = "dangling-reference",
    UnsupportedKind = "unsupported-kind",
    UnsupportedVersion = "unsupported-version",
    TooLarge = "too-large",
    TooDeep = "too-deep",
    TooMany = "too-many",
    /// A pool that cannot make what is asked of it.
    BadPool = "bad-pool",
    BadYaml = "bad-yaml",
    NotUtf8 = "not-utf8",
    Unreadable = "unreadable",
    Empty = "empty",
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One thing that is wrong. Its `Display` form is a few lines, like a compiler's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    #[serde(flatten)]
    pub place: Place,
    /// The way to the field: `spec.workloads[1].command`; empty where no field is meant.
    pub field: String,
    pub code: Code,
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The line of the source.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
}

/// A piece of one source line, made harmless, with the width in front of the place that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    pub caret: usize,
}

impl Problem {
    pub(super) fn new(place: Place, field: impl Into<String>, code: Code, message: impl AsRef<str>) -> Self {
        let message = harmless(&cut(message.as_ref(), 400)).into_owned();
        let field = harmless(&cut(&field.into(), 200)).into_owned();
        Self { place, field, code, message, next: None, excerpt: None }
    }

    pub(super) fn next(mut self, next: impl AsRef<str>) -> Self {
        self.next = Some(harmless(&cut(next.as_ref(), 400)).into_owned());
        self
    }

    /// Takes the line that is meant from the text of the file.
    pub(super) fn shown_in(mut self, text: &str) -> Self {
        if self.place.line > 0 {
            self.excerpt = Excerpt::of(text, self.place.line, self.place.column);
        }
        self
    }
}

impl Excerpt {
    /// The letters shown in front of the place, and after it.
    const BEFORE: usize = 60;
    const AFTER: usize = 60;

    fn of(text: &str, line: u32, column: u32) -> Option<Self> {
        let line = text.lines().nth(line as usize - 1)?;
        let at = column as usize - 1;
        let skipped = at.saturating_sub(Self::BEFORE);
        let before: String = line.chars().skip(skipped).take(at - skipped).collect();
        let rest: String = line.chars().skip(at).take(Self::AFTER + 1).collect();
        let tame = |text: &str| harmless(&text.replace('\t', " ")).into_owned();
        let before = format!("{}{}", if skipped > 0 { "…" } else { "" }, tame(&before));
        let caret = before.width();
        Some(Self { text: format!("{before}{}", cut(&tame(&rest), Self::AFTER)), caret })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{} ({})", self.message, self.code.as_str())?;
        if let Some(excerpt) = &self.excerpt {
            let number = self.place.line.to_string();
            let margin = " ".repeat(number.len());
            write!(f, "\n  {number} | {}\n  {margin} | {:caret$}^", excerpt.text, "", caret = excerpt.caret)?;
        }
        if let Some(next) = &self.next {
            write!(f, "\n  next: {next}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with what was read. Nothing of it was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct ManifestError {
    /// In the order of the files; at most [`limits::PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
    /// Whether reading ended early because there were so many.
    pub more: bool,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            let gap = if number == 0 { "" } else { "\n" };
            write!(f, "{gap}{problem}")?;
        }
        if self.more {
            write!(f, "\nshowing the first {}; there may be more", self.problems.len())?;
        }
        Ok(())
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    list: Vec<Problem>,
    dropped: bool,
}

impl Problems {
    pub(super) fn add(&mut self, problem: Problem) {
        if self.list.len() < limits::PROBLEMS_MAX {
            self.list.push(problem);
        } else {
            self.dropped = true;
        }
    }

    /// Whether one more would be dropped: then nobody need look for one.
    pub(super) fn are_enough(&self) -> bool {
        self.list.len() >= limits::PROBLEMS_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The value, if nothing is wrong.
    pub(super) fn or<T>(mut self, value: T) -> Result<T, ManifestError> {
        if self.list.is_empty() {
            return Ok(value);
        }
        let more = self.dropped || self.are_enough();
        self.sort();
        Err(ManifestError { problems: self.list, more })
    }
}

impl Problems {
    /// Files in the order in which they were met, places from the top.
    fn sort(&mut self) {
        let mut files: Vec<Arc<str>> = Vec::new();
        for problem in &self.list {
            if !files.contains(&problem.place.file) {
                files.push(problem.place.file.clone());
            }
        }
        sort_by_key(&mut self.list, |problem| {
            let Place { file, line, column } = &problem.place;
            (files.iter().position(|known| known == file), *line, *column)
        });
    }
}

fn harmless_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&harmless(text))
}
