//! `bailiwick account`: who may use the node from other machines.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use bailiwick_actors::{
    document::{Kind, Role},
    ports::Clock,
    vocab::{Name, Timestamp},
};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    failures::cannot,
    get::{self, kind_of, text},
    output::{Column, Table},
    progress::say,
    session, wait,
};
use crate::{
    agent::files,
    api::{
        query::Query,
        wire::{
            account::{AccountChange, ChangeAccount, NewToken},
            change::Decided,
        },
    },
    clock::SystemClock,
    view::Selector,
};

#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    /// Create an account, and a token for it
    Create(CreateArgs),
    /// Create another token for an account
    Token(TokenArgs),
    /// Revoke one token of an account, or all of them
    Revoke(RevokeArgs),
    /// List accounts
    List,
    /// Show who you are to the node, and what you may do
    #[command(name = "whoami")]
    WhoAmI,
}

/// What an account may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArg {
    /// Read everything
    View,
    /// Also change objects; whoever declares workloads of local machines runs programs as the node's user
    Operate,
    /// Also manage accounts and the clock
    Admin,
}

#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    name: Name,
    /// What it may do
    #[arg(long, value_enum)]
    role: RoleArg,
    /// A kind of object that it may change; repeatable [default: all]
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    /// A user of the node's own machine that is this account on its socket; repeatable. No token is created then
    #[arg(long = "user", value_name = "UID")]
    users: Vec<u32>,
    /// How long its token is valid: `90d` [default: until it is revoked]
    #[arg(long, value_name = "PERIOD", value_parser = lifetime, conflicts_with = "users")]
    expires: Option<Duration>,
    /// Write the token to this new file, for your user alone, instead of showing it
    #[arg(long, value_name = "FILE", conflicts_with = "users")]
    token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// The account
    #[arg(value_name = "NAME")]
    name: Name,
    /// How long the token is valid: `90d` [default: until it is revoked]
    #[arg(long, value_name = "PERIOD", value_parser = lifetime)]
    expires: Option<Duration>,
    /// Write the token to this new file, for your user alone, instead of showing it
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    /// The account
    #[arg(value_name = "NAME")]
    name: Name,
    /// The part of the token before the dot; `bailiwick describe account/NAME` lists them
    #[arg(value_name = "TOKEN", required_unless_present = "all", conflicts_with = "all")]
    token: Option<String>,
    /// Revoke all of its tokens
    #[arg(long)]
    all: bool,
}

/// `90d`, or a period as it is written elsewhere.
fn lifetime(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    match days {
        Some(days) => Ok(Duration::from_secs(u64::from(days) * 24 * 60 * 60)),
        None => wait::duration(text).map_err(|error| format!("{error}, or 90d")),
    }
}

pub(super) fn main(global: &Global, command: AccountCommand) -> Result<Exit, CliError> {
    match command {
        AccountCommand::Create(args) => create(global, args),
        AccountCommand::Token(args) => {
            let drawn = Drawn::new(args.expires, args.token_file)?;
            let decided = change(global, &args.name, AccountChange::AddToken(drawn.known()))?;
            show(global, &decided, Some(&drawn))
        }
        AccountCommand::Revoke(args) => {
            let decided = change(global, &args.name, AccountChange::RevokeToken { id: args.token })?;
            show(global, &decided, None)
        }
        AccountCommand::List => list(global),
        AccountCommand::WhoAmI => whoami(global),
    }
}

fn create(global: &Global, args: CreateArgs) -> Result<Exit, CliError> {
    let role = match args.role {
        RoleArg::View => Role::View,
        RoleArg::Operate => Role::Operate,
        RoleArg::Admin => Role::Admin,
    };
    let kinds = args.kinds.iter().map(|kind| kind_of(kind).map(str::to_owned)).collect::<Result<BTreeSet<_>, _>>()?;
    let drawn = match args.users.is_empty() {
        true => Some(Drawn::new(args.expires, args.token_file)?),
        false => None,
    };
    let token = drawn.as_ref().map(Drawn::known);
    let users = args.users.into_iter().collect();
    let wanted = AccountChange::Create { role: role.to_string(), kinds, users, token };
    let decided = change(global, &args.name, wanted)?;
    show(global, &decided, drawn.as_ref())
}

