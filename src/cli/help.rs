//! `bailiwick help`: the pages of the guide, and the help of commands.

use std::{
    env,
    io::{self, IsTerminal, Write},
    process::{Command as Process, Stdio},
};

use clap::{
    Args, Command, CommandFactory,
    builder::{PossibleValue, TypedValueParser},
};

use super::{
    Cli,
    exit::{CliError, Exit},
    output::OutputError,
};
use crate::{
    guide::{PAGES, Page},
    manifest::nearest,
    text::cut,
};

/// The word that lists all pages.
const TOPICS: &str = "topics";

#[derive(Debug, Args)]
pub(super) struct HelpArgs {
    /// A topic (`topics` lists them), or a command
    #[arg(value_name = "TOPIC", value_parser = Words, hide_possible_values = true)]
    word: Option<String>,
    /// The rest of a command: `help journal check`
    #[arg(value_name = "SUBCOMMAND", hide = true)]
    rest: Vec<String>,
}

/// Any word; those that mean something are known to shell completion.
#[derive(Clone, Debug)]
struct Words;

impl TypedValueParser for Words {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let topics = PAGES.iter().map(|page| PossibleValue::new(page.topic).help(page.about));
        Some(Box::new([PossibleValue::new(TOPICS).help("all pages of the guide")].into_iter().chain(topics)))
    }
}

pub(super) fn main(args: &HelpArgs) -> Result<Exit, CliError> {
    let text = text(args)?;
    page(&text).map_err(|error| CliError::from(OutputError::Write(error)))?;
    Ok(Exit::Ok)
}

/// What is shown for these words.
#[cfg(test)]
pub(super) fn shown(words: &[&str]) -> Result<String, CliError> {
    let mut words = words.iter().map(|word| (*word).to_owned());
    text(&HelpArgs { word: words.next(), rest: words.collect() })
}

fn text(args: &HelpArgs) -> Result<String, CliError> {
    let Some(word) = &args.word else { return Ok(Cli::command().render_long_help().to_string()) };
    if args.rest.is_empty() {
        if word == TOPICS {
            return Ok(topics());
        }
        if let Some(page) = Page::of(word) {
            let is_command = Cli::command().find_subcommand(word).is_some();
            let options = format!("\nOptions of the command: `bailiwick {word} --help`\n");
            return Ok(page.for_terminal() + if is_command { &options } else { "" });
        }
    }
    let mut command = Cli::command();
    // Gives subcommands their full names and the options of all commands.
    command.build();
    let mut found = &mut command;
    for part in std::iter::once(word).chain(&args.rest) {
        let known: Vec<String> = found.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        found = found.find_subcommand_mut(part).ok_or_else(|| unknown(part, &known, args.rest.is_empty()))?;
    }
    Ok(found.render_long_help().to_string())
}

fn unknown(word: &str, commands: &[String], may_be_topic: bool) -> CliError {
    let topics = PAGES.iter().map(|page| page.topic).filter(|_| may_be_topic);
    let error = CliError::usage(format!("there is no topic or command {:?}", cut(word, 40)));
    match nearest(word, topics.chain(commands.iter().map(String::as_str))) {
        Some(near) => error.next(format!("did you mean {near}? `bailiwick help topics` lists all pages")),
        None => error.next("`bailiwick help topics` lists all pages, `bailiwick help` all commands"),
    }
}

fn topics() -> String {
    let width = PAGES.iter().map(|page| page.topic.len()).max().unwrap_or(0);
    let lines: Vec<String> = PAGES.iter().map(|page| format!("  {:width$}  {}\n", page.topic, page.about)).collect();
    format!(
        "Pages of the guide:\n{}\nShow one with `bailiwick help TOPIC`; `bailiwick help` lists all commands.\n",
        lines.concat()
    )
}

/// Through the user's pager where people look at a terminal; else as it is.
fn page(text: &str) -> io::Result<()> {
    let pager = env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty() && io::stdout().is_terminal());
    if let Some(pager) = pager
        && shown_by(&pager, text)?
    {
        return Ok(());
    }
    io::stdout().lock().write_all(text.as_bytes())
}

/// Whether this pager has shown the text: one that does not exist has not. It may be a command with arguments.
fn shown_by(pager: &str, text: &str) -> io::Result<bool> {
    /// What a shell ends with that finds no such program, or may not run it.
    const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];
    let Ok(mut pager) = Process::new("sh").args(["-c", pager]).stdin(Stdio::piped()).spawn() else { return Ok(false) };
    // A reader who leaves the pager early has read enough.
    if let Some(mut input) = pager.stdin.take() {
        input.write_all(text.as_bytes()).ok();
    }
    Ok(!NOT_RUN.contains(&pager.wait()?.code()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::shown_by;

    #[test]
    fn a_pager_gets_the_text_and_one_that_is_not_there_has_shown_nothing() {
        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join("shown");
        let pager = format!("cat > '{}'", file.display());
        assert!(shown_by(&pager, "a page").expect("it runs"));
        assert_eq!(fs::read_to_string(file).expect("the text"), "a page");
        assert!(!shown_by("no-such-pager-here --option", "a page").expect("the shell runs"));
        assert!(shown_by("true", &"a page that nobody reads\n".repeat(100_000)).expect("it runs"));
    }
}
