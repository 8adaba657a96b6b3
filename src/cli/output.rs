//! What commands print: tables for people, JSON and YAML for programs.
//!
//! A command builds what it has to say as one serializable value, and a [`Table`] of it for people. [`Format::show`]
//! writes the one that was asked for.

mod path;
mod picked;
pub mod style;
mod table;
mod template;
pub mod time;

use std::{
    ffi::OsStr,
    io::{self, Write},
    str::FromStr,
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::text::{harmless, harmless_json, is_hostile};

pub use path::{InvalidPath, Missed, Path, shown};
pub use picked::{Picked, known_fields};
pub use table::{Cell, Column, Field, Sheet, Table};

/// What `-o` asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Format {
    /// Aligned columns.
    #[default]
    Table,
    /// Aligned columns, and more of them.
    Wide,
    /// One JSON value, indented.
    Json,
    /// One YAML document.
    Yaml,
    /// Only some of it.
    Picked(Picked),
}

/// Reads what `-o` asks for; only some commands have objects to pick from.
#[derive(Clone, Debug)]
pub struct FormatParser;

impl FormatParser {
    fn possible() -> [PossibleValue; 7] {
        [
            PossibleValue::new("table").help("Aligned columns"),
            PossibleValue::new("wide").help("Aligned columns, and more of them, unshortened"),
            PossibleValue::new("json").help("One JSON value, indented"),
            PossibleValue::new("yaml").help("One YAML document"),
            PossibleValue::new("name").help("KIND/NAME, one a line (get, describe)"),
            PossibleValue::new("jsonpath=TEMPLATE")
                .help("What stands at paths: `{.status}` of one object, `{.items[*].name}` of a list (get, describe)"),
            PossibleValue::new("custom-columns=COLUMNS")
                .help("Columns of your own: `NAME:.name,ZONE:.labels.zone` (get, describe)"),
        ]
    }
}

impl TypedValueParser for FormatParser {
    type Value = Format;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Format, clap::Error> {
        match value.to_str().map(Picked::parse) {
            Some(Ok(Some(picked))) => return Ok(Format::Picked(picked)),
            Some(Err(error)) => return Err(command.clone().error(clap::error::ErrorKind::ValueValidation, error)),
            Some(Ok(None)) | None => (),
        }
        let word = PossibleValuesParser::new(Self::possible()).parse_ref(command, argument, value)?;
        Ok(word.parse().unwrap_or_default())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::possible().into_iter()))
    }
}

impl FromStr for Format {
    type Err = ();

    /// Reads the formats that every command has.
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "table" => Ok(Self::Table),
            "wide" => Ok(Self::Wide),
            "json" => Ok(Self::Json),
            "yaml" => Ok(Self::Yaml),
            _ => Err(()),
        }
    }
}

