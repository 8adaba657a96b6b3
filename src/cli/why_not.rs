//! `bailiwick why-not`: the first thing that is missing, what helps, and when the node checks next.

use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    get::left_until,
    named,
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
    #[arg(required = true, num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
    /// The state it is not in: ready and removed for all, running and replaced for machines, attached and mounted for
    /// storage, at-its-number for sets, voting for members
    #[arg(value_name = "WANTED", value_parser = WANTED)]
    wanted: String,
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(super) fn main(global: &Global, args: WhyNotArgs) -> Result<Exit, CliError> {
    let entity = named::one(&args.entity)?;
    if !can_be_asked(entity.kind(), &args.wanted) {
        let message = format!("why-not cannot answer `{}` for {entity}", args.wanted);
        let next = format!("{}; `bailiwick describe {entity}` shows its state", askable(entity.kind()));
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
        table.add(["missing".into(), word("precondition").into()]);
        table.add(["because".into(), word("because").into()]);
        if answer["unmet"]["blockedBy"].is_string() {
            table.add(["blocked by".into(), word("blockedBy").into()]);
        }
        table.add(["resolved by".into(), word("satisfiedBy").into()]);
        let unmet = &answer["unmet"];
        let next = match unmet["nextLookMs"].as_u64().zip(unmet["nextLookInMs"].as_u64()) {
            Some((at, left)) => left_until(at, left),
            None => "none scheduled; the node acts as soon as this changes".to_owned(),
        };
        table.add(["next check".into(), next.into()]);
        table
    })?;
    Ok(Exit::Ok)
}
