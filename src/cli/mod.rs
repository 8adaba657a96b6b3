//! The command line: one file per subcommand.

mod account;
mod agent;
// For a bench that measures with it.
#[doc(hidden)]
pub mod allocator;
mod apply;
mod audit;
mod backup;
mod chaos;
mod chosen;
mod clock;
mod completion;
mod config;
mod context;
mod contexts;
mod delete;
mod describe;
mod diff;
mod doctor;
mod edit;
mod enable_ha;
mod exec;
mod exit;
mod failures;
mod follow;
mod get;
mod harvest;
mod heads;
mod help;
mod inside;
mod jobs;
mod journal;
mod junit;
mod limits;
mod log;
mod login;
mod logs;
mod man;
mod manager;
mod moment;
mod named;
mod operate;
mod output;
mod panics;
mod plan;
mod policy;
mod pool;
mod progress;
mod provider;
mod repro;
mod retry;
mod rollout;
mod schedule;
mod scratch;
mod serve;
mod session;
mod settings;
mod simulate;
mod status;
mod steady_file;
mod storage;
mod storage_helper;
mod token;
mod up;
mod wait;
mod who;
mod why;
mod why_not;

#[cfg(test)]
mod tests;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, parser::ValueSource};

use self::{
    exit::{CliError, Exit},
    output::{Format, FormatParser},
};
use crate::client::Client;

/// A control plane that can explain itself
///
/// Providers create the machines, volumes and attachments that you declare; a journal keeps every decision with
/// everything it is based on.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, max_term_width = 100, infer_subcommands = false, arg_required_else_help = true, disable_help_subcommand = true, after_help = exit::table())]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of all commands.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// The node's data directory [default: in the user's data directory]; or an export of a journal, for commands that only
    /// read
    #[arg(long, global = true, value_name = "DIR", env = "BAILIWICK_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// The node to ask: a context (see `context list`), or https://HOST:PORT [default: the current context, or else the node of
    /// --data-dir]
    #[arg(long, global = true, value_name = "NODE", env = "BAILIWICK_NODE")]
    pub node: Option<String>,
    /// Output format
    #[arg(short, long, global = true, value_parser = FormatParser, default_value = "table", value_name = "FORMAT")]
    pub output: Format,
    /// What to log to standard error: off, error, warn, info, debug, trace, or a filter such as `warn,bailiwick=debug`
    #[arg(long, global = true, default_value = "warn", value_name = "FILTER", env = "BAILIWICK_LOG")]
    pub log_level: String,
    /// Log format
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub log_format: LogFormat,
    /// Which of these nobody wrote on the command line.
    #[arg(skip)]
    in_environment: InEnvironment,
    /// The node elsewhere that the command is about, once that is known.
    #[arg(skip)]
    remote: Option<Client>,
}

/// Options that name a node and come from the environment: they give way to those of the command line.
#[derive(Clone, Copy, Debug, Default)]
struct InEnvironment {
    data_dir: bool,
    node: bool,
}

