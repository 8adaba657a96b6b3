//! `bailiwick completion`: scripts for shells, and the answers to them.
//!
//! A script asks this program at every key, with [`VARIABLE`] set. Names of objects come from a node that runs, and only from
//! one: nobody waits for a journal to be read.

use std::{env, ffi::OsString, io::Write, sync::Arc, time::Duration};

use clap::{Arg, Args, Command, CommandFactory};
use clap_complete::{
    CompleteEnv, Shell,
    engine::{ArgValueCompleter, CompletionCandidate},
    env::Shells,
};
use serde_json::Value;

use super::{
    Cli,
    chosen::choose,
    exit::{CliError, Exit},
    get::plural,
    output::OutputError,
    parse, session,
};
use crate::{
    api::query::Query,
    client::{Client, Limits},
    view::{Selector, kinds},
};

/// What a script sets; no other program looks at it.
const VARIABLE: &str = "BAILIWICK_COMPLETE";
/// Whoever presses a key waits no longer for a node.
const TIME_MAX: Duration = Duration::from_millis(800);

#[derive(Debug, Args)]
pub(super) struct CompletionArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn main(args: CompletionArgs) -> Result<Exit, CliError> {
    let (shell, shells) = (args.shell.to_string(), Shells::builtins());
    let mut script = Vec::new();
    let known = shells.completer(&shell).ok_or_else(|| CliError::usage(format!("unknown shell {shell}")))?;
    let write = known
        .write_registration(VARIABLE, "bailiwick", "bailiwick", "bailiwick", &mut script)
        .and_then(|()| std::io::stdout().lock().write_all(&script));
    write.map_err(|error| CliError::from(OutputError::Write(error)))?;
    Ok(Exit::Ok)
}

/// Answers a script, if it was one that asked.
pub(super) fn answer(args: &[OsString]) -> Option<Exit> {
    env::var_os(VARIABLE)?;
    let words: Arc<[OsString]> = args.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let command = || with_names(Cli::command(), &words);
    let here = env::current_dir().ok();
    match CompleteEnv::with_factory(command).var(VARIABLE).try_complete(args.iter().cloned(), here.as_deref()) {
        Ok(true) => Some(Exit::Ok),
        Ok(false) => None,
        Err(error) => {
            // A shell shows nothing of it, and goes on.
            drop(error.print());
            Some(Exit::Error)
        }
    }
}

/// The commands, with names for what takes some.
fn with_names(command: Command, words: &Arc<[OsString]>) -> Command {
    let named = command.mut_args(|argument| {
        let Some(takes) = Takes::of(&argument) else { return argument };
        let words = words.clone();
        argument.add(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            let begun = current.to_str().unwrap_or_default();
            let list = |kind: &str| names(&words, kind);
            takes.candidates(begun, list).into_iter().map(CompletionCandidate::new).collect()
        }))
    });
    named.mut_subcommands(|inner| with_names(inner, words))
}

/// What an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// `machine/web`, of this kind alone if one is named.
    Object(Option<&'static str>),
    /// `machines`, `all`, or an object.
    List,
    Kind,
    /// `web`.
    Machine,
}

impl Takes {
    fn of(argument: &Arg) -> Option<Self> {
        match argument.get_value_names()?.first()?.as_str() {
            "KIND/NAME" | "KIND/NAME|@POSITION" => Some(Self::Object(None)),
            "machine/NAME" => Some(Self::Object(Some("machine"))),
            "machine-set/NAME" => Some(Self::Object(Some("machine-set"))),
            "volume/NAME" => Some(Self::Object(Some("volume"))),
            "KIND[/NAME]" => Some(Self::List),
            "KIND" => Some(Self::Kind),
            "MACHINE" => Some(Self::Machine),
            _ => None,
        }
    }

