//! `bailiwick wait`: waits until a condition holds.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use bailiwick_journal::StreamId;
use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    get::not_found,
    named::selected,
    session,
};
use crate::{
    api::query::Query,
    manifest::{self, nearest},
    view::{self, Selector, statuses},
};

/// How often the node is asked.
const POLL: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// Objects: `machine/web`, `volume/data`, or a kind and names [default: everything that is declared]
    #[arg(value_name = "KIND/NAME")]
    entities: Vec<String>,
    /// Of the kinds that are named, those with these labels: `tier=front`, `tier!=front,!old`
    #[arg(short = 'l', long, value_name = "LABELS", requires = "entities")]
    selector: Option<Selector>,
    /// What to wait for: `ready`, `removed`, another state that `why-not` answers for, such as `attached`, or a status word
    /// such as `stale`
    #[arg(long = "for", default_value = "ready", value_name = "CONDITION")]
    condition: String,
    /// Time limit: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = duration)]
    timeout: Duration,
}

/// Reads a period of time for the command line.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    manifest::duration_ms(text).map(Duration::from_millis).ok_or_else(|| "write it like 500ms, 90s, 5m or 1h30m".into())
}

pub(super) fn main(global: &Global, args: WaitArgs) -> Result<Exit, CliError> {
    let entities = selected(global, &args.entities, args.selector.as_ref())?;
    check_condition(&entities, &args.condition)?;
    match (args.condition.as_str(), entities.is_empty()) {
        ("ready", true) => until_converged(global, args.timeout),
        (_, true) => Err(CliError::usage("that condition needs an object").next("write KIND/NAME before --for")),
        ("removed", false) => until_gone(global, &entities, args.timeout),
        ("ready", false) => until(args.timeout, || unready(global, &entities)),
        (goal, false) if entities.iter().all(|entity| goals(entity).any(|known| known == goal)) => {
            until(args.timeout, || missing(global, &entities, goal))
        }
        (status, false) => until(args.timeout, || {
            let mut open = Vec::new();
            for entity in &entities {
                let now = session::ask_node(global, &Query::Describe { entity: entity.clone(), at: None })?;
                if now["status"] != status {
                    open.push(format!("{entity} is {}", now["status"].as_str().unwrap_or("unknown")));
                }
            }
            Ok(open)
        }),
    }
}

/// Whether every one of these entities can come to be like that.
fn check_condition(entities: &[StreamId], condition: &str) -> Result<(), CliError> {
    for entity in entities {
        let words = || {
            let mut words = vec!["ready", "removed"];
            words.extend(statuses(entity.kind()).iter().copied().chain(goals(entity)));
            let mut seen = HashSet::new();
            words.retain(|word| seen.insert(*word));
            words
        };
        if !words().contains(&condition) {
            let message = format!("a {} is never {condition:?}", entity.kind());
            let near = nearest(condition, words()).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
            let known = words().join(", ");
            return Err(CliError::usage(message).next(format!("{near}--for takes {known}")));
        }
    }
    Ok(())
}

/// The states that `why-not` answers for, and that last: what is being replaced is as it was a moment later.
fn goals(entity: &StreamId) -> impl Iterator<Item = &'static str> {
    view::goals(entity.kind()).iter().copied().filter(|goal| *goal != "replaced")
}

/// What keeps these entities from a state.
fn missing(global: &Global, entities: &[StreamId], goal: &str) -> Result<Vec<String>, CliError> {
    let mut open = Vec::new();
    for entity in entities {
        let query = Query::WhyNot { entity: entity.clone(), wanted: goal.to_owned(), at: None };
        let answer = session::ask_node(global, &query)?;
        if answer["holds"] != true {
            let because = answer["unmet"]["because"].as_str().unwrap_or_default();
            open.push(format!("{entity} is not {}: {because}", goal.replace('-', " ")));
        }
    }
    Ok(open)
}

/// Waits until everything has the state that was declared.
pub(super) fn until_converged(global: &Global, timeout: Duration) -> Result<Exit, CliError> {
    until(timeout, || {
        let pending = pending(global)?;
        let open: Vec<String> = pending.iter().map(told).collect();
        if !pending.is_empty() && pending.iter().all(|(_, status, _)| status == "failed") {
            let mut error = CliError::new(Exit::Error, "failed", "some objects failed")
                .next("run `bailiwick why KIND/NAME` for the cause, `bailiwick retry KIND/NAME` to retry");
            error.causes = open;
            return Err(error);
        }
        Ok(open)
    })
}

/// Waits until these entities are gone.
pub(super) fn until_gone(global: &Global, entities: &[StreamId], timeout: Duration) -> Result<Exit, CliError> {
    until(timeout, || {
        let mut open = Vec::new();
        for entity in entities {
            if exists(global, entity)? {
                open.push(entity.to_string());
            }
        }
        if open.is_empty() {
            return Ok(open);
        }
        let pending = pending(global)?;
        let failed = |name: &String| pending.iter().find(|(entity, status, _)| entity == name && status == "failed");
        if open.iter().all(|name| failed(name).is_some()) {
            let mut error = CliError::new(Exit::Error, "failed", "some objects could not be removed")
                .next("run `bailiwick why KIND/NAME` for the cause, `bailiwick retry KIND/NAME` to retry");
            error.causes = open.iter().filter_map(failed).map(told).collect();
            return Err(error);
        }
        Ok(open.into_iter().map(|name| format!("{name} still exists")).collect())
    })
}

fn told((entity, status, why): &(String, String, String)) -> String {
    format!("{entity} is {status}: {why}")
}

/// Waits until nothing is open.
pub(super) fn until(
    timeout: Duration,
    mut open: impl FnMut() -> Result<Vec<String>, CliError>,
) -> Result<Exit, CliError> {
    let begun = Instant::now();
    loop {
        let open = open()?;
        if open.is_empty() {
            return Ok(Exit::Ok);
        }
        if begun.elapsed() >= timeout {
            let mut error = CliError::new(Exit::TimedOut, "timed-out", "timed out")
                .next("run `bailiwick status` for the trouble, `bailiwick why KIND/NAME` for its cause");
            error.causes = open;
            return Err(error);
        }
        std::thread::sleep(POLL);
    }
}

fn pending(global: &Global) -> Result<Vec<(String, String, String)>, CliError> {
    let answer = session::ask_node(global, &Query::Pending { at: None })?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = answer.as_array().cloned().unwrap_or_default();
    Ok(rows.iter().map(|row| (text(&row["entity"]), text(&row["status"]), text(&row["why"]))).collect())
}

/// What is not as declared, or not gone, at this moment.
pub(super) fn open_now(global: &Global) -> Result<Vec<StreamId>, CliError> {
    Ok(pending(global)?.iter().filter_map(|(entity, ..)| entity.parse().ok()).collect())
}

fn exists(global: &Global, entity: &StreamId) -> Result<bool, CliError> {
    match session::ask_node(global, &Query::Describe { entity: entity.clone(), at: None }) {
        Ok(now) => Ok(now["life"] != "removed"),
        Err(error) if error.exit == Exit::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The entities that are not ready.
///
/// # Errors
/// If one of them does not exist: nobody makes it by waiting for it.
fn unready(global: &Global, entities: &[StreamId]) -> Result<Vec<String>, CliError> {
    let pending = pending(global)?;
    let mut open = Vec::new();
    for entity in entities {
        if let Some(row) = pending.iter().find(|(name, ..)| *name == entity.to_string()) {
            open.push(told(row));
        } else if !exists(global, entity)? {
            return Err(not_found(entity));
        }
    }
    Ok(open)
}
