//! What agents say and are told: `POST /v1/agents/{machine}/report`.

use actix_web::{HttpRequest, http::StatusCode, http::header::AUTHORIZATION, web};
use bailiwick_actors::{
    machine::Instance,
    ports,
    shell::{AgentReport, Heartbeat},
    vocab::{EffectId, Name},
    volume_attachment::Link,
};

use super::{errors::Failure, server::Shared, wire::agent};
use crate::{agent::is_agent_token, view::Fleet};

/// The most conditions in one report.
const CONDITIONS_MAX: usize = 128;

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config.route("/agents/{machine}/report", web::post().to(report));
}

async fn report(
    shared: web::Data<Shared>,
    machine: web::Path<String>,
    request: HttpRequest,
    report: web::Json<agent::Report>,
) -> Result<web::Json<agent::Answer>, Failure> {
    let report = report.into_inner();
    let bearer = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = bearer.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    // An unknown machine and a wrong token look the same: nothing can be found out by asking.
    let denied = || Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", "this is not the agent of that machine");
    let machine: Name = machine.parse().map_err(|_| denied())?;
    if !is_agent_token(&shared.key, report.effect, token) {
        return Err(denied());
    }
    if report.conditions.len() > CONDITIONS_MAX {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "too-many", "a report holds at most 128 conditions"));
    }
    let conditions = report.conditions.iter().map(condition).collect();
    let heartbeat = AgentReport { machine: machine.clone(), effect: report.effect, conditions };
    match shared.node.agent_report(heartbeat).await? {
        Heartbeat::Welcome => {
            let answer = shared.node.look(|fleet| answer(fleet, &machine, report.effect))?;
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

/// What this instance of the machine should look like; none if it is not the one that runs.
fn answer(fleet: &Fleet, machine: &Name, effect: EffectId) -> Option<agent::Answer> {
    let state = fleet.machines.get(machine.as_str())?;
    let Instance::Running { instance, .. } = &state.instance else {
        return None;
    };
    if instance.effect != effect {
        return None;
    }
    let workload = |workload: &bailiwick_actors::machine::Workload| agent::Workload {
        name: workload.name.clone(),
        command: workload.command.clone(),
        env: workload.env.clone(),
    };
    let workloads = state.spec.iter().flat_map(|spec| &spec.workloads).map(workload).collect();
    let volume = |volume: &Name| {
        let attachment = fleet.attachments.get(&format!("{machine}:{volume}"))?;
        let Link::Attached { target, info, .. } = &attachment.link else {
            return None;
        };
        (target.machine_effect == effect).then(|| agent::AttachedVolume {
            name: volume.clone(),
            path: info.path.clone().into(),
            read_only: info.read_only,
        })
    };
    let volumes = state.attachments.iter().filter_map(volume).collect();
    Some(agent::Answer { workloads, volumes, interval_ms: agent::default_interval_ms(), stop: false })
}