    /// What may be meant by what was begun.
    fn candidates(self, begun: &str, names: impl Fn(&str) -> Vec<String>) -> Vec<String> {
        let objects = |kind: &str| names(kind).into_iter().map(|name| format!("{kind}/{name}")).collect::<Vec<_>>();
        let all: Vec<String> = match (self, begun.split_once('/')) {
            (Self::Object(None) | Self::List, Some((kind, _))) => objects(kind),
            (Self::Object(None), None) => kinds().map(|kind| format!("{kind}/")).collect(),
            (Self::Object(Some(kind)), _) => objects(kind),
            (Self::List, None) => kinds().map(|kind| plural(kind).to_owned()).chain(["all".to_owned()]).collect(),
            (Self::Kind, _) => kinds().map(str::to_owned).collect(),
            (Self::Machine, _) => names("machine"),
        };
        all.into_iter().filter(|candidate| candidate.starts_with(begun)).collect()
    }
}

/// The names of the objects of a kind; none if no node answers at once.
fn names(words: &[OsString], kind: &str) -> Vec<String> {
    let query = Query::List { kind: kind.to_owned(), selector: Selector::default(), at: None };
    let rows = client(words).and_then(|client| {
        let client = client.with_limits(Limits { time: TIME_MAX, ..Limits::default() });
        session::block_on(client.get_json::<Value>(&query.path())).ok()?.ok()
    });
    let rows = rows.as_ref().and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(|row| row["name"].as_str().map(str::to_owned)).collect()
}

/// The node that the line so far is about.
fn client(words: &[OsString]) -> Option<Client> {
    let line = [OsString::from("bailiwick")].into_iter().chain(node_options(words)).chain(["status".into()]);
    let Cli { global, command } = parse(&line.collect::<Vec<_>>()).ok()?;
    session::client(&choose(&global, &command).ok()?).ok()
}

/// The options of a line that say which node is meant.
fn node_options(words: &[OsString]) -> Vec<OsString> {
    let mut options = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let text = word.to_string_lossy();
        if text == "--data-dir" || text == "--node" {
            options.extend([word.clone()].into_iter().chain(words.get(at + 1).cloned()));
        } else if text.starts_with("--data-dir=") || text.starts_with("--node=") {
            options.push(word.clone());
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_completed_first_and_then_the_names_of_one() {
        let names = |kind: &str| if kind == "machine" { vec!["web".to_owned(), "db".to_owned()] } else { Vec::new() };
        let of = |takes: Takes, begun: &str| takes.candidates(begun, names);
        assert_eq!(of(Takes::Object(None), "machine-s"), ["machine-set/"]);
        assert_eq!(of(Takes::Object(None), "machine/"), ["machine/web", "machine/db"]);
        assert_eq!(of(Takes::List, "machines"), ["machines"]);
        assert_eq!(of(Takes::List, "al"), ["all"]);
        assert_eq!(of(Takes::List, "machine/w"), ["machine/web"]);
        assert_eq!(of(Takes::Object(Some("machine")), "machine/d"), ["machine/db"]);
        assert_eq!((of(Takes::Machine, "w"), of(Takes::Kind, "mem")), (vec!["web".into()], vec!["member".into()]));
    }

    #[test]
    fn what_takes_objects_is_completed_with_them() {
        let command = with_names(Cli::command(), &Arc::from([]));
        let takes = |command: &str, argument: &str| {
            let found = Cli::command();
            let found = found.find_subcommand(command).expect("a command").clone();
            let found = found.get_arguments().find(|it| it.get_id() == argument).expect("an argument").clone();
            Takes::of(&found)
        };
        assert_eq!(takes("describe", "entity"), Some(Takes::Object(None)));
        assert_eq!(takes("get", "what"), Some(Takes::List));
        assert_eq!(takes("logs", "machine"), Some(Takes::Machine));
        assert_eq!(takes("apply", "files"), None);
        let get = command.find_subcommand("get").expect("a command");
        let what = get.get_arguments().find(|it| it.get_id() == "what").expect("an argument");
        assert!(what.get::<ArgValueCompleter>().is_some());
    }

    #[test]
    fn the_node_that_the_line_names_is_asked() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(node_options(&words("bailiwick --data-dir a get ma")), words("--data-dir a"));
        assert_eq!(node_options(&words("bailiwick get --node=lab ma")), words("--node=lab"));
        assert!(node_options(&words("bailiwick get ma")).is_empty());
    }
}
