//! `bailiwick why-not`: the first thing that is missing, what would bring it, and when it is looked at next.

use clap::Args;

use super::{
    Global,
    delete::entity,
    exit::{CliError, Exit},
    get::left_until,
    output::{Column, Table},
    session,
};
use crate::{
    api::query::Query,
    view::{WANTED, askable, can_be_asked},
};

#[derive(Debug, Args)]
pub(super) struct WhyNotArgs {
    /// A machine, storage, a set, a replica set or a member of one: `machine/web`, `volume/data`, `attachment/web:data`
    #[arg(value_name = "KIND/NAME")]
    entity: String,
    /// What it is not; a machine may also be asked about being replaced, storage about being attached or mounted, a set about
    /// its number, a member about its vote
    #[arg(value_name = "WANTED", value_parser = WANTED)]
    wanted: String,
    /// At which moment: a position, a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: WhyNotArgs) -> Result<Exit, CliError> {
    let entity = entity(&args.entity)?;
    if !can_be_asked(entity.kind(), &args.wanted) {
        let message = format!("why-not cannot answer `{}` for {entity}", args.wanted);
        let next = format!("{}; `bailiwick describe {entity}` says how it is", askable(entity.kind()));
        return Err(CliError::usage(message).next(next));
    }
    let query = Query::WhyNot { entity, wanted: args.wanted, at: session::at(args.at.as_deref())? };
    let answer = session::ask(global, &query)?;
    global.output.show(&answer, || {
        let mut table = Table::of([Column::always(""), Column::always("")]);
        let word = |name: &str| answer["unmet"][name].as_str().unwrap_or_default().to_owned();
        let (entity, wanted) = (answer["entity"].as_str().unwrap_or_default(), answer["wanted"].as_str());
        let wanted = wanted.unwrap_or_default();
        if answer["holds"] == true {
            table.add([wanted.into(), format!("nothing is missing: {entity} is {}", wanted.replace('-', " ")).into()]);
            return table;
        }
        table.add(["needed".into(), word("precondition").into()]);
        table.add(["but".into(), word("because").into()]);
        if answer["unmet"]["blockedBy"].is_string() {
            table.add(["blocked by".into(), word("blockedBy").into()]);
        }
        table.add(["helps".into(), word("satisfiedBy").into()]);
        let unmet = &answer["unmet"];
        let next = match unmet["nextLookMs"].as_u64().zip(unmet["nextLookInMs"].as_u64()) {
            Some((at, left)) => left_until(at, left),
            None => "when that happens; nothing is planned before".to_owned(),
        };
        table.add(["next look".into(), next.into()]);
        table
    })?;
    Ok(Exit::Ok)
}
