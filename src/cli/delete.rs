//! `bailiwick delete`: asks entities to go.

use std::path::PathBuf;

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::StreamId;
use clap::Args;
use uuid::Uuid;

use super::{
    Global, apply,
    exit::{CliError, Exit},
    named::selected,
    progress::say,
    session, wait,
};
use crate::{
    api::wire::change::{Changed, Remove},
    manifest,
    view::Selector,
};

#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    /// Objects: `machine/web`, `volume/data`, `attachment/web:data`; or a kind and names: `machine web db`
    #[arg(required_unless_present_any = ["files", "all"], value_name = "KIND/NAME")]
    entities: Vec<String>,
    /// Of the kinds that are named, those with these labels: `tier=front`, `tier!=front,!old`
    #[arg(short = 'l', long, value_name = "LABELS", requires = "entities", conflicts_with_all = ["files", "all"])]
    selector: Option<Selector>,
    /// Delete what these manifests declare: files, folders, or - for standard input; missing objects are skipped
    #[arg(short = 'f', long = "file", value_name = "FILE", conflicts_with = "entities")]
    files: Vec<PathBuf>,
    /// Delete everything that is declared
    #[arg(long, conflicts_with_all = ["entities", "files"])]
    all: bool,
    /// Do not wait for what blocks the removal; what may be left behind is recorded
    #[arg(long)]
    force: bool,
    /// Keep the instances of machines running, unmanaged
    #[arg(long)]
    keep_instance: bool,
    /// Wait until they are gone
    #[arg(long)]
    wait: bool,
    /// Time limit of --wait: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration)]
    timeout: std::time::Duration,
}

pub(super) fn main(global: &Global, args: DeleteArgs) -> Result<Exit, CliError> {
    let from_files = !args.files.is_empty();
    let entities =
        if from_files { declared_in(&args.files)? } else { selected(global, &args.entities, args.selector.as_ref())? };
    let remove = Remove {
        entities,
        all: args.all,
        present_only: from_files,
        force: args.force,
        keep_instance: args.keep_instance,
        release: false,
        destroy: false,
        id: Some(Uuid::new_v4()),
    };
    let going = ask(global, &remove)?;
    if args.wait {
        return wait::until_gone(global, &going, args.timeout);
    }
    Ok(Exit::Ok)
}

/// Asks the node to remove something, says what that does, and answers with the entities that go.
pub(super) fn ask(global: &Global, remove: &Remove) -> Result<Vec<StreamId>, CliError> {
    let changed: Changed = session::send(global, "/v1/remove", remove)?;
    if changed.steps.is_empty() && !global.output.is_for_programs() {
        say("nothing to delete");
    } else {
        apply::show(global, &changed)?;
    }
    say_blocked(global, &changed);
    let mut going: Vec<StreamId> =
        changed.steps.iter().filter_map(|step| step.entity.to_string().parse().ok()).collect();
    if remove.all {
        // What was on its way out before goes as well.
        going.extend(wait::open_now(global)?);
        going.sort_unstable();
        going.dedup();
    }
    going.retain(|stream| !matches!(stream.kind(), "policy" | "member"));
    Ok(going)
}

/// What manifests declare and can be removed: a policy stays.
fn declared_in(files: &[PathBuf]) -> Result<Vec<StreamId>, CliError> {
    let manifest = manifest::parse_open(&manifest::sources(files)?)?;
    let streams = manifest.documents.iter().map(|document| document.wish.stream());
    Ok(streams.filter(|stream| stream.kind() != "policy").collect())
}

/// Says what stands in the way.
pub(super) fn say_blocked(global: &Global, changed: &Changed) {
    if !global.output.is_for_programs() {
        for blocked in &changed.blocked {
            let since = blocked.since_ms.map(|ms| format!(" (since {})", Timestamp(ms))).unwrap_or_default();
            say(&format!("{} waits for {}{since}: {}", blocked.entity, blocked.by, blocked.why));
        }
    }
}
