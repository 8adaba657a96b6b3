//! `bailiwick apply`: declares what manifests say, all of it or nothing.

use std::path::PathBuf;

use clap::Args;
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table},
    progress::say,
    session, wait,
};
use crate::{
    api::wire::change::{Changed, Declare, File},
    manifest,
    plan::Action,
};

#[derive(Debug, Args)]
pub(super) struct ApplyArgs {
    #[command(flatten)]
    pub(super) what: DeclareArgs,
    /// Wait until everything declared is ready
    #[arg(long)]
    wait: bool,
    /// Time limit of --wait: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration)]
    timeout: std::time::Duration,
    /// Idempotency key: the same id within 24 hours gets the first answer
    #[arg(long, value_name = "UUID")]
    id: Option<Uuid>,
}

/// What is to be declared.
#[derive(Debug, Args)]
pub(super) struct DeclareArgs {
    /// Manifests: files, folders, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Delete what is no longer declared
    #[arg(long)]
    prune: bool,
}

pub(super) fn main(global: &Global, args: ApplyArgs) -> Result<Exit, CliError> {
    let id = args.id.unwrap_or_else(Uuid::new_v4);
    let changed: Changed = session::send(global, "/v1/apply", &args.what.read(Some(id))?)?;
    show(global, &changed)?;
    if args.wait {
        return wait::until_converged(global, args.timeout);
    }
    Ok(Exit::Ok)
}

impl DeclareArgs {
    /// Reads the manifests and looks them through, so that what is wrong is said with its place in the file.
    pub(super) fn read(&self, id: Option<Uuid>) -> Result<Declare, CliError> {
        let sources = manifest::sources(&self.files)?;
        // What they point at may be declared already; only the node knows.
        manifest::parse_open(&sources)?;
        let files = sources.iter().map(|source| File { name: source.name().into(), text: source.as_text().into() });
        Ok(Declare { files: files.collect(), prune: self.prune, id })
    }
}

/// Declares these documents beside what is declared already, and shows only what that did.
pub(super) fn add(global: &Global, text: String) -> Result<(), CliError> {
    let file = File { name: "the command line".into(), text };
    let declare = Declare { files: vec![file], prune: false, id: Some(Uuid::new_v4()) };
    let mut changed: Changed = session::send(global, "/v1/apply", &declare)?;
    changed.steps.retain(|step| step.action != Action::Keep);
    show(global, &changed)
}

/// Shows what was, or would be, done.
pub(super) fn show(global: &Global, changed: &Changed) -> Result<(), CliError> {
    if changed.repeated {
        say("this id was used before; repeating the first answer");
    }
    // Programs read them where they stand.
    for note in changed.notes.iter().filter(|_| !global.output.is_for_programs()) {
        say(&format!("note: {note}"));
    }
    let table = || {
        let mut table = Table::of([
            Column::always("ACTION"),
            Column::always("ENTITY"),
            Column::always("DETAIL"),
            Column::wide("ENTRY"),
            Column::wide("BECAUSE"),
        ]);
        for step in &changed.steps {
            let decision = changed.decisions.iter().find(|decision| decision.entity == step.entity);
            let (action, detail) = words(step.action);
            let action = match step.action {
                Action::Create => Cell::good(action),
                Action::Change => Cell::busy(action),
                Action::Remove | Action::Refuse => Cell::bad(action),
                Action::Unchanged | Action::Keep => Cell::from(action),
            };
            let mut details = step.fields.clone();
            details.extend(step.stays.clone());
            let detail = if details.is_empty() { detail.to_owned() } else { details.join(", ") };
            let entry = decision.and_then(|decision| decision.position);
            table.add([
                action,
                step.entity.as_str().into(),
                detail.into(),
                entry.map_or_else(Cell::none, |entry| entry.to_string().into()),
                decision.map_or_else(Cell::none, |decision| decision.reason.as_str().into()),
            ]);
            for brings in &step.brings {
                let told = format!("each machine gets {brings}");
                table.add([Cell::from(""), "".into(), told.into(), Cell::none(), Cell::none()]);
            }
            for (number, follows) in (1..).zip(&step.follows) {
                let number = format!("step {number}");
                table.add([Cell::from(""), number.into(), follows.as_str().into(), Cell::none(), Cell::none()]);
            }
        }
        table
    };
    Ok(global.output.show(changed, table)?)
}

fn words(action: Action) -> (&'static str, &'static str) {
    match action {
        Action::Create => ("create", ""),
        Action::Change => ("change", ""),
        Action::Unchanged => ("unchanged", ""),
        Action::Remove => ("remove", ""),
        Action::Keep => ("keep", "no longer declared; --prune deletes it"),
        Action::Refuse => ("refuse", "being removed; wait until it is gone"),
    }
}