/// Why something could not be printed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("cannot write the output")]
    Write(#[from] io::Error),
    #[error("cannot write the value as JSON")]
    Json(#[from] serde_json::Error),
    #[error("cannot write the value as YAML")]
    Yaml(#[from] serde_saphyr::ser_error::Error),
    #[error("there is no field {:?} in what is shown", .0.field)]
    NoField(Missed),
}

impl OutputError {
    /// Whether the reader has gone (`bailiwick log | head`), which is nobody's error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Writes lines for people to the standard output, made harmless to a terminal.
///
/// # Errors
/// If the standard output cannot be written to.
pub fn lines(text: &str) -> Result<(), OutputError> {
    let mut out = standard();
    for line in text.lines() {
        writeln!(out, "{}", harmless(line))?;
    }
    Ok(())
}

/// The standard output; in a test that collects what is printed, its own.
#[cfg(not(test))]
fn standard() -> impl Write {
    anstream::stdout().lock()
}

#[cfg(test)]
fn standard() -> impl Write {
    collected::Out
}

/// How many columns the terminal has that is written to, or `COLUMNS` says; none if there is room for everything.
#[cfg(not(test))]
fn room() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || {
        let out = io::stdout();
        let size = io::IsTerminal::is_terminal(&out).then(|| rustix::termios::tcgetwinsize(&out).ok()).flatten();
        size.map(|size| usize::from(size.ws_col))
    };
    told.or_else(of_terminal).filter(|columns| *columns > 0)
}

#[cfg(test)]
fn room() -> Option<usize> {
    None
}

impl Format {
    /// Whether it is meant for a program.
    pub fn is_for_programs(&self) -> bool {
        matches!(self, Self::Json | Self::Yaml | Self::Picked(_))
    }

    /// Writes the value, or the table of it, to the standard output: with colours if that is a terminal and `NO_COLOR` is
    /// not set.
    ///
    /// # Errors
    /// If the value cannot be serialized, or the standard output be written to.
    pub fn show<T: Into<Sheet>>(&self, value: &impl Serialize, table: impl FnOnce() -> T) -> Result<(), OutputError> {
        self.write_to(&mut standard(), value, || {
            let sheet = table().into();
            #[cfg(test)]
            collected::note_gaps(&sheet);
            sheet
        })
    }

    /// Writes the value, or the table of it, as [`Self::show`] does. The default table of a list fits the terminal: its long
    /// texts are shortened.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn show_list<T: Into<Sheet>>(
        &self,
        value: &impl Serialize,
        table: impl FnOnce() -> T,
    ) -> Result<(), OutputError> {
        self.show(value, || {
            let sheet = table().into();
            match room() {
                Some(room) if *self == Self::Table => sheet.narrow().fitted(room),
                _ => sheet,
            }
        })
    }

    /// Writes the value, or a table under a heading for each part of it, as [`Self::show`] does.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn show_parts(&self, value: &impl Serialize, parts: Vec<(String, Sheet)>) -> Result<(), OutputError> {
        if self.is_for_programs() {
            return self.show(value, || Sheet::of(Vec::new(), Vec::new()));
        }
        for (number, (heading, sheet)) in parts.into_iter().enumerate() {
            let bold = style::HEADING;
            let gap = if number == 0 { "" } else { "\n" };
            writeln!(standard(), "{gap}{bold}{}{bold:#}", harmless(&heading))?;
            self.show_list(value, || sheet)?;
        }
        Ok(())
    }

    /// Writes the last row of a table alone, as it would stand below the others; with a heading and titles, if one is given.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn show_last(&self, heading: Option<&str>, sheet: Sheet) -> Result<(), OutputError> {
        let sheet = if *self == Self::Wide { sheet } else { sheet.narrow() };
        let sheet = room().filter(|_| *self == Self::Table).map_or(sheet.clone(), |room| sheet.fitted(room));
        let mut out = standard();
        if let Some(heading) = heading {
            let bold = style::HEADING;
            writeln!(out, "\n{bold}{}{bold:#}", harmless(heading))?;
            sheet.write_titles(&mut out)?;
        }
        sheet.write_last(&mut out)?;
        Ok(out.flush()?)
    }

    /// Writes the value for programs, or these lines for people, to the standard output.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn tell(&self, value: &impl Serialize, text: &str) -> Result<(), OutputError> {
        let mut out = standard();
        match self {
            Self::Table | Self::Wide => return lines(text),
            Self::Json => writeln!(out, "{}", json(value)?)?,
            Self::Yaml => write!(out, "{}", yaml(value)?)?,
            Self::Picked(picked) => write!(out, "{}", picked_from(picked, value)?)?,
        }
        Ok(out.flush()?)
    }

    /// Writes as [`Self::show`] does.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn write_to<T: Into<Sheet>>(
        &self,
        out: &mut impl Write,
        value: &impl Serialize,
        table: impl FnOnce() -> T,
    ) -> Result<(), OutputError> {
        match self {
            Self::Table => table().into().narrow().write_to(out)?,
            Self::Wide => table().into().write_to(out)?,
            Self::Json => writeln!(out, "{}", json(value)?)?,
            Self::Yaml => write!(out, "{}", yaml(value)?)?,
            Self::Picked(picked) => write!(out, "{}", picked_from(picked, value)?)?,
        }
        out.flush()?;
        Ok(())
    }
}

