//! `bailiwick context`: which nodes elsewhere are known, and which one is asked. Tokens are never shown.

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{
    Global,
    contexts::{Context, Contexts},
    exit::{CliError, Exit},
    login,
    output::{Cell, Column, Table},
};
use crate::{client::NodeUrl, providers::access::Environment};

#[derive(Debug, Subcommand)]
pub(super) enum ContextCommand {
    /// List contexts
    List,
    /// Choose the node that commands ask
    Use(UseArgs),
    /// Show a context
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(super) struct UseArgs {
    /// The context
    #[arg(value_name = "NAME", required_unless_present = "local")]
    name: Option<String>,
    /// Ask the node on this machine again
    #[arg(long, conflicts_with = "name")]
    local: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The context [default: the current one]
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// A context as it is shown: without its token.
#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    current: bool,
    node: NodeUrl,
    /// The SHA-256 of each certificate of its CA.
    ca: Vec<String>,
}

impl Shown {
    fn of(contexts: &Contexts, name: &str, context: &Context) -> Self {
        let ca = context.ca.fingerprints().iter().map(ToString::to_string).collect();
        Self { name: name.to_owned(), current: contexts.current() == Some(name), node: context.node.clone(), ca }
    }

    fn current(&self) -> Cell {
        if self.current { Cell::good("yes") } else { Cell::none() }
    }
}

pub(super) fn main(global: &Global, command: ContextCommand) -> Result<Exit, CliError> {
    answer(&Environment::of_this_process(), global, command)
}

fn answer(environment: &Environment, global: &Global, command: ContextCommand) -> Result<Exit, CliError> {
    let contexts = Contexts::read(environment)?;
    match command {
        ContextCommand::List => list(global, &contexts)?,
        ContextCommand::Use(args) => choose(global, contexts, args.name.as_deref())?,
        ContextCommand::Show(args) => show(global, &contexts, args.name.as_deref())?,
    }
    Ok(Exit::Ok)
}

fn list(global: &Global, contexts: &Contexts) -> Result<(), CliError> {
    let rows: Vec<Shown> = contexts.all().iter().map(|(name, context)| Shown::of(contexts, name, context)).collect();
    let table = || {
        let mut table = Table::of([
            Column::required("NAME"),
            Column::always("CURRENT"),
            Column::required("NODE"),
            Column::wide("CA SHA256"),
        ]);
        for row in &rows {
            let (name, node) = (row.name.as_str().into(), row.node.to_string().into());
            table.add([name, row.current(), node, row.ca.join(",").into()]);
        }
        table
    };
    Ok(global.output.show(&rows, table)?)
}

fn choose(global: &Global, mut contexts: Contexts, name: Option<&str>) -> Result<(), CliError> {
    contexts.choose(name)?;
    contexts.write()?;
    let json = serde_json::json!({ "current": name });
    Ok(global.output.tell(&json, &login::current(&contexts))?)
}

fn show(global: &Global, contexts: &Contexts, name: Option<&str>) -> Result<(), CliError> {
    let name = name.or(contexts.current()).ok_or_else(|| {
        CliError::new(Exit::NotFound, "no-context", login::current(contexts))
            .next("name one: `bailiwick context list` shows all")
    })?;
    let shown = Shown::of(contexts, name, contexts.named(name)?);
    let table = || {
        let mut table = Table::fields();
        table.add(["name".into(), shown.name.as_str().into()]);
        table.add(["current".into(), shown.current()]);
        table.add(["node".into(), shown.node.to_string().into()]);
        table.add(["ca sha256".into(), shown.ca.join(", ").into()]);
        table
    };
    Ok(global.output.show(&shown, table)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::{
            contexts::tests::{context, user},
            output::{Format, collected},
            tests::global,
        },
        client::lab::Ca,
    };

    #[test]
    fn contexts_are_listed_chosen_and_shown_without_their_tokens() {
        // given
        let home = tempfile::tempdir().unwrap();
        let (user, ca) = (user(home.path(), &[]), Ca::new("lab"));
        let mut contexts = Contexts::read(&user).unwrap();
        contexts.put("lab".into(), context(&ca, "https://lab"));
        contexts.put("shop".into(), context(&ca, "https://shop"));
        contexts.write().unwrap();
        let run = |output: Format, command| {
            let ended = answer(&user, &Global { output, ..global() }, command).map(|_| collected::take().0);
            ended.map_err(|error| error.code)
        };
        let one = |name: &str| Some(name.to_owned());
        // when
        let listed = run(Format::Table, ContextCommand::List);
        let chosen = run(Format::Table, ContextCommand::Use(UseArgs { name: one("lab"), local: false }));
        let shown = run(Format::Json, ContextCommand::Show(ShowArgs { name: None }));
        let other = run(Format::Wide, ContextCommand::Show(ShowArgs { name: one("shop") }));
        let unknown = run(Format::Table, ContextCommand::Use(UseArgs { name: one("x"), local: false }));
        let local = run(Format::Yaml, ContextCommand::Use(UseArgs { name: None, local: true }));
        let nothing = run(Format::Table, ContextCommand::Show(ShowArgs { name: None }));
        // then
        let listed = listed.unwrap();
        assert!(listed.contains("lab   -        https://lab:8443\n"), "{listed}");
        assert!(listed.contains("shop  yes      https://shop:8443\n"), "{listed}");
        assert_eq!(chosen.unwrap(), "context lab is current\n");
        let shown: serde_json::Value = serde_json::from_str(&shown.unwrap()).unwrap();
        let ca = ca.fingerprint().to_string();
        let expected = serde_json::json!({ "name": "lab", "current": true, "node": "https://lab:8443", "ca": [ca] });
        assert_eq!(shown, expected);
        let other = other.unwrap();
        assert!(other.contains("https://shop:8443") && !other.contains("secret"), "{other}");
        assert_eq!(local.unwrap(), "current: null\n");
        assert_eq!((unknown.unwrap_err(), nothing.unwrap_err()), ("no-context".into(), "no-context".into()));
    }
}
