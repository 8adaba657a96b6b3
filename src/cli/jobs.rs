//! `bailiwick jobs`: long questions that a running node works on.

use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table},
    session::{self, JOBS},
};
use crate::api::wire::job::{Job, State};

#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    #[command(subcommand)]
    command: Option<JobsCommand>,
}

#[derive(Debug, Subcommand)]
enum JobsCommand {
    /// List your jobs; an administrator sees everybody's (what `jobs` alone does)
    List,
    /// Show how far a job is, and what came of it
    Show(JobArgs),
    /// End a job before it is done
    Cancel(JobArgs),
}

#[derive(Debug, Args)]
struct JobArgs {
    /// The job, or how its id begins
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn main(global: &Global, args: JobsArgs) -> Result<Exit, CliError> {
    match args.command.unwrap_or(JobsCommand::List) {
        JobsCommand::List => {
            let jobs = all(global)?;
            global.output.show(&jobs, || table(&jobs))?;
        }
        JobsCommand::Show(JobArgs { id }) => {
            let job: Job = session::ask_path(global, &format!("{JOBS}/{}", named(global, &id)?))??;
            global.output.show(&job, || table(std::slice::from_ref(&job)))?;
        }
        JobsCommand::Cancel(JobArgs { id }) => {
            let path = format!("{JOBS}/{}/cancel", named(global, &id)?);
            let job: Job = session::send(global, &path, &json!({}))?;
            global.output.show(&job, || table(std::slice::from_ref(&job)))?;
        }
    }
    Ok(Exit::Ok)
}

fn all(global: &Global) -> Result<Vec<Job>, CliError> {
    Ok(session::ask_path(global, JOBS)??)
}

/// The whole id of the one job whose id begins like this.
fn named(global: &Global, id: &str) -> Result<String, CliError> {
    let ids: Vec<String> = all(global)?.iter().map(|job| job.id.to_string()).collect();
    let fitting: Vec<&String> = ids.iter().filter(|known| known.starts_with(id)).collect();
    match fitting.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(CliError::new(Exit::NotFound, "not-found", format!("no job's id begins with {id:?}"))
            .next("`bailiwick jobs` lists them; one is kept for an hour, and not beyond a stop of the node")),
        several => {
            Err(CliError::new(Exit::Error, "ambiguous", format!("{} jobs' ids begin with {id:?}", several.len()))
                .next("write more of it; `bailiwick jobs` lists them"))
        }
    }
}

fn table(jobs: &[Job]) -> Table<6> {
    let mut table = Table::of(["ID", "QUESTION", "STATE", "DONE", "ASKED BY", "ASKED"].map(Column::always));
    for job in jobs {
        let state = job.state.as_str();
        let state = match job.state {
            State::Done => Cell::good(state),
            State::Waiting | State::Running => Cell::busy(state),
            State::Failed => Cell::bad(state),
            State::Cancelled => Cell::from(state),
        };
        let done = if job.of == 0 { "-".to_owned() } else { format!("{}/{}", job.done, job.of) };
        let (id, asked) = (job.id.to_string(), job.asked.to_string());
        let question = job.question.as_str();
        table.add([id.into(), question.into(), state, done.into(), job.principal.as_str().into(), asked.into()]);
    }
    table
}
