//! `bailiwick why`: what led to a decision, or what followed from it.

use bailiwick_journal::Position;
use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    log::{meant, refuse_unknown},
    named::spelled,
    output::{self, Table},
    session,
};
use crate::{
    api::query::{Parameters, Query},
    audit::{About, Side},
};

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The object (`machine/web`, `machine web`, `attachment/web:data`, `supervisor/machines`), or an entry (`@41`); then one
    /// aspect of the object, if you like: phase, health, vote, status, effect, ... [default: the last thing that mattered]
    #[arg(required = true, num_args = 1..=3, value_name = "KIND/NAME|@POSITION")]
    about: Vec<String>,
    /// Show what followed from it, instead of what led to it
    #[arg(long)]
    forward: bool,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: WhyArgs) -> Result<Exit, CliError> {
    let (about, not_ours) = about(&args.about)?;
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

/// What is asked about: `machine/web`, `machine web`, `@41`; after an object may stand one aspect of it.
fn about(words: &[String]) -> Result<(About, Option<CliError>), CliError> {
    let in_one = words.first().is_some_and(|word| word.contains(['/', '@']));
    let (object, side) = words.split_at(words.len().min(if in_one { 1 } else { 2 }));
    let (text, side) = (&*spelled(object)?, (!side.is_empty()).then(|| side.join(" ")));
    let side = side.as_deref();
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
