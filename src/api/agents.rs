//! What agents say and are told: `POST /v1/agents/{machine}/report`, and `…/storage` for what they do with storage.

use actix_web::{HttpRequest, http::StatusCode, http::header::AUTHORIZATION, web};
use bailiwick_actors::{
    ports,
    shell::{AgentReport, Heartbeat},
    vocab::{EffectId, Name},
};

use super::{
    errors::Failure,
    server::Shared,
    wire::{agent, storage},
};
use crate::agent::is_agent_token;

/// The most conditions in one report.
const CONDITIONS_MAX: usize = 128;
/// The longest report, in bytes; it is read before anybody knows who sent it.
const REPORT_BYTES_MAX: usize = 64 * 1024;
/// The longest message about what was done, in bytes.
const OUTCOMES_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(super) fn routes(config: &mut web::ServiceConfig) {
    let report = web::resource("/agents/{machine}/report")
        .app_data(web::JsonConfig::default().limit(REPORT_BYTES_MAX))
        .route(web::post().to(report));
    let storage = web::resource("/agents/{machine}/storage")
        .app_data(web::JsonConfig::default().limit(OUTCOMES_BYTES_MAX))
        .route(web::post().to(storage));
    config.service(report).service(storage);
}

/// Hands jobs to an agent, and takes in how they went.
async fn storage(
    shared: web::Data<Shared>,
    machine: web::Path<String>,
    request: HttpRequest,
    ask: web::Json<storage::Ask>,
) -> Result<web::Json<storage::Orders>, Failure> {
    let ask = ask.into_inner();
    let machine = authorised(&shared, &machine, ask.effect, &request)?;
    if !shared.node.runs(&machine, ask.effect)? {
        return Err(Failure::new(StatusCode::CONFLICT, "not-yet", "this instance is not recorded"));
    }
    Ok(web::Json(shared.node.desk().exchange(&machine, ask).await))
}

/// The machine of this name, if it is its agent who asks.
fn authorised(shared: &Shared, machine: &str, effect: EffectId, request: &HttpRequest) -> Result<Name, Failure> {
    let bearer = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = bearer.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    // An unknown machine and a wrong token look the same: nothing can be found out by asking.
    let machine = machine.parse().map_err(|_| denied())?;
    if is_agent_token(&shared.key, effect, token) { Ok(machine) } else { Err(denied()) }
}

fn denied() -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", "this is not the agent of that machine")
}

async fn report(
    shared: web::Data<Shared>,
    machine: web::Path<String>,
    request: HttpRequest,
    report: web::Json<agent::Report>,
) -> Result<web::Json<agent::Answer>, Failure> {
    let report = report.into_inner();
    let machine = authorised(&shared, &machine, report.effect, &request)?;
    if report.nonce.as_ref().is_some_and(|nonce| *nonce != shared.node.nonce(report.effect)) {
        let text = "its machine was started by another control plane: the nonce is not ours";
        return Err(Failure::new(StatusCode::FORBIDDEN, "other-nonce", text));
    }
    if report.conditions.len() > CONDITIONS_MAX {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "too-many", "a report holds at most 128 conditions"));
    }
    let conditions = report.conditions.iter().map(condition).collect();
    // An agent that has not heard yet that it is to run nothing may be about to start something.
    let is_empty = report.workloads.is_empty() && shared.node.was_told_to_run_nothing(&machine);
    let heartbeat = AgentReport { machine: machine.clone(), effect: report.effect, conditions, is_empty };
    match shared.node.agent_report(heartbeat).await? {
        Heartbeat::Welcome | Heartbeat::Drain => {
            shared.node.devices_seen(&machine, report.effect, report.devices);
            let answer = shared.node.tell_agent(&machine, report.effect)?;
            Ok(web::Json(answer.ok_or_else(denied)?))
        }
        // It may be the machine's next instance, made a moment ago and not recorded yet: it is told to ask again.
        Heartbeat::Stranger => Err(Failure::new(StatusCode::CONFLICT, "not-yet", "this instance is not recorded")),
    }
}

fn condition(condition: &agent::Condition) -> ports::Condition {
    // Texts from inside a machine are from outside: bounded and made harmless like a provider's.
    let harmless = |text: &str, bytes_max: usize| {
        let fault = bailiwick_actors::vocab::Fault::new(bailiwick_actors::vocab::FaultCode::Unknown, text);
        let end = (0..=bytes_max.min(fault.text.len())).rev().find(|at| fault.text.is_char_boundary(*at));
        fault.text[..end.unwrap_or(0)].to_owned()
    };
    ports::Condition {
        kind: harmless(&condition.kind, 128),
        healthy: condition.healthy,
        text: harmless(&condition.text, 255),
    }
}
