//! `bailiwick serve`: runs a node until it is told to stop.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    manager::Manager,
    progress::say,
    provider::ProviderArgs,
    session, up,
};
use crate::config::{Config, EventSink, Network};

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The configuration file: it has a setting for every option here, and the command line and the environment come first
    /// [default: config.toml in the data directory, if it is there]
    #[arg(long, value_name = "FILE", env = "BAILIWICK_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    log: up::LogArgs,
    #[command(flatten)]
    providers: ProviderArgs,
    #[command(flatten)]
    network: NetworkArgs,
}

/// How a node is reached from other machines.
#[derive(Debug, Default, Args)]
pub(super) struct NetworkArgs {
    /// Listen on DIR/node.sock, too, for users of this machine who have an account: `/run/bailiwick`
    #[arg(long, value_name = "DIR", env = "BAILIWICK_SOCKET_DIR")]
    socket_dir: Option<PathBuf>,
    /// Listen on this address, too, with TLS 1.3, for accounts with a token: `0.0.0.0:8443`
    #[arg(long, value_name = "ADDRESS:PORT", env = "BAILIWICK_LISTEN")]
    listen: Option<SocketAddr>,
    /// A name that clients call the node, beside its host name; repeatable
    #[arg(long, value_name = "NAME", requires = "listen", value_parser = host_name)]
    tls_name: Vec<String>,
    /// The certificate to show, with its chain (PEM); read again when it changes [default: one of the node's own authority]
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_cert"])]
    tls_key: Option<PathBuf>,
    /// Tell this URL of every decision, each at least once and in order; behind a `#` which ones:
    /// `ops=http://host/in#kind=machine&outcome=refused`; also entity, reason, principal, ca (a file, for https) and token-file;
    /// repeatable
    #[arg(long, value_name = "NAME=URL")]
    event_sink: Vec<EventSink>,
}

impl NetworkArgs {
    /// The same node, reached like this.
    fn on(self, config: Config) -> Config {
        let Self { socket_dir, listen, tls_name, tls_cert, tls_key, event_sink } = self;
        let certificate = tls_cert.zip(tls_key);
        let network = listen.map(|listen| Network { listen, names: tls_name, certificate });
        Config { network, socket_dir, event_sinks: event_sink, ..config }
    }
}

fn host_name(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    if !text.is_empty() && text.len() <= 253 && text.bytes().all(is_plain) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("expected a host name such as lab.example".to_owned())
    }
}

pub(super) fn main(global: &Global, args: ServeArgs) -> Result<Exit, CliError> {
    if let Some(file) = &args.config {
        say(&format!("configuration: {}", file.display()));
    }
    let manager = Manager::of_this_process();
    let (node, ended) = session::block_on(async {
        let mut signals = up::Signals::new()?;
        let node = up::start(global, &args.providers, &args.log, |config| args.network.on(config))?;
        manager.tell("READY=1");
        let handle = node.handle();
        let ended = tokio::select! {
            biased;
            ended = up::stay(global, &node, &mut signals, None) => ended,
            never = manager.accompany(&handle) => match never {},
        };
        manager.tell("STOPPING=1\nSTATUS=stopping");
        Ok::<_, CliError>((node, ended))
    })??;
    up::stop_after(node, ended).map(|(stopped, ())| stopped)
}
