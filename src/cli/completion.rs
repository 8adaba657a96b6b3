//! `bailiwick completion`: scripts for shells.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::{
    Cli,
    exit::{CliError, Exit},
    output::OutputError,
};

#[derive(Debug, Args)]
pub(super) struct CompletionArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn main(args: CompletionArgs) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "bailiwick", &mut script);
    let write = std::io::stdout().lock().write_all(&script);
    write.map_err(|error| CliError::from(OutputError::Write(error)))?;
    Ok(Exit::Ok)
}
