//! Providers that are processes: how a node is told of them, and `bailiwick provider check`.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bailiwick_actors::{ports::CallBudget, vocab::Name};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table},
    session, wait,
};
use crate::{
    agent::WorkloadUser,
    clock::SystemClock,
    config::exec_dir,
    manifest,
    providers::{
        check::{
            self, Line, Options, Outcome, Report, Subject,
            process::{self, ExecSubject},
        },
        exec::{ExecConfig, command_words},
    },
};

/// The file in the data directory that names providers.
const FILE: &str = "providers.yaml";
/// The largest such file, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Providers that are processes.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ProviderArgs {
    /// Add a provider: its name in manifests, and a program that speaks lines of JSON; repeatable, remembered by the data
    /// directory, added to those in DIR/providers.yaml
    #[arg(long = "provider", value_name = "NAME=COMMAND", value_parser = named_command)]
    providers: Vec<(Name, Vec<String>)>,
    /// Run workloads of local machines as this user (a name, UID or UID:GID), who has no way to the node; needs root
    /// [default: the node's own user]
    #[arg(long, value_name = "USER")]
    pub(super) workload_user: Option<WorkloadUser>,
    /// Have the storage helper on this socket attach, format and mount in local machines, for a node that is not root's
    /// [default: the node does it, and needs root]
    #[arg(long, value_name = "SOCKET")]
    pub(super) storage_helper: Option<PathBuf>,
}

fn named_command(text: &str) -> Result<(Name, Vec<String>), String> {
    let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND, such as lab='python3 lab.py'")?;
    let name = name.parse::<Name>().map_err(|error| error.to_string())?;
    Ok((name, command_words(command).map_err(|error| error.to_string())?))
}

/// `DIR/providers.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    providers: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    /// The program and its arguments, each for itself.
    command: Vec<String>,
    /// Names of variables that are passed on.
    #[serde(default)]
    env: Vec<String>,
    /// How long it may be silent while it owes an answer: `150s`.
    silence: Option<String>,
    /// How long one call may be under way: `15m`.
    call_time: Option<String>,
    /// How often the node may call it: `{perSecond: 5, burst: 10}`.
    budget: Option<CallBudget>,
}

/// `DIR/exec/NAME/command.json`: a provider that was named on a command line.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    command: Vec<String>,
    /// Where that was: arguments may be paths.
    directory: PathBuf,
}

pub(super) const REMEMBERED: &str = "command.json";

impl ProviderArgs {
    /// All providers: those of the command line; those of the file; and those of earlier command lines, because machines
    /// that they made are still there. Each name counts where it stands first.
    pub(super) fn read(&self, data_dir: &Path) -> Result<Vec<ExecConfig>, CliError> {
        let root = exec_dir(data_dir);
        let mut configs = remembered(&root);
        configs.extend(from_file(&data_dir.join(FILE), &root)?);
        for (name, words) in &self.providers {
            let command = words.iter().map(OsString::from).collect();
            configs.insert(name.clone(), ExecConfig::new(name.clone(), command, &root));
        }
        if configs.contains_key(&"local".parse::<Name>().expect("a valid name")) {
            return Err(CliError::usage("`local` is the name of the node's own provider").next("choose another name"));
        }
        Ok(configs.into_values().collect())
    }

    /// Keeps what the command line said for the next one.
    pub(super) fn remember(&self, data_dir: &Path) -> io::Result<()> {
        for (name, command) in &self.providers {
            let dir = exec_dir(data_dir).join(name.as_str());
            let remembered = Remembered { command: command.clone(), directory: std::env::current_dir()? };
            let new = dir.join("command.json.new");
            fs::write(&new, serde_json::to_vec(&remembered)?)?;
            fs::rename(&new, dir.join(REMEMBERED))?;
        }
        Ok(())
    }
}

/// The providers of earlier command lines. What cannot be read was never known.
fn remembered(root: &Path) -> BTreeMap<Name, ExecConfig> {
    let mut configs = BTreeMap::new();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let Some(name) = entry.file_name().to_str().and_then(|name| name.parse::<Name>().ok()) else { continue };
        let Ok(text) = fs::read(entry.path().join(REMEMBERED)) else { continue };
        match serde_json::from_slice::<Remembered>(&text) {
            Ok(Remembered { command, directory }) => {
                let command = command.into_iter().map(OsString::from).collect();
                let config = ExecConfig::new(name.clone(), command, root);
                configs.insert(name, ExecConfig { directory: Some(directory), ..config });
            }
            Err(error) => tracing::warn!(%name, %error, "cannot remember how this provider is started"),
        }
    }
    configs
}

