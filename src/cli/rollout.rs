//! `bailiwick rollout`: how machine deployments come from one template to the next, and what operators say to that.

use std::time::{Duration, Instant};

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

/// How often the node is asked.
const POLL: Duration = Duration::from_millis(200);

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
    let begun = Instant::now();
    loop {
        let row = row(global, &args.name)?;
        let (is_complete, is_stuck) = (row["ready"] == true, row["status"] == "stuck");
        if is_complete || is_stuck || !args.wait {
            global.output.show(&row, || sheet(&row))?;
            return Ok(if args.wait && is_stuck { Exit::Error } else { Exit::Ok });
        }
        if begun.elapsed() >= args.timeout {
            let mut error = CliError::new(Exit::TimedOut, "timed-out", "timed out")
                .next(format!("run `bailiwick why-not machine-deployment/{} ready` for what is missing", args.name));
            error.causes = row["detail"].as_str().map(str::to_owned).into_iter().collect();
            return Err(error);
        }
        std::thread::sleep(POLL);
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
