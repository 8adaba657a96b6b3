//! Which node a command is about: that of a data directory on this machine, or one elsewhere.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use super::{
    Command, Global,
    contexts::Contexts,
    exit::{CliError, Exit},
    journal::JournalCommand,
    token,
};
use crate::{
    client::{Authority, Client, NodeUrl, Remote},
    providers::access::Environment,
};

/// Where the CA and the token are for a node that is named by its URL.
const CA_FILE: &str = "BAILIWICK_CA_FILE";
const TOKEN_FILE: &str = "BAILIWICK_TOKEN_FILE";

/// A larger file is no CA.
const CA_BYTES_MAX: u64 = 1024 * 1024;

/// What a command cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// A node that answers, wherever it is; or what it left.
    Node,
    /// Files on this machine: a data directory, a journal, a scenario, a program.
    Files(&'static str),
    /// The list of contexts.
    Contexts(&'static str),
    Nothing,
}

fn needs(command: &Command) -> Needs {
    match command {
        Command::Up(_) => Needs::Files("up"),
        Command::Serve(_) => Needs::Files("serve"),
        Command::Config(_) => Needs::Files("config"),
        Command::Doctor(_) => Needs::Files("doctor"),
        Command::StorageHelper(_) => Needs::Files("storage-helper"),
        Command::Backup(_) => Needs::Files("backup"),
        Command::Journal(JournalCommand::Import(_)) => Needs::Files("journal import"),
        Command::Journal(JournalCommand::Salvage(_)) => Needs::Files("journal salvage"),
        Command::Audit(command) if command.names_journal() => Needs::Files("audit with a JOURNAL"),
        Command::Chaos(command) if command.names_files() => Needs::Files("chaos"),
        Command::Provider(_) => Needs::Files("provider"),
        Command::Simulate(_) => Needs::Files("simulate"),
        Command::Repro(_) => Needs::Files("repro"),
        Command::Login(_) => Needs::Contexts("login"),
        Command::Logout(_) => Needs::Contexts("logout"),
        Command::Context(_) => Needs::Contexts("context"),
        Command::Completion(_) | Command::Man(_) | Command::Help(_) | Command::Agent(_) => Needs::Nothing,
        _ => Needs::Node,
    }
}

/// The options of a command, with the node that it is about. Found once, so that a command that asks again and again goes on
/// asking the same one, whatever the current context is by then.
pub(super) fn choose(global: &Global, command: &Command) -> Result<Global, CliError> {
    choose_in(&Environment::of_this_process(), global, needs(command))
}

/// A node on the command line comes before one in the environment, and that before the current context.
fn choose_in(environment: &Environment, global: &Global, needs: Needs) -> Result<Global, CliError> {
    let (node, data_dir) = (global.node.as_deref().filter(|node| !node.is_empty()), global.data_dir.as_ref());
    let on_line = node.filter(|_| !global.in_environment.node);
    let is_dir_on_line = data_dir.is_some() && !global.in_environment.data_dir;
    if on_line.is_some() && is_dir_on_line {
        return Err(CliError::usage("--node and --data-dir name two nodes").next("leave out one of them"));
    }
    match (needs, on_line) {
        (Needs::Node, _) => (),
        (Needs::Files(command), Some(_)) => {
            let message = format!("`bailiwick {command}` runs on the node's own machine and takes no --node");
            return Err(CliError::usage(message).next("run it there, or leave out --node to use this machine's files"));
        }
        (Needs::Contexts(command), Some(_)) => {
            let message = format!("`bailiwick {command}` takes no --node");
            return Err(CliError::usage(message).next(format!("see `bailiwick {command} --help`")));
        }
        (Needs::Files(_) | Needs::Contexts(_) | Needs::Nothing, _) => return Ok(global.clone()),
    }
    let named = on_line.or(node.filter(|_| !is_dir_on_line));
    if named.is_some() && on_line.is_none() && data_dir.is_some() {
        let message = "BAILIWICK_NODE and BAILIWICK_DATA_DIR name two nodes";
        return Err(CliError::usage(message).next("unset one of them, or choose with --node or --data-dir"));
    }
    let remote = match named {
        Some(node) => Some(elsewhere(environment, node)?),
        None if data_dir.is_some() => None,
        None => current(environment)?,
    };
    Ok(match remote {
        // A directory in the environment counts no more.
        Some(remote) => Global { data_dir: None, remote: Some(Client::remote(remote)), ..global.clone() },
        None => global.clone(),
    })
}

fn current(environment: &Environment) -> Result<Option<Remote>, CliError> {
    let contexts = Contexts::read(environment)?;
    contexts.current().map(|name| Ok(contexts.named(name)?.remote(name))).transpose()
}

/// The node that somebody names: by a context, or by its URL.
fn elsewhere(environment: &Environment, node: &str) -> Result<Remote, CliError> {
    if !node.contains("://") {
        return Ok(Contexts::read(environment)?.named(node)?.remote(node));
    }
    let url: NodeUrl = node.parse().map_err(|error| {
        let message = format!("{node:?} is not the URL of a node");
        CliError::usage(message).because(&error).next("write https://HOST:PORT, or the name of a context")
    })?;
    match (environment.variable(CA_FILE), environment.variable(TOKEN_FILE)) {
        (Some(ca), Some(token)) => {
            let (ca, token) = (authority(Path::new(&ca))?, token::in_file(Path::new(&token))?);
            Ok(Remote { url, context: None, ca, token })
        }
        (Some(_), None) | (None, Some(_)) => {
            let message = format!("only one of {CA_FILE} and {TOKEN_FILE} is set");
            Err(CliError::usage(message).next("set both, or neither to use the contexts"))
        }
        (None, None) => match Contexts::read(environment)?.leading_to(&url) {
            Some((name, context)) => Ok(context.remote(name)),
            None => {
                let error = CliError::new(Exit::NotFound, "no-context", format!("there is no context for {url}"));
                Err(error.next(format!("run `bailiwick login {url}`, or set {CA_FILE} and {TOKEN_FILE}")))
            }
        },
    }
}

/// The CA in a file.
pub(super) fn authority(file: &Path) -> Result<Authority, CliError> {
    let mut text = String::new();
    let read = File::open(file).and_then(|opened| opened.take(CA_BYTES_MAX + 1).read_to_string(&mut text));
    let read = match read {
        Ok(bytes) if bytes as u64 > CA_BYTES_MAX => Err(io::Error::other("it is too long for a CA")),
        read => read,
    };
    read.map_err(|error| {
        CliError::new(Exit::NoInput, "unreadable", format!("cannot read the CA in {}", file.display())).because(&error)
    })?;
    text.parse().map_err(|error| {
        let message = format!("{} is not a CA", file.display());
        CliError::usage(message).because(&error).next("name the CA's certificate, as PEM")
    })
}

#[cfg(test)]
mod tests;
