use super::{
    Global,
    exit::{CliError, Exit},
};
#[derive(Debug, clap::Subcommand)]
pub(super) enum AuditCommand {
    Check,
}
pub(super) fn main(_: &Global, _: AuditCommand) -> Result<Exit, CliError> {
    Ok(Exit::Ok)
}
