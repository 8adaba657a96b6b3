//! `bailiwick enable-ha`: so many servers of a replica set shall vote.

use bailiwick_journal::StreamId;
use clap::Args;
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Column, Table},
    session,
};
use crate::api::wire::change::{Decided, EnableHa};

#[derive(Debug, Args)]
pub(super) struct EnableHaArgs {
    /// Number of voters: odd, at most 7, not fewer than now; 0 for enough to survive the loss of one
    #[arg(value_name = "SERVERS", allow_hyphen_values = true)]
    servers: i64,
    /// The replica set
    #[arg(value_name = "NAME")]
    set: String,
}

pub(super) fn main(global: &Global, args: EnableHaArgs) -> Result<Exit, CliError> {
    let name = args.set.strip_prefix("replica-set/").unwrap_or(&args.set);
    let entity = StreamId::new("replica-set", name).map_err(|error| CliError::usage(error.to_string()))?;
    let wanted = EnableHa { entity, servers: args.servers, id: Some(Uuid::new_v4()) };
    let decided: Decided = session::send(global, "/v1/enable-ha", &wanted)?;
    global.output.show(&decided, || {
        let mut table = Table::of([Column::always("ENTITY"), Column::always("DECISION"), Column::always("BECAUSE")]);
        table.add([decided.entity.as_str().into(), decided.code.as_str().into(), decided.reason.as_str().into()]);
        table
    })?;
    Ok(Exit::Ok)
}
