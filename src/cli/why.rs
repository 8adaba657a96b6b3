//! `bailiwick why`: what led to a decision, or what followed from it.

use bailiwick_journal::Position;
use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    log::{meant, refuse_unknown},
    output::{self, Table},
    session,
};
use crate::{
    api::query::{Parameters, Query},
    audit::{About, Side},
};

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The object (`machine/web`, `attachment/web:data`, `supervisor/machines`), or an entry (`@41`)
    #[arg(value_name = "KIND/NAME|@POSITION")]
    about: String,
    /// One aspect of the object: phase, health, vote, status, effect, ... [default: the last thing that mattered]
    #[arg(value_name = "FACT")]
    side: Option<String>,
    /// Show what followed from it, instead of what led to it
    #[arg(long)]
    forward: bool,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: WhyArgs) -> Result<Exit, CliError> {
    let (about, not_ours) = about(&args.about, args.side.as_deref())?;
    if let About::Entity { entity, .. } = &about {
        let of = Parameters { entity: Some(entity.clone()), ..Parameters::default() };
        refuse_unknown(global, of, not_ours)?;
    }
    let query = Query::Why { about, forward: args.forward, at: session::at(args.at.as_deref())? };
    let answer = session::ask(global, &query)?;
    match answer["text"].as_str() {
        Some(text) if !global.output.is_for_programs() => output::lines(text)?,
        _ => global.output.show(&answer, Table::default)?,
    }
    Ok(Exit::Ok)
}

fn about(text: &str, side: Option<&str>) -> Result<(About, Option<CliError>), CliError> {
    let Some(position) = text.strip_prefix('@') else {
        let side = side.map(Side::parse).transpose().map_err(|error| CliError::usage(error.to_string()))?;
        let (entity, not_ours) = meant(text)?;
        return Ok((About::Entity { entity, side }, not_ours));
    };
    if side.is_some() {
        return Err(CliError::usage("an entry has no aspects").next(format!("bailiwick why {text}")));
    }
    match position.parse() {
        Ok(position) => Ok((About::Entry(Position(position)), None)),
        Err(_) => Err(CliError::usage(format!("{text:?} is not an entry: expected a number after @, as in @41"))),
    }
}
