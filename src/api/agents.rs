//! What agents say and are told: `POST /v1/agents/{machine}/join` once, then `…/report`, and `…/storage` for what they do
//! with storage.

use std::sync::{Mutex, PoisonError};

use actix_web::{HttpRequest, http::StatusCode, web};
use bailiwick_actors::{
    machine::NodeFacts,
    ports,
    supervisor::machines::{AgentReport, Heartbeat},
    vocab::{EffectId, Name, Nonce, Timestamp},
};

use super::{
    access::{Need, bearer, within_rate},
    errors::Failure,
    rates::Asked,
    routes::Routes,
    shared::Shared,
    wire::{agent, storage},
};
use crate::agent::{agent_token, is_agent_token};

/// The most conditions in one report.
const CONDITIONS_MAX: usize = 128;
/// The longest report, in bytes; it is read before anybody knows who sent it.
const REPORT_BYTES_MAX: usize = 64 * 1024;
/// The longest message about what was done, in bytes.
const OUTCOMES_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(super) fn routes(routes: &mut Routes<'_>) {
    routes
        .post(
            "/agents/{machine}/report",
            Need::Agent,
            REPORT_BYTES_MAX,
            "An agent reports and is told what its machine should look like",
            report,
        )
        .post(
            "/agents/{machine}/storage",
            Need::Agent,
            OUTCOMES_BYTES_MAX,
            "An agent asks for storage jobs and tells how they went",
            storage,
        )
        .post(
            "/agents/{machine}/join",
            Need::Agent,
            REPORT_BYTES_MAX,
            "An agent joins with the token of its machine, once",
            join,
        );
}

/// Lets an agent in that has the token which its machine was made with; from then on it has one of its own.
async fn join(
    shared: web::Data<Shared>,
    machine: web::Path<String>,
    join: web::Json<agent::Join>,
) -> Result<web::Json<agent::Joined>, Failure> {
    let agent::Join { effect, nonce, token, node } = join.into_inner();
    let machine: Name = machine.parse().map_err(|_| denied())?;
    let token = shared.enrolments.admit(effect, &token, shared.node.now()).map_err(|why| {
        tell_refused(&machine, effect, &why, shared.node.now());
        Failure::new(StatusCode::UNAUTHORIZED, why.code(), why.to_string())
    })?;
    is_ours(&shared, nonce.as_ref(), effect)?;
    if !shared.node.runs(&machine, effect)? {
        return Err(unknown());
    }
    shared.node.agent_joined(&machine, effect, token, node_facts(node)?).await?;
    Ok(web::Json(agent::Joined { token: agent_token(&shared.key, effect) }))
}

/// Says that an agent was refused, at most once a second: an agent that tries in vain without end would fill the log.
fn tell_refused(machine: &Name, effect: EffectId, why: &dyn std::fmt::Display, now: Timestamp) {
    static QUIET: Mutex<Option<(Timestamp, u64)>> = Mutex::new(None);
    let mut quiet = QUIET.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut *quiet {
        Some((until, more)) if now < *until => *more += 1,
        other => {
            let more = other.map_or(0, |(_, more)| more);
            tracing::warn!(%machine, %effect, %why, more, "an agent was refused");
            *other = Some((now.after(1_000), 0));
        }
    }
}

/// The most labels, annotations or taints of one node, and the longest of their texts in bytes: as in manifests.
const NODE_ENTRIES_MAX: usize = 64;
const NODE_TEXT_BYTES_MAX: usize = 4 * 1024;

/// What an agent says of its node, in bounds.
fn node_facts(node: agent::NodeInfo) -> Result<NodeFacts, Failure> {
    if is_too_much(&node) {
        let text = "a node has at most 64 labels, annotations and taints, of at most 4096 bytes each";
        return Err(Failure::new(StatusCode::BAD_REQUEST, "too-many", text));
    }
    let agent::NodeInfo { agent_version, arch, cores, memory_mib, disk_mib, labels, annotations, taints } = node;
    Ok(NodeFacts { agent_version, arch, cores, memory: memory_mib, disk: disk_mib, labels, annotations, taints })
}