/// How to log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a node, apply manifests, and show progress until everything is ready
    Up(up::UpArgs),
    /// Delete everything, or some objects, and wait until they are gone
    Down(up::DownArgs),
    /// Run a node
    Serve(serve::ServeArgs),
    /// Show how a node would be run, and check its configuration file
    #[command(subcommand, arg_required_else_help = true)]
    Config(config::ConfigCommand),
    /// Apply manifests: all of them or nothing
    Apply(apply::ApplyArgs),
    /// Show what apply would do; exits with 2 if anything would change
    Plan(plan::PlanArgs),
    /// List objects
    Get(get::GetArgs),
    /// Show everything about one object
    Describe(describe::DescribeArgs),
    /// Edit an object's manifest in an editor, and apply it
    ///
    /// The editor is $VISUAL, $EDITOR or vi. Nothing changes if the text stays as it is or the editor fails; a text that is
    /// refused is kept.
    Edit(edit::EditArgs),
    /// Show what differs between two moments, and which entry changed it; exits with 2 if anything does
    ///
    /// Objects are compared by what is shown of them: whether they exist, their status, instance, zone and health, their spec
    /// field by field, attachments, voters and leader, revisions, holds, and trouble. ENTRY names the entry that changed a fact:
    /// `bailiwick why @ENTRY` explains it. What changed in between and changed back is not shown.
    Diff(diff::DiffArgs),
    /// Summarize all objects, trouble first
    Status(status::StatusArgs),
    /// List all storage: provider, place and state
    Storage(storage::StorageArgs),
    /// Attach a volume or filesystem to a machine
    Attach(storage::AttachArgs),
    /// Detach a volume or filesystem from a machine
    Detach(storage::DetachArgs),
    /// Stop managing a volume or filesystem; its data is kept
    Release(storage::LeaveArgs),
    /// Delete a volume or filesystem with its data
    Destroy(storage::LeaveArgs),
    /// Manage storage pools
    #[command(subcommand, arg_required_else_help = true)]
    Pool(pool::PoolCommand),
    /// Create storage and attach it to a machine
    AddStorage(pool::AddStorageArgs),
    /// Import an existing volume
    Import(storage::ImportArgs),
    /// Delete objects
    #[command(visible_alias = "remove")]
    Delete(delete::DeleteArgs),
    /// Retry now what failed or waits for its next attempt
    #[command(visible_alias = "retry-provisioning")]
    Retry(retry::RetryArgs),
    /// Hold a machine, machine set or provider: the node takes no action on it by itself
    ///
    /// While a provider is held, no call begins that changes something there: nothing is created, deleted, attached, detached or
    /// mounted. What was to be done waits, and is done once the hold ends. The provider is still looked at, and calls that
    /// had begun are awaited.
    Hold(operate::HoldArgs),
    /// End a hold; the node does what was held back
    Unhold(operate::UnholdArgs),
    /// Keep a machine as it is for diagnosis: it is out of service, and its set creates another one
    Keep(operate::KeepArgs),
    /// Stop keeping a machine for diagnosis; its set removes it
    Unkeep(operate::MachineArgs),
    /// Protect an object from deletion by users and by the node
    Protect(operate::ProtectArgs),
    /// End the protection of an object from deletion
    Unprotect(operate::ProtectArgs),
    /// Unfreeze a machine set: it creates machines again, and those it has now no longer count towards its limit
    Thaw(operate::ThawArgs),
    /// Let a machine adopt an unmanaged instance that has its name
    Adopt(operate::AdoptArgs),
    /// Disown the instance of a machine; the instance keeps running
    Disown(operate::MachineArgs),
    /// List unknown instances, and what would be done with them
    Harvest(harvest::HarvestArgs),
    /// Follow and steer the rollouts of machine deployments
    #[command(subcommand, arg_required_else_help = true)]
    Rollout(rollout::RolloutCommand),
    /// Set the number of voters of a replica set
    EnableHa(enable_ha::EnableHaArgs),
    /// Wait until objects are ready, removed, or in another state
    Wait(wait::WaitArgs),
    /// Show decisions
    #[command(visible_alias = "events")]
    Log(log::LogArgs),
    /// Show what the workloads of a local machine print
    Logs(logs::LogsArgs),
    /// Run a command in a local machine, as a workload of it is run
    Exec(exec::ExecArgs),
    /// Show what happens next, when, and why
    Schedule(schedule::ScheduleArgs),
    /// Show the node's time beside the host's clock, and correct it
    #[command(subcommand, arg_required_else_help = true)]
    Clock(clock::ClockCommand),
    /// Show who had an object changed, and how often
    Who(who::WhoArgs),
    /// Explain the last decision about an object
    Why(why::WhyArgs),
    /// Explain why an object is not in a wanted state
    WhyNot(why_not::WhyNotArgs),
    /// Manage who may use the node from other machines, and what for
    #[command(subcommand, arg_required_else_help = true)]
    Account(account::AccountCommand),
    /// Show the policy in force and its revisions, compare them, and return to an earlier one
    #[command(subcommand, arg_required_else_help = true)]
    Policy(policy::PolicyCommand),
    /// Replay decisions, also under another policy
    #[command(subcommand, arg_required_else_help = true)]
    Audit(audit::AuditCommand),
    /// Check this machine and the data directory, and say what to do about what is found; exits with 3 if there is a problem
    ///
    /// Changes nothing: a loop device and a mount are tried where root runs it, in a directory of their own, and undone.
    Doctor(doctor::DoctorArgs),
    /// Back up journal, key and providers into a new directory; the node may run
    Backup(backup::BackupArgs),
    /// Check, export, import and salvage the journal; the node may run
    #[command(subcommand, arg_required_else_help = true)]
    Journal(journal::JournalCommand),
    /// List long questions that the node works on, and end them
    Jobs(jobs::JobsArgs),
    /// Crash a simulated node at every point of a journal, or run a scenario on many bad days
    #[command(subcommand, arg_required_else_help = true)]
    Chaos(chaos::ChaosCommand),
    /// Run what chaos has found again
    #[command(subcommand, arg_required_else_help = true)]
    Repro(repro::ReproCommand),
    /// Check your own provider
    #[command(subcommand, arg_required_else_help = true)]
    Provider(provider::ProviderCommand),
    /// Run a scenario in virtual time, deterministically
    Simulate(simulate::SimulateArgs),
    /// Log in to a node on another machine, and make it the one that commands ask
    Login(login::LoginArgs),
    /// Forget a node on another machine, and the token for it
    Logout(login::LogoutArgs),
    /// List the nodes that you are logged in to, and choose the one that commands ask
    #[command(subcommand, arg_required_else_help = true)]
    Context(context::ContextCommand),
    /// Print a shell completion script
    ///
    /// `source <(bailiwick completion bash)` in ~/.bashrc completes commands, options, and the names of objects that the node
    /// has while it runs.
    Completion(completion::CompletionArgs),
    /// Write the pages of the manual, for `man`
    Man(man::ManArgs),
    /// Show a page of the guide, or the help of a command; `help topics` lists the pages
    Help(help::HelpArgs),
    /// Do as root what a node that is not root's needs for storage on this machine
    ///
    /// Attaches loop devices, makes filesystems on them, and mounts, only where the machines of the node lie, and only for its
    /// user. Start the node with `serve --storage-helper SOCKET`; `bailiwick help security` tells more.
    StorageHelper(storage_helper::StorageHelperArgs),
    /// What runs inside a local machine; the provider starts it
    #[command(hide = true)]
    Agent(crate::agent::AgentArgs),
}

