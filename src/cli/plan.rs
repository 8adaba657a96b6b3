//! `bailiwick plan`: shows what apply would do.

use clap::Args;

use super::{
    Global,
    apply::{self, DeclareArgs},
    exit::{CliError, Exit},
    session,
};
use crate::{
    api::{changes, wire::change::Changed},
    client::ClientError,
    handle::known,
    manifest,
    plan::{Prune, plan},
    view::Fleet,
};

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    what: DeclareArgs,
}

pub(super) fn main(global: &Global, args: PlanArgs) -> Result<Exit, CliError> {
    let declare = args.what.read(None)?;
    let client = session::client(global)?;
    let asked = session::block_on(client.send_json(hyper::Method::POST, "/v1/plan", &declare, None))?;
    let changed: Changed = match asked {
        // The journal of a stopped node knows all that a plan needs; without one, everything is new.
        Err(ClientError::NotRunning { .. }) => {
            let fleet = session::with_journal(global, |journal| Fleet::at(journal, journal.head().position));
            let fleet = match fleet {
                Err(error) if error.exit == Exit::NotFound => Fleet::default(),
                fleet => fleet?,
            };
            let sources: Vec<manifest::Source> =
                declare.files.iter().map(|file| manifest::Source::new(&file.name, file.text.as_bytes())).collect();
            let manifest = manifest::parse(&sources, &known(&fleet))?;
            let prune = if declare.prune { Prune::Yes } else { Prune::No };
            let mut planned = changes::planned(plan(&fleet, &manifest.documents, prune)).noted(&manifest);
            planned.notes.push("no node is running; a running one may refuse some of these changes".into());
            planned
        }
        answer => answer?,
    };
    apply::show(global, &changed)?;
    Ok(if changed.changes { Exit::Differences } else { Exit::Ok })
}
