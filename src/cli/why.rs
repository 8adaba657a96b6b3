//! `bailiwick why`: explains the last decision about an entity.

use clap::Args;

use super::{
    Global,
    delete::entity,
    exit::{CliError, Exit},
    output::{self, Table},
    session,
};
use crate::api::query::Query;

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The entity: `machine/web`, `volume/data`, `attachment/web:data`
    #[arg(value_name = "KIND/NAME")]
    entity: String,
    /// At which moment: a position, a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: WhyArgs) -> Result<Exit, CliError> {
    let query = Query::Why { entity: entity(&args.entity)?, at: session::at(args.at.as_deref())? };
    let answer = session::ask(global, &query)?;
    match answer["text"].as_str() {
        Some(text) if !global.output.is_for_programs() => output::lines(text)?,
        _ => global.output.show(&answer, Table::default)?,
    }
    Ok(Exit::Ok)
}