/// Runs one command line; the answer is the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(exit) = completion::answer(&args) {
        return exit;
    }
    let args = match settings::with_file(args.clone()) {
        Ok((args, _)) => args,
        Err(error) => return error.print(&if asks_for_json(&args) { Format::Json } else { Format::default() }),
    };
    let cli = match parse(&args) {
        Ok(cli) => cli,
        Err(error) => return misunderstood(&args, &error),
    };
    let Cli { global, command } = cli;
    leave_no_cores();
    if let Command::Agent(args) = command {
        return agent::main(args);
    }
    close_to_others();
    // These run a node, perhaps for years.
    if matches!(command, Command::Up(_) | Command::Down(_) | Command::Serve(_)) {
        if let Err(error) = limits::look() {
            return error.print(&global.output);
        }
        allocator::settle();
        limits::raise_files();
    }
    if let Err(error) = limits::look_for_command() {
        return error.print(&global.output);
    }
    panics::tell_in_one_line();
    match start_logging(&global).and_then(|()| run(&global, command)) {
        Ok(exit) => exit,
        // `bailiwick log | head`: whoever reads has seen enough.
        Err(error) if error.is_closed_pipe() => Exit::Ok,
        Err(error) => error.print(&global.output),
    }
}

/// Reads a command line, and what is missing there from the environment.
fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = Cli::command().try_get_matches_from(args)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))?;
    let is_variable = |option| matches.value_source(option) == Some(ValueSource::EnvVariable);
    cli.global.in_environment = InEnvironment { data_dir: is_variable("data_dir"), node: is_variable("node") };
    Ok(cli)
}

