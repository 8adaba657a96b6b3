//! Long questions to a running node, followed until they are answered.

use std::{pin::pin, time::Duration};

use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::signal::ctrl_c;

use super::{block_on, client, when_started};
use crate::{
    api::wire::job::{Job, State},
    cli::{
        Global,
        exit::{CliError, Exit},
        progress::Steps,
    },
    client::{Client, ClientError},
};

/// The path of jobs.
pub(in crate::cli) const JOBS: &str = "/v1/jobs";
/// How long the first look after a job that has just begun waits; each later one waits twice as long, up to the last.
const LOOK_FIRST: Duration = Duration::from_millis(5);
const LOOK_LAST: Duration = Duration::from_millis(500);

/// Has a running node find something out: shows how far it is, and ends it if the user interrupts.
///
/// # Errors
/// If the node cannot be asked; the inner one if no node runs.
pub(in crate::cli) fn ask_job(
    global: &Global,
    question: &str,
    wish: &impl Serialize,
) -> Result<Result<Value, ClientError>, CliError> {
    let client = client(global)?;
    block_on(async {
        let path = format!("{JOBS}/{question}");
        let begin = async || client.send_json(Method::POST, &path, wish, None).await;
        match when_started(global, begin).await {
            Ok(job) => followed(&client, job).await.map(Ok),
            Err(error @ ClientError::NotRunning { .. }) => Ok(Err(error)),
            Err(error) => Err(error.into()),
        }
    })?
}

async fn followed(client: &Client, mut job: Job) -> Result<Value, CliError> {
    let path = format!("{JOBS}/{}", job.id);
    let steps = Steps::of(job.question.as_str());
    let (mut wait, mut interrupted) = (LOOK_FIRST, pin!(ctrl_c()));
    while !job.state.is_final() {
        steps.show(job.done, job.of);
        tokio::select! {
            biased;
            _ = &mut interrupted => {
                let told: Result<Job, ClientError> =
                    client.send_json(Method::POST, &format!("{path}/cancel"), &json!({}), None).await;
                told?;
                return Err(cancelled());
            }
            () = tokio::time::sleep(wait) => wait = (wait * 2).min(LOOK_LAST),
        }
        job = client.get_json(&path).await?;
    }
    steps.end();
    match (job.state, job.answer, job.problem) {
        (State::Done, Some(answer), _) => Ok(answer),
        (_, _, Some(problem)) => Err(problem.into()),
        _ => Err(cancelled()),
    }
}

fn cancelled() -> CliError {
    CliError::new(Exit::Error, "cancelled", "cancelled before it was done").next("run it again; nothing was changed")
}