fn is_too_much(node: &agent::NodeInfo) -> bool {
    let counts = [node.labels.len(), node.annotations.len(), node.taints.len()];
    let maps = node.labels.iter().chain(&node.annotations);
    let pairs = maps.chain(node.taints.iter().map(|taint| (&taint.key, &taint.value)));
    let mut texts = pairs.flat_map(|(key, value)| [key, value]).chain([&node.agent_version, &node.arch]);
    let is_bad = |text: &String| text.len() > NODE_TEXT_BYTES_MAX || text.contains('\0');
    counts.into_iter().any(|count| count > NODE_ENTRIES_MAX) || texts.any(is_bad)
}

/// Refuses the agent of a machine that another control plane has started.
fn is_ours(shared: &Shared, nonce: Option<&Nonce>, effect: EffectId) -> Result<(), Failure> {
    if nonce.is_some_and(|nonce| *nonce != shared.node.nonce(effect)) {
        let text = "another control plane started its machine: the nonce differs";
        return Err(Failure::new(StatusCode::FORBIDDEN, "other-nonce", text));
    }
    Ok(())
}

/// Hands jobs to an agent, and takes in how they went.
async fn storage(
    shared: web::Data<Shared>,
    machine: web::Path<String>,
    request: HttpRequest,
    ask: web::Json<storage::Ask>,
) -> Result<web::Json<storage::Orders>, Failure> {
    let ask = ask.into_inner();
    let machine = authorised(&shared, &machine, ask.effect, &request, Asked::Jobs)?;
    if !shared.node.runs(&machine, ask.effect)? {
        return Err(unknown());
    }
    Ok(web::Json(shared.node.desk().exchange(&machine, ask).await))
}

/// The machine of this name, if it is its agent who asks.
fn authorised(
    shared: &Shared,
    machine: &str,
    effect: EffectId,
    request: &HttpRequest,
    asked: Asked,
) -> Result<Name, Failure> {
    let token = bearer(request.headers()).unwrap_or_default();
    // An unknown machine and a wrong token look the same: nothing can be found out by asking.
    let machine: Name = machine.parse().map_err(|_| denied())?;
    if !is_agent_token(&shared.key, effect, token) {
        return Err(denied());
    }
    within_rate(shared, &format!("agent:{effect}").into(), asked)?;
    Ok(machine)
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
    let machine = authorised(&shared, &machine, report.effect, &request, Asked::Report)?;
    is_ours(&shared, report.nonce.as_ref(), report.effect)?;
    if report.conditions.len() > CONDITIONS_MAX {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "too-many", "a report may have at most 128 conditions"));
    }
    let conditions = report.conditions.iter().map(condition).collect();
    // What an agent has not heard yet that it is to end, it may be about to start.
    let runs = report.workloads.into_iter().map(|workload| workload.name);
    let running = shared.node.told_to_run(&machine).map(|told| told.into_iter().chain(runs).collect());
    let heartbeat =
        AgentReport { machine: machine.clone(), provider: None, effect: report.effect, conditions, running };
    match shared.node.agent_report(heartbeat).await? {
        Heartbeat::Welcome | Heartbeat::Drain { .. } => {
            shared.enrolments.used(report.effect);
            shared.node.devices_seen(&machine, report.effect, report.devices);
            if let Some(node) = report.node {
                shared.node.node_told(&machine, report.effect, node_facts(node)?).await;
            }
            let answer = shared.node.tell_agent(&machine, report.effect)?;
            // Its machine may have been removed since the line above: that is no denial.
            Ok(web::Json(answer.ok_or_else(unknown)?))
        }
        // It may be the machine's next instance, made a moment ago and not recorded yet: it is told to ask again.
        Heartbeat::Stranger => Err(unknown()),
    }
}

/// The answer to an agent whose instance the node does not run, not yet or no longer.
fn unknown() -> Failure {
    Failure::new(StatusCode::CONFLICT, "not-yet", "this instance is unknown")
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
        healthy: condition.healthy.into(),
        text: harmless(&condition.text, 255),
    }
}