/// What this process and its children make is for this user alone, whatever makes it.
fn close_to_others() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// No core of this process or of its children, with the secrets of its environment, is ever written.
fn leave_no_cores() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // Less than now is always allowed.
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).ok();
}

/// Help and version are asked for; anything else is a usage error, told in the form that the rest of the line asks for.
fn misunderstood(args: &[OsString], error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        // Nobody is left to tell if this fails.
        drop(error.print());
        return Exit::Ok;
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !asks_for_json(args) {
        // Who writes nothing wants to know what could be written.
        drop(error.print());
        return Exit::Usage;
    }
    let format = if asks_for_json(args) { Format::Json } else { Format::default() };
    usage(error).print(&format)
}

/// What the parser says, in the shape of all our errors: what is wrong, its hints as causes, and where to look next.
fn usage(error: &clap::Error) -> CliError {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.next().unwrap_or("invalid command line").trim_start_matches("error: ").to_owned();
    let (mut told, mut next) = (CliError::usage(message), Vec::new());
    for line in lines.map(|line| line.trim_start_matches("tip: ")) {
        let similar = line.split_once(" exists: '").or_else(|| line.split_once(" exist: '"));
        let possible = line.strip_prefix("[possible values: ").and_then(|line| line.strip_suffix(']'));
        match (line.strip_prefix("Usage: "), similar, possible) {
            (Some(usage), ..) => next.push(format!("write `{usage}`; see `--help`")),
            (_, Some((_, near)), _) => next.splice(0..0, meant(near)).for_each(drop),
            (.., Some(values)) => next.push(format!("use one of {values}")),
            // It would also name commands that are not for people; `help` lists the rest.
            _ if line.starts_with("For more information") || line.starts_with("[subcommands:") => (),
            _ => told.causes.push(line.to_owned()),
        }
    }
    if next.is_empty() { told } else { told.next(next.join(" ")) }
}

/// The question whether one of these was meant: `get', 'agent'`. What is not for people is not asked about.
fn meant(near: &str) -> Option<String> {
    let commands = Cli::command();
    let is_hidden = |name: &str| commands.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
    let near = near.split(", ").map(|name| name.trim_matches('\'')).filter(|name| !is_hidden(name));
    let near: Vec<&str> = near.collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
}

fn asks_for_json(args: &[OsString]) -> bool {
    let is_flag = |arg: &OsString| arg == "-o" || arg == "--output";
    let in_two = args.windows(2).any(|pair| is_flag(&pair[0]) && pair[1] == "json");
    in_two || args.iter().any(|arg| arg == "-ojson" || arg == "-o=json" || arg == "--output=json")
}

