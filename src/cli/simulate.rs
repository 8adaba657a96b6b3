use super::{
    Global,
    exit::{CliError, Exit},
};
#[derive(Debug, clap::Args)]
pub(super) struct SimulateArgs {}
pub(super) fn main(_: &Global, _: SimulateArgs) -> Result<Exit, CliError> {
    Ok(Exit::Ok)
}
