//! What an exec provider has to know.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use bailiwick_actors::{ports::CallBudget, vocab::Name};
use uuid::Uuid;

/// What an exec provider has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecConfig {
    /// As manifests call it.
    pub name: Name,
    /// The program and its arguments. Run without a shell; a program without a slash is
    /// looked for in `PATH`.
    pub command: Vec<OsString>,
    /// Where it runs; in the node's working directory, if nothing is said.
    pub directory: Option<PathBuf>,
    /// Variables of the node's environment that the process gets beside `PATH`, `HOME`, `LANG` and `TMPDIR`. Their values
    /// are taken for secrets.
    pub env: Vec<String>,
    /// Where its own directory `state` and what the node notes about the process lie; made if it is not there.
    pub dir: PathBuf,
    pub limits: ExecLimits,
    /// The journal that what is made belongs to: said with the first line, kept by the provider with what it makes, and what
    /// belongs to another one is nobody's here. The node sets it; none outside of a node.
    pub owner: Option<Uuid>,
}

/// How much an exec provider may write, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecLimits {
    /// The longest line in either direction, in bytes. Default 1 MiB.
    pub line_bytes_max: usize,
    /// How many lines beside answers may come within a second. Default 1,000.
    pub notes_per_second_max: u32,
    /// How many calls wait or are under way at most. Default 10,000.
    pub calls_max: usize,
    /// From the start to the answer to the first line. Default 10 s.
    pub hello_time: Duration,
    /// How long the process may write nothing at all while it owes an answer. Default 150 s, a little more than a node waits
    /// for a call (`callTimeout` of its policy, 120 s).
    pub silence: Duration,
    /// How long one call may be under way; who answers others meanwhile has forgotten it. Default 15 min.
    pub call_time: Duration,
    /// From the end of its standard input to SIGTERM. Default 5 s.
    pub end_grace: Duration,
    /// From SIGTERM to SIGKILL. Default 2 s.
    pub term_grace: Duration,
    /// The pause after the first unexpected end; it doubles with each that follows. Default 100 ms.
    pub pause_first: Duration,
    /// The longest pause. Default 30 s.
    pub pause_max: Duration,
    /// Who has served for so long has recovered: the next pause is the first one again. Default 60 s.
    pub recovered_after: Duration,
    /// How often the node may call it; as often as it has something to say, if none.
    pub budget: Option<CallBudget>,
}

impl Default for ExecLimits {
    fn default() -> Self {
        Self {
            line_bytes_max: 1024 * 1024,
            notes_per_second_max: 1_000,
            calls_max: 10_000,
            hello_time: Duration::from_secs(10),
            silence: Duration::from_secs(150),
            call_time: Duration::from_secs(900),
            end_grace: Duration::from_secs(5),
            term_grace: Duration::from_secs(2),
            pause_first: Duration::from_millis(100),
            pause_max: Duration::from_secs(30),
            recovered_after: Duration::from_secs(60),
            budget: None,
        }
    }
}

impl ExecConfig {
    /// A provider of this name and command, whose directory is below `root` under its name.
    pub fn new(name: Name, command: Vec<OsString>, root: &Path) -> Self {
        let dir = root.join(name.as_str());
        Self { name, command, directory: None, env: Vec::new(), dir, limits: ExecLimits::default(), owner: None }
    }

    /// The directory that is the provider's own.
    pub fn state_dir(&self) -> PathBuf {
        self.dir.join("state")
    }

    /// Where the node notes which process serves, so that one which outlives it is ended.
    pub(super) fn process_file(&self) -> PathBuf {
        self.dir.join("process.json")
    }

    pub(super) fn make_directories(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.state_dir())
    }
}

/// Says that a text is no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCommand {
    #[error("the command is empty")]
    Empty,
    #[error("a quotation mark is never closed")]
    OpenQuote,
    #[error("the last character is a backslash that escapes nothing")]
    OpenEscape,
}

/// Splits a command into words as a shell would, and does nothing else that a shell does: blanks stand between words,
/// quotation marks of either kind keep them together, and a backslash protects the next character (not within `'…'`):
/// `python3 'my provider.py' --zone a` is four words.
///
/// # Errors
/// If there is no word, or something is left open.
pub fn command_words(text: &str) -> Result<Vec<String>, BadCommand> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let protected = letters.next().ok_or(BadCommand::OpenEscape)?;
                word.get_or_insert_default().push(protected);
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(BadCommand::OpenQuote);
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) { Err(BadCommand::Empty) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_and_nothing_is_expanded() {
        assert_eq!(command_words(r#" a  "b c" d\ e'f "g' $HOME * "#).unwrap(), ["a", "b c", "d ef \"g", "$HOME", "*"]);
        assert_eq!(command_words(r#"a "" '\'"#).unwrap(), ["a", "", "\\"]);
    }

    #[test]
    fn what_is_left_open_is_refused() {
        let bad = ["", "  ", "''", "a 'b", "a \"b", "a\\"].map(|text| command_words(text).unwrap_err());
        use BadCommand::{Empty, OpenEscape, OpenQuote};
        assert_eq!(bad, [Empty, Empty, Empty, OpenQuote, OpenQuote, OpenEscape]);
    }
}
