//! `bailiwick serve`: runs a node until it is told to stop.

use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    provider::ProviderArgs,
    session, up,
};

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    log: up::LogArgs,
    #[command(flatten)]
    providers: ProviderArgs,
}

pub(super) fn main(global: &Global, args: ServeArgs) -> Result<Exit, CliError> {
    let (node, ended) = session::block_on(async {
        let mut signals = up::Signals::new()?;
        let node = up::start(global, &args.providers, &args.log)?;
        let ended = up::stay(global, &node, &mut signals, None).await;
        Ok::<_, CliError>((node, ended))
    })??;
    up::stop_after(node, ended).map(|(stopped, ())| stopped)
}
