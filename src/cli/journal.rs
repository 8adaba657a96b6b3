use super::{
    Global,
    exit::{CliError, Exit},
};
#[derive(Debug, clap::Subcommand)]
pub(super) enum JournalCommand {
    Check,
}
pub(super) fn main(_: &Global, _: JournalCommand) -> Result<Exit, CliError> {
    Ok(Exit::Ok)
}
