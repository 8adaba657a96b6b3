//! `bailiwick login` and `logout`: getting to know a node elsewhere, and forgetting it.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use serde::{Deserialize, Serialize};

use super::{
    Global, chosen,
    contexts::{self, Context, Contexts},
    exit::{CliError, Exit},
    session, token,
};
use crate::{
    client::{Client, Fingerprint, NodeUrl, Remote, authority_at},
    providers::access::Environment,
};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("trust").required(true).args(["ca", "ca_fingerprint"])))]
pub(super) struct LoginArgs {
    /// The node: `https://HOST`, with port 8443, or `https://HOST:PORT`
    #[arg(value_name = "URL")]
    url: NodeUrl,
    /// Name of the context [default: the host]
    #[arg(long, value_name = "NAME", value_parser = contexts::name)]
    name: Option<String>,
    /// Trust the CA in this file (PEM)
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Trust the CA that the node presents, if its certificate has this SHA-256 fingerprint
    #[arg(long, value_name = "SHA256")]
    ca_fingerprint: Option<Fingerprint>,
    /// Read the token from this file; - for standard input [default: standard input, without echo on a terminal]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct LogoutArgs {
    /// The context [default: the current one]
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// Whom the node takes the caller for.
#[derive(Debug, Deserialize, Serialize)]
struct Caller {
    principal: String,
    role: String,
    /// All kinds if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kinds: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

/// What has come of logging in.
#[derive(Debug, Serialize)]
struct LoggedIn {
    node: NodeUrl,
    context: String,
    #[serde(flatten)]
    caller: Caller,
}

impl LoggedIn {
    fn text(&self) -> String {
        let Self { node, context, caller: Caller { principal, role, kinds, expires } } = self;
        let mut text = format!("logged in to {node} as {principal} ({role}); context {context} is current");
        if let Some(kinds) = kinds {
            text += &format!("\nthe token is for objects of these kinds alone: {}", kinds.join(", "));
        }
        if let Some(expires) = expires {
            text += &format!("\nthe token expires at {expires}");
        }
        text
    }
}

pub(super) fn login(global: &Global, args: LoginArgs) -> Result<Exit, CliError> {
    let logged_in = log_in(&Environment::of_this_process(), args)?;
    global.output.tell(&logged_in, &logged_in.text())?;
    Ok(Exit::Ok)
}

fn log_in(environment: &Environment, args: LoginArgs) -> Result<LoggedIn, CliError> {
    let LoginArgs { url, name, ca, ca_fingerprint, token_file } = args;
    let name = name.unwrap_or_else(|| url.host().to_owned());
    // What could not be kept in the end is said before anybody types a token.
    free_for(&Contexts::read(environment)?, &name, &url)?;
    let ca = match (ca, ca_fingerprint) {
        (Some(file), _) => chosen::authority(&file)?,
        (None, Some(fingerprint)) => session::block_on(authority_at(&url, fingerprint))??,
        (None, None) => return Err(CliError::usage("neither --ca nor --ca-fingerprint is given")),
    };
    let token = token::given(token_file.as_deref())?;
    let remote = Remote { url: url.clone(), context: None, ca: ca.clone(), token: token.clone() };
    let caller: Caller = session::block_on(Client::remote(remote).get_json("/v1/whoami"))??;
    // Somebody may have logged in elsewhere meanwhile.
    let mut contexts = Contexts::read(environment)?;
    free_for(&contexts, &name, &url)?;
    contexts.put(name.clone(), Context { node: url.clone(), ca, token });
    contexts.write()?;
    Ok(LoggedIn { node: url, context: name, caller })
}

/// Whether a context of this name is or may become one for this node.
fn free_for(contexts: &Contexts, name: &str, url: &NodeUrl) -> Result<(), CliError> {
    match contexts.all().get(name) {
        Some(known) if known.node != *url => {
            let message = format!("context {name} is for {}", known.node);
            let next = format!("choose another name with --name NAME, or run `bailiwick logout {name}` first");
            Err(CliError::new(Exit::Refused, "exists", message).next(next))
        }
        _ => Ok(()),
    }
}

pub(super) fn logout(global: &Global, args: LogoutArgs) -> Result<Exit, CliError> {
    let (json, text) = log_out(&Environment::of_this_process(), args)?;
    global.output.tell(&json, &text)?;
    Ok(Exit::Ok)
}

fn log_out(environment: &Environment, args: LogoutArgs) -> Result<(serde_json::Value, String), CliError> {
    let mut contexts = Contexts::read(environment)?;
    let name = args.name.or_else(|| contexts.current().map(str::to_owned));
    let name = name.ok_or_else(|| {
        CliError::new(Exit::NotFound, "no-context", "no context is current")
            .next("name one: `bailiwick context list` shows all")
    })?;
    let gone = contexts.remove(&name)?;
    contexts.write()?;
    let json = serde_json::json!({ "context": name, "node": gone.node, "current": contexts.current() });
    Ok((json, format!("logged out of {} (context {name}); {}", gone.node, current(&contexts))))
}

/// Which context commands use by themselves.
pub(super) fn current(contexts: &Contexts) -> String {
    match contexts.current() {
        Some(name) => format!("context {name} is current"),
        None => "no context is current: commands ask the node on this machine".to_owned(),
    }
}

#[cfg(test)]
mod tests;
