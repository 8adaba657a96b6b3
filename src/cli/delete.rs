//! `bailiwick delete`: asks entities to go.

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::StreamId;
use clap::Args;
use uuid::Uuid;

use super::{
    Global, apply,
    exit::{CliError, Exit},
    get::kind_of,
    progress::say,
    session, wait,
};
use crate::api::wire::change::{Changed, Remove};

#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    /// Entities: `machine/web`, `volume/data`, `attachment/web:data`
    #[arg(required = true, value_name = "KIND/NAME")]
    entities: Vec<String>,
    /// Do not wait for what blocks the removal; what is skipped, and may be left over, is recorded
    #[arg(long)]
    force: bool,
    /// Leave the instances of machines as they are: they are nobody's from then on, and nobody removes them
    #[arg(long)]
    keep_instance: bool,
    /// Wait until they are gone
    #[arg(long)]
    wait: bool,
    /// How long to wait, with --wait: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration)]
    timeout: std::time::Duration,
}

pub(super) fn main(global: &Global, args: DeleteArgs) -> Result<Exit, CliError> {
    let entities = args.entities.iter().map(|text| entity(text)).collect::<Result<Vec<_>, _>>()?;
    let remove = Remove {
        entities: entities.clone(),
        force: args.force,
        keep_instance: args.keep_instance,
        release: false,
        id: Some(Uuid::new_v4()),
    };
    let changed: Changed = session::send(global, "/v1/remove", &remove)?;
    apply::show(global, &changed)?;
    say_blocked(global, &changed);
    if args.wait {
        return wait::until_gone(global, &entities, args.timeout);
    }
    Ok(Exit::Ok)
}

/// Says what stands in the way.
pub(super) fn say_blocked(global: &Global, changed: &Changed) {
    if !global.output.is_for_programs() {
        for blocked in &changed.blocked {
            let since = blocked.since_ms.map(|ms| format!(", since {}", Timestamp(ms))).unwrap_or_default();
            say(&format!("{} waits for {}: {}{since}", blocked.entity, blocked.by, blocked.why));
        }
    }
}

/// The entity that people mean.
pub(super) fn entity(text: &str) -> Result<StreamId, CliError> {
    let Some((kind, name)) = text.split_once('/') else {
        return Err(CliError::usage(format!("{text:?} names no entity")).next("write KIND/NAME, such as machine/web"));
    };
    StreamId::new(kind_of(kind)?, name).map_err(|error| CliError::usage(error.to_string()))
}