fn run(global: &Global, command: Command) -> Result<Exit, CliError> {
    let global = &chosen::choose(global, &command)?;
    if matches!(global.output, Format::Picked(_)) && !matches!(command, Command::Get(_) | Command::Describe(_)) {
        return Err(CliError::usage("only `get` and `describe` have objects to pick from")
            .next("write -o json, yaml, wide or table, or ask with `bailiwick get`"));
    }
    match command {
        Command::Up(args) => up::up(global, args),
        Command::Down(args) => up::down(global, args),
        Command::Serve(args) => serve::main(global, args),
        Command::Config(command) => config::main(global, command),
        Command::Apply(args) => apply::main(global, args),
        Command::Plan(args) => plan::main(global, args),
        Command::Get(args) => get::main(global, args),
        Command::Describe(args) => describe::main(global, args),
        Command::Edit(args) => edit::main(global, args),
        Command::Diff(args) => diff::main(global, args),
        Command::Status(args) => status::main(global, args),
        Command::Storage(args) => storage::storage(global, args),
        Command::Attach(args) => storage::attach(global, args),
        Command::Detach(args) => storage::detach(global, args),
        Command::Release(args) => storage::release(global, args),
        Command::Destroy(args) => storage::destroy(global, args),
        Command::Import(args) => storage::import(global, args),
        Command::Policy(command) => policy::main(global, command),
        Command::Pool(command) => pool::main(global, command),
        Command::AddStorage(args) => pool::add_storage(global, args),
        Command::Delete(args) => delete::main(global, args),
        Command::Retry(args) => retry::main(global, args),
        Command::Hold(args) => operate::hold(global, args),
        Command::Unhold(args) => operate::unhold(global, args),
        Command::Keep(args) => operate::keep(global, args),
        Command::Unkeep(args) => operate::unkeep(global, args),
        Command::Protect(args) => operate::protect(global, args),
        Command::Unprotect(args) => operate::unprotect(global, args),
        Command::Thaw(args) => operate::thaw(global, args),
        Command::Adopt(args) => operate::adopt(global, args),
        Command::Disown(args) => operate::disown(global, args),
        Command::Harvest(args) => harvest::main(global, args),
        Command::WhyNot(args) => why_not::main(global, args),
        Command::Doctor(args) => doctor::main(global, &args),
        Command::Backup(args) => backup::main(global, args),
        Command::Rollout(command) => rollout::main(global, command),
        Command::EnableHa(args) => enable_ha::main(global, args),
        Command::Wait(args) => wait::main(global, args),
        Command::Log(args) => log::main(global, args),
        Command::Logs(args) => logs::main(global, args),
        Command::Exec(args) => exec::main(global, args),
        Command::Schedule(args) => schedule::main(global, args),
        Command::Clock(command) => clock::main(global, &command),
        Command::Who(args) => who::main(global, args),
        Command::Why(args) => why::main(global, args),
        Command::Account(command) => account::main(global, command),
        Command::Audit(command) => audit::main(global, command),
        Command::Journal(command) => journal::main(global, command),
        Command::Jobs(args) => jobs::main(global, args),
        Command::Chaos(command) => chaos::main(global, command),
        Command::Repro(command) => repro::main(global, command),
        Command::Provider(command) => provider::main(global, command),
        Command::Simulate(args) => simulate::main(global, args),
        Command::Login(args) => login::login(global, args),
        Command::Logout(args) => login::logout(global, args),
        Command::Context(command) => context::main(global, command),
        Command::Completion(args) => completion::main(args),
        Command::Man(args) => man::main(args),
        Command::Help(args) => help::main(&args),
        Command::StorageHelper(args) => storage_helper::main(global, args),
        Command::Agent(args) => Ok(agent::main(args)),
    }
}

fn start_logging(global: &Global) -> Result<(), CliError> {
    use tracing_subscriber::{filter::Targets, fmt, prelude::*};
    let filter: Targets =
        global.log_level.parse().map_err(|error| CliError::usage("the log filter cannot be read").because(&error))?;
    // A line that cannot be written is lost: telling of that in the same place would end the node.
    let lines = fmt::layer().with_writer(std::io::stderr).log_internal_errors(false);
    let has_colours = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let logging = tracing_subscriber::registry().with(filter);
    let started = match global.log_format {
        LogFormat::Text => logging.with(lines.with_ansi(has_colours)).try_init(),
        LogFormat::Json => logging.with(lines.json()).try_init(),
    };
    started.map_err(|error| CliError::new(Exit::Error, "logging", error.to_string()))
}
