//! `bailiwick retry`: tries again now what failed or waits.

use clap::Args;
use uuid::Uuid;

use super::{
    Global,
    delete::entity,
    exit::{CliError, Exit},
    operate, session,
};
use crate::api::wire::change::{Decided, Retry};

#[derive(Debug, Args)]
pub(super) struct RetryArgs {
    /// The object: `machine/web`, `volume/data`, `attachment/web:data`
    #[arg(value_name = "KIND/NAME")]
    entity: String,
}

pub(super) fn main(global: &Global, args: RetryArgs) -> Result<Exit, CliError> {
    let retry = Retry { entity: entity(&args.entity)?, id: Some(Uuid::new_v4()) };
    let decided: Decided = session::send(global, "/v1/retry", &retry)?;
    operate::show(global, &decided)?;
    Ok(Exit::Ok)
}