/// What is picked, on harmless lines.
fn picked_from(picked: &Picked, value: &impl Serialize) -> Result<String, OutputError> {
    let text = picked.of(&serde_json::to_value(value)?).map_err(OutputError::NoField)?;
    let harmless = |letter: char| {
        if is_hostile(letter) && !matches!(letter, '\n' | '\t') {
            letter.escape_default().to_string()
        } else {
            letter.into()
        }
    };
    Ok(text.chars().map(harmless).collect())
}

fn json(value: &impl Serialize) -> Result<String, OutputError> {
    Ok(harmless_json(&serde_json::to_string_pretty(value)?).into_owned())
}

fn yaml(value: &impl Serialize) -> Result<String, OutputError> {
    let text = serde_saphyr::to_string(value)?;
    // The serializer escapes control characters, but not those that turn the direction of text. JSON is YAML too, and
    // there everything can be escaped.
    let is_harmless = text.chars().all(|letter| letter == '\n' || !is_hostile(letter));
    if is_harmless { Ok(text) } else { Ok(json(value)? + "\n") }
}

/// What commands print on this thread, for tests that read it.
#[cfg(test)]
pub(crate) mod collected {
    use std::{cell::RefCell, io, mem};

    use super::Sheet;

    thread_local! {
        static PRINTED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        static GAPS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) struct Out;

    impl io::Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            PRINTED.with_borrow_mut(|printed| printed.extend_from_slice(bytes));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(super) fn note_gaps(sheet: &Sheet) {
        GAPS.with_borrow_mut(|gaps| gaps.extend(sheet.gaps()));
    }

    /// What was printed since the last time, and the required columns that were empty in it.
    pub(crate) fn take() -> (String, Vec<&'static str>) {
        let text = String::from_utf8(PRINTED.take()).expect("text");
        (anstream::adapter::strip_str(&text).to_string(), GAPS.with_borrow_mut(mem::take))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Machine {
        name: &'static str,
        life: &'static str,
        note: &'static str,
    }

    fn printed(format: Format) -> String {
        let machine = Machine { name: "clerk", life: "alive", note: "yes: no\n- \u{1b}[1m\u{202e}\u{9b}" };
        let table = || {
            let columns = [Column::always("NAME"), Column::always("LIFE"), Column::wide("NOTE")];
            let mut table = Table::of(columns);
            table.add([Cell::from(machine.name), Cell::good(machine.life), Cell::from(machine.note)]);
            table
        };
        let mut out = anstream::StripStream::new(Vec::new());
        format.write_to(&mut out, &machine, table).expect("written");
        String::from_utf8(out.into_inner()).expect("text")
    }

    #[test]
    fn the_table_is_for_people() {
        assert_eq!(printed(Format::Table), "NAME   LIFE\nclerk  alive\n");
        assert_eq!(printed(Format::Wide), "NAME   LIFE   NOTE\nclerk  alive  yes: no\\n- \\u{1b}[1m\\u{202e}\\u{9b}\n");
    }

    #[test]
    fn json_and_yaml_say_the_same() {
        let json: serde_json::Value = serde_json::from_str(&printed(Format::Json)).expect("json");
        let yaml: serde_json::Value = serde_saphyr::from_str(&printed(Format::Yaml)).expect("yaml");
        assert_eq!(json, yaml);
        assert_eq!(json["note"], "yes: no\n- \u{1b}[1m\u{202e}\u{9b}");
    }

    #[test]
    fn no_format_passes_control_characters_on() {
        for format in [Format::Table, Format::Wide, Format::Json, Format::Yaml] {
            let text = printed(format);
            assert!(text.chars().all(|letter| letter == '\n' || !is_hostile(letter)), "{text:?}");
        }
    }
}