fn from_file(path: &Path, root: &Path) -> Result<BTreeMap<Name, ExecConfig>, CliError> {
    let bad = |problem: String| {
        let message = format!("{} cannot be used: {problem}", path.display());
        CliError::new(Exit::Error, "bad-providers", message)
            .next("write `providers: {NAME: {command: [PROGRAM, ARGUMENT …], env: [VARIABLE …]}}`")
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Ok(found) if FILE_BYTES_MAX < found.len() => return Err(bad("it is larger than 64 KiB".into())),
        _ => (),
    }
    let text = fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let file: File = serde_saphyr::from_str(&text).map_err(|error| bad(manifest::yaml_problem(&error)))?;
    let mut configs = BTreeMap::new();
    for (name, entry) in file.providers {
        let name = name.parse::<Name>().map_err(|error| bad(error.to_string()))?;
        let config = entry.config(name.clone(), root).map_err(|problem| bad(format!("{name}: {problem}")))?;
        configs.insert(name, config);
    }
    Ok(configs)
}

impl Entry {
    fn config(self, name: Name, root: &Path) -> Result<ExecConfig, String> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err("its command has no program".into());
        }
        let period = |text: Option<String>, usual: Duration| match text {
            None => Ok(usual),
            Some(text) => match manifest::duration_ms(&text) {
                Some(ms @ 1..) => Ok(Duration::from_millis(ms)),
                _ => Err(format!("{text:?} is not a period such as 90s or 5m")),
            },
        };
        let mut config = ExecConfig::new(name, self.command.into_iter().map(OsString::from).collect(), root);
        config.limits.silence = period(self.silence, config.limits.silence)?;
        config.limits.call_time = period(self.call_time, config.limits.call_time)?;
        config.limits.budget = self.budget;
        config.env = self.env;
        Ok(config)
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum ProviderCommand {
    /// Check that a program does what every provider must do; exits with 3 if not
    ///
    /// Creates machines and volumes whose names begin with `check-`, and deletes them again. The program gets its own
    /// directory, which is deleted afterwards.
    Check(CheckArgs),
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The provider's program
    #[arg(value_name = "PROGRAM")]
    program: OsString,
    /// Its arguments, after `--`
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
    /// Only run checks whose name contains this: `volumes/`, `restarting/found`
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Pass this environment variable to the program, besides PATH, HOME, LANG and TMPDIR
    #[arg(long, value_name = "VARIABLE")]
    env: Vec<String>,
    /// Time limit of a call
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = wait::duration)]
    call_time: Duration,
    /// Use this directory for the program, and keep it
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

pub(super) fn main(global: &Global, command: ProviderCommand) -> Result<Exit, CliError> {
    let ProviderCommand::Check(args) = command;
    let cannot =
        |error: io::Error| CliError::new(Exit::Error, "provider-check", "cannot check the provider").because(&error);
    let root = match &args.state {
        Some(dir) => dir.clone(),
        None => std::env::temp_dir().join(format!("bailiwick-check-{}", uuid::Uuid::new_v4())),
    };
    fs::create_dir_all(&root).map_err(cannot)?;
    // The checks ask for it by the path that a process sees as its own.
    let root = root.canonicalize().map_err(cannot)?;
    let judged = session::block_on(judge(&args, &root))?;
    if args.state.is_none()
        && let Err(error) = fs::remove_dir_all(&root)
    {
        tracing::warn!(%error, ?root, "cannot delete the working directory of the checks");
    }
    let report = judged?;
    global.output.show(&report, || table(&report, matches!(global.output, super::output::Format::Wide)))?;
    Ok(if report.is_good() { Exit::Ok } else { Exit::GateFailed })
}

async fn judge(args: &CheckArgs, root: &Path) -> Result<Report, CliError> {
    let name: Name = "checked".parse().expect("a valid name");
    let command = [args.program.clone()].into_iter().chain(args.arguments.clone()).collect();
    let mut config = ExecConfig::new(name.clone(), command, root);
    config.env = args.env.clone();
    config.limits.silence = args.call_time;
    let bar = bar((process::count() + check::checks().len()) as u64);
    let tell = |line: &Line| {
        bar.set_message(line.id.clone());
        bar.inc(1);
    };
    let cannot =
        |error: io::Error| CliError::new(Exit::Error, "provider-check", "cannot check the provider").because(&error);
    process::start_once(&config).map_err(|error| cannot_start(&args.program, &error))?;
    let (mut lines, offers) = process::run(&config, args.only.as_deref(), tell).await.map_err(cannot)?;
    if let Some(offers) = offers {
        let subject: Arc<dyn Subject> =
            Arc::new(ExecSubject::new(config.clone(), offers, Arc::new(SystemClock::new())));
        let options = Options { call_time: args.call_time, only: args.only.clone(), ..Options::new(name) };
        lines.extend(check::run(subject, &options, tell).await.map_err(|fault| {
            CliError::new(Exit::Error, "provider-check", "cannot open the provider").because(&fault)
        })?);
    }
    bar.finish_and_clear();
    if lines.is_empty() {
        return Err(CliError::usage("no check matches --only").next("omit --only to run all checks"));
    }
    Ok(Report::of(process::title(&config), lines))
}