fn change(global: &Global, name: &Name, change: AccountChange) -> Result<Decided, CliError> {
    let wanted = ChangeAccount { name: name.clone(), change, id: Some(Uuid::new_v4()) };
    session::send(global, "/v1/accounts", &wanted)
}

/// A token as it was drawn here. The node is told its hash, and sees it when it is used.
struct Drawn {
    id: String,
    token: String,
    expires: Option<Timestamp>,
    /// Where it is written to instead of being shown.
    file: Option<PathBuf>,
}

impl Drawn {
    fn new(lasts: Option<Duration>, file: Option<PathBuf>) -> Result<Self, CliError> {
        let id = Uuid::new_v4().simple().to_string()[..8].to_owned();
        let token = format!("{id}.{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let lasts = lasts.map(|lasts| u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX));
        let expires = lasts.map(|ms| Timestamp(SystemClock::new().now().0.saturating_add(ms)));
        if let Some(file) = &file {
            // Before the node knows of it: a token that nobody has opens nothing.
            files::write_new(file, token.as_bytes()).map_err(cannot("write the token to", file))?;
        }
        Ok(Self { id, token, expires, file })
    }

    fn known(&self) -> NewToken {
        let hash = blake3::hash(self.token.as_bytes()).to_hex().to_string();
        NewToken { id: self.id.clone(), hash, expires_ms: self.expires }
    }
}

fn show(global: &Global, decided: &Decided, drawn: Option<&Drawn>) -> Result<Exit, CliError> {
    let mut told = json!({ "account": decided.entity, "position": decided.position, "code": decided.code });
    let shown =
        |drawn: &Drawn| drawn.file.as_ref().map_or(drawn.token.clone(), |file| format!("in {}", file.display()));
    if let Some(drawn @ Drawn { expires, .. }) = drawn {
        told["token"] = shown(drawn).into();
        told["expires"] = expires.map_or(Value::Null, |expires| expires.to_string().into());
    }
    global.output.show(&told, || {
        let mut table = Table::of(["ACCOUNT", "BECAUSE", "TOKEN", "EXPIRES"].map(Column::always));
        let token = drawn.map_or_else(String::new, shown);
        let expires = match drawn.map(|drawn| drawn.expires) {
            Some(None) => "never".into(),
            _ => text(&told["expires"]),
        };
        table.add([decided.entity.as_str().into(), decided.reason.as_str().into(), token.into(), expires]);
        table
    })?;
    if drawn.is_some_and(|drawn| drawn.file.is_none()) && !global.output.is_for_programs() {
        say("the token is shown only now; whoever has it runs `bailiwick login URL`");
    }
    Ok(Exit::Ok)
}

fn list(global: &Global) -> Result<Exit, CliError> {
    let kind = Kind::Account.as_str();
    let query = Query::List { kind: kind.to_owned(), selector: Selector::default(), at: None };
    let rows = session::ask(global, &query)?;
    global.output.show_list(&rows, || get::table(kind, &rows))?;
    Ok(Exit::Ok)
}

fn whoami(global: &Global) -> Result<Exit, CliError> {
    let told: Value = session::ask_path(global, "/v1/whoami")??;
    global.output.show(&told, || {
        let mut table = Table::of(["PRINCIPAL", "ROLE", "KINDS", "EXPIRES"].map(Column::always));
        let kinds = if told["kinds"].is_null() { "all".into() } else { get::list(&told["kinds"]) };
        let expires = if told["expires"].is_null() { "never".into() } else { text(&told["expires"]) };
        table.add([text(&told["principal"]), text(&told["role"]), kinds, expires]);
        table
    })?;
    Ok(Exit::Ok)
}
