//! The node's configuration file. Every option of `serve` is a setting of the same name, and exists once: as an option.
//!
//! What the file says and neither the command line nor the environment does, is put behind the command line, as if it had been
//! written there. So a value means in the file what it means there, and is checked by the same parser.

mod reading;

use std::{
    ffi::OsString,
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use clap::{
    ArgMatches, Command, CommandFactory,
    builder::Resettable,
    error::{ContextKind, ErrorKind},
    parser::ValueSource,
};

use self::reading::{Problem, Value};
use super::{
    Cli,
    exit::{CliError, Exit},
};
use crate::{config::default_data_dir, ownership};

/// The file in a data directory that is read unless another is named.
pub(super) const FILE: &str = "config.toml";
/// The largest such file, in bytes.
const BYTES_MAX: u64 = 64 * 1024;
/// The command that is set up like this.
const COMMAND: &str = "serve";

/// Options of `serve` that are no settings: they lead to the file, or are about one call.
const NO_SETTINGS: [&str; 6] = ["config", "data_dir", "node", "output", "help", "version"];

/// What a file says.
#[derive(Debug)]
pub(super) struct Settings {
    pub path: PathBuf,
    settings: Vec<Setting>,
}

/// What a file says of one option.
#[derive(Debug)]
struct Setting {
    /// As the parser knows it.
    id: String,
    /// As people write it: the option's name.
    name: String,
    line: usize,
    value: Value,
}

impl Settings {
    /// Reads a file, and checks every setting in it.
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        let cannot = |error: io::Error| {
            CliError::new(Exit::NoInput, "unreadable", format!("cannot read {}", path.display())).because(&error)
        };
        let mut text = String::new();
        let length =
            fs::File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_string(&mut text)).map_err(cannot)?;
        if length as u64 > BYTES_MAX {
            return Err(bad(path, &[Problem { line: 1, text: "the file is larger than 64 KiB".into() }]));
        }
        Self::of(path, &text)
    }

    fn of(path: &Path, text: &str) -> Result<Self, CliError> {
        let settings = reading::settings(text, &options()).map_err(|problems| bad(path, &problems))?;
        let read = Self { path: path.to_owned(), settings };
        let problems: Vec<Problem> = read.settings.iter().filter_map(Setting::problem).collect();
        if problems.is_empty() { Ok(read) } else { Err(bad(path, &problems)) }
    }

    pub(super) fn count(&self) -> usize {
        self.settings.len()
    }

    /// Where an option is set.
    pub(super) fn line(&self, id: &str) -> Option<usize> {
        self.settings.iter().find(|setting| setting.id == id).map(|setting| setting.line)
    }

    /// What an option of one value is set to.
    pub(super) fn value(&self, id: &str) -> Option<&str> {
        let setting = self.settings.iter().find(|setting| setting.id == id)?;
        match &setting.value {
            Value::Values(values) => values.first().map(String::as_str),
            Value::Flag(_) => None,
        }
    }

    /// What the file adds to a command line that has said of some options already what they are.
    fn arguments(&self, is_said: impl Fn(&str) -> bool) -> Vec<OsString> {
        let added = self.settings.iter().filter(|setting| !is_said(&setting.id));
        added.flat_map(Setting::arguments).map(OsString::from).collect()
    }
}

impl Setting {
    fn arguments(&self) -> Vec<String> {
        let name = &self.name;
        match &self.value {
            Value::Flag(true) => vec![format!("--{name}")],
            Value::Flag(false) => Vec::new(),
            Value::Values(values) => values.iter().map(|value| format!("--{name}={value}")).collect(),
        }
    }

    /// What the option's own parser has against the value. What other options it needs is seen when all are together.
    fn problem(&self) -> Option<Problem> {
        let line = ["bailiwick".to_owned(), COMMAND.to_owned()].into_iter().chain(self.arguments());
        let error = without_environment().try_get_matches_from(line).err()?;
        let is_of_others = matches!(error.kind(), ErrorKind::MissingRequiredArgument | ErrorKind::ArgumentConflict);
        let told = || {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let valid = error.get(ContextKind::ValidValue).map(|values| format!("; one of {values}"));
            Problem { line: self.line, text: format!("{first}{}", valid.unwrap_or_default()) }
        };
        (!is_of_others).then(told)
    }
}

/// The options of `serve` that are settings.
pub(super) fn options() -> Vec<clap::Arg> {
    let mut command = Cli::command();
    // Gives it the options of all commands.
    command.build();
    let serve = command.find_subcommand(COMMAND).expect("there is this command");
    let is_setting = |arg: &&clap::Arg| arg.get_long().is_some() && !NO_SETTINGS.contains(&arg.get_id().as_str());
    serve.get_arguments().filter(is_setting).cloned().collect()
}

fn without_environment() -> Command {
    let plain = |arg: clap::Arg| arg.env(Resettable::<clap::builder::OsStr>::Reset);
    Cli::command().mut_args(plain).mut_subcommand(COMMAND, |serve| serve.mut_args(plain))
}

/// The same command line with what the configuration file adds, and that file; others than that of `serve` stay as they are.
pub(super) fn with_file(mut args: Vec<OsString>) -> Result<(Vec<OsString>, Option<Settings>), CliError> {
    if !args.iter().any(|arg| arg == COMMAND) {
        return Ok((args, None));
    }
    // What is wrong with the line is told when it is read again.
    let Ok(matches) = Cli::command().ignore_errors(true).try_get_matches_from(&args) else { return Ok((args, None)) };
    let Some((COMMAND, said)) = matches.subcommand() else { return Ok((args, None)) };
    let Some(path) = place(said) else { return Ok((args, None)) };
    ownership::check_file(&path)?;
    let settings = Settings::read(&path)?;
    args.extend(settings.arguments(|id| is_said(said, id)));
    if !is_said(said, "config") {
        args.extend([OsString::from("--config"), path.into_os_string()]);
    }
    Ok((args, Some(settings)))
}

fn is_said(matches: &ArgMatches, id: &str) -> bool {
    matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
}

/// Where the file is: where it is said to be, or in the data directory if there is one.
fn place(said: &ArgMatches) -> Option<PathBuf> {
    let named = said.get_one::<PathBuf>("config").cloned();
    named.or_else(|| {
        let data_dir = said.get_one::<PathBuf>("data_dir").cloned().or_else(default_data_dir)?;
        Some(data_dir.join(FILE)).filter(|file| file.exists())
    })
}

fn bad(path: &Path, problems: &[Problem]) -> CliError {
    let told = |problem: &Problem| format!("line {}: {}", problem.line, problem.text);
    let error = CliError::new(Exit::Config, "bad-config", format!("{} cannot be used", path.display()));
    let causes = problems.iter().map(told).collect();
    CliError { causes, ..error }
        .next("`bailiwick config show` lists all settings, `bailiwick serve --help` explains them")
}

#[cfg(test)]
mod tests;
