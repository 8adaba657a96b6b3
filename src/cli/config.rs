//! `bailiwick config`: how a node would be run, and where each setting comes from.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use clap::{ArgAction, ArgMatches, Args, CommandFactory, Subcommand, parser::ValueSource};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Cli, Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table},
    session,
    settings::{self, Settings},
    usage,
};
use crate::words::count;

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every setting that `serve` would have now, and where it comes from
    Show(ShowArgs),
    /// Check a configuration file; exits with 78 if it cannot be used
    Check(CheckArgs),
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The configuration file [default: config.toml in the data directory, if it is there]
    #[arg(long, value_name = "FILE", env = "BAILIWICK_CONFIG")]
    config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The configuration file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// One setting as it would hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row {
    setting: String,
    /// A text, a list of texts, true or false; null if it is not set.
    value: Value,
    /// `file`, `environment`, `default` or `unset`.
    origin: &'static str,
    /// The line of the file, or the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

pub(super) fn main(global: &Global, command: ConfigCommand) -> Result<Exit, CliError> {
    match command {
        ConfigCommand::Show(args) => show(global, args),
        ConfigCommand::Check(args) => check(global, &args),
    }
}

fn check(global: &Global, args: &CheckArgs) -> Result<Exit, CliError> {
    let settings = Settings::read(&args.file)?;
    let json = json!({"file": args.file, "settings": settings.count()});
    let told = format!("{}: {}, all valid", args.file.display(), count(settings.count(), "setting"));
    global.output.tell(&json, &told)?;
    Ok(Exit::Ok)
}

fn show(global: &Global, args: ShowArgs) -> Result<Exit, CliError> {
    let data_dir = session::data_dir(global)?;
    let mut line: Vec<OsString> = vec!["bailiwick".into(), "--data-dir".into(), data_dir.into(), "serve".into()];
    line.extend(args.config.into_iter().flat_map(|file| [OsString::from("--config"), file.into()]));
    let (line, file) = settings::with_file(line)?;
    let matches = Cli::command().try_get_matches_from(&line).map_err(|error| usage(&error))?;
    let (_, matches) = matches.subcommand().expect("the line names a command");
    let rows: Vec<Row> = settings::options().iter().map(|option| row(option, matches, file.as_ref())).collect();
    let json = json!({"file": file.as_ref().map(|file| &file.path), "settings": rows});
    global.output.show(&json, || table(&rows))?;
    Ok(Exit::Ok)
}

fn row(option: &clap::Arg, matches: &ArgMatches, file: Option<&Settings>) -> Row {
    let id = option.get_id().as_str();
    let line = || file.and_then(|file| Some(format!("{}:{}", file.path.display(), file.line(id)?)));
    let variable = || option.get_env().map(|name| name.to_string_lossy().into_owned());
    let (origin, from) = match matches.value_source(id) {
        // Nothing else is on the line that was made here.
        Some(ValueSource::CommandLine) => ("file", line()),
        Some(ValueSource::EnvVariable) => ("environment", variable()),
        Some(ValueSource::DefaultValue) => ("default", None),
        _ => ("unset", None),
    };
    let text = |value: &OsStr| Value::from(value.to_string_lossy());
    let raw = || matches.get_raw(id).map(|values| values.map(text).collect::<Vec<_>>());
    let value = match option.get_action() {
        ArgAction::SetTrue => matches.get_flag(id).into(),
        ArgAction::Append => raw().map_or(Value::Null, Value::from),
        _ => raw().and_then(|values| values.into_iter().next()).unwrap_or_default(),
    };
    Row { setting: option.get_long().unwrap_or(id).to_owned(), value, origin, from }
}

fn table(rows: &[Row]) -> Table<3> {
    let mut table = Table::of(["SETTING", "VALUE", "ORIGIN"].map(Column::always));
    for Row { setting, value, origin, from } in rows {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = match value {
            Value::Null => Cell::none(),
            Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", ").into(),
            value => text(value).into(),
        };
        let from = from.as_ref().map(|from| format!(" {from}")).unwrap_or_default();
        table.add([setting.into(), value, format!("{origin}{from}").into()]);
    }
    table
}
