//! `bailiwick why`: what led to a decision, or what followed from it.

use bailiwick_journal::Position;
use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    log::stream,
    output::{self, Table},
    session,
};
use crate::{
    api::query::Query,
    audit::{About, Side},
};

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The entity (`machine/web`, `attachment/web:data`, `supervisor/machines`), or one entry (`@41`)
    #[arg(value_name = "KIND/NAME|@POSITION")]
    about: String,
    /// One side of the entity: phase, health, vote, status, effect, ...; without it, the last thing that mattered
    #[arg(value_name = "FACT")]
    side: Option<String>,
    /// What followed from it, instead of what led to it
    #[arg(long)]
    forward: bool,
    /// At which moment: a position, a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: WhyArgs) -> Result<Exit, CliError> {
    let about = about(&args.about, args.side.as_deref())?;
    let query = Query::Why { about, forward: args.forward, at: session::at(args.at.as_deref())? };
    let answer = session::ask(global, &query)?;
    match answer["text"].as_str() {
        Some(text) if !global.output.is_for_programs() => output::lines(text)?,
        _ => global.output.show(&answer, Table::default)?,
    }
    Ok(Exit::Ok)
}

fn about(text: &str, side: Option<&str>) -> Result<About, CliError> {
    let Some(position) = text.strip_prefix('@') else {
        let side = side.map(Side::parse).transpose().map_err(|error| CliError::usage(error.to_string()))?;
        return Ok(About::Entity { entity: stream(text)?, side });
    };
    if side.is_some() {
        return Err(CliError::usage("an entry is asked about as a whole").next(format!("bailiwick why {text}")));
    }
    match position.parse() {
        Ok(position) => Ok(About::Entry(Position(position))),
        Err(_) => Err(CliError::usage(format!("{text:?} is no entry: expected a number after @, as in @41"))),
    }
}
