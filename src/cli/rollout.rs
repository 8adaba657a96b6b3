//! `bailiwick rollout`: how machine deployments come from one template to the next, and what operators say to that.

use std::time::Duration;

use bailiwick_journal::StreamId;
use clap::{Args, Subcommand};
use serde_json::Value;
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    get::text,
    operate::show,
    output::{Cell, Column, Field, Sheet},
    session, wait,
};
use crate::api::{
    query::Query,
    wire::change::{Decided, Rollout, RolloutStep},
};

#[derive(Debug, Subcommand)]
pub(super) enum RolloutCommand {
    /// Show how far a rollout is
    Status(StatusArgs),
    /// List the revisions of a deployment, the newest first
    History(DeploymentArgs),
    /// Return to an earlier revision
    Undo(UndoArgs),
    /// Pause a rollout; scaling still works
    Pause(DeploymentArgs),
    /// Resume a paused rollout
    Resume(DeploymentArgs),
    /// Start a rollout that waits for its window at once
    Now(DeploymentArgs),
    /// Replace all machines, within the limits of the strategy
    Restart(DeploymentArgs),
}

#[derive(Debug, Args)]
pub(super) struct DeploymentArgs {
    /// The machine deployment
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// The machine deployment
    #[arg(value_name = "NAME")]
    name: String,
    /// Wait until the rollout is complete; fails if it exceeds its progress deadline
    #[arg(short, long)]
    wait: bool,
    /// Time limit for --wait: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration, requires = "wait")]
    timeout: Duration,
}

#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    /// The machine deployment
    #[arg(value_name = "NAME")]
    name: String,
    /// The revision to return to [default: the previous one]
    #[arg(long, value_name = "REVISION")]
    to: Option<u64>,
}

pub(super) fn main(global: &Global, command: RolloutCommand) -> Result<Exit, CliError> {
    match command {
        RolloutCommand::Status(args) => status(global, &args),
        RolloutCommand::History(args) => history(global, &args.name),
        RolloutCommand::Undo(args) => ask(global, &args.name, RolloutStep::Undo { revision: args.to }),
        RolloutCommand::Pause(args) => ask(global, &args.name, RolloutStep::Pause),
        RolloutCommand::Resume(args) => ask(global, &args.name, RolloutStep::Resume),
        RolloutCommand::Now(args) => ask(global, &args.name, RolloutStep::Now),
        RolloutCommand::Restart(args) => ask(global, &args.name, RolloutStep::Restart),
    }
}

fn deployment(name: &str) -> Result<StreamId, CliError> {
    let name = name.strip_prefix("machine-deployment/").unwrap_or(name);
    StreamId::new("machine-deployment", name).map_err(|error| CliError::usage(error.to_string()))
}

fn ask(global: &Global, name: &str, step: RolloutStep) -> Result<Exit, CliError> {
    let wanted = Rollout { entity: deployment(name)?, step, id: Some(Uuid::new_v4()) };
    let decided: Decided = session::send(global, "/v1/rollout", &wanted)?;
    show(global, &decided)?;
    Ok(Exit::Ok)
}

fn row(global: &Global, name: &str) -> Result<Value, CliError> {
    session::ask(global, &Query::Describe { entity: deployment(name)?, at: None })
}

fn status(global: &Global, args: &StatusArgs) -> Result<Exit, CliError> {
    if args.wait {
        wait::until(args.timeout, || open(global, &args.name))?;
    }
    let row = row(global, &args.name)?;
    global.output.show(&row, || sheet(&row))?;
    Ok(Exit::Ok)
}

/// What is missing until the rollout is complete. One that does not get on will not get on by being waited for.
fn open(global: &Global, name: &str) -> Result<Vec<String>, CliError> {
    let row = row(global, name)?;
    let detail = row["detail"].as_str().unwrap_or("it is not complete").to_owned();
    match (row["ready"] == true, row["status"] == "stuck") {
        (true, _) => Ok(Vec::new()),
        (false, false) => Ok(vec![detail]),
        (false, true) => {
            let mut error = CliError::new(Exit::Error, "stuck", "the rollout exceeded its progress deadline").next(
                format!("run `bailiwick why-not machine-deployment/{name} ready`, or `bailiwick rollout undo {name}`"),
            );
            error.causes = vec![detail];
            Err(error)
        }
    }
}

fn sheet(row: &Value) -> Sheet {
    let fields: &[Field<Value>] = &[
        (Column::required("NAME"), |row| text(&row["name"])),
        (Column::required("STATUS"), |row| super::get::status(&row["status"])),
        (Column::required("UPDATED"), |row| format!("{}/{}", row["updatedMachines"], row["replicas"]).into()),
        (Column::required("AVAILABLE"), |row| format!("{}/{}", row["availableMachines"], row["replicas"]).into()),
        (Column::required("MACHINES"), |row| text(&row["machines"])),
        (Column::always("REVISION"), |row| text(&row["revision"])),
        (Column::always("DETAIL"), |row| text(&row["detail"])),
    ];
    Sheet::list(fields, [row])
}

fn history(global: &Global, name: &str) -> Result<Exit, CliError> {
    let revisions = row(global, name)?["revisions"].take();
    global.output.show(&revisions, || {
        let fields: &[Field<Value>] = &[
            (Column::required("REVISION"), |row| text(&row["revision"])),
            (Column::required("SET"), |row| text(&row["set"])),
            (Column::required("READY"), |row| format!("{}/{}", row["readyMachines"], row["replicas"]).into()),
            (Column::required("CURRENT"), |row| if row["current"] == true { "yes".into() } else { Cell::none() }),
            (Column::always("RESTARTED"), |row| text(&row["restarted"])),
            (Column::required("CREATED"), |row| text(&row["created"])),
        ];
        Sheet::list(fields, revisions.as_array().into_iter().flatten())
    })?;
    Ok(Exit::Ok)
}