fn cannot_start(program: &OsStr, error: &io::Error) -> CliError {
    let program = program.to_string_lossy();
    let problem = CliError::new(Exit::Error, "provider-check", format!("cannot start {program}")).because(error);
    match error.kind() {
        io::ErrorKind::PermissionDenied => problem.next(format!(
            "make it executable (`chmod +x {program}`), or name its interpreter: `bailiwick provider check python3 -- {program}`"
        )),
        io::ErrorKind::NotFound => {
            problem.next("check the path; a name without a slash is searched in PATH")
        }
        _ => problem,
    }
}

fn bar(count: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("[{bar:30}] {pos}/{len} {msg}");
    ProgressBar::new(count).with_style(style.expect("the template is checked by a test").progress_chars("=> "))
}

/// What failed and what was skipped, and the score; all of it if it is wanted wide.
fn table(report: &Report, is_wide: bool) -> Table<3> {
    let mut table = Table::of([Column::always("CHECK"), Column::always("OUTCOME"), Column::always("REQUIREMENT")]);
    for line in &report.checks {
        let outcome = match line.outcome {
            Outcome::Passed if !is_wide => continue,
            Outcome::Passed => Cell::good("passed"),
            Outcome::Failed => Cell::bad("failed"),
            Outcome::Skipped => Cell::busy("skipped"),
        };
        table.add([Cell::from(&line.id), outcome, Cell::from(&line.what)]);
        if let Some(why) = &line.why {
            table.add([Cell::from(""), Cell::from(""), Cell::from(format!("  {why}"))]);
        }
    }
    let verdict = if report.is_good() { Cell::good("passed") } else { Cell::bad("failed") };
    let counts = format!(
        "score {} of 100: {} passed, {} failed, {} skipped",
        report.score, report.passed, report.failed, report.skipped
    );
    table.add([Cell::from(&report.provider), verdict, Cell::from(counts)]);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_of_the_progress_bar_is_one() {
        assert!(ProgressStyle::with_template("[{bar:30}] {pos}/{len} {msg}").is_ok());
    }

    #[test]
    fn a_provider_has_a_name_and_a_command() {
        let (name, words) = named_command("lab=python3 'my lab.py' --a=b").unwrap();
        assert_eq!((name.as_str(), words), ("lab", vec!["python3".into(), "my lab.py".into(), "--a=b".into()]));
        for text in ["lab", "=x", "lab=", "lab=''", "Lab=x", "lab='x"] {
            assert!(named_command(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_file_and_the_command_line_name_providers() {
        let dir = tempfile::tempdir().unwrap();
        let text = "providers:\n  a: {command: [one, two], env: [TOKEN], silence: 5m, budget: {perSecond: 0.5}}\n  b: {command: [three]}\n";
        fs::write(dir.path().join(FILE), text).unwrap();
        let providers = vec![named_command("b=four").unwrap(), named_command("c=five").unwrap()];
        let args = ProviderArgs { providers, workload_user: None, storage_helper: None };
        let all = args.read(dir.path()).unwrap();
        let commands: Vec<_> = all.iter().map(|config| (config.name.as_str(), process::title(config))).collect();
        assert_eq!(commands, [("a", "one two".into()), ("b", "four".into()), ("c", "five".into())]);
        let budgets: Vec<_> = all.iter().map(|config| config.limits.budget).collect();
        assert_eq!(budgets, [CallBudget::new(0.5, Some(1), None).ok(), None, None]);
        assert_eq!((all[0].env.as_slice(), all[0].limits.silence.as_secs()), (["TOKEN".to_owned()].as_slice(), 300));
    }

    #[test]
    fn a_file_that_makes_no_sense_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for text in [
            "providers: {a: {command: [x], budget: {perSecond: 0}}}",
            "providers: {a: {command: []}}",
            "providers: {a: {comand: [x]}}",
            "{",
            "providers: {A: {command: [x]}}",
        ] {
            fs::write(dir.path().join(FILE), text).unwrap();
            let error = ProviderArgs::default().read(dir.path()).unwrap_err();
            assert_eq!(error.code, "bad-providers", "{text}");
            assert!(!error.message.contains('\n') && !error.message.contains("error:"), "{}", error.message);
        }
        fs::write(dir.path().join(FILE), "providers: {local: {command: [x]}}").unwrap();
        assert_eq!(ProviderArgs::default().read(dir.path()).unwrap_err().exit, Exit::Usage);
    }
}
